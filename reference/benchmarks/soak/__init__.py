"""Soak test: very many short key lifecycles next to asks that wait forever."""
