"""Generalized advantage estimation for self-play, where both players share one trajectory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def self_play_advantages(
    rewards: npt.ArrayLike,
    values: npt.ArrayLike,
    players: npt.ArrayLike,
    ended: npt.ArrayLike,
    *,
    next_values: npt.ArrayLike,
    next_players: npt.ArrayLike,
    gamma: float = 1.0,
    gae_lambda: float = 0.95,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return generalized advantage estimates for :class:`~stoneworks.envs.self_play.SelfPlayVectorEnv`.

    The game is zero-sum: a value of ``v`` for one player is ``-v`` for the other. The value of the next position and the
    advantage of the next step keep their sign if the same player moves again, and change sign if the opponent moves next.
    This is exact for any number of actions per turn. A step that ends its game does not bootstrap, even if the game was
    truncated: a truncated game has the reward of a draw, 0.

    Args:
        rewards: ``[num_steps, num_envs]``, the rewards returned by ``step``, from the perspective of the player who moved.
        values: ``[num_steps, num_envs]``, the value of each position for its player to move.
        players: ``int[num_steps, num_envs]``, the player to move, 0 or 1 (``env.players`` before the step).
        ended: ``bool[num_steps, num_envs]``, whether the step ended its game (terminations or truncations).
        next_values: ``[num_envs]``, the value of the position after the last step, for its player to move.
        next_players: ``int[num_envs]``, the player to move in that position.
        gamma: discount factor per action, in [0, 1].
        gae_lambda: the GAE parameter lambda, in [0, 1].

    Returns:
        Advantages and value targets, ``float64[num_steps, num_envs]``, from the perspective of the player who moved.

    Raises:
        ValueError: shapes do not match, a player is not 0 or 1, or ``gamma`` or ``gae_lambda`` is outside [0, 1].
    """
    reward, value = np.asarray(rewards, np.float64), np.asarray(values, np.float64)
    player, over = np.asarray(players), np.asarray(ended, np.bool_)
    last_value, last_player = np.asarray(next_values, np.float64), np.asarray(next_players)
    if reward.ndim != 2:
        raise ValueError(f"rewards must have the shape [num_steps, num_envs], got {reward.shape}")
    given = {"values": value, "players": player, "ended": over, "next_values": last_value, "next_players": last_player}
    for name, array in given.items():
        shape = reward.shape[1:] if name.startswith("next_") else reward.shape
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape {shape}, as rewards have {reward.shape}, got {array.shape}")
    for name, array in (("players", player), ("next_players", last_player)):
        if not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name} must be 0 or 1, got {np.setdiff1d(array, (0, 1))[0]}")
    for name, number in (("gamma", gamma), ("gae_lambda", gae_lambda)):
        if not 0 <= number <= 1:
            raise ValueError(f"{name} must be from 0 to 1, got {number!r}")
    advantages = np.zeros_like(reward)
    advantage = np.zeros(reward.shape[1])
    for step in range(len(reward) - 1, -1, -1):
        sign = np.where(over[step], 0.0, np.where(player[step] == last_player, 1.0, -1.0))
        error = reward[step] + gamma * sign * last_value - value[step]
        advantage = error + gamma * gae_lambda * sign * advantage
        advantages[step] = advantage
        last_value, last_player = value[step], player[step]
    return advantages, advantages + value
