"""The pictures of the rulings on the games' pages: a position, the actions that it shows as legal or illegal, and a caption.

Run ``python docs/ruling_pictures.py`` to draw them. Green cells belong to legal actions, red cells (marked x) to illegal ones, and
yellow cells are what the caption names. On corners of Trugo, + marks legal actions and x illegal ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stoneworks.envs.drawing import Drawing, draw
from stoneworks.envs.rules import Game, State, load_game

LEGAL, ILLEGAL, NAMED = "#b5dda4", "#eda99f", "#ffdf80"


@dataclass(frozen=True)
class RulingPicture:
    """A picture of a ruling.

    Attributes:
        ruling: the ruling, such as ``T6``; with a suffix where a ruling has several pictures, such as ``T6-1``.
        game: the game string.
        moves: the actions that lead to the position.
        legal: actions that are legal there. Those that are not on the board, such as a pass, are not drawn.
        illegal: actions that are illegal there, likewise.
        named: cells to highlight.
        marks: texts by cell.
        then: actions that would follow and end the game, if ``result`` is given.
        result: how the game ends, as in the last line of ``str(state)``.
        caption: what the picture shows.
    """

    ruling: str
    game: str
    moves: str
    caption: str
    legal: str = ""
    illegal: str = ""
    named: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    result: str = ""

    @property
    def path(self) -> str:
        """The path of the picture in ``docs``."""
        return f"images/rulings/{self.game.partition('(')[0]}-{self.ruling.lower()}.svg"

    @property
    def markup(self) -> str:
        """The line of the game's page below the text of the ruling."""
        width = 320 if self.game.startswith("trugo") else 240  # the corners of its tiles are small
        return f'<br><img src="{self.path}" width="{width}" alt="{self.description}"><br><em>{self.caption}</em>'

    @property
    def description(self) -> str:
        """The alternative text of the picture."""
        parts = (
            ("Actions so far", self.moves),
            ("Legal", self.legal),
            ("Illegal", self.illegal),
            ("Highlighted", self.named),
        )
        listed = "".join(f" {name}: {', '.join(texts.split())}." for name, texts in parts if texts)
        return f"Position for {self.ruling}.{listed.replace('>', 'to ')}"

    def state(self) -> State:
        """Return the position."""
        return load_game(self.game).deserialize_state("\n".join(self.moves.split()))

    def draw(self) -> Drawing:
        """Return the picture."""
        state = self.state()
        game = state.game
        fill = dict.fromkeys(self.named.split(), NAMED)
        marks, numbers = dict(self.marks), {}
        for texts, color, mark in ((self.legal, LEGAL, "+"), (self.illegal, ILLEGAL, "x")):
            for text in texts.split():
                if text[-1] in "^v":  # a corner of a hexagon
                    numbers[game.string_to_action(text)] = mark
                    continue
                for cell in _cells(game, text):
                    fill.setdefault(cell, color)
                    if mark == "x":
                        marks[cell] = mark
        return draw(state, fill=fill, marks=marks, numbers=numbers, last_actions=())


def _cells(game: Game, text: str) -> list[str]:
    """Return the cells of an action: none of a pass, and of a tile of Taigo also that of the light half."""
    if text in game.global_actions:
        return []
    cells = [game.grid.cell_names[game.string_to_action(text) % game.grid.num_cells]]
    return cells + ([text.partition("-")[2]] if "-" in text else [])


_WALL = dict.fromkeys(["a4", "b4", "c4", "d4", "e4", "f4", "g4"], "+")

RULING_PICTURES = (
    RulingPicture(
        "V1",
        "vadus(size=3)",
        "",
        "Black's first turn is one stone on any point. A pass is illegal.",
        legal="c1 d1 e1 b2 c2 d2 e2 a3 b3 c3 d3 e3 a4 b4 c4 d4 a5 b5 c5",
        illegal="pass",
    ),
    RulingPicture(
        "V2",
        "vadus(size=3)",
        "c3 a3",
        "White has placed a3 and must place a second stone on one of the green points; a pass is illegal now.",
        legal="b2 c1 d1 e1 e2 e3 d4 c5 b5 a5 a4 b4 c4 d3 b3 c2 d2",
        illegal="pass",
    ),
    RulingPicture(
        "V3",
        "vadus(size=4)",
        "a5 pass g4 f4 pass e4 d4 pass c4 b4 pass a4 f2",
        "The edge stones a4 and a5 (+) are adjacent, so L = 2 for the group of eight.",
        marks={"a4": "+", "a5": "+"},
    ),
    RulingPicture(
        "V4",
        "vadus(size=4)",
        "d5 pass c5 g4 pass f4 e4 pass d4 c4 pass b4 a4",
        "A path of seven stones (+) and two extra stones (-): the group is worth 7 − 2 = 5.",
        marks={**_WALL, "c5": "-", "d5": "-"},
    ),
    RulingPicture(
        "V5",
        "vadus(size=2)",
        "b2 a3 b3 c2 c1 b1 a2",
        "The board is full. Black must pass, then White must pass, and the game ends.",
        legal="pass",
        then="pass pass",
        result="Black (player 0) wins by groups",
    ),
    RulingPicture(
        "V6",
        "vadus(size=3)",
        "b5 c5 d4 b4 a4 a3 b2 e3 c1 e1 d1",
        "Each stone shows the value of its group. Black wins at the first rank, 3 against 2.",
        marks={
            **dict.fromkeys(["a4", "b4", "b5"], "3"),
            **dict.fromkeys(["e3", "c1"], "-1"),
            **dict.fromkeys(["c5", "d4", "a3", "b2", "e1", "d1"], "2"),
        },
    ),
    RulingPicture(
        "L1",
        "laido(size=3)",
        "b3",
        "After the first stone, player 1 takes over Black (swap), places a white stone on a green cell, or passes.",
        legal="swap pass c1 d1 e1 b2 c2 d2 e2 a3 c3 d3 e3 a4 b4 c4 d4 a5 b5 c5",
        illegal="b3",
    ),
    RulingPicture(
        "L2",
        "laido(pie_rule=False,size=3)",
        "pass b3",
        "Without the pie rule: Black has passed on the first turn. After White's stone there is no swap.",
        legal="pass c1 d1 e1 b2 c2 d2 e2 a3 c3 d3 e3 a4 b4 c4 d4 a5 b5 c5",
        illegal="swap b3",
    ),
    RulingPicture(
        "L3",
        "laido(size=3)",
        "b3 d3 c4 c2 a5 e1 d4 b2 c1",
        "White places one stone on a green cell, or passes. Occupied cells (x) are illegal.",
        legal="pass d1 d2 e2 a3 c3 e3 a4 b4 b5 c5",
        illegal="b3 d3 c4 c2 a5 e1 d4 b2 c1",
    ),
    RulingPicture(
        "L4",
        "laido(size=4)",
        "d5 f2 c5 e2 g4 pass f4 pass e4 pass d4 pass c4 pass b4 pass a4",
        "Black's group is worth 7 − 2 = 5. White's has no edge stone and therefore no path: it is worth −2.",
        marks={**_WALL, **dict.fromkeys(["c5", "d5", "e2", "f2"], "-")},
    ),
    RulingPicture(
        "L5",
        "laido(size=3)",
        "d3 a5 b3 c2",
        "All groups are worth −1 and the center is empty. On hill 1 (yellow) White has fewer stones, one against two, and wins.",
        named="b4 c4 d3 d2 c2 b3",
    ),
    RulingPicture(
        "T1",
        "taugo(size=4)",
        "",
        "The 16 edge points (yellow) at the ends of the lines. Each is adjacent to one intersection.",
        named="b1 c1 d1 e1 b6 c6 d6 e6 a2 a3 a4 a5 f2 f3 f4 f5",
    ),
    RulingPicture(
        "T2",
        "taugo(size=4)",
        "c4 b2 end c2 end end c3 end end d3 end Sc1",
        "Three strings. The black one (A) includes a stone on an edge point; the white stones B and C are not connected.",
        marks={**dict.fromkeys(["c1", "c2", "c3", "c4"], "A"), "b2": "B", "d3": "C"},
    ),
    RulingPicture(
        "T3",
        "taugo(size=4)",
        "b2 end c2 end end b3 end end",
        "A black stone on c3 would complete a knot.",
        illegal="c3",
    ),
    RulingPicture(
        "T4",
        "taugo(size=5)",
        "d4 end",
        "A black stone on a green point is a single stone and ends the turn. On a yellow point it starts a line.",
        legal="c3 c5 e3 e5 b2 b3 b4 b5 b6 c2 c6 d2 d6 e2 e6 f2 f3 f4 f5 f6",
        named="d5 e4 d3 c4",
    ),
    RulingPicture(
        "T5",
        "taugo(size=6)",
        "d4 end g4 end e4",
        "Black has placed e4, the first stone of a line. The second stone chooses one of three directions.",
        legal="e5 f4 e3",
        illegal="f5",
    ),
    RulingPicture(
        "T6",
        "taugo(size=6)",
        "b5 c4 end e4 end c5 end end d5 end end e5 end end d6 end end f6",
        "Black's cut east to f5 (green) flips the run c5, d5, e5 (yellow).",
        legal="Ef5",
        named="c5 d5 e5",
    ),
    RulingPicture(
        "T6-1",
        "taugo(size=6)",
        "c5 d4 end d5 end end d6 end end e6 end",
        "Condition 1: e5 has two neighbors in the string of the run, d5 and e6.",
        illegal="Ee5",
        named="d5 e6",
    ),
    RulingPicture(
        "T6-2",
        "taugo(size=6)",
        "c5 e4 end d5 end e5 end end e6 end",
        "Condition 2: d5 is adjacent to only one white stone.",
        illegal="Ef5",
        named="d5",
    ),
    RulingPicture(
        "T6-3",
        "taugo(size=6)",
        "b5 end c6 end d6 end c4 end e4 end c5 end end d5 end end e5 end",
        "Condition 3: the flipped stones c5 and d5 would form a knot with c6 and d6.",
        illegal="Ef5",
        named="c5 d5 c6 d6",
    ),
    RulingPicture(
        "T7",
        "taugo(size=4)",
        "c4 b2 end c2 end end c3 end end d3 end",
        "A cut south reaches the edge point c1. The edge point b1 is out of reach.",
        legal="Sc1",
        illegal="b1",
    ),
    RulingPicture(
        "T8",
        "taugo(size=4)",
        "c3 end d5 end c4",
        "Black has placed c4, the first stone of a line. The action end stops the line here; it is not a pass.",
        legal="b4 c5 d4 end",
    ),
    RulingPicture(
        "T8-2",
        "taugo(size=4)",
        "c3 end",
        "White has passed. The action end is now a pass by Black, the second in a row, and ends the game.",
        legal="end",
        then="end",
        result="White (player 1) wins by score",
    ),
    RulingPicture(
        "T9",
        "taugo(size=4)",
        "c4 b2 end c2 end end c3 end end d3 end Sc1",
        "Black scores 1 for the perimeter stone c2, 1 for the edge stone c1 and ½ for fewer strings; White scores 1 for b2.",
        marks={"c2": "1", "c1": "1", "b2": "1"},
    ),
    RulingPicture("G1", "taigo(radius=5)", "", "The start of every game."),
    RulingPicture(
        "G2",
        "taigo(radius=5)",
        "",
        "With the dark half on h6 (yellow), the light half can go to five hexes.",
        legal="h6-i6 h6-h7 h6-g7 h6-h5 h6-i5",
        named="h6",
    ),
    RulingPicture(
        "G3",
        "taigo(radius=5)",
        "h6-h7 g8-f8 e8-e7",
        "Two enclosed hexes are not holes: no cone is placed, and a tile still fits.",
        legal="f7-g7",
    ),
    RulingPicture(
        "G4",
        "taigo(radius=5)",
        "h6-i6 e7-e6 i7-h8 f8-e8 g7-g8",
        "The last tile has created two holes. The same player fills both, in any order.",
        legal="f7+D f7+L h7+D h7+L",
    ),
    RulingPicture(
        "G5",
        "taigo(radius=5)",
        "f7-g7 f8-e8 f9-g9 f10-e10",
        "Light has just completed a row of five dark hexes (+): Dark wins.",
        marks=dict.fromkeys(["f6", "f7", "f8", "f9", "f10"], "+"),
        result="Dark (player 0) wins by five",
    ),
    RulingPicture(
        "G6",
        "taigo(radius=1)",
        "a3-a2 b1-c1",
        "One hex of the window is free. The game is a draw.",
        result="draw",
    ),
    RulingPicture(
        "R1",
        "trugo(radius=2,tiles=9)",
        "c3/0 d3/1 b3/2",
        "Tiles in the rotations 2, 0 and 1. White corners meet white ones and blue corners blue ones in every rotation.",
    ),
    RulingPicture(
        "R2",
        "trugo(radius=2,tiles=9)",
        "c3/0 c4/1 b4/2",
        "Where the three tiles meet there is a junction, which has received a white piece.",
    ),
    RulingPicture(
        "R3",
        "trugo(pieces=2,radius=3,tiles=18)",
        "d4/0 e4/0 e5/0 d6/0 c6/0 c5/0 d5/0",
        "The middle tile creates six junctions, but each reserve has two pieces: N, NE, SE and S are served.",
        named="d5",
    ),
    RulingPicture(
        "R4",
        "trugo(radius=2,tiles=5)",
        "c3/0 c4/1 b4/2 d3/0 c2/0",
        "In the waning phase four tiles can be removed. The middle one has no three consecutive empty neighbors.",
        legal="xb4 xc4 xd3 xc2",
        illegal="xc3",
    ),
    RulingPicture(
        "R5",
        "trugo(radius=3,tiles=12)",
        "d4/0 c4/1 c3/0 e4/2 b4/0 f4/1 a4/1 f3/2 b3/0 b4v >b3^",
        "White can pick c3^ (+). The piece on b3^ is pinned under a blue one, and the piece on f3^ has no destination.",
        legal="c3^",
        illegal="b3^ f3^",
    ),
    RulingPicture(
        "R6",
        "trugo(radius=4,tiles=18)",
        "e5/0 e6/1 d6/2 f5/2 e4/0 d5/1 f4/0 f6/1 c6/0 d4/1 e4^",
        "White has picked the piece on e4^; its destinations are marked with +.",
        legal=">f4^ >d5v >e5v >d6v",
    ),
    RulingPicture(
        "R7",
        "trugo(radius=3,tiles=12)",
        "d4/0 e3/1 e4/1 c4/1 d3/2 d2/2 e3^ >d4v e2/0 d4v",
        "The picked white piece pins a blue one on d4v. It moves to e3^ (+), and the surrounded blue piece is captured.",
        legal=">e3^",
    ),
    RulingPicture(
        "R8",
        "trugo(radius=2,tiles=6)",
        "c3/1 c4/1 b4/0 c5/1 a4/0 b3/0",
        "The waning phase. Removing the green tile removes the last blue piece, and White wins.",
        legal="xb3",
        then="xb3",
        result="White (player 0) wins by pieces",
    ),
    RulingPicture(
        "R9",
        "trugo(max_turns=4,radius=2,tiles=9)",
        "c3/0 c4/1 b4/2",
        "The fourth of at most four turns. A tile on the green hexagon ends the game, which is truncated.",
        legal="d3/0",
        then="d3/0",
        result="the game was truncated",
    ),
    RulingPicture(
        "R10",
        "trugo(radius=1,tiles=6)",
        "b2/0 c2/1 b3/2 a3/0 a2/1",
        "Five of six tiles are in a window of seven hexagons. There is room for the last tile on the green ones.",
        legal="b1/0 c1/0",
    ),
)


def main() -> None:
    """Draw them all."""
    folder = Path(__file__).parent
    (folder / "images" / "rulings").mkdir(parents=True, exist_ok=True)
    for picture in RULING_PICTURES:
        picture.draw().save(folder / picture.path)
        print(folder / picture.path)


if __name__ == "__main__":
    main()
