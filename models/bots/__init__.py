"""Bots: everything that chooses actions, one module each."""
