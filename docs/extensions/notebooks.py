"""Pages as notebooks: a page offers itself as one by a line ``<!-- notebook -->``.

A block of Python is a cell, and what an example shows is left out, as the cell shows it again. The
solution of an exercise is a cell to fill in.
"""

from __future__ import annotations

import doctest
import json
import os
import re
from pathlib import Path
from typing import Any

LINE = re.compile(r"^<!-- notebook -->$", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(
    r"^<!-- hint: (\S+) -->\n\n<details>\n.*?^</details>$", re.MULTILINE | re.DOTALL
)
MOVES = re.compile(r"^<!-- motion: \w+ -->$", re.MULTILINE)
COMMENT = re.compile(r"^<!--.*?-->\n*", re.MULTILINE | re.DOTALL)
# Every line's value is shown, not only that of the last.
FIRST = "%config InteractiveShell.ast_node_interactivity = 'all'\n%matplotlib inline"


def notebook(page: str) -> dict[str, Any]:
    """Return a page of examples as a notebook."""
    page = EXERCISE.sub(_to_fill_in, page)
    page = COMMENT.sub("", MOVES.sub("*On the page of the documentation this moves.*", page))
    cells, at = [], 0
    for number, block in enumerate(BLOCK.finditer(page)):
        cells.append(_cell("markdown", page[at : block.start()]))
        if number == 0:
            cells.append(_cell("code", FIRST))
        cells += _cells_of(block[1])
        at = block.end()
    cells.append(_cell("markdown", page[at:]))
    return {
        "cells": [cell for cell in cells if cell["source"]],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def _to_fill_in(found: re.Match[str]) -> str:
    code = f'>>> answer = ...\n>>> lectures.check("{found[1]}", answer)\n'
    return f"```python\n{code}\n```"


def _cells_of(block: str) -> list[dict[str, Any]]:
    """Return a block's cells: one, or more where an error is shown, which ends its cell."""
    parts: list[list[str]] = [[]]
    raising = set()
    for example in doctest.DocTestParser().get_examples(block):
        if example.exc_msg:
            parts += [[example.source], []]
            raising.add(len(parts) - 2)
        else:
            parts[-1].append(example.source)
    return [
        _cell("code", "".join(part), *(["raises-exception"] if i in raising else []))
        for i, part in enumerate(parts)
    ]


def _cell(kind: str, source: str, *tags: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.strip()}
    if tags:
        cell["metadata"]["tags"] = [*tags]
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def fill(app: Any, page: str, source: list[str]) -> None:
    """Write a page as a notebook, and put a link to it where the page asks for one."""
    if not LINE.search(source[0]):
        return
    folder = Path(app.outdir).parent / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Path(page).name}.ipynb"
    path.write_text(json.dumps(notebook(source[0]), indent=1), encoding="utf-8")
    at = os.path.relpath(path, (Path(app.srcdir) / page).parent)
    link = f"{{download}}`This page as a notebook <{at}>`"
    source[0] = LINE.sub(lambda _: link, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx, before other extensions change what a page says."""
    app.connect("source-read", fill, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
