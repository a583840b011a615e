"""What an RM of one revision of the SI and a scheduler of another understand of each other."""
