"""Guides of games: the rules in short, and lessons that a newcomer plays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

#: Of what a picture highlights, an alternative text names at most this many places or actions, and counts more.
_MAX_NAMED = 6


class Lesson(NamedTuple):
    """A position in which a newcomer plays some actions.

    Attributes:
        text: what to know, and what to do.
        game: the game string of a small board.
        actions: texts of the actions that lead to the position.
        answers: the accepted texts of each action to play in turn; an empty tuple accepts every legal action.
    """

    text: str
    game: str
    actions: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Illustration:
    """A picture of a ruling, or of a turn or an ending.

    Attributes:
        ruling: the ruling, such as ``T6``; with a suffix where a ruling has several pictures, such as ``T6-1``; or the number of
            the picture of a turn or an ending, such as ``turn-1``.
        game: the game string.
        moves: texts of the actions that lead to the position.
        title: the ruling in a few words; of a turn or an ending, which of its pictures it is.
        caption: what the picture shows.
        legal: actions that are legal there. Those that are not on the board, such as a pass, are not drawn.
        illegal: actions that are illegal there, likewise.
        named: cells to highlight.
        region: corners of Trugo whose regions are shaded.
        marks: texts by cell, or by corner in Trugo.
        then: actions that would follow and end the game, if ``result`` is given.
        result: how the game ends, as in the last line of ``str(state)``.
    """

    ruling: str
    game: str
    moves: str = ""
    title: str = ""
    caption: str = ""
    legal: str = ""
    illegal: str = ""
    named: str = ""
    region: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    result: str = ""

    @property
    def description(self) -> str:
        """The alternative text of the picture: its title, and what is drawn on the position."""
        num_moves = len(self.moves.split())
        texts = [
            f"position after {num_moves} action{'s' if num_moves > 1 else ''}" if num_moves else "start of the game"
        ]
        for what, unit, shown in (
            ("legal", "actions", self.legal.split()),
            ("illegal", "actions", self.illegal.split()),
            ("yellow", "cells", self.named.split()),
            ("region of", "corners", self.region.split()),
            ("marked", "places", list(self.marks)),
        ):
            if len(shown) > _MAX_NAMED:
                texts.append(f"{len(shown)} {what} {unit}")
            elif shown:
                texts.append(f"{what} {', '.join(shown)}".replace(">", "to "))
        return f"{self.title}: {'; '.join(texts)}"


@dataclass(frozen=True)
class Guide:
    """What a newcomer reads and tries.

    Attributes:
        rules: the rules in a few sentences.
        lessons: positions to play in.
        notation: what the texts of actions mean.
        titles: each ruling in a few words.
        illustrations: pictures of a turn, an ending and each ruling.
        boards: names of option values for a new game, such as ``{"small": {"size": 5}}``.
        reference: descriptions for the tables of the game's page, by name: of ``options`` (what follows their allowed
            values), ``planes``, ``reasons`` and examples of ``actions``.
    """

    rules: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    boards: Mapping[str, Mapping[str, int]] | None = None
    illustrations: tuple[Illustration, ...] = ()
    notation: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_guide(rules: str) -> Guide:
    """Return the guide in ``guide.json`` beside the file ``rules``, such as ``__file__``."""
    fields = json.loads(Path(rules).with_name("guide.json").read_text(encoding="utf-8"))
    lessons = (
        Lesson(text, game, tuple(actions.split()), tuple(tuple(texts.split()) for texts in answers))
        for text, game, actions, answers in fields["lessons"]
    )
    titles = fields["titles"]
    illustrations = tuple(
        Illustration(title=_title(illustration["ruling"], titles), **illustration)
        for illustration in fields["illustrations"]
    )
    return Guide(
        rules=tuple(fields["rules"]),
        lessons=tuple(lessons),
        boards=fields["boards"],
        illustrations=illustrations,
        notation=fields["notation"],
        titles=titles,
        reference=fields["reference"],
    )


def _title(ruling: str, titles: Mapping[str, str]) -> str:
    name, _, number = ruling.partition("-")
    picture = {"turn": "A turn, picture", "end": "An ending, picture"}.get(name)
    return f"{picture} {number}" if picture else titles.get(name, "Ruling")
