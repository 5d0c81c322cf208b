"""Trugo: tiles on a plane, and pieces that move along their pattern (R1 to R10)."""
