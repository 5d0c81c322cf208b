"""Tree searches, each a template over a game's four kernels (see :mod:`stoneworks.envs.rules.kernels`)."""
