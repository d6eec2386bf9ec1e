"""The verb demo: the main job on real data that is on the machine already."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.cli.source import TargetOption, find_target, held_out, read

if TYPE_CHECKING:
    from naively.data.rows import Rows

SHARE, SEED = 0.25, 0  # of the rows that are held out
SHOWN_CLASSES = 10


def demo(
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Your own file; needs --target.", show_default=False),
    ] = None,
    target: TargetOption = None,
) -> None:
    """Learn, score and explain on real data: docstrings, digits, wine, tumours; or your own."""
    from naively.core import compute
    from naively.data import examples
    from naively.data.frames import as_rows
    from naively.data.rows import column_rows

    if compute.NATIVE is None:
        sys.stderr.write(f"{compute.HINT}\n")
    if data is not None:
        table = read(data)
        y = table.pop(find_target(list(table), target, data))
        _run(f"{data}: which {target}?", column_rows(table), y)
        return
    texts, libraries = examples.docstrings()
    _run("Text: which library does a docstring come from?", as_rows(texts), libraries)
    for title, read_example in (
        ("Pixels: which digit was written?", examples.digits),
        ("Measurements: which grower's wine?", examples.wine),
        ("Measurements: is the tumour malignant?", examples.breast_cancer),
    ):
        X, y, names, classes = read_example()
        table = {name: X[:, j] for j, name in enumerate(names)}
        _run(title, column_rows(table), [classes[c] for c in y])


def _run(title: str, rows: Rows, y: Any) -> None:
    from rich.console import Console
    from rich.markup import escape

    from naively.assess.scores import score
    from naively.core.labels import encode_labels
    from naively.explain import explain, strongest
    from naively.model import Model

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    labels = encode_labels(y)
    aside = held_out(len(rows), SHARE, SEED)
    begin = time.perf_counter()
    model = Model.learn(rows.take(~aside), encode_labels(labels.classes[labels.codes[~aside]]))
    seconds = time.perf_counter() - begin
    test = rows.take(aside)
    s = score(model, test, labels.classes[labels.codes[aside]])
    console.print(f"\n[bold]{escape(title)}[/bold]")
    console.print(
        f"learned {(~aside).sum():,} rows of {len(model.classes)} classes in {seconds:.2f} s"
    )
    console.print(
        f"accuracy on {s.rows:,} rows held out: [bold]{s.accuracy:.3f}[/bold]"
        f" (always answering {escape(repr(s.majority))}: {s.majority_accuracy:.3f})"
    )
    console.print("what speaks most for each class (weight of evidence, nats):")
    for c, label in enumerate(model.classes.tolist()[:SHOWN_CLASSES]):
        items = ", ".join(_item(*item) for item in strongest(model, c, 6))
        console.print(f"  {escape(str(label))}: {escape(items)}")
    console.print("one of the rows held out, explained:")
    evidence = explain(model, test.take(slice(0, 1)))[0]
    lines = str(evidence).splitlines()
    shown = 9
    more = [f"          and {len(lines) - shown} more"] if len(lines) > shown else []
    for line in lines[:shown] + more:
        console.print(f"  {escape(line)}")


def _item(column: str, value: Any, weight: float) -> str:
    name = value if isinstance(value, str) and column == "text" else column
    if not isinstance(value, str) and value is not None:
        name = f"{column} {value:.4g}" if isinstance(value, float) else f"{column} = {value}"
    elif column != "text" and value is not None:
        name = f"{column} = {value}"
    return f"{name} {weight:+.1f}"
