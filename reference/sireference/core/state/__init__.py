"""State of the core: nodes and free resources, queues and usage, applications, asks."""
