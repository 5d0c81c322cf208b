"""Searches: templates over a game's kernels that look ahead (see :mod:`stoneworks.envs.rules.kernels`)."""
