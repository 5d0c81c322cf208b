"""``ExportedPolicyBot``: plays a policy trained with another library (see :mod:`stoneworks.models.exported_policy`)."""

from __future__ import annotations

from stoneworks.envs.rules import Game
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.errors import UnknownBotError
from stoneworks.models.exported_policy import ExportedPolicyError, load_policy


class ExportedPolicyBot(PolicyBot):
    """Plays a policy loaded from a file, sampling actions or taking the argmax according to its ``selection``."""

    @classmethod
    def from_name(cls, argument: str, game: Game, seed: int | None) -> ExportedPolicyBot:
        """See :meth:`Bot.from_name`; ``argument`` is the path of the file."""
        try:
            policy = load_policy(argument, game)
        except ExportedPolicyError as error:
            raise UnknownBotError(f"'policy:{argument}' cannot play {game}: {error}") from error
        deterministic = policy.selection == "argmax"
        return cls(policy, game, seed, deterministic=deterministic, name=f"policy:{argument}")  # type: ignore[arg-type]
