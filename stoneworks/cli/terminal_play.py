"""Terminal play: a human types actions on standard input, a bot answers. Pipes work as well."""

from __future__ import annotations

from dataclasses import dataclass, field

from stoneworks.envs.rules import IllegalActionError, State
from stoneworks.models import Bot

HELP = """Type an action, or one of these:
  hint  what a bot would play
  undo  go back to your last decision
  help  this text
  quit  leave the game"""


@dataclass
class TerminalGame:
    """A game between a human and a bot.

    Attributes:
        state: the current position.
        opponent: the opponent of the human.
        adviser: the bot that gives hints.
        seat: seat of the human, 0 or 1.
        decisions: the positions of the human's decisions, for undo.
    """

    state: State
    opponent: Bot
    adviser: Bot
    seat: int
    decisions: list[State] = field(default_factory=list)

    def play(self) -> State:
        """Play until the game is over, the human quits or the input ends, and return the last position."""
        game = self.state.get_game()
        self.opponent.restart()
        print(f"{game}: you are player {self.seat}, {self.opponent.name} is player {1 - self.seat}.")
        print(f"{game.action_help}.\n{HELP}\n")
        while not self.state.is_terminal():
            if self.state.current_player() != self.seat:
                action = self.opponent.step(self.state)
                print(f"{self.opponent.name} plays {game.action_to_string(action)}")
                self.state.apply_action(action)
            elif not self._decide():
                print("The game is unfinished.")
                return self.state
        print(self.state)
        return self.state

    def _decide(self) -> bool:
        """Handle one decision of the human, and return whether the game continues."""
        game = self.state.get_game()
        print(self.state)
        while True:
            try:
                text = input("> ").strip()
            except EOFError:
                print()
                return False
            if text == "quit":
                return False
            if text == "undo" and self.decisions:
                self.state = self.decisions.pop()
                self.opponent.restart()
                return True
            if text == "undo":
                print("There is nothing to undo.")
            elif text == "hint":
                print(f"{self.adviser.name} would play {game.action_to_string(self.adviser.step(self.state))}")
            elif text == "help":
                print(f"{game.action_help}.\n{HELP}")
            elif text and self._act(text):
                return True

    def _act(self, text: str) -> bool:
        """Apply the human's action and return whether it was legal; otherwise print the reason."""
        before = self.state.clone()
        try:
            action = self.state.get_game().string_to_action(text)
        except IllegalActionError as error:
            print(f"{error} (type help for help)")
            return False
        if not self.state.try_apply_action(action):
            print(f"{text} is illegal here")
            return False
        self.decisions.append(before)
        return True
