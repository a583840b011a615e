"""Gang scheduling: placeholders reserve capacity for task groups until real asks replace them."""
