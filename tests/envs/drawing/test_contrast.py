"""Contrast of pieces, tiles and marks with what is below them (WCAG 2.2)."""

from __future__ import annotations

import pytest

from stoneworks.envs.drawing import theme
from stoneworks.envs.games.trugo import drawing as trugo


def contrast(one: str, other: str) -> float:
    """The WCAG 2.2 contrast ratio of two colors."""
    low, high = sorted(map(theme.relative_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("stones", "grounds"),
    [(theme.STONES, [theme.BOARD]), (trugo.PIECES, [trugo.WHITE_REGION, trugo.BLUE_REGION])],  # R2: on tiles alone
    ids=["stones", "pieces of Trugo"],
)
def test_every_piece_stands_out_from_its_ground_by_its_fill_or_its_outline(
    stones: tuple[theme.StoneColors, ...], grounds: list[str]
) -> None:
    for stone in stones:
        for ground in grounds:
            fill = min(contrast(stone.top, ground), contrast(stone.bottom, ground))
            assert max(fill, contrast(stone.outline, ground)) >= 3


def test_every_tile_and_mark_stands_out_from_its_ground() -> None:
    for region in (trugo.WHITE_REGION, trugo.BLUE_REGION):
        assert contrast(region, trugo.GROUND) >= 3
    for color in (trugo.MOVABLE, *(stone.outline for stone in theme.STONES)):
        assert contrast(color, trugo.GROUND if color == trugo.MOVABLE else theme.BOARD) >= 3
    for color in (theme.LAST_MOVE, theme.ACCENT, theme.NUMBER):
        assert contrast(color, theme.BOARD) >= 3
    assert contrast(theme.LABEL, theme.PANEL) >= 4.5
