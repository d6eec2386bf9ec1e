"""The verb demo: learn, score and explain on real data that naively brings."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from naively.frozen import Frozen
from naively.messages import tell
from naively.options import FileOptions
from naively.wings.cli import shared
from naively.wings.cli.options import HowRead, Verb, file_options, some_data_argument, target_option

if TYPE_CHECKING:
    from rich.console import Console

    from naively.counting.labels import LabelArray
    from naively.data.columns import Rows

SHARE, SEED = 0.25, 0  # of the rows that are held out
SHADES = " .:*#"  # of pixels, from light to dark

ABOUT = """\
NaiveBayes() learns three quarters of the rows of each table, chosen at random,
and predicts the rest, which it has not seen. Nothing is set by hand.

  accuracy           share of right answers
  log loss           mean of -log(probability of the right answer); 0 is best
  calibration error  how far probabilities are from how often they come true
  always '...'       the most frequent class as the answer to everything, with
                     the frequencies of the classes as their probabilities

An explanation is a sum: +1 multiplies the odds of the answer by 2.7, -1 divides
them by as much, and all of it adds up to the log odds."""


class Example(Frozen, eq=True):
    """A labelled table: the question that it asks, and the function that reads it."""

    title: str
    get: Callable[[], tuple[Rows, LabelArray]]
    draw: Callable[[Rows], list[str]] | None = None  # draws a row that is a picture


@click.command(cls=Verb)
@some_data_argument(help="Your own file; needs --target.")
@target_option
@file_options
def demo(data: str | None, target: str | None, file: FileOptions) -> None:
    """Learn, score and explain on real data: messages, digits, wine, tumours; or your own."""
    from naively.kernels.dispatch import HINT
    from naively.kernels.native import NATIVE

    console = shared.console(sys.stdout, soft_wrap=not sys.stdout.isatty())
    if NATIVE is None:
        tell(HINT)
    begin = time.perf_counter()
    if data is None and target is not None:
        raise ValueError(f"--target {target} is a column of your own file: name that too.")
    if data is None:
        console.print(ABOUT)
        for example in _examples():
            _run(console, example)
    else:
        rows, y, target = shared.read_labelled(data, target, HowRead(file=file))
        console.print(ABOUT)
        _run(console, Example(f"{Path(data).name}: which {target}?", lambda: (rows, y)))
    console.print(f"\nAll of this took {time.perf_counter() - begin:.1f} s.", style="dim")
    _say_what_is_next(console, data, target, file)


def _examples() -> list[Example]:
    """Return the examples; the data of each are read when it has its turn."""
    import numpy as np

    from naively import datasets
    from naively.data.frames import as_rows

    def texts() -> tuple[Rows, LabelArray]:
        messages, kinds = datasets.sms()
        return as_rows(messages), np.array(kinds)

    def table(get: Callable[[], datasets.Dataset]) -> tuple[Rows, LabelArray]:
        X, y, names, classes = get()
        return as_rows({name: X[:, j] for j, name in enumerate(names)}), np.array(classes)[y]

    return [
        Example("Texts: is this message spam?", texts),
        Example("Pixels: which digit was written?", partial(table, datasets.digits), _draw),
        Example("Measurements: which grower's wine is it?", partial(table, datasets.wine)),
        Example("Measurements: is the tumour malignant?", partial(table, datasets.breast_cancer)),
    ]


def _draw(digit: Rows) -> list[str]:
    """Return the lines that draw the first of some images: 64 columns of pixels from 0 to 16."""
    pixels = digit.numbers(digit.names)[0].reshape(8, 8)
    shade = (pixels / 17 * len(SHADES)).astype(int)
    return ["".join(2 * SHADES[one] for one in line) for line in shade]


def _run(console: Console, example: Example) -> None:
    """Learn three quarters of an example's rows, score the rest, and print what was found."""
    import numpy as np

    from naively import NaiveBayes
    from naively.assess.scores import scores
    from naively.counting.labels import encode_labels

    console.print(f"\n{shared.shortened(example.title, shared.WIDTH)}", style="bold")
    clock = [time.perf_counter()]
    rows, y = example.get()
    labels = encode_labels(y)  # an error if a label is missing
    y = labels.classes[labels.codes]
    aside = shared.held_out(len(rows), SHARE, SEED)
    if not aside.any():
        raise ValueError(f"{len(rows)} rows are too few to hold a quarter of them out.")
    clock.append(time.perf_counter())
    nb = NaiveBayes().fit(rows.take(~aside), y[~aside])
    clock.append(time.perf_counter())
    test, right = rows.take(aside), y[aside]
    p = nb.predict_proba(test)
    found = scores(p, nb.classes_, right)
    clock.append(time.perf_counter())

    read_in, fit_in, scored_in = np.diff(clock)
    console.print(
        f"  {len(rows):,} rows of {len(nb.classes_)} classes, read in {read_in:.2f} s\n"
        f"  {len(rows) - len(right):,} learned in {fit_in:.2f} s, "
        f"{len(right):,} held out and scored in {scored_in:.2f} s\n",
        style="dim",
    )
    frequency = nb.class_count_ / nb.class_count_.sum()
    always = scores(np.tile(frequency, (len(right), 1)), nb.classes_, right)
    shared.print_scores(console, found, always, frequency[nb.classes_ == found.majority].sum())
    shared.print_columns(console, nb.schema_)
    shared.print_classes(console, nb.model_)
    hit = nb.classes_[p.argmax(axis=1)] == right
    for name, where in (("right", np.flatnonzero(hit)), ("wrong", np.flatnonzero(~hit))):
        if not len(where):
            console.print(f"\n  None of these {len(right):,} answers is {name}.")
            continue
        row = test.take(where[:1])
        console.print(f"\n  The first answer that is {name}, explained", style="bold")
        shared.print_row(console, row, example.draw(row) if example.draw else [])
        shared.print_explanation(console, nb.explain(row)[0], right[where].tolist()[0])


def _say_what_is_next(
    console: Console, data: str | None, target: str | None, written: FileOptions
) -> None:
    """Print the commands that one may try next."""
    me = _own_name()
    file = shlex.quote(data) if data else "FILE"
    column = f"--target {shlex.quote(target) if target else 'COLUMN'}{_as_given(written)}"
    console.print("\nNext", style="bold")
    if data is None:
        console.print(
            "  FILE is CSV, Parquet or JSON lines, and COLUMN is the one to be predicted;\n"
            "  or FILE is a folder with one folder of text files for each class."
        )
    for command, what in (
        *([] if data else [(f"demo {file} {column}", "all of this, with your own data")]),
        (f"train {file} {column} -o my.naively", "learn it, and keep the model"),
        ("predict my.naively NEW_FILE", "the class of each row of another file"),
        ("explain my.naively NEW_FILE", "and why"),
    ):
        console.print(f"  # {what}", style="dim")
        console.print(f"  {me} {command}", soft_wrap=True)  # to be copied: never broken
    console.print("  # or in Python", style="dim")
    console.print("  from naively import NaiveBayes")
    console.print('  nb = NaiveBayes().fit(table, "column"); print(nb.assess())')


def _as_given(file: FileOptions) -> str:
    """Return the options of how a file is read, as they are given."""
    given = {name.replace("_", "-"): value for name, value in file.kept().items()}
    return "".join(
        f" --no-{name}" if value is False else f" --{name} {shlex.quote(str(value))}"
        for name, value in given.items()
    )


def _own_name() -> str:
    """Return the command that runs this program: by its name alone only if the shell finds it."""
    called = sys.argv[0]
    if called.endswith("__main__.py"):
        return "python -m naively"
    return "naively" if shutil.which("naively") == called else shlex.quote(called)
