"""Compilation of kernels: types, the compiler, its cache on disk, threads, bits and random numbers."""
