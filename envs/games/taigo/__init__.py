"""Taigo."""
