"""The verb that writes a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naively import saving
from naively.cli.source import (
    InputFormatOption,
    MemoryOption,
    ModelArgument,
    TargetOption,
    rows_for,
    set_aside,
)
from naively.messages import say, tell


def report(
    model: ModelArgument,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Rows that were not learned, to be scored, shown and explained.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page to write.")
    ] = "report.html",
    target: TargetOption = None,
    input_format: InputFormatOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Write one page: what a model learned, how good it is, and why it answers so.

    The page needs no network. Without DATA it shows rows of the sample that `train --keep-rows` has
    kept in the file, if there is one.
    """
    from naively.counting.labels import as_classes
    from naively.evaluation.reservoir import Reservoir
    from naively.file import store
    from naively.report.page import write_report
    from naively.report.subject import Subject

    saving.check_output(output, [model] if data is None else [model, data])
    learned, provenance, sample = store.load_all(model)
    target = target or provenance.get("target")
    rows = labels = None
    if data is not None:
        rows, table = rows_for(learned, data, input_format, target, memory_limit)
        if target is not None and target in table.names:
            labels = as_classes(table.values(target), learned.classes)
        aside = set_aside(provenance, len(rows))
        if aside is not None:
            rows, labels = rows.take(aside), None if labels is None else labels[aside]
            tell(
                f"{data} has as many rows as the file that {model} was trained on: the page is of "
                f"the {len(rows):,} that --hold-out set aside."
            )
    if sample is None and data is None:
        say(
            f"{model} holds no sample of rows, so that none is shown or scored; give DATA, or "
            "train with --keep-rows."
        )
    reservoir = None if sample is None else Reservoir.restored(sample, learned)
    kind = None if learned.weights is None else learned.weights.how
    subject = Subject.of(learned, reservoir, kind, rows, labels, provenance)
    page = write_report(subject, Path(model).name)
    page.save(output)
    tell(f"Wrote {output}: {len(page.html.encode()):,} bytes.")
