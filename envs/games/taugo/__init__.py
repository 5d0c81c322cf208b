"""Taugo: strings, lines and cuts on a square board (T1 to T10)."""
