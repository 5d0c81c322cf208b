"""Adapters to reinforcement-learning libraries, one module each. Nothing is imported unless asked for."""
