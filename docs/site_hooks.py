"""Hooks of the site's generator: copies of the repository's files that pages link to, and the notebooks of ``examples/`` as pages.

Pages link to files as the repository has them, such as ``../examples/hex.py``. Notebooks are executed if the environment variable
``EXECUTE_NOTEBOOKS`` is 1; without it, their pages have no outputs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor, ExecutePreprocessor
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[1]
#: A link of a page in docs/ to a file outside of it.
LINK = re.compile(r"\]\(\.\./([\w./-]+(?:\.(?:py|yaml|toml|md|sh)|/Containerfile))\)")
NOTEBOOK_LINK = re.compile(r"\]\(\.\./examples/(\w+)\.ipynb\)")
CELL_TIMEOUT_SECONDS = 600
#: Of an output in several formats, the first of these is shown.
OUTPUT_FORMATS = ["image/svg+xml", "image/png", "text/plain"]


def on_files(files: Any, config: Any) -> Any:
    """Add a copy of each linked file of the repository to the site, and the pages of the notebooks."""
    linked = {path for page in Path(config["docs_dir"]).glob("*.md") for path in LINK.findall(page.read_text("utf-8"))}
    for path in sorted(linked):
        files.append(File.generated(config, f"source/{path}.txt", content=(ROOT / path).read_text("utf-8")))
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        for path, content in _notebook_files(notebook):
            files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links to the copies and to the pages of the notebooks."""
    if "/" in page.file.src_uri:
        return markdown
    return NOTEBOOK_LINK.sub(r"](notebooks/\1.md)", LINK.sub(r"](source/\1.txt)", markdown))


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
