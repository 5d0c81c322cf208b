"""Laido."""
