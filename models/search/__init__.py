"""Searches many turns deep: templates over the kernels of a game and, where they judge positions, of its evaluation."""
