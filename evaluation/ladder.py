"""Ladders: fixed players of a game with ratings from a long arena, stored as data.

The file of a ladder contains the arena's results (see ``results.py``) and their origin: command, date and versions.
The shipped ladders are in the package ``stoneworks.models.ladders``.
"""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.checkpoint_hashes import checkpoint_hashes
from stoneworks.evaluation.errors import LadderError
from stoneworks.evaluation.folder import file_stem, write_json
from stoneworks.evaluation.play import ArenaResult
from stoneworks.evaluation.ratings import Ratings
from stoneworks.evaluation.results import ratings_from, results_of
from stoneworks.reading import check_shape, parse_json, read_text
from stoneworks.text import percent

#: The standard players of a ladder, roughly by increasing strength.
ANCHORS = ("random", "mcts:10", "greedy", "alphabeta:1", "mcts:100", "alphabeta:2", "alphabeta:3", "mcts:1000")

_PACKAGE = "stoneworks.models.ladders"

#: Required fields of a ladder file.
_SHAPE = {
    "game": str,
    "games": int,
    "distinct_games": int,
    "players": [
        {
            "rank": int,
            "name": str,
            "elo": float,
            "error": float,
            "points": float,
            "games": int,
            "distinct_games": int,
            "over_next?": {"elo": float, "error": float, "likelihood_of_superiority": float},
        }
    ],
    "anchor": str,
    "seat": {"elo": float, "error": float},
    "covariance_of": [str],
    "covariance": [[float]],
    "settings": {"game_version": int, "opening_actions": int},
    "made": {"command": str, "date": str},
    "checkpoints?": [{"name": str, "sha256": str}],
}


@dataclass(frozen=True)
class Ladder:
    """A ladder.

    Attributes:
        game: the game string.
        ratings: the players' ratings with their covariance.
        fields: the contents of the ladder file.
    """

    game: str
    ratings: Ratings
    fields: Mapping[str, Any]

    @property
    def opening_actions(self) -> int:
        """Number of random actions at the start of each pair."""
        return int(self.fields["settings"]["opening_actions"])

    def changed_players(self) -> tuple[str, ...]:
        """Return the players that are checkpoints and have changed, or are gone, since the ladder was made."""
        recorded = {fields["name"]: fields["sha256"] for fields in self.fields.get("checkpoints", ())}
        hashes = checkpoint_hashes({name: name for name in recorded})
        return tuple(name for name, digest in recorded.items() if hashes.get(name) != digest)

    @classmethod
    def of_result(cls, result: ArenaResult, command: str) -> Ladder:
        """Return the ladder from an arena's result; ``command`` is the command that reproduces it.

        Raises:
            RatingError: the players cannot be rated.
        """
        fields = results_of(result)
        hashes = checkpoint_hashes({name: name for name in result.settings.players})
        fields["checkpoints"] = [{"name": name, "sha256": digest} for name, digest in hashes.items()]
        fields["made"] = {
            "command": command,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "versions": {
                "python": platform.python_version(),
                **{name: metadata.version(name) for name in ("stoneworks", "numpy", "numba")},
            },
        }
        return cls(result.settings.game, result.ratings, fields)

    @classmethod
    def from_text(cls, text: str, origin: str) -> Ladder:
        """Return the ladder in a file's text. Raises :class:`LadderError`, which names ``origin``, if it is invalid."""
        fields = parse_json(text, LadderError, origin)
        check_shape(fields, _SHAPE, LadderError, f"{origin} is not a ladder: it")
        try:
            ratings = ratings_from(fields)
            game = load_game(fields["game"])
        except ValueError as error:
            raise LadderError(f"{origin} is not a ladder: {error}") from None
        version = fields["settings"]["game_version"]
        if version != game.version:
            raise LadderError(
                f"{origin} is for version {version} of {game.name}; the present version is {game.version}"
            )
        return cls(str(game), ratings, fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ladder to a file, atomically."""
        write_json(Path(path), dict(self.fields))


def file_name_of(game: Game | str) -> str:
    """Return the file name of a game's ladder, such as ``vadus-size-5.json``."""
    return f"{file_stem(game)}.json"


def shipped_ladders() -> dict[str, Ladder]:
    """Return the shipped ladders by game string. Raises :class:`LadderError` if a file is invalid."""
    files = sorted((file for file in _files() if file.name.endswith(".json")), key=lambda file: file.name)
    ladders = [Ladder.from_text(file.read_text(encoding="utf-8"), file.name) for file in files]
    return {ladder.game: ladder for ladder in ladders}


def load_ladder(game: Game | str, path: str | os.PathLike[str] | None = None) -> Ladder:
    """Return the ladder of a game: the shipped one, or the one in a file.

    Raises:
        LadderError: there is none, the file cannot be read, or it is for a different game.
    """
    wanted = str(load_game(game) if isinstance(game, str) else game)
    if path is not None:
        ladder = Ladder.from_text(read_text(path, LadderError), str(path))
        if ladder.game != wanted:
            raise LadderError(f"{path} must be a ladder of {wanted}, got one of {ladder.game}")
        return ladder
    ladders = shipped_ladders()
    if wanted not in ladders:
        raise LadderError(
            f"no ladder for {wanted}; available: {', '.join(ladders) or 'none'} (`stoneworks ladder make` makes one)"
        )
    return ladders[wanted]


def ladder_table_markdown(ladders: Sequence[Ladder]) -> str:
    """Return the tables of ladders for the documentation, in Markdown."""
    parts = []
    for ladder in ladders:
        fields = ladder.fields
        made, seat = fields["made"], fields["seat"]
        lines = [
            f"### `{ladder.game}`",
            "",
            "| player | rating | ± | over the next | ± | stronger than the next | games |",
            "|---|---|---|---|---|---|---|",
        ]
        for player in fields["players"]:
            over = player.get("over_next")
            cells = [
                f"`{player['name']}`",
                f"{player['elo']:.0f}",
                f"{player['error']:.0f}" if player["name"] != fields["anchor"] else "",
                *(
                    ("", "", "")
                    if over is None
                    else (
                        f"{over['elo']:.0f}",
                        f"{over['error']:.0f}",
                        percent(over["likelihood_of_superiority"]),
                    )
                ),
                str(player["games"]),
            ]
            lines.append("| " + " | ".join(cells) + " |")
        lines += [
            "",
            f"{fields['games']} games, {fields['distinct_games']} distinct; player 0's seat is worth {seat['elo']:+.0f} ± "
            f"{seat['error']:.0f}. Made on {made['date']} by `{made['command']}`.",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n" if parts else "There are no ladders yet.\n"


def _files() -> list[Traversable]:
    return list(resources.files(_PACKAGE).iterdir())
