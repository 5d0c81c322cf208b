"""Taugo once more, written as plainly as the rules read, to compare with (see ``naive_vadus_laido.py`` for what it offers)."""

from __future__ import annotations

HEADINGS = {"N": (0, 1), "E": (1, 0), "S": (0, -1), "W": (-1, 0)}

Point = tuple[int, int]


class NaiveTaugo:
    """A game of Taugo. A point is (column, row); the intersections have columns and rows 1 to ``size``."""

    def __init__(self, size: int, cut_point: str) -> None:
        self.size = size
        self.cut_point = cut_point
        inner = range(1, size + 1)
        self.intersections = {(column, row) for column in inner for row in inner}
        ends = (0, size + 1)
        self.edge_points = {(a, b) for a in ends for b in inner} | {(a, b) for a in inner for b in ends}
        self.stones: dict[Point, int] = {}
        self.to_act: int | None = 0
        self.passes = 0
        self.last: Point | None = None  # the last stone of a line in progress
        self.heading: str | None = None  # its direction, once there is one
        self.result: int | str | None = None
        self.reason: str | None = None

    # -- Points, strings, knots (T1 to T3) -----------------------------------------------------------------------------

    def neighbors(self, point: Point) -> list[Point]:
        column, row = point
        around = [(column + x, row + y) for x, y in HEADINGS.values()]
        if point in self.edge_points:
            return [other for other in around if other in self.intersections]
        return around

    @property
    def opponent(self) -> int:
        assert self.to_act is not None
        return 1 - self.to_act

    def friends(self, point: Point, color: int) -> list[Point]:
        return [other for other in self.neighbors(point) if self.stones.get(other) == color]

    def string_of(self, stone: Point) -> set[Point]:  # T2
        string = {stone}
        waiting = [stone]
        while waiting:
            for other in self.friends(waiting.pop(), self.stones[stone]):
                if other not in string:
                    string.add(other)
                    waiting.append(other)
        return string

    def strings(self, color: int) -> list[set[Point]]:
        found: list[set[Point]] = []
        for stone, of in self.stones.items():
            if of == color and not any(stone in string for string in found):
                found.append(self.string_of(stone))
        return found

    def makes_knot(self, new: set[Point]) -> bool:
        """Return whether there is a knot of the mover's once the points ``new`` hold stones of the mover's."""
        own = {point for point, color in self.stones.items() if color == self.to_act} | new
        own &= self.intersections
        return any({(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)} <= own for x, y in own)

    # -- Legal actions (T4 to T8) --------------------------------------------------------------------------------------

    def can_place(self, point: Point) -> bool:
        return point not in self.stones and point in self.intersections and not self.makes_knot({point})

    def run_behind(self, point: Point, heading: str) -> tuple[list[Point], Point | None]:
        """Return the enemy stones behind ``point``, nearest first, and the friendly stone behind them, if there is one."""
        x, y = HEADINGS[heading]
        run = []
        if point in self.edge_points and (point[0] - x, point[1] - y) not in self.neighbors(point):
            return [], None
        behind = (point[0] - x, point[1] - y)
        while self.stones.get(behind) == self.opponent:
            run.append(behind)
            behind = (behind[0] - x, behind[1] - y)
        return run, behind if self.stones.get(behind) == self.to_act else None

    def can_cut(self, point: Point, heading: str) -> bool:
        run, friend = self.run_behind(point, heading)
        if point in self.stones or not run or friend is None:
            return False
        if self.last is not None and friend != self.last:
            return False
        string = self.string_of(run[0]) if self.cut_point == "string" else set(run)  # T10
        exactly_one = len([other for other in self.neighbors(point) if other in string]) == 1
        two_friends_each = all(len(self.friends(stone, self.opponent)) >= 2 for stone in run)
        return exactly_one and two_friends_each and not self.makes_knot({point, *run})

    def further_stones(self) -> set[str]:
        """Return the texts of the stones that may follow in the line in progress."""
        assert self.last is not None
        texts: set[str] = set()
        if self.last in self.edge_points:
            return texts
        for heading in HEADINGS if self.heading is None else [self.heading]:
            x, y = HEADINGS[heading]
            following = (self.last[0] + x, self.last[1] + y)
            if self.can_place(following):
                texts.add(self.name(following))
            texts |= {heading + self.name(point) for point in self.all_points() if self.can_cut(point, heading)}
        return texts

    def legal_texts(self) -> set[str]:
        if self.result is not None:
            return set()
        if self.last is not None:
            return self.further_stones() | {"end"}
        places = {self.name(point) for point in self.intersections if self.can_place(point)}
        cuts = {
            heading + self.name(point)
            for point in self.all_points()
            for heading in HEADINGS
            if self.can_cut(point, heading)
        }
        return places | cuts | {"end"}

    # -- Playing -------------------------------------------------------------------------------------------------------

    def play(self, text: str) -> None:
        assert self.to_act is not None
        if text == "end":
            if self.last is None:
                self.passes += 1
            if self.passes == 2:
                self.finish()
            else:
                self.next_turn()
            return
        self.passes = 0
        if text[0].isupper():
            heading, point = text[0], self.point(text[1:])
            for stone in self.run_behind(point, heading)[0]:
                self.stones[stone] = self.to_act
            self.heading = heading
        else:
            point = self.point(text)
            if self.last is not None:
                step = (point[0] - self.last[0], point[1] - self.last[1])
                self.heading = next(heading for heading in HEADINGS if HEADINGS[heading] == step)
            elif not self.friends(point, self.to_act):
                self.stones[point] = self.to_act
                self.next_turn()
                return
        self.stones[point] = self.to_act
        self.last = point
        if not self.further_stones():
            self.next_turn()

    def next_turn(self) -> None:
        self.to_act = self.opponent
        self.last = None
        self.heading = None

    # -- The end (T8, T9) ----------------------------------------------------------------------------------------------

    def score(self) -> tuple[float, float]:
        perimeter = {(x, y) for x, y in self.intersections if {x, y} & {1, self.size}}
        scores = []
        for color in (0, 1):
            on_edge = sum(of == color for point, of in self.stones.items() if point in self.edge_points)
            lengths = [len(string & perimeter) for string in self.strings(color)]
            scores.append(float(sum(k * (k + 1) // 2 for k in [*lengths, on_edge])))
        fewer = len(self.strings(0)) - len(self.strings(1))
        if fewer:
            scores[0 if fewer < 0 else 1] += 0.5
        return scores[0], scores[1]

    def finish(self) -> None:
        black, white = self.score()
        self.result = "draw" if black == white else 0 if black > white else 1
        self.reason = "draw" if black == white else "score"
        self.to_act = None

    # -- Texts ---------------------------------------------------------------------------------------------------------

    def all_points(self) -> set[Point]:
        return self.intersections | self.edge_points

    def name(self, point: Point) -> str:
        return "abcdefghijklmnopqrstuvwxyz"[point[0]] + str(point[1] + 1)

    def point(self, name: str) -> Point:
        return "abcdefghijklmnopqrstuvwxyz".index(name[0]), int(name[1:]) - 1
