"""Mutants of a file's functions: a place, and its replacement code.

All mutants are written into one copy of the code, each behind a switch (``a < b`` becomes ``a <= b if mutated(7) else a < b``), so
that kernels are compiled once and not once per mutant (mutant schemata; Untch, Offutt, Harrold 1993).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
#: What carries no behavior, or cannot hold a switch.
_SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Match, ast.arguments, ast.Lambda)


Place: TypeAlias = tuple[int, int, int, int, str]


@dataclass(frozen=True)
class Mutant:
    """A small mistake: ``kind`` says which, at the place in the file."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    kind: str
    text: str

    @property
    def place(self) -> Place:
        """Its position in the file, and its kind: no two mutants share both."""
        return self.line, self.column, self.end_line, self.end_column, self.kind


def find_mutants(root: Path, file: Path) -> list[Mutant]:
    """Return all mutants of the functions of a file, in the order of the code."""
    found: list[Mutant] = []

    def note(node: Any, kind: str, changed: ast.AST) -> None:
        text = f"{ast.unparse(node)} -> {ast.unparse(changed)}"
        found.append(Mutant(file.relative_to(root).as_posix(), *_place(node, kind), text))

    _Switches(note).visit(ast.parse(file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda mutant: mutant.place)


def with_switches(file: Path, numbers: Mapping[Place, int]) -> str:
    """Return the code of a file with the mutants at these places behind switches of the given numbers."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    start = sum(isinstance(statement, (ast.Expr, ast.ImportFrom)) for statement in tree.body[:2])
    _Switches(lambda node, kind, _: numbers.get(_place(node, kind))).visit(tree)
    tree.body[start:start] = ast.parse("from tools.mutation.switch import mutated as _mutated").body
    return ast.unparse(ast.fix_missing_locations(tree))


def _place(node: Any, kind: str) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, kind


class _Switches(ast.NodeTransformer):
    """Puts mutants that ``choose`` gives a number behind switches; ``choose(node, kind, changed node)``."""

    def __init__(self, choose: Callable[[Any, str, ast.AST], int | None]) -> None:
        self._choose = choose
        self._depth = 0

    def visit(self, node: ast.AST) -> Any:
        """Return the replacement of a node."""
        if isinstance(node, ast.FunctionDef):
            return self._function(node)
        if self._depth == 0:
            return self.generic_visit(node)
        if isinstance(node, _SKIPPED) or (isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store)):
            return node
        original = copy.deepcopy(node)
        if isinstance(node, ast.AnnAssign):
            node.value = None if node.value is None else self.visit(node.value)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
            node.value = self.visit(node.value)  # places in tuples are constants for numba
        else:
            self.generic_visit(node)
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            node.test = self._condition(original.test, node.test)  # type: ignore[attr-defined]
        return self._switched(original, node)

    def _function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._depth += 1
        first = node.body[0]
        is_documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        node.body = [*node.body[:is_documented], *map(self.visit, node.body[is_documented:])]
        self._depth -= 1
        return node

    def _condition(self, original: ast.expr, test: ast.expr) -> ast.expr:
        if isinstance(original, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)):
            return test  # mutated as such
        number = self._choose(original, "condition", ast.UnaryOp(ast.Not(), original))
        return test if number is None else _if_switched(number, ast.UnaryOp(ast.Not(), copy.deepcopy(test)), test)

    def _switched(self, original: ast.AST, node: ast.AST) -> ast.AST:
        result = node
        for (kind, changed), (_, rewritten) in zip(_changes(original), _changes(node), strict=False):
            number = self._choose(original, kind, changed)
            if number is None:
                continue
            if isinstance(node, ast.stmt):
                result = ast.If(_switch(number), [cast(ast.stmt, rewritten)], [cast(ast.stmt, result)])
            else:
                result = _if_switched(number, cast(ast.expr, rewritten), cast(ast.expr, result))
        return result


def _switch(number: int) -> ast.expr:
    return ast.Call(ast.Name("_mutated", ast.Load()), [ast.Constant(number)], [])


def _if_switched(number: int, changed: ast.expr, kept: ast.expr) -> ast.expr:
    return ast.IfExp(_switch(number), changed, kept)


def _changes(node: Any) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kind of each mutant of a node, and its replacement."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", _with(node, ops=[_COMPARISONS[type(node.ops[0])]()])
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
        yield "operator", _with(node, op=_OPERATORS[type(node.op)]())
    if isinstance(node, ast.BoolOp):
        yield "connective", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "negation", copy.deepcopy(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield "constant", ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    is_stored = isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute))
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if is_stored or is_call or isinstance(node, (ast.Break, ast.Continue, ast.AugAssign)):
        yield "removal", ast.Pass()


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
