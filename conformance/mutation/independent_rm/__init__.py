"""A second RM of revision 2024-10, from the specification alone, with unusual strategies."""
