"""Hooks of the site's generator: copies of the repository's files that pages link to, notebooks and the changelog as pages.

Pages link to files as the repository has them, such as ``../examples/hex.py``; where such a link to Python is a paragraph, the
file is shown below it. Pictures of rulings get their captions.
Notebooks are executed if the environment variable ``EXECUTE_NOTEBOOKS`` is 1; without it, their pages have no outputs.
The games are built for the browser (see :mod:`tools.browser`), and the page of each game begins with a board.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
from mkdocs.structure.files import File
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor, ExecutePreprocessor
from traitlets.config import Config

from docs.ruling_pictures import RULING_PICTURES, RulingPicture
from stoneworks.envs.rules import load_game
from tools.browser.build import GAMES, address_of, build

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((\.\./[\w./-]+(?:\.(?:py|yaml|toml|md|sh)|/Containerfile))\)")
SOURCE_LINE = re.compile(r"^\[[\w.]+\]\((\.\./[\w./-]+\.py)\)$", re.MULTILINE)
NOTEBOOK_LINK = re.compile(r"\]\(\.\./examples/(\w+)\.ipynb\)")
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
#: Where names in cells may break.
BREAKS = re.compile(r"(?<=[a-z0-9_])([,.])(?=[a-z_]{2})")
#: Factors of the search by the start of a page's path; the first that fits counts.
BOOSTS = {
    "training": 1.5,
    **dict.fromkeys(("environments", "play", "train", "rate", "agents"), 2.0),
    **dict.fromkeys(("vadus", "laido", "taugo", "taigo", "trugo", "games", "results", "libraries/"), 1.5),
    "notebooks/": 0.5,
    **dict.fromkeys(("api/", "changelog"), 0.05),
}
#: Where the games are built for the browser, and the programs that play them on pages.
PLAY_FOLDER = ROOT / "build" / "browser"
PLAY_FILES = (
    "engine/analyze.js",
    "engine/client.js",
    "engine/engine.js",
    "engine/page.css",
    "engine/page.js",
    "engine/worker.js",
    "static/analysis.js",
    "static/board.css",
    "static/board.js",
    "static/dom.js",
)
#: In the address of the repository until a person has filled it in.
PLACEHOLDER = "OWNER"
CELL_TIMEOUT_SECONDS = 600
#: Of an output in several formats, the first of these is shown.
OUTPUT_FORMATS = ["image/svg+xml", "image/png", "text/plain"]


def on_config(config: Any) -> Any:
    """Take the version and the address of the repository from ``pyproject.toml``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    config["copyright"] = f"stoneworks {project['version']}, MIT license"
    if PLACEHOLDER not in project["urls"]["Repository"]:
        config["repo_url"] = project["urls"]["Repository"]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add a copy of each linked file of the repository to the site, and the pages of the changelog and the notebooks."""
    docs = Path(config["docs_dir"])
    linked = set()
    for page in docs.rglob("*.md"):
        uri = page.relative_to(docs).as_posix()
        linked |= {_outside(uri, link) for link in LINK.findall(page.read_text("utf-8"))}
    for path in sorted(linked - {""}):
        files.append(File.generated(config, f"source/{path}.txt", content=(ROOT / path).read_text("utf-8")))
    files.append(File.generated(config, "changelog.md", content=(ROOT / "CHANGELOG.md").read_text("utf-8")))
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        for path, content in _notebook_files(notebook):
            files.append(File.generated(config, path, content=content))
    for path, content in play_files():
        files.append(File.generated(config, path, content=content))
    return files


def play_files() -> Iterator[tuple[str, bytes]]:
    """Build the games for the browser, and yield the files that pages with boards load, by their paths in the site."""
    shutil.rmtree(PLAY_FOLDER, ignore_errors=True)
    build(PLAY_FOLDER)
    for path in sorted(PLAY_FOLDER.iterdir()):
        yield f"play/games/{path.name}", path.read_bytes()
    for name in PLAY_FILES:
        yield f"play/{name.partition('/')[2]}", (ROOT / "web" / name).read_bytes()
    yield "play-offline.js", (ROOT / "web/engine/play-offline.js").read_bytes()


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Load the programs of the boards on pages that have one."""
    if 'class="play-here"' not in output:
        return output
    folder = posixpath.relpath("play", posixpath.dirname(page.url) or ".")
    styles = "".join(f'<link rel="stylesheet" href="{folder}/{name}.css">' for name in ("board", "page"))
    script = f'<script type="module" src="{folder}/page.js"></script>'
    return output.replace("</head>", f"{styles}</head>").replace("</body>", f"{script}</body>")


def _outside(page: str, link: str) -> str:
    """Return the path of a linked file in the repository, or "" if it is a page of the site."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return "" if path.startswith("docs/") else path


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links to the copies and to the pages of the notebooks, and show the files of Python that pages show whole."""
    uri = page.file.src_uri
    page.meta["search"] = {"boost": next((BOOSTS[start] for start in BOOSTS if uri.startswith(start)), 1.0)}
    if uri.startswith(("api/", "notebooks/")):
        return markdown

    def copied(match: re.Match[str]) -> str:
        path = _outside(uri, match[1])
        return f"]({posixpath.relpath(f'source/{path}.txt', posixpath.dirname(uri) or '.')})" if path else match[0]

    def shown(match: re.Match[str]) -> str:
        return f"{match[0]}\n\n```python\n{(ROOT / _outside(uri, match[1])).read_text('utf-8')}```"

    markdown = SOURCE_LINE.sub(shown, markdown)
    if (game := uri.removesuffix(".md")) in GAMES:
        board = f'<div class="play-here" data-game="{game}">Loading the game</div>'
        markdown = markdown.replace("\n## ", f"\n{board}\n\n## ", 1)
    for picture in RULING_PICTURES:
        if picture.link in markdown:
            markdown = markdown.replace(picture.link, picture.markup(_address_of(picture)))
    return NOTEBOOK_LINK.sub(r"](notebooks/\1.md)", LINK.sub(copied, markdown))


def _address_of(picture: RulingPicture) -> str:
    """Return the address of a picture's position on the page where it is played on."""
    shown = picture.illustration
    return f"play-here.html#{quote(';'.join([address_of(load_game(shown.game)), *shown.moves.split()]), safe=';')}"


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Let long names in the cells of tables break after commas and dots."""
    if page.file.src_uri.startswith("api/"):
        return html

    def breakable(cell: re.Match[str]) -> str:
        return re.sub(r"<code>[^<]*</code>", lambda code: BREAKS.sub(r"\1<wbr>", code[0]), cell[0])

    return CELL.sub(breakable, html)


def _is_progress(output: Any) -> bool:
    """Return whether an output is progress or a warning: standard error, or text that is displayed on the way."""
    if output["output_type"] == "display_data":
        return not any(kind.startswith("image/") for kind in output["data"])
    return output.get("name") == "stderr"


def _notebook_files(path: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield the files of a notebook by their paths in the site: the page, the pictures on it, and the notebook itself."""
    notebook = nbformat.read(path, as_version=4)
    if os.environ.get("EXECUTE_NOTEBOOKS") == "1":
        ExecutePreprocessor(timeout=CELL_TIMEOUT_SECONDS).preprocess(notebook, {})
    for cell in notebook.cells:
        cell["outputs"] = [output for output in cell.get("outputs", []) if not _is_progress(output)]
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    exporter = MarkdownExporter(config=Config({"NbConvertBase": {"display_data_priority": OUTPUT_FORMATS}}))
    page, resources = exporter.from_notebook_node(notebook, {"output_files_dir": f"{path.stem}_files"})
    title, _, rest = page.strip().partition("\n")
    download = f"Download the notebook: [{path.name}](../source/examples/{path.name})"
    yield f"notebooks/{path.stem}.md", f"{title}\n\n{download}\n{rest}\n"
    for name, content in resources["outputs"].items():
        yield f"notebooks/{name}", content
    yield f"source/examples/{path.name}", path.read_text("utf-8")
