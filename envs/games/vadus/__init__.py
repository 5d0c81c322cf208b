"""Vadus."""
