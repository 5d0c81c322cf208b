"""Taigo once more, written as plainly as the rules read, to compare with: dicts and sets of hexes, nothing kept."""

from __future__ import annotations

Hex = tuple[int, int]  # (q, r)

AXES = ((1, 0), (0, 1), (-1, 1))
DIRECTIONS = (*AXES, (-1, 0), (0, -1), (1, -1))


class NaiveTaigo:
    """One game of Taigo.

    Attributes:
        to_act: the player to move, None once the game is over.
        result: None, the winning player, or "draw".
        reason: None, "five", "draw" (the last tile) or "no_place".
    """

    def __init__(self, tiles: int, cones: int, handicap: tuple[int, int], radius: int) -> None:
        self.radius = radius
        extent = range(-radius, radius + 1)
        self.window = {(q, r) for q in extent for r in extent if abs(q + r) <= radius}
        self.neighbors = {(q, r): {(q + dq, r + dr) for dq, dr in DIRECTIONS} for q, r in self.window}
        self.color_at = {(0, 0): "D", (1, 0): "L"}  # G1
        self.tiles_left = tiles - 1
        self.cones_left = {"D": cones + handicap[0], "L": cones + handicap[1]}
        self.to_fill: set[Hex] = set()
        self.to_act: int | None = 0
        self.result: int | str | None = None
        self.reason: str | None = None

    def name(self, cell: Hex) -> str:
        q, r = cell
        return f"{'abcdefghijklmnopqrstuvwxyz'[q + self.radius]}{r + self.radius + 1}"

    def holes(self) -> set[Hex]:
        """G3. Neighbors outside the window are never occupied, so a border hex is none."""
        return {cell for cell in self.window - set(self.color_at) if self.neighbors[cell] <= self.color_at.keys()}

    def tile_places(self) -> dict[str, tuple[Hex, Hex]]:
        """G2: the texts of all tiles that fit, with their dark and their light hex."""
        free = self.window - set(self.color_at)
        touching = {cell for cell in free if self.neighbors[cell] & self.color_at.keys()}
        return {
            f"{self.name(dark)}-{self.name(light)}": (dark, light)
            for dark in free
            for light in self.neighbors[dark] & free
            if dark in touching or light in touching
        }

    def cone_places(self) -> dict[str, tuple[Hex, str]]:
        """G4: the texts of all cones that may be put, with their hex and color."""
        colors = [color for color, left in self.cones_left.items() if left]
        return {f"{self.name(cell)}+{color}": (cell, color) for cell in self.to_fill for color in colors}

    def legal_texts(self) -> set[str]:
        if self.result is not None:
            return set()
        return set(self.cone_places() if self.to_fill else self.tile_places())

    def play(self, text: str) -> None:
        assert text in self.legal_texts(), text
        if self.to_fill:
            cell, color = self.cone_places()[text]
            self.color_at[cell] = color
            self.cones_left[color] -= 1
            self.to_fill.remove(cell)
        else:
            dark, light = self.tile_places()[text]
            holes_before = self.holes()
            self.color_at[dark] = "D"
            self.color_at[light] = "L"
            self.tiles_left -= 1
            self.to_fill = self.holes() - holes_before
        if not any(self.cones_left.values()):
            self.to_fill = set()
        if not self.to_fill:
            self.end_turn()

    def has_five(self, color: str) -> bool:
        return any(
            all(self.color_at.get((q + step * dq, r + step * dr)) == color for step in range(5))
            for q, r in self.color_at
            for dq, dr in AXES
        )

    def end_turn(self) -> None:
        mover = self.to_act
        assert mover is not None
        self.to_act = None
        if self.has_five("DL"[1 - mover]):  # G5
            self.result, self.reason = 1 - mover, "five"
        elif self.has_five("DL"[mover]):
            self.result, self.reason = mover, "five"
        elif self.tiles_left == 0:
            self.result, self.reason = "draw", "draw"
        elif not self.tile_places():  # G6
            self.result, self.reason = "draw", "no_place"
        else:
            self.to_act = 1 - mover

    def score(self) -> None:
        return None
