"""The pictures of turns, endings and rulings on the games' pages and their captions, from the guides of the games.

Run ``python docs/ruling_pictures.py`` to draw them and to write the captions into the pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stoneworks.envs.drawing import Drawing, draw_illustration
from stoneworks.envs.rules import State, load_game
from stoneworks.envs.rules.guide import Illustration

GAMES = ("vadus", "laido", "taugo", "taigo", "trugo")


@dataclass(frozen=True)
class RulingPicture:
    """An illustration as a file of the documentation."""

    illustration: Illustration

    @property
    def path(self) -> str:
        """The path of the picture in ``docs``."""
        return f"images/rulings/{self.illustration.game.partition('(')[0]}-{self.illustration.ruling.lower()}.svg"

    @property
    def link(self) -> str:
        """The picture on the game's page in Markdown, with its caption."""
        return f"![{self.illustration.description}]({self.path})<br>*{self.illustration.caption}*"

    def markup(self, address: str) -> str:
        """Return what the site shows instead: the picture, as a link to the page where its position is played on."""
        shown = self.illustration
        width = 320 if shown.game.startswith("trugo") else 240  # the corners of its tiles are small
        picture = f'<img src="{self.path}" width="{width}" alt="{shown.description}">'
        return f'<br><a href="{address}" title="Play on from here">{picture}</a><br><em>{shown.caption}</em>'

    def captioned(self, page: str) -> str:
        """Return the text of a page with the alternative text and the caption of today."""
        return re.sub(
            rf"!\[[^]\n]*\]\({re.escape(self.path)}\)(<br>\*.*\*$)?", lambda _: self.link, page, flags=re.MULTILINE
        )

    def state(self) -> State:
        """Return the position."""
        return load_game(self.illustration.game).deserialize_state("\n".join(self.illustration.moves.split()))

    def draw(self) -> Drawing:
        """Return the picture."""
        return draw_illustration(self.illustration)


RULING_PICTURES = tuple(
    RulingPicture(illustration) for name in GAMES for illustration in load_game(name).guide.illustrations
)


def main() -> None:
    """Draw them all, and write their captions."""
    folder = Path(__file__).parent
    (folder / "images" / "rulings").mkdir(parents=True, exist_ok=True)
    for picture in RULING_PICTURES:
        picture.draw().save(folder / picture.path)
        page = folder / f"{load_game(picture.illustration.game).name}.md"
        page.write_text(picture.captioned(page.read_text("utf-8")), "utf-8")
        print(folder / picture.path)


if __name__ == "__main__":
    main()
