"""Soak test: very many short lifecycles next to waiting asks, and the memory they leave behind."""
