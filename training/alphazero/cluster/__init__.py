"""Self-play on the machines of a Ray cluster."""
