"""Draw the pictures of the README and of the games' pages into ``docs/images``.

Run ``python docs/make_images.py``. The games were played by two greedy bots; their moves stand here, so that the pictures
change only where the drawing does.
"""

from __future__ import annotations

from pathlib import Path

from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import load_game

GAMES = {
    "vadus(size=9)": """
        h3 j2 i9 h5 j6 j8 k7 j5 i5 k10 i10 j9 j10 k6 h11 g11 h9 g12 k4 f11 h10 a12 k5 e12 h4 e13 d12 d13 i8 d14 g13 f13
        c13 h13 i12 j11 j12 l13 b13 i13 h2 c14 b12 b14 j7 a16 b15 a14 q2 l3 j1 m3 k3 m2 m1 h14 e15 e14 f15 g14 f14 d16
        e16 g15 k8 f16 g16 l8 p3 m7 o4 p4 l9 p5 o5 l11 m9 l10 p6 o10 o11 n10 o9
    """,
    "laido(size=9)": """
        j2 swap q2 i9 j8 i8 k8 j7 i10 j9 i11 j11 j6 j10 i7 h8 g9 g7 f4 f7 h7 i12 g8 h6 k5 h10 g10 h11 f11 k1 f12 g12 d15
        j3 b17 k6 l5 l6 e13 j4 m5 i5 m7 m6 c16 n6 d14 o5 p3 n4 o4 d8 pass d6 d7 e7 d9 c9 c10 b10 b11 a11 m1 j13 k14 l13
        k13 k12 l12 k11 h14 p4 j14 i14 g15 j15 i15 g16 h15 l11 n9 m11 n10 q4 m12 n11
    """,
}


def main() -> None:
    """Draw them all."""
    folder = Path(__file__).parent / "images"
    folder.mkdir(exist_ok=True)
    for game_string, moves in GAMES.items():
        game = load_game(game_string)
        state = game.deserialize_state("\n".join(moves.split()))
        path = folder / f"{game.name}.svg"
        draw(state).save(path)
        print(path)


if __name__ == "__main__":
    main()
