"""Pictures beside the code that draws them: the code is run, so that no picture is of other code.

A page asks for them by a line ``<!-- drawn -->``. It is then run from top to bottom, as its doctest
runs it, and below each block of Python that names Axes ``ax`` stands what has been drawn on them.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

LINE = re.compile(r"^<!-- drawn -->\n", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DRAWS = re.compile(r"^>>> ax = ", re.MULTILINE)
TITLE = re.compile(r"^\*\*(.*?)\*\*|^#+ ([^\n]*)$", re.MULTILINE | re.DOTALL)
LARGEST = 300_000  # bytes of a picture as lines; of more it is one of pixels
DOTS = 220  # per inch, of these


def draw(source: str, name: str, folder: Path) -> dict[int, Path]:
    """Run a page; return the pictures of its blocks, by where these begin, as files of a folder."""
    names: dict[str, Any] = {"__name__": "page"}
    found, before = {}, Path.cwd()
    with tempfile.TemporaryDirectory() as elsewhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(elsewhere)  # where a page's files are in nobody's way
        try:
            for number, block in enumerate(BLOCK.finditer(source)):
                for example in doctest.DocTestParser().get_examples(block[1]):
                    _run(example, names)
                if DRAWS.search(block[1]):
                    path = folder / f"{name.replace('/', '-')}-{number}.svg"
                    found[block.start()] = _save(names["ax"], path)
                    plt.close("all")
        finally:
            os.chdir(before)
            plt.close("all")
    return found


def _run(example: doctest.Example, names: dict[str, Any]) -> None:
    expected = (Exception,) if example.exc_msg else ()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(*expected):
        exec(compile(example.source, "page", "single"), names)  # noqa: S102


def _save(ax: Any, path: Path) -> Path:
    """Write a picture; return its file, which is one of pixels if it has too many lines."""
    figure = np.atleast_1d(ax).flat[0].figure
    tight = {"bbox_inches": "tight", "pad_inches": 0.02}
    figure.savefig(path, **tight, metadata={"Date": None})
    if path.stat().st_size > LARGEST:
        path.unlink()
        path = path.with_suffix(".png")
        figure.savefig(path, **tight, dpi=DOTS, metadata={"Software": None})
    return path


def described(source: str, at: int) -> str:
    r"""Return what a picture is of, for who does not see it: the title above its block.

    >>> described("# Page\n\n**1.2 Its curve.** Of l.\n\n", 30)
    'Picture of 1.2 Its curve'
    """
    first, second = TITLE.findall(source[:at])[-1]
    return "Picture of " + " ".join((first or second).split()).rstrip(".,:").replace("$", "")


def fill(app: Any, page: str, source: list[str]) -> None:
    """Put the pictures below the blocks of a page."""
    if not LINE.search(source[0]):
        return
    folder = Path(app.outdir).parent / "drawn"
    folder.mkdir(parents=True, exist_ok=True)
    text = LINE.sub("", source[0])
    pictures = draw(text, page, folder)
    from_page = (Path(app.srcdir) / page).parent

    def with_picture(block: re.Match[str]) -> str:
        if block.start() not in pictures:
            return block[0]
        path = os.path.relpath(pictures[block.start()], from_page)
        return f"{block[0]}\n\n![{described(text, block.start())}]({path})"

    source[0] = BLOCK.sub(with_picture, text)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
