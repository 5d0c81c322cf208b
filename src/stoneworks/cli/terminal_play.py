"""Terminal play: a human types actions on standard input, a bot answers. Pipes work as well."""

from __future__ import annotations

from dataclasses import dataclass, field

from stoneworks.envs.rules import IllegalActionError, State
from stoneworks.models import Bot

HELP = """Type an action, several actions of a turn on one line, or one of these:
  hint  what a bot would play
  undo  go back to your last decision
  help  the rules in short, and this text
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

    def play(self) -> None:
        """Play until the game is over, the human quits or the input ends."""
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
                return
        print(self.state)

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
                found = self.adviser.analyze(self.state)
                value = "" if found.value is None else f" (value {found.value:+.2f} for you)"
                print(f"{self.adviser.name} would play {game.action_to_string(found.action)}{value}")
            elif text == "help":
                print("\n".join([*game.guide.rules, "", f"{game.action_help}.", HELP]))
            elif text and self._act(text.split()):
                return True

    def _act(self, texts: list[str]) -> bool:
        """Apply the human's actions and return whether all were legal; otherwise print the reason and apply none."""
        before, after = self.state, self.state.clone()
        for text in texts:
            try:
                action = after.get_game().string_to_action(text)
            except IllegalActionError as error:
                print(f"{error} (type help for help)")
                return False
            if after.current_player() != self.seat and not after.is_terminal():
                print(f"{text} is illegal: the turn is over")
                return False
            if reason := after.explain_illegal(action):
                print(f"{text} is illegal: {reason}")
                return False
            after.apply_action(action)
        self.state = after
        self.decisions.append(before)
        return True
