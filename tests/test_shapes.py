"""Every public function of the rules, environments and models that takes or returns arrays states their shapes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

#: Annotations of arrays; mappings of weights by name have no single shape.
ARRAY = re.compile(r"(?<!str, )\b(npt\.\w+|np\.ndarray|Tensor|\w+Array|\w+Tables?|Bools|U?Int\d+s|Float\d+s)\b")
#: ``float32[n, 2]``, ``[n]`` or ``rows[n]``, but not the first entry ``states[0]``.
SHAPE = re.compile(r"``\w*\[(?!0\])[^\]]+\]")
REFERENCE = re.compile(r":(?:meth|func):`~?(?:[\w.]*\.)?(\w+)`")


def public_functions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{owner}:{node.name}")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{owner}:{node.name}", node


def test_docstrings_state_the_shapes_of_arrays(repository: Path) -> None:
    paths = [path for folder in ("envs", "models") for path in sorted((repository / folder).rglob("*.py"))]
    functions = [one for path in paths for one in public_functions(ast.parse(path.read_text()).body, str(path))]
    texts = {name: ast.get_docstring(node) or "" for name, node in functions}
    stated = {name.rpartition(":")[2] for name, text in texts.items() if SHAPE.search(text)}
    missing = []
    for name, node in functions:
        arguments = [*node.args.args, *node.args.kwonlyargs]
        annotations = " ".join(ast.unparse(one) for one in [*(a.annotation for a in arguments), node.returns] if one)
        if "Record" in annotations or not ARRAY.search(annotations):
            continue  # kernels of one position are documented by their callers
        if not SHAPE.search(texts[name]) and not stated.intersection(REFERENCE.findall(texts[name])):
            missing.append(f"{Path(name).relative_to(repository)}:{node.lineno}")
    assert functions
    assert not missing, "\n".join(missing)
