"""Terminal play: a human types actions, a bot answers. Input and output are text streams, so pipes work as well."""

from __future__ import annotations

from typing import TextIO

from stoneworks.envs.rules import Game, IllegalActionError, State
from stoneworks.models import Bot

HELP = """Type an action, or one of these:
  hint  what a bot would play
  undo  go back to your last decision
  help  this text
  quit  leave the game"""


class TerminalGame:
    """A game between a human and a bot.

    Attributes:
        state: the current position.
    """

    def __init__(self, game: Game, opponent: Bot, adviser: Bot, *, seat: int, source: TextIO, target: TextIO) -> None:
        """Create a game.

        Args:
            game: the game.
            opponent: the opponent of the human.
            adviser: the bot that gives hints.
            seat: seat of the human, 0 or 1.
            source: input stream.
            target: output stream.
        """
        if seat not in (0, 1):
            raise ValueError(f"seat must be 0 or 1, got {seat!r}")
        self._game = game
        self._opponent = opponent
        self._adviser = adviser
        self._seat = seat
        self._source = source
        self._target = target
        self._decisions: list[State] = []
        self.state = game.new_initial_state()

    def play(self) -> State:
        """Play until the game is over, the human quits or the input ends, and return the last position."""
        self._opponent.restart()
        self._say(f"{self._game}: you are player {self._seat}, {self._opponent.name} is player {1 - self._seat}.")
        self._say(f"{self._game.action_help}.")
        self._say(HELP)
        self._say("")
        while not self.state.is_terminal():
            if self.state.current_player() != self._seat:
                self._answer()
            elif not self._decide():
                self._say("The game is unfinished.")
                return self.state
        self._say(str(self.state))
        return self.state

    def _answer(self) -> None:
        action = self._opponent.step(self.state)
        self._say(f"{self._opponent.name} plays {self._game.action_to_string(action)}")
        self.state.apply_action(action)

    def _decide(self) -> bool:
        """Handle one decision of the human, and return whether the game continues."""
        self._say(str(self.state))
        while True:
            self._target.write("> ")
            self._target.flush()
            line = self._source.readline()
            if not line:
                self._say("")
                return False
            text = line.strip()
            if text == "quit":
                return False
            if text == "undo" and self._decisions:
                self.state = self._decisions.pop()
                self._opponent.restart()
                return True
            if text == "undo":
                self._say("There is nothing to undo.")
            elif text == "hint":
                self._say(
                    f"{self._adviser.name} would play {self._game.action_to_string(self._adviser.step(self.state))}"
                )
            elif text == "help":
                self._say(f"{self._game.action_help}.\n{HELP}")
            elif text and self._act(text):
                return True

    def _act(self, text: str) -> bool:
        """Apply the human's action and return whether it was legal; otherwise print the reason."""
        before = self.state.clone()
        try:
            action = self._game.string_to_action(text)
        except IllegalActionError as error:
            self._say(f"{error} (type help for help)")
            return False
        if not self.state.try_apply_action(action):
            self._say(f"{text} is illegal here")
            return False
        self._decisions.append(before)
        return True

    def _say(self, text: str) -> None:
        self._target.write(text + "\n")
