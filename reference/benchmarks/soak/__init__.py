"""The soak: very many short lives beside what waits for ever, and what is kept of them."""
