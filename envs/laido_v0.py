"""Laido as a PettingZoo AEC environment: ``env(...)`` takes the game's options and the arguments of ``BoardGameEnv``."""

from functools import partial

from stoneworks.envs.aec import BoardGameEnv

env = raw_env = partial(BoardGameEnv, "laido")
