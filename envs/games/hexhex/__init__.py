"""Vadus and Laido: stones on a hexhex board, decided by comparing groups."""
