"""Runs any built-in bot as an external program (see docs/protocol.md).

``python -m stoneworks.models.bots.external_program greedy`` plays as the bot ``greedy``.
"""

from __future__ import annotations

import sys
from typing import TextIO

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.loading import load_bot


def serve(bot_name: str, source: TextIO, target: TextIO) -> None:
    """Answer the messages in ``source`` until its end or ``quit``.

    Raises:
        ValueError: the referee named an unknown game or action, or the bot is unknown.
    """
    game: Game | None = None
    seed: int | None = None
    bot: Bot | None = None
    state: State | None = None

    def say(line: str) -> None:
        print(line, file=target, flush=True)

    for line in source:
        word, _, rest = line.strip().partition(" ")
        if word == "stoneworks":
            say(f"stoneworks 1 {bot_name}")
        elif word == "game":
            game, bot = load_game(rest), None
        elif word == "seed":
            seed = int(rest)
        elif word == "new" and game is not None:
            bot = bot or load_bot(bot_name, game, seed)
            bot.restart()
        elif word == "ready":
            say("ready")
        elif word == "position" and game is not None:
            state = game.deserialize_state("\n".join(rest.split()))
        elif word == "go" and bot is not None and state is not None:
            say(f"action {state.action_to_string(bot.step(state))}")
        elif word == "quit":
            break


def main() -> None:
    """Serve the bot named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m stoneworks.models.bots.external_program <name of a bot>")
    serve(sys.argv[1], sys.stdin, sys.stdout)


if __name__ == "__main__":
    main()
