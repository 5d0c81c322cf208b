"""Vadus and Laido once more, written as plainly as the rules read, to compare with: slow, and free of cleverness.

Every naive game has: ``legal_texts()``, ``play(text)``, ``to_act`` (0, 1 or None once the game is over), ``result``
(None, 0, 1, ``"draw"`` or ``"truncated"``), ``reason`` (None while the game goes on) and ``score()``.
"""

from __future__ import annotations

from itertools import zip_longest

Point = tuple[int, int]  # (q, r)


class NaiveBoard:
    """A hexhex board: its points as a set of (q, r)."""

    def __init__(self, size: int) -> None:
        self.radius = size - 1
        extent = range(-self.radius, self.radius + 1)
        self.points = {(q, r) for q in extent for r in extent if abs(q + r) <= self.radius}

    def name(self, point: Point) -> str:
        q, r = point
        return "abcdefghijklmnopqrstuvwxyz"[q + self.radius] + str(r + self.radius + 1)

    def neighbors(self, point: Point) -> list[Point]:
        q, r = point
        around = [(q + 1, r), (q, r + 1), (q - 1, r + 1), (q - 1, r), (q, r - 1), (q + 1, r - 1)]
        return [neighbor for neighbor in around if neighbor in self.points]

    def is_edge(self, point: Point) -> bool:
        return len(self.neighbors(point)) < 6

    def hill(self, distance: int) -> set[Point]:
        return {(q, r) for q, r in self.points if max(abs(q), abs(r), abs(q + r)) == distance}

    def groups(self, stones: set[Point]) -> list[set[Point]]:
        groups = []
        left = set(stones)
        while left:
            group = set()
            waiting = [left.pop()]
            while waiting:
                stone = waiting.pop()
                group.add(stone)
                for neighbor in self.neighbors(stone):
                    if neighbor in left:
                        left.remove(neighbor)
                        waiting.append(neighbor)
            groups.append(group)
        return groups

    def path_length(self, group: set[Point]) -> int:
        """V3: walk out from every edge stone in turn until the next edge stone is met."""
        lengths = []
        for start in group:
            if not self.is_edge(start):
                continue
            steps = {start: 0}
            queue = [start]
            for stone in queue:
                for neighbor in self.neighbors(stone):
                    if neighbor in group and neighbor not in steps:
                        steps[neighbor] = steps[stone] + 1
                        queue.append(neighbor)
            lengths += [steps[stone] + 1 for stone in group if self.is_edge(stone) and stone != start]
        return min(lengths, default=0)

    def value(self, group: set[Point]) -> int:
        """V4: the stones of the path less the stones beside it."""
        on_path = self.path_length(group)
        beside = len(group) - on_path
        return on_path - beside


class NaiveStonesGame:
    """What Vadus and Laido share."""

    def __init__(self, size: int) -> None:
        self.board = NaiveBoard(size)
        self.point_of_name = {self.board.name(point): point for point in self.board.points}
        self.stones: dict[Point, str] = {}
        self.player_of_color = {"black": 0, "white": 1}
        self.to_act: int | None = 0
        self.turns: list[str] = []  # "stones", "pass" or "swap"
        self.result: int | str | None = None
        self.reason: str | None = None

    def color_to_act(self) -> str:
        return "black" if self.player_of_color["black"] == self.to_act else "white"

    def empty_texts(self) -> set[str]:
        return {name for name, point in self.point_of_name.items() if point not in self.stones}

    def stones_of(self, color: str) -> set[Point]:
        return {point for point, found in self.stones.items() if found == color}

    def score(self) -> tuple[list[int], list[int]]:
        black, white = (
            sorted((self.board.value(group) for group in self.board.groups(self.stones_of(color))), reverse=True)
            for color in ("black", "white")
        )
        return black, white

    def better_groups(self) -> str | None:
        """V6: the color that is ahead at the first rank that differs."""
        for of_black, of_white in zip_longest(*self.score()):
            if of_black is None or of_white is None:
                return None
            if of_black > of_white:
                return "black"
            if of_white > of_black:
                return "white"
        return None

    def end_turn(self, turn: str) -> None:
        self.turns.append(turn)
        self.to_act = 1 - self.to_act
        if self.turns[-2:] == ["pass", "pass"]:
            self.to_act = None
            color, self.reason = self.decide()
            self.result = "draw" if color is None else self.player_of_color[color]


class NaiveVadus(NaiveStonesGame):
    """Vadus."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.stones_left_in_turn = 1

    def legal_texts(self) -> set[str]:
        if self.to_act is None:
            return set()
        first_turn = not self.turns
        turn_begun = not first_turn and self.stones_left_in_turn == 1
        return self.empty_texts() | (set() if first_turn or turn_begun else {"pass"})

    def play(self, text: str) -> None:
        if text == "pass":
            self.end_turn("pass")
            return
        self.stones[self.point_of_name[text]] = self.color_to_act()
        self.stones_left_in_turn -= 1
        if self.stones_left_in_turn == 0:
            self.stones_left_in_turn = 2
            self.end_turn("stones")

    def decide(self) -> tuple[str | None, str]:
        better = self.better_groups()
        return better, "draw" if better is None else "groups"


class NaiveLaido(NaiveStonesGame):
    """Laido."""

    def __init__(self, size: int, pie_rule: bool, tie_break: str) -> None:
        super().__init__(size)
        self.pie_rule = pie_rule
        self.tie_break = tie_break

    def legal_texts(self) -> set[str]:
        if self.to_act is None:
            return set()
        texts = self.empty_texts() | {"pass"}
        if self.pie_rule and len(self.turns) == 0:
            texts.remove("pass")
        if self.pie_rule and len(self.turns) == 1:
            texts.add("swap")
        return texts

    def play(self, text: str) -> None:
        if text == "pass":
            self.last_to_pass = self.color_to_act()
            self.end_turn("pass")
        elif text == "swap":
            self.player_of_color = {"black": 1, "white": 0}
            self.end_turn("swap")
        else:
            self.stones[self.point_of_name[text]] = self.color_to_act()
            self.end_turn("stones")

    def decide(self) -> tuple[str | None, str]:
        better = self.better_groups()
        if better is not None:
            return better, "groups"
        if self.tie_break == "first_pass":  # L6
            return ("black" if self.last_to_pass == "white" else "white"), "first_pass"
        for distance in range(self.board.radius + 1):
            black = len(self.stones_of("black") & self.board.hill(distance))
            white = len(self.stones_of("white") & self.board.hill(distance))
            if black != white:
                return ("black" if black < white else "white"), "hills"
        return None, "draw"
