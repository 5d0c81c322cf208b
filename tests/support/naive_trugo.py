"""A slow, plain implementation of Trugo from its rulings (R1 to R10): dicts, sets, and no code shared with the kernels."""

from __future__ import annotations

from itertools import product

DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))  # counter-clockwise from the east
CLOCKWISE_CORNERS = ("N", "NE", "SE", "S", "SW", "NW")
JOINED = ((("SE", "SW"), ("NE", "NW")), (("N", "SW"), ("S", "NE")), (("N", "SE"), ("S", "NW")))  # by rotation

Hex = tuple[int, int]
Corner = tuple[int, int, str]


def corner_of(at: Hex, name: str) -> Corner:
    q, r = at
    return {
        "N": (q, r, "^"),
        "NE": (q, r + 1, "v"),
        "SE": (q + 1, r - 1, "^"),
        "S": (q, r, "v"),
        "SW": (q, r - 1, "^"),
        "NW": (q - 1, r + 1, "v"),
    }[name]


def hexes_at(corner: Corner) -> list[Hex]:
    q, r, kind = corner
    if kind == "^":
        return [(q, r), (q, r + 1), (q - 1, r + 1)]
    return [(q, r), (q, r - 1), (q + 1, r - 1)]


def corners_next_to(corner: Corner) -> list[Corner]:
    q, r, kind = corner
    if kind == "^":
        return [(q, r + 1, "v"), (q - 1, r + 1, "v"), (q - 1, r + 2, "v")]
    return [(q, r - 1, "^"), (q + 1, r - 1, "^"), (q + 1, r - 2, "^")]


class NaiveTrugo:
    def __init__(self, tiles: int, pieces: int, stacking: bool, max_turns: int, radius: int):
        self.pool = tiles
        self.reserve = [pieces, pieces]
        self.stacking = stacking
        self.max_turns = max_turns
        self.radius = radius
        span = range(-radius, radius + 1)
        self.window = {(q, r) for q, r in product(span, span) if abs(q + r) <= radius}
        columns = "abcdefghijklmnopqrstuvwxyz"
        self.name_of = {(q, r): f"{columns[q + radius]}{r + radius + 1}" for q, r in product(span, span)}
        self.hex_of = {name: at for at, name in self.name_of.items()}
        self.tiles: dict[Hex, int] = {}
        self.stacks: dict[Corner, list[int]] = {}  # colors from the bottom up, only where there is a piece
        self.picked: Corner | None = None
        self.turns = 0
        self.to_act: int | None = 0
        self.result: int | str | None = None
        self.reason: str | None = None
        self.captured: list[tuple[int, list[int]]] = []  # in the last turn: color, and the stack as it was

    def score(self) -> None:
        return None

    # -- the plane -----------------------------------------------------------------------------------------------

    def neighbors(self, at: Hex) -> list[Hex]:
        return [(at[0] + dq, at[1] + dr) for dq, dr in DIRECTIONS]

    def is_junction(self, corner: Corner) -> bool:  # R2
        return all(at in self.tiles for at in hexes_at(corner))

    def height(self, corner: Corner) -> int:
        return len(self.stacks.get(corner, ()))

    def top(self, corner: Corner) -> int | None:
        return self.stacks[corner][-1] if corner in self.stacks else None

    def corner_text(self, corner: Corner) -> str:
        return self.name_of[corner[:2]] + corner[2]

    def corner_from(self, text: str) -> Corner:
        return (*self.hex_of[text[:-1]], text[-1])

    # -- legal actions -------------------------------------------------------------------------------------------

    def legal_texts(self) -> set[str]:
        if self.result is not None:
            return set()
        if self.picked is not None:
            return {">" + self.corner_text(corner) for corner in self.destinations(self.picked)}
        texts = set()
        if self.pool:  # R3
            places = {at for tile in self.tiles for at in self.neighbors(tile)} - set(self.tiles) or {(0, 0)}
            texts |= {f"{self.name_of[at]}/{rotation}" for at in places & self.window for rotation in range(3)}
        else:
            texts |= {"x" + self.name_of[at] for at in self.tiles if self.is_removable(at)}
        texts |= {  # R5
            self.corner_text(corner)
            for corner in self.stacks
            if self.top(corner) == self.to_act and self.destinations(corner)
        }
        return texts

    def is_removable(self, at: Hex) -> bool:  # R4
        empty = [neighbor not in self.tiles for neighbor in self.neighbors(at)]
        if not any(empty[i] and empty[(i + 1) % 6] and empty[(i + 2) % 6] for i in range(6)):
            return False
        rest = set(self.tiles) - {at}
        if not rest:
            return True
        reached = {min(rest)}
        while True:
            more = {neighbor for tile in reached for neighbor in self.neighbors(tile)} & rest
            if more <= reached:
                return reached == rest
            reached |= more

    def destinations(self, start: Corner) -> set[Corner]:  # R6
        highest = 1 if self.stacking else 0
        passed = {start}
        landed: set[Corner] = set()
        waiting = [start]
        while waiting:
            corner = waiting.pop()
            for at in hexes_at(corner):
                if at not in self.tiles:
                    continue
                for pair in JOINED[self.tiles[at]]:
                    ends = [corner_of(at, name) for name in pair]
                    if corner not in ends:
                        continue
                    other = ends[1 - ends.index(corner)]
                    if other == start:
                        continue
                    if self.is_junction(other) and self.height(other) <= highest:
                        landed.add(other)
                    if self.height(other) == 0 and other not in passed:
                        passed.add(other)
                        waiting.append(other)
        for corner in passed:
            for other in corners_next_to(corner):
                if self.is_junction(other) and self.height(other) <= highest:
                    landed.add(other)
        return landed - {start}

    # -- playing -------------------------------------------------------------------------------------------------

    def play(self, text: str) -> None:
        assert text in self.legal_texts(), text
        if text[0] == ">":
            assert self.picked is not None
            piece = self.stacks[self.picked].pop()
            if not self.stacks[self.picked]:
                del self.stacks[self.picked]
            self.stacks.setdefault(self.corner_from(text[1:]), []).append(piece)
            self.picked = None
        elif text[0] == "x":
            at = self.hex_of[text[1:]]
            del self.tiles[at]
            for name in CLOCKWISE_CORNERS:
                self.stacks.pop(corner_of(at, name), None)
        elif text[-2] == "/":
            at = self.hex_of[text[:-2]]
            self.tiles[at] = int(text[-1])
            self.pool -= 1
            for name in CLOCKWISE_CORNERS:  # R3
                corner = corner_of(at, name)
                color = 0 if corner[2] == "^" else 1
                if self.is_junction(corner) and self.reserve[color]:
                    self.reserve[color] -= 1
                    self.stacks[corner] = [color]
        else:
            self.picked = self.corner_from(text)
            return
        self.end_turn()

    def end_turn(self) -> None:
        mover = self.to_act
        assert mover is not None
        self.captured = []
        for color in (1 - mover, mover):  # R7
            for corner in {corner for group in self.surrounded_groups(color) for corner in group}:
                stack = self.stacks.pop(corner)
                self.captured.append((color, stack))
                if len(stack) == 2 and stack[0] != stack[1]:
                    self.stacks[corner] = stack[:1]
        self.turns += 1
        if self.pool == 0:  # R8
            left = {color for stack in self.stacks.values() for color in stack}
            if 1 - mover not in left:
                self.result = mover
            elif mover not in left:
                self.result = 1 - mover
            self.reason = None if self.result is None else "pieces"
        if self.result is None and self.turns == self.max_turns:  # R9
            self.result, self.reason = "truncated", "max_turns"
        self.to_act = None if self.result is not None else 1 - mover

    def surrounded_groups(self, color: int) -> list[set[Corner]]:
        unseen = {corner for corner in self.stacks if self.top(corner) == color}
        groups = []
        while unseen:
            group = {unseen.pop()}
            waiting = list(group)
            border = set()
            while waiting:
                for other in corners_next_to(waiting.pop()):
                    if other in unseen:
                        unseen.remove(other)
                        group.add(other)
                        waiting.append(other)
                    elif other not in group:
                        border.add(other)
            if all(self.top(other) == 1 - color for other in border):
                groups.append(group)
        return groups
