"""Everything that chooses a move: bots, networks, and saved checkpoints."""
