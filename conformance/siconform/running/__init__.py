"""How the suite is run: options in, tests selected and watched, evidence gathered, results out."""
