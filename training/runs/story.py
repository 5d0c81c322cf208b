"""``RunStory``: what the display, the report and the model card say about the runs of an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Plot:
    """A figure of a report.

    Attributes:
        file: name of the picture.
        caption: its text alternative.
        panels: for each panel its title and the labels of its lines by the name of the metric.
        shares: whether the axis shows percentages.
    """

    file: str
    caption: str
    panels: Sequence[tuple[str, Mapping[str, str]]]
    shares: bool = False


@dataclass(frozen=True)
class Section:
    """A section of a report that shows metrics.

    Attributes:
        heading: its heading.
        plots: its figures.
        words: returns a paragraph above them from the metrics' rows; None for none.
    """

    heading: str
    plots: Sequence[Plot]
    words: Callable[[Sequence[Row]], str] | None = None


@dataclass(frozen=True)
class RunStory:
    """What is said about the runs of an algorithm.

    Attributes:
        title: the algorithm's name as texts have it.
        lines: returns, from a status, the text beside the progress bar and the lines below it.
        facts: returns, from the ``training`` part of a checkpoint, what its report tabulates, by name.
        trained: returns, likewise, how the agent was trained, for "By <title>: ..." in its model card.
        sections: the sections of the report that show metrics.
    """

    title: str
    lines: Callable[[Any], tuple[str, Sequence[str]]] = lambda status: ("", ())
    facts: Callable[[Row], Mapping[str, str]] = lambda training: {}
    trained: Callable[[Row], str] = lambda training: ""
    sections: Sequence[Section] = ()
