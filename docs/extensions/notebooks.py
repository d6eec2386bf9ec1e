"""Pages as notebooks: a page offers itself as one by a line ``<!-- notebook -->``.

A block of Python is a cell, and so are commands. What a page says that they show stands below them,
as does what the scripts of the gallery printed and drew when Sphinx-Gallery ran them; so nothing is
run for a notebook. The solution of an exercise is a cell to fill in. Run as a program, this writes
the notebooks of the pages that it is given into the current folder.
"""

from __future__ import annotations

import base64
import doctest
import json
import os
import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any
from zipfile import ZipFile

LINE = re.compile(r"^<!-- notebook -->$", re.MULTILINE)
BLOCK = re.compile(r"^```(python|console)\n((?:>>>|\$ naively) .*?)^```$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(
    r"^<!-- hint: (\S+) -->\n\n<details>.*?^</details>$", re.MULTILINE | re.DOTALL
)
MOVES = re.compile(r"^<!-- motion: \w+ -->$", re.MULTILINE)
# What readers of a page need not see, but its commands need: the files that they find.
HIDDEN = re.compile(
    r"^<!--[^>\n]*\n(?:```python\n)?(>>> .*?\n\n)(?:```\n)?-->$", re.MULTILINE | re.DOTALL
)
COMMENT = re.compile(r"^<!--.*?-->\n*", re.MULTILINE | re.DOTALL)
# Every line's value is shown, not only that of the last.
FIRST = "%config InteractiveShell.ast_node_interactivity = 'all'\n%matplotlib inline"


def notebook(page: str) -> dict[str, Any]:
    """Return a page of examples as a notebook."""
    page = HIDDEN.sub(r"```python\n\1```", EXERCISE.sub(_to_fill_in, page))
    page = COMMENT.sub("", MOVES.sub("*On the page of the documentation this moves.*", page))
    cells, at = [], 0
    for number, block in enumerate(BLOCK.finditer(page)):
        cells.append(_cell("markdown", page[at : block.start()]))
        if number == 0:
            cells.append(_cell("code", FIRST))
        cells += _cells_of(block[2]) if block[1] == "python" else [_commands(block[2])]
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
    code = f'>>> answer = ...\n>>> lectures.check("E{found[1]}", answer)\n'
    return f"```python\n{code}\n```"


def _cells_of(block: str) -> list[dict[str, Any]]:
    """Return a block's cells: one, or more where an error is shown, which ends its cell."""
    cells: list[dict[str, Any]] = []
    part: list[doctest.Example] = []
    for example in doctest.DocTestParser().get_examples(block):
        if not example.exc_msg:
            part.append(example)
            continue
        cells += [_cell_of(part), _cell_of([example])]
        cells[-1]["metadata"]["tags"] = ["raises-exception"]
        part = []
    return [*cells, _cell_of(part)]


def _cell_of(examples: list[doctest.Example]) -> dict[str, Any]:
    said = "".join(example.want for example in examples)
    return _cell("code", "".join(example.source for example in examples), said)


def _commands(block: str) -> dict[str, Any]:
    """Return commands as a cell of the shell."""
    parts = re.findall(r"^\$ ((?:[^\n]*\\\n)*[^\n]*\n)((?:(?!\$ )[^\n]*\n)*)", block, re.MULTILINE)
    source, said = ("".join(part) for part in zip(*parts, strict=True))
    return _cell("code", f"%%bash\n{source}", said)


def _cell(kind: str, source: str, said: str = "") -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.strip()}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": [_printed(said)] if said else []}
    return cell


def _printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


# --- The gallery: its pages hold what each cell of a notebook printed and drew -------------------

CELL = ".. code-block:: Python\n"
DRAWN = re.compile(r"\.\. image-sg:: /(\S+)")
SAID = re.compile(
    r"^\.\. rst-class:: sphx-glr-script-out\n\n \S.*\n\n((?:    .*\n|\n)+)", re.MULTILINE
)


def with_outputs(notebook: dict[str, Any], page: str, docs: Path) -> dict[str, Any]:
    """Put what a page of the gallery shows below the cells of its notebook."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cells = [cell for cell in cells if not "".join(cell["source"]).startswith("%")]
    for cell, shown in zip(cells, page.split(CELL)[1:], strict=True):
        printed = [_printed(dedent(text).rstrip() + "\n") for text in SAID.findall(shown)]
        cell["outputs"] = printed + [_picture(docs / path) for path in DRAWN.findall(shown)]
    return notebook


def _picture(path: Path) -> dict[str, Any]:
    data = {"image/png": base64.b64encode(path.read_bytes()).decode()}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def fill_gallery(app: Any) -> None:
    """Write the outputs into the notebooks of the gallery, which Sphinx-Gallery has just made."""
    docs = Path(app.srcdir)
    for path in sorted((docs / "gallery").glob("*.ipynb")):
        made = json.loads(path.read_text(encoding="utf-8"))
        page = path.with_suffix(".rst").read_text(encoding="utf-8")
        path.write_text(json.dumps(with_outputs(made, page, docs), indent=1), encoding="utf-8")
        with ZipFile(path.with_suffix(".zip"), "w") as both:
            for file in (path, path.with_suffix(".py")):
                both.write(file, file.name)


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
    app.connect("builder-inited", fill_gallery, priority=900)  # after Sphinx-Gallery
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        written = json.dumps(notebook(given.read_text(encoding="utf-8")), indent=1)
        Path(f"{given.stem}.ipynb").write_text(written, encoding="utf-8")
        print(f"wrote {given.stem}.ipynb")  # noqa: T201
