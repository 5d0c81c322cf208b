"""Draw the pictures of the README and of the games' pages into ``docs/images``.

Run ``python docs/make_images.py``. The games were played by two greedy bots; their moves stand here, so that the pictures
change only where the drawing does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from stoneworks.envs.drawing import Drawing, draw, pieces, svg
from stoneworks.envs.games.trugo import drawing as trugo
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.solved_accuracy.positions import load_solved_positions

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
    "taigo(radius=12)": """
        m12-l13 n14-m14 o12-o11 o10-n11 n12+L n10-o9 l12-m11 p11-p12 p9-p10 k11-k12 o14-p13 o13+L l10-m10 l11+D q12-q13
        r13-s12 r11-s11 r12+L p14-q14 t11-t10 u9-v9 u11-v10 u10+L s10-t9 w7-v8 v7-w6 w9-w10 x10-y10 x8-x7 w8+L y6-y5
        u12-v11 v12-v13 v14-u14 t14-t13 u13+D x11-w11 x12-w13 w12+D y9-x9 s14-s13 t12+D
    """,
    "taugo(size=9)": """
        j3 j2 j4 j5 j6 j7 j8 j9 j10 i2 i3 i4 i5 i6 i7 i8 i9 i10 c2 h10 g10 f10 e10 d10 c10 b10 b2 b3 b4 b5 b6 b7 b8 b9
        h5 g5 f5 e5 d5 c5 Wa5 d2 e2 f2 g2 h2 h3 g3 f3 e3 d3 c3 Wa3 c9 d9 e9 f9 g9 end h7 g7 f7 e7 d7 c7 Wa7 h9 h8 Sg1
        e8 Se1 c4 end Sc1 d4 e4 f4 end end g4 h4 end c6 d6 end end e6 f6 end end g6 h6 end Nh11 Ek9 Nc11 Ek4 Nf11 end
        end
    """,
    "trugo(radius=10,tiles=36)": """
        k11/2 l11/0 l10/0 m10/2 m9/2 l11v >m9^ m11/1 n10/1 n11/1 m11v >m10^ n9/0 o9/0 n9^ >n10v k10/2 j11/2 k11v >k10^
        n8/1 m8/0 n8^ >m9v k12/1 l9/1 k9/1 l9^ >k10v k12v >l10^ m8^ >l10v m12/0 n12/0 m12v >n10^ l12/1 k13/2 l11^ >k13v
        l12v >m11^ j13/1 m13/2 n13/2 m13v >n11^ n7/1 o7/1 o6/2 n8v >o6^ o8/2 n9v >o7^ l13/1 l14/0 l12^ >l14v l13v >n12^
        o8^ >m10v j14/0 i14/1 j14v >j13^ k14/1 k14v >k13^ o5/0 p5/0 p4/0
    """,
}


def trugo_geometry() -> Drawing:
    """Return a picture of the tiles of Trugo in rotation 0, 1 and 2, with the names of their corners."""
    elements, labels, distance = [], [], 2.0 * trugo.PITCH
    for rotation in range(3):
        x = rotation * distance
        elements.append(trugo.tiles([(rotation, (x, 0.0))]))
        labels.append((str(rotation), (x, 2.0 * trugo.EDGE)))
        for name, (corner_x, corner_y) in zip(("N", "NE", "SE", "S", "SW", "NW"), trugo.CORNERS, strict=True):
            labels.append((name, (x + 1.3 * corner_x, 1.3 * corner_y)))
    x = 3 * distance
    elements.append(trugo.tiles(zip((0, 1, 2), [(x, -trugo.EDGE), *_below(x)], strict=True)))
    elements.extend(trugo.stack([1, 0], (x, 0.0)))
    labels.append(("stack", (x, 2.0 * trugo.EDGE)))
    elements.append(pieces.labels(labels))
    description = (
        "The three rotations of a tile of Trugo, and three tiles that meet at a corner, on which a stack stands"
    )
    top = -2.2 * trugo.EDGE
    scene = svg.Scene(elements, -trugo.PITCH, top, x + trugo.PITCH, -top, description, trugo.PIECES)
    return Drawing(svg.document(scene))


def _below(x: float) -> list[svg.Point]:
    """Return the centers of the hexes below and beside the corner (x, 0), from the right."""
    return [(x + trugo.PITCH / 2, trugo.EDGE / 2), (x - trugo.PITCH / 2, trugo.EDGE / 2)]


def trugo_waiting_turn() -> Drawing:
    """Return a picture of a solved ending that searches lose, with its only winning action."""
    game = load_game("trugo(radius=10,tiles=36)")
    position = load_solved_positions(game).positions[26]
    (text,) = position.keeping
    return draw(position.state(game), last_actions=(), fill={text.removeprefix("x"): "#80c080"})


SECONDS_PER_ACTION, SECONDS_AT_THE_END = 0.4, 5.0
SVG = "http://www.w3.org/2000/svg"


def animated_game() -> Drawing:
    """Return the recorded game of Taugo as an SVG that plays it in a loop: each element of a picture is visible in its actions."""
    ElementTree.register_namespace("", SVG)
    game = load_game("taugo(size=9)")
    state, pictures = game.new_initial_state(), []
    for text in GAMES[str(game)].split():
        state.apply_action(game.string_to_action(text))
        pictures.append(re.sub(r"s[0-9a-f]{10}-", "s-", draw(state).svg))
    seen: dict[str, dict[str, list[int]]] = {}  # the actions of each element, by layer
    for number, picture in enumerate(pictures):
        before = ""
        for layer, element in _elements(picture):
            if layer not in seen:  # after the layer that it follows
                order = [*seen]
                order.insert(order.index(before) + 1 if before else 0, layer)
                seen = {name: seen.get(name, {}) for name in order}
            seen[layer].setdefault(element, []).append(number)
            before = layer
    content = ""
    for layer, elements in seen.items():
        animated = (_visible_at(element, numbers, len(pictures)) for element, numbers in elements.items())
        content += f"{layer}{''.join(animated)}{'</g>' if layer.startswith('<g') else ''}"
    opening = pictures[-1][: pictures[-1].index(">") + 1]
    return Drawing(f"{opening}{content}</svg>")


def _elements(picture: str) -> Iterator[tuple[str, str]]:
    """Yield the elements of a picture, each with the tag of its layer: a group of elements, or a comment."""
    singles = 0
    for child in ElementTree.fromstring(picture):
        is_layer = child.tag == f"{{{SVG}}}g" and not any(len(leaf) for leaf in child)
        singles += not is_layer
        tag = "".join(f' {name}="{value}"' for name, value in child.attrib.items())
        for leaf in child if is_layer else (child,):
            text = ElementTree.tostring(leaf, encoding="unicode").replace(f' xmlns="{SVG}"', "").replace(" />", "/>")
            yield (f"<g{tag}>" if is_layer else f"<!--{singles}-->"), text


def _visible_at(element: str, numbers: Sequence[int], num_actions: int) -> str:
    """Return an element that is visible at these actions; without animation, if it is in the last picture."""
    if len(numbers) == num_actions:
        return element
    shown = [number in set(numbers) for number in range(num_actions)]
    duration = num_actions * SECONDS_PER_ACTION + SECONDS_AT_THE_END
    starts = [(value, next(run)[0]) for value, run in groupby(enumerate(shown), key=lambda pair: pair[1])]
    times = ";".join(f"{start * SECONDS_PER_ACTION / duration:.4g}" for _, start in starts)
    values = ";".join("visible" if value else "hidden" for value, _ in starts)
    static = "" if shown[-1] else ' visibility="hidden"'
    animation = (
        f'<animate attributeName="visibility" values="{values}" keyTimes="{times}" calcMode="discrete"'
        f' dur="{duration:g}s" repeatCount="indefinite"/>'
    )
    tag, rest = re.match(r"<(\w+)(.*?)/?>", element).groups()
    return f"<{tag}{rest}{static}>{animation}</{tag}>"


#: The other pictures, by the name of the file.
OTHERS = {
    "game": animated_game,
    "trugo-geometry": trugo_geometry,
    "trugo-waiting-turn": trugo_waiting_turn,
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
    for name, picture in OTHERS.items():
        path = folder / f"{name}.svg"
        picture().save(path)
        print(path)


if __name__ == "__main__":
    main()
