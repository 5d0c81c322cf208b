"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

GameOption = Annotated[str, typer.Option(help="A game string such as 'vadus(size=5)'.")]
OpeningActions = Annotated[int, typer.Option(min=0, help="Random actions at the start of each pair.")]
