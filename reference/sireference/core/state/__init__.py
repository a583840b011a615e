"""The state the rules keep: nodes and their room, queues and their usage, applications, asks."""
