"""A run, or several side by side, as one page of HTML that needs nothing beside itself."""
