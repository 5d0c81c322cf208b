"""Self-play and arenas on the machines of a Ray cluster."""
