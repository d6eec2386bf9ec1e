"""Pages and scripts as notebooks: all that runs is in them, and what it showed."""

from __future__ import annotations

import ast
import doctest
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import FENCE, commands, module_in

ROOT = Path(__file__).parent.parent
NOTEBOOKS = module_in(ROOT / "docs" / "extensions" / "notebooks.py")
OFFERED = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if NOTEBOOKS.LINE.search(page.read_text(encoding="utf-8"))
]
PAGES = [
    page for page in OFFERED if page.parent.name != "lectures"
]  # whose exercises are filled in


def code_of(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_lectures_how_tos_and_the_tutorial_are_notebooks() -> None:
    docs = ROOT / "docs"
    expected = {*docs.glob("lectures/*.md"), *docs.glob("how-to/*.md"), docs / "tutorial.md"}
    # A server would not end, and the other wants a cluster.
    assert {*OFFERED} == expected - {docs / "how-to/serve.md", docs / "how-to/spark.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_all_that_runs_on_its_page_and_what_it_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    notebook = NOTEBOOKS.notebook(text)
    first, *code = code_of(notebook)
    assert first["source"] == NOTEBOOKS.FIRST
    in_python = [cell for cell in code if not cell["source"].startswith("%%bash\n")]
    source = "\n".join(cell["source"] for cell in in_python)
    examples = doctest.DocTestParser().get_examples(text)
    ours = "".join(example.source for example in examples)
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(ours))
    assert "".join(map(said, in_python)) == "".join(example.want for example in examples)
    in_shell = [cell for cell in code if cell not in in_python]
    asked = commands(text)
    typed = "\n".join(cell["source"].removeprefix("%%bash\n") for cell in in_shell)
    assert typed.split() == "".join(command.source for command in asked).split()
    assert "".join(map(said, in_shell)).split() == "".join(f"{c.shown}\n" for c in asked).split()
    assert "<!--" not in json.dumps(notebook)


def test_a_page_is_written_as_a_notebook_by_a_command(tmp_path: Path) -> None:
    program, page = NOTEBOOKS.__file__, ROOT / "docs" / "lectures" / "2-classifier.md"
    subprocess.run([sys.executable, program, page], cwd=tmp_path, check=True)
    written = json.loads((tmp_path / "2-classifier.ipynb").read_text(encoding="utf-8"))
    assert written == NOTEBOOKS.notebook(page.read_text(encoding="utf-8"))


def said(cell: dict[str, Any]) -> str:
    return "".join(output["text"] for output in cell["outputs"])


def test_a_page_that_is_offered_has_something_to_run() -> None:
    for page in OFFERED:
        blocks = [kind for kind, _ in FENCE.findall(page.read_text(encoding="utf-8"))]
        assert {"python", "console"} & {*blocks}, page


def test_what_a_script_printed_and_drew_stands_below_its_cells(tmp_path: Path) -> None:
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "one.png").write_bytes(b"a picture")
    page = """
.. code-block:: Python

    import math

.. GENERATED FROM PYTHON SOURCE LINES 3-5

.. code-block:: Python

    print("one")

.. image-sg:: /gallery/one.png
   :alt: one

.. rst-class:: sphx-glr-script-out

 .. code-block:: none

    one
      two

    three


.. GENERATED FROM PYTHON SOURCE LINES 6-7
"""
    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline"], "outputs": []},
        {"cell_type": "markdown", "source": ["Text"]},
        {"cell_type": "code", "source": ["import math"], "outputs": []},
        {"cell_type": "code", "source": ["print('one')"], "outputs": []},
    ]
    made = NOTEBOOKS.with_outputs({"cells": cells}, page, tmp_path)
    setting, first, second = code_of(made)
    assert setting["outputs"] == first["outputs"] == []
    printed, drawn = second["outputs"]
    assert printed["text"] == "one\n  two\n\nthree\n"
    assert drawn["data"] == {"image/png": "YSBwaWN0dXJl"}


def test_a_page_of_the_gallery_with_other_cells_than_its_notebook_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        NOTEBOOKS.with_outputs({"cells": []}, NOTEBOOKS.CELL, ROOT)
