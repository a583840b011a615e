"""Gang scheduling: placeholders keep room for task groups until real asks take their place."""
