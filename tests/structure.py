"""Count what a reader of the package has to hold: `python -m tests.structure`.

What stands in `tests/limits.json` may not grow: a test fails above it, and
`python -m tests.structure --lower` writes what is less by now.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, get_args

import naively

PACKAGE = Path(naively.__file__).parent
TESTS = Path(__file__).parent
ROOT = TESTS.parent
LIMITS = TESTS / "limits.json"
ANONYMOUS = {"<genexpr>", "<listcomp>", "<lambda>", "<dictcomp>", "<setcomp>"}
HOME, FIELDS = str(PACKAGE), str(PACKAGE / "frozen.py")  # as dataclasses write methods
HOUSE, WINGS = "naively.", "naively.wings."
PUBLIC = {"naively.datasets", "naively.lectures"}


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
        if file == FIELDS or not file.startswith(HOME) or frame.f_code.co_name in ANONYMOUS:
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


@cache
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


def imports(parsed: dict[str, ast.Module], *, inner: bool = False) -> dict[str, set[str]]:
    """Return which modules of the package each imports, inside functions too where asked for."""
    edges = {}
    for name, tree in parsed.items():
        found = {*_imported(tree, parsed)}
        edges[name] = found.union(*_imported_inside(tree, parsed)) - {name} if inner else found
    return edges


def _imported_inside(tree: ast.Module, parsed: dict[str, ast.Module]) -> list[set[str]]:
    """Return what each import inside a function brings, those of the package alone."""
    inside = {
        id(node): node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
    }
    found = [{*_names(node, parsed)} for node in inside.values()]
    return [names for names in found if names]


def asked_of_wings(parsed: dict[str, ast.Module]) -> int:
    """Return how often the core imports a wing, but for types: the doors alone should."""
    around = ("naively.wings", "naively.lectures", "naively.__main__")
    core = {name: tree for name, tree in parsed.items() if not name.startswith(around)}
    for_types = {
        id(node)
        for tree in core.values()
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    nodes = [node for tree in core.values() for node in ast.walk(tree) if id(node) not in for_types]
    by_name = sum(isinstance(n, ast.ImportFrom) and WINGS in f"{n.module}." for n in nodes)
    return by_name + sum(isinstance(n, ast.JoinedStr) and WINGS in ast.unparse(n) for n in nodes)


def inner_modules(text: str) -> set[str]:
    """Return the modules of the package, beside its public ones, that a file of tests imports."""
    found = {
        f"{node.module}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and f"{node.module}".startswith(HOUSE)
    }
    return found - PUBLIC


def _imported(tree: ast.AST, parsed: dict[str, ast.Module]) -> Iterator[str]:
    """Yield what is imported outside functions, for types too."""
    if isinstance(tree, ast.FunctionDef):
        return
    if isinstance(tree, ast.ImportFrom):
        yield from _names(tree, parsed)
    for node in ast.iter_child_nodes(tree):
        yield from _imported(node, parsed)


def _names(node: ast.ImportFrom, parsed: dict[str, ast.Module]) -> Iterator[str]:
    if (node.module or "").startswith(HOUSE):
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


def walks() -> dict[str, Walk]:
    """Return the ways of what users call most, each called once before."""
    import numpy as np
    import pandas as pd

    from naively import GaussianNB, NaiveBayes

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=200), "b": rng.choice(["x", "y", "z"], 200),
        "y": rng.choice(["p", "q"], 200),
    })  # fmt: skip
    X, numbers, y = frame[["a", "b"]], frame[["a"]].to_numpy(), frame["y"].to_numpy()
    nb = NaiveBayes().fit(frame, "y")
    calls: dict[str, Callable[[], Any]] = {
        "default fit": lambda: NaiveBayes().fit(frame, "y"),
        "pure Gaussian fit": lambda: NaiveBayes("gaussian", weights=None).fit(numbers, y),
        "GaussianNB fit": lambda: GaussianNB().fit(numbers, y),
        "predict_proba": lambda: nb.predict_proba(X),
    }
    for call in calls.values():
        call()
    return {name: walk(call) for name, call in calls.items()}


def counts() -> dict[str, int]:
    """Return what may not grow, by what it is called in `tests/limits.json`."""
    parsed = modules()
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    nodes = [node for tree in parsed.values() for node in ast.walk(tree)]
    names = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    ways = walks()
    return {
        "lines": sum(text.count("\n") for text in texts),
        "lines of code": sum(map(code_lines, texts)),
        "files": len(texts),
        "classes": sum(class_names(parsed).values()),
        "functions": sum(isinstance(node, ast.FunctionDef) for node in nodes),
        "functions of at most four lines": sum(
            isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno < 4
            for node in nodes
        ),
        "isinstance": names["isinstance"],
        "Any": names["Any"],
        "imports of our own inside functions": sum(
            len(_imported_inside(tree, parsed)) for tree in parsed.values()
        ),
        "imports of wings in the core": asked_of_wings(parsed),
        "files in circles of imports, those inside functions too": sum(
            map(len, circles(imports(parsed, inner=True)))
        ),
        **{f"functions of a {name}": way.functions for name, way in ways.items()},
        **{f"files of a {name}": way.files for name, way in ways.items()},
        "changes of file in a default fit": ways["default fit"].changes,
        "depth of a default fit": ways["default fit"].depth,
        "lines of tests": _lines(TESTS, "py"),
        "test files that import more than two inner modules": sum(
            len(inner_modules(path.read_text("utf-8"))) > 2 for path in TESTS.rglob("test_*.py")
        ),
        "lines of benchmarks": _lines(ROOT / "benchmarks", "py"),
        "lines of C++": sum(_lines(ROOT / "src/native", kind) for kind in ("cpp", "h")),
    }


def _lines(folder: Path, kind: str) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in folder.rglob(f"*.{kind}"))


def vocabulary() -> dict[str, list[str]]:
    """Return the kinds of terms by name: there is no other vocabulary of what a model adds up."""
    from naively.terms import functions, kinds, views, words

    assert words.WordTerms in kinds.TermBlock.__subclasses__()
    found = {
        "evidence of a block": kinds.TermBlock.__subclasses__(),
        "beside it": kinds.BesideTerms.__subclasses__(),
        "of several columns": get_args(functions.Several),
        "functions of cells": [*get_args(functions.ColumnFunction), functions.OneOf],
        "views of single columns": get_args(views.AnyTerm),
    }
    return {what: [kind.__name__ for kind in of] for what, of in found.items()}


def holding_out() -> list[str]:
    """Return the functions that take what was counted of sampled rows from what a model counted."""
    return sorted(
        f"{module}.{function.name}"
        for module, tree in modules().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Sub)
            and isinstance(node.left, ast.Attribute)
            and node.left.attr == "tally"
            and isinstance(node.right, ast.Call)
            for node in ast.walk(function)
        )
    )


def above(counted: dict[str, int], limits: dict[str, int]) -> list[str]:
    """Return in words what is above its limit, or has none."""
    return [
        f"{name}: {count:,}, at most {limits.get(name, 0):,}"
        for name, count in counted.items()
        if count > limits.get(name, 0)
    ]


def lowered(limits: dict[str, int], counted: dict[str, int]) -> dict[str, int]:
    """Return limits none of which is above what is counted, and none of which is raised."""
    return {name: min(limits.get(name, count), count) for name, count in counted.items()}


def words() -> Iterator[str]:
    """Yield what names are like, which is printed and not limited."""
    parsed = modules()
    nodes = [node for tree in parsed.values() for node in ast.walk(tree)]
    twice = sorted(name for name, count in class_names(parsed).items() if count > 1)
    yield f"class names more than once: {', '.join(twice)}"
    for word in ("of", "found"):
        variables = sum(isinstance(node, ast.Name) and node.id == word for node in nodes)
        methods = sum(isinstance(node, ast.FunctionDef) and node.name == word for node in nodes)
        yield f"{word}: {variables:,} times a variable, {methods} times a function"
    files = Counter(
        target.id
        for tree in parsed.values()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and re.fullmatch("[A-Z][A-Z_]*", target.id)
    )
    many = ", ".join(f"{name} {count}" for name, count in files.most_common() if count > 3)
    yield f"constants of one name in more than three files: {many}"


def main() -> None:
    """Print all counts beside their limits, and what they are made of."""
    limits: dict[str, int] = json.loads(LIMITS.read_text("utf-8")) if LIMITS.exists() else {}
    counted = counts()
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(counted))
        return
    if sys.argv[1:] == ["--lower"]:
        limits = lowered(limits, counted)
        LIMITS.write_text(json.dumps(limits, indent=2) + "\n", "utf-8")
    for name, count in counted.items():
        print(f"{name:60}{count:8,} of {limits.get(name, 0):8,}")
    for group in circles(imports(modules(), inner=True)):
        print(f"circle: {', '.join(sorted(group))}")
    for what, kinds in vocabulary().items():
        print(f"terms, {what}: {', '.join(kinds)}")
    print(f"rows are held out by: {', '.join(holding_out())}")
    print(*words(), sep="\n")


if __name__ == "__main__":
    main()
