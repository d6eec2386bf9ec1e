"""Mutants: files with one small change each, made by the mutators of mutmut."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.mutants.copies import ROOT

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class Mutant:
    """A file with one change."""

    file: str
    function: str
    was: str
    now: str
    lines: range = field(compare=False)  # of the statement that is changed
    constant: bool = field(compare=False)  # it is run when its file is imported
    text: Callable[[], str] = field(compare=False, repr=False)  # of the file; slow to make

    @property
    def key(self) -> str:
        """What it is known by; edits elsewhere in its file do not change it."""
        return f"{self.file}\n{self.function}\n{self.was}\n{self.now}"

    def draw(self, seed: int) -> bytes:
        """Return a random key: those with the least make a sample (see ``assess.reservoir``)."""
        return hashlib.sha256(f"{seed}\n{self.key}".encode()).digest()

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.file}:{self.lines.start} in {self.function or 'the module'}",
                *(f"-   {line}" for line in self.was.splitlines()),
                *(f"+   {line}" for line in self.now.splitlines()),
            ]
        )


def mutants(file: str) -> Iterator[Mutant]:
    """Make all mutants of a file.

    Not changed are what no run can notice, types and decorators; what mutmut leaves alone, ``len``
    and ``isinstance``; and two more that no test should pin: the wording of errors, and ``strict=``
    of ``zip``, which guards against errors of ours.
    """
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider
    from mutmut.mutation.mutators import mutation_operators

    wrapper = MetadataWrapper(cst.parse_module((ROOT / file).read_text(encoding="utf-8")))
    module, position = wrapper.module, wrapper.resolve(PositionProvider)

    def visit(
        node: cst.CSTNode, function: str, statement: cst.CSTNode, raised: bool, inside: bool
    ) -> Iterator[Mutant]:
        if _is_left(node) or (raised and isinstance(node, cst.BaseString)):
            return
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            statement = node
        for kind, mutate in mutation_operators:
            if isinstance(node, kind):
                for other in mutate(node):
                    mutated = statement.deep_replace(node, other)
                    was, now = _changed(*map(module.code_for_node, (statement, mutated)))
                    if was != now and was.count("strict=True") == now.count("strict=True"):
                        text = partial(_text, module, node, other)
                        lines = _lines(statement, position)
                        yield Mutant(file, function, was, now, lines, not inside, text)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            function = f"{function}.{node.name.value}".lstrip(".")
        raised |= isinstance(node, cst.Raise)
        for child in node.children:
            run = inside or (isinstance(node, cst.FunctionDef) and child is node.body)
            yield from visit(child, function, statement, raised, run)

    yield from dict.fromkeys(visit(module, "", module, raised=False, inside=False))


def _lines(statement: cst.CSTNode, position: Any) -> range:
    """Return the lines of a statement; of a loop, say, those before its body."""
    found = position[statement]
    first, last = found.start.line, found.end.line
    body = getattr(statement, "body", None)
    if not isinstance(body, tuple) and body in position:
        last = max(first, position[body].start.line - 1)
    return range(first, last + 1)


def _text(module: Any, node: cst.CSTNode, other: cst.CSTNode) -> str:
    text: str = module.deep_replace(node, other).code
    return text


def _is_left(node: Any) -> bool:
    import libcst as cst
    import libcst.matchers as m

    return isinstance(node, cst.Annotation | cst.Decorator | cst.Assert) or m.matches(
        node,
        m.Call(func=m.Name("len") | m.Name("isinstance"))
        | m.AnnAssign(annotation=m.Annotation(annotation=m.Name("TypeAlias")))
        | m.Subscript(value=m.Name("Literal") | m.Name("TypeVar"))
        | m.Assign(targets=[m.AssignTarget(m.Name("__all__") | m.Name("__slots__"))]),
    )


def _changed(source: str, text: str) -> tuple[str, str]:
    """Return the lines that a change took away and those that it put there."""
    diff = list(difflib.unified_diff(source.splitlines(), text.splitlines(), n=0, lineterm=""))[2:]
    was, now = ([line[1:].strip() for line in diff if line[0] == sign] for sign in "-+")
    return "\n".join(was), "\n".join(now)


def population(globs: list[str]) -> list[Mutant]:
    """Return all mutants of some files."""
    files = sorted({path for pattern in globs for path in ROOT.glob(pattern)})
    return [m for path in files for m in mutants(path.relative_to(ROOT).as_posix())]
