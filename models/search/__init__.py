"""Search algorithms, written as templates over a game's kernels (see :mod:`stoneworks.envs.rules.compiler.compiler`)."""
