"""Hook of the site's generator: pages link to files of the repository (``../examples/hex.py``), which the site carries as text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
#: A link of a page in docs/ to a file outside of it.
LINK = re.compile(r"\]\(\.\./([\w./-]+\.(?:py|yaml|toml|md))\)")


def on_files(files: Any, config: Any) -> Any:
    """Add a copy of each linked file of the repository to the site."""
    linked = {path for page in Path(config["docs_dir"]).glob("*.md") for path in LINK.findall(page.read_text("utf-8"))}
    for path in sorted(linked):
        files.append(File.generated(config, f"source/{path}.txt", content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links to the copies."""
    return LINK.sub(r"](source/\1.txt)", markdown) if "/" not in page.file.src_uri else markdown
