"""Mutation testing: how many small mistakes in the code the tests notice (``python -m tools.mutation``)."""
