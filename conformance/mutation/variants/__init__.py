"""Legal schedulers of another manner, by what they are about."""
