"""Count what a reader of the package has to hold: `python -m tests.structure`.

Files, classes, lines, names that stand for more than one class, circles of imports (those for
types among them), and the way that a default ``fit`` and ``predict_proba`` of a small frame take:
how many functions of how many files, how often the file changes, and how deep the calls are.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import naively

PACKAGE = Path(naively.__file__).parent
ANONYMOUS = {"<genexpr>", "<listcomp>", "<lambda>", "<dictcomp>", "<setcomp>"}
HOUSE = "naively."


class Walk(NamedTuple):
    """The way that a call takes through the package."""

    functions: int
    files: int
    changes: int  # of file
    depth: int


def files_of(call: Callable[[], Any]) -> set[str]:
    """Return the files of the package that a call runs through."""
    return _follow(call)[1]


def walk(call: Callable[[], Any]) -> Walk:
    """Return the way that a call takes."""
    return _follow(call)[0]


def _follow(call: Callable[[], Any]) -> tuple[Walk, set[str]]:
    functions: set[tuple[str, str]] = set()
    stack: list[str] = []
    files: list[str] = []
    depth = 0

    def follow(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        file = frame.f_code.co_filename
        if not file.startswith(str(PACKAGE)) or frame.f_code.co_name in ANONYMOUS:
            return
        if event == "call":
            functions.add((file, frame.f_code.co_qualname))
            stack.append(file)
            depth = max(depth, len(stack))
        elif event == "return" and stack:
            stack.pop()
        if stack and event in {"call", "return"} and files[-1:] != [stack[-1]]:
            files.append(stack[-1])

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Walk(len(functions), len({*files}), len(files), depth), {*files}


def modules() -> dict[str, ast.Module]:
    """Return every file of the package, parsed, by its module's name."""
    parsed = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        parsed[name.removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return parsed


def class_names(parsed: dict[str, ast.Module]) -> Counter[str]:
    """Return how many classes have each name."""
    return Counter(
        node.name
        for tree in parsed.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )


def imports(parsed: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules of the package each imports when it is loaded, or for its types."""
    return {name: {*_imported(tree, parsed)} - {name} for name, tree in parsed.items()}


def _imported(tree: ast.Module, parsed: dict[str, ast.Module]) -> Iterator[str]:
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(HOUSE):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in parsed else str(node.module)


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules of which each imports each other, by whatever way (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = set()
            while name not in group:
                group.add(stack.pop())
            if len(group) > 1:
                found.append(group)

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return found


def code_lines(text: str) -> int:
    """Return how many lines hold code: neither blank, nor comment, docstring or import."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                left_out.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    kept = set()
    passed = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in passed and token.type != tokenize.ENDMARKER:
            kept.update(range(token.start[0], token.end[0] + 1))
    return len(kept - left_out)


def own_methods(kind: type) -> list[str]:
    """Return the public methods of a class that a class of the package defines."""
    house = [one for one in kind.__mro__ if one.__module__.startswith(HOUSE)]
    return sorted(
        {
            name
            for one in house
            for name, value in vars(one).items()
            if not name.startswith("_") and not name.endswith("_") and not _is_accessor(value)
        }
    )


def _is_accessor(value: object) -> bool:
    return isinstance(value, property) or not callable(getattr(value, "__func__", value))


def main() -> None:
    """Print all counts."""
    import numpy as np
    import pandas as pd

    from naively import NaiveBayes

    parsed = modules()
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    names = class_names(parsed)
    lines = sum(text.count("\n") for text in texts)
    nodes = [node for tree in parsed.values() for node in ast.walk(tree)]
    print(f"files                     {len(texts):,}")
    print(f"classes                   {sum(names.values()):,}")
    print(f"lines, of code            {lines:,}, {sum(map(code_lines, texts)):,}")
    twice = sorted(name for name, count in names.items() if count > 1)
    print(f"class names more than once {len(twice)}: {', '.join(twice)}")
    round_trips = circles(imports(parsed))
    print(f"circles of files          {len(round_trips)}")
    for group in round_trips:
        print(f"    {', '.join(sorted(group))}")
    tokens = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    print(f"Any, isinstance           {tokens['Any']}, {tokens['isinstance']}")
    house = [one.__name__ for one in NaiveBayes.__mro__ if one.__module__.startswith(HOUSE)]
    methods = own_methods(NaiveBayes)
    print(f"methods of NaiveBayes     {len(methods)}: {', '.join(methods)}")
    print(f"its classes               {len(house)}: {', '.join(house)}")

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=200), "b": rng.choice(["x", "y", "z"], 200),
        "y": rng.choice(["p", "q"], 200),
    })  # fmt: skip
    X = frame.drop(columns="y")
    nb = NaiveBayes().fit(frame, "y")
    nb.predict_proba(X)
    way = "{} functions, {} files, {} changes of file, {} deep"
    print("fit                      ", way.format(*walk(lambda: NaiveBayes().fit(frame, "y"))))
    print("predict_proba            ", way.format(*walk(lambda: nb.predict_proba(X))))


if __name__ == "__main__":
    main()
