"""Lets PufferLib 3.0.0 be built without its own games: its setup then reads a name that it has not defined."""

import builtins

builtins.c_extension_paths = []
