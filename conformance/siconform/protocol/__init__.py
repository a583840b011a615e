"""What an RM and a scheduler tell each other, in no revision's bytes."""
