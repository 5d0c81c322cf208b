"""The notebooks of examples/ carry no outputs in the repository; tests/web/browser/test_site.py runs them with the site."""

from __future__ import annotations

import json
from pathlib import Path


def test_notebooks_are_stored_without_outputs(repository: Path) -> None:
    notebooks = list((repository / "examples").glob("*.ipynb"))
    assert len(notebooks) == 3
    for notebook in notebooks:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), notebook.name
            assert cell.get("execution_count") is None
