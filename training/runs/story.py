"""``RunStory``: texts on the runs of an algorithm for the display, the report and the model card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Plot:
    """A plot of a report.

    Attributes:
        file: file name of the picture.
        caption: alternative text of the picture.
        panels: for each panel, its title and the line labels by metric name. A name that ends with ``*`` stands for all
            metrics with that prefix; their labels are the rest of their names.
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
        heading: heading of the section.
        plots: its plots.
        words: function that returns a paragraph above the plots from the rows of metrics; None for no paragraph.
    """

    heading: str
    plots: Sequence[Plot]
    words: Callable[[Sequence[Row]], str] | None = None


@dataclass(frozen=True)
class RunStory:
    """Texts on the runs of an algorithm.

    Attributes:
        title: display name of the algorithm.
        lines: function that returns the text beside the progress bar and the lines below it from a status.
        facts: function that returns the table of the report, by row name, from the ``training`` part of a checkpoint.
        trained: function that returns how the agent was trained, for the section "Training" of the model card, from the
            same.
        sections: the sections of the report that show metrics.
    """

    title: str
    lines: Callable[[Any], tuple[str, Sequence[str]]] = lambda status: ("", ())
    facts: Callable[[Row], Mapping[str, str]] = lambda training: {}
    trained: Callable[[Row], str] = lambda training: ""
    sections: Sequence[Section] = ()
