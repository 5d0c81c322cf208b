"""Adapters for reinforcement-learning libraries, one module per library. No library is imported by the package itself."""
