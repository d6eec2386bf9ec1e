"""Verbs that make models: train."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from naively.cli.output import FormatOption
from naively.cli.source import (
    DataArgument,
    InputFormatOption,
    TargetOption,
    find_target,
    held_out,
    read,
)


def train(
    data: DataArgument,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The model file to write.")
    ] = "model.naively",
    target: TargetOption = None,
    columns: Annotated[
        str | None, typer.Option(help="Learn from these columns only: a,b,c.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(help="Do not learn from these columns: a,b,c.")
    ] = None,
    event_models: Annotated[
        str,
        typer.Option(
            help="auto, one for all (gaussian, bernoulli, categorical, multinomial, text), or by "
            "column: age=gaussian,note=text."
        ),
    ] = "auto",
    class_prior: Annotated[
        str, typer.Option(help="data, uniform, or probabilities: a=0.3,b=0.7.")
    ] = "data",
    hold_out: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of random rows to set aside and score.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the random choice of --hold-out.")] = 0,
    input_format: InputFormatOption = None,
    form: FormatOption = None,
) -> None:
    """Learn a model from labelled rows and write it to a file."""
    from pathlib import Path

    from naively import store
    from naively.core.labels import encode_labels
    from naively.data.rows import column_rows
    from naively.model import Model, Settings

    begin = time.perf_counter()
    target = target or _folder_target(data)
    wanted = columns if columns is None or target is None else f"{columns},{target}"
    table = read(data, input_format, wanted, ignore)
    target = find_target(list(table), target, data)
    y = table.pop(target)
    rows = column_rows(table)
    models = _event_models(event_models)
    aside = held_out(len(rows), hold_out, seed)
    kept = ~aside
    labels = encode_labels(y[kept])
    settings = Settings(_class_prior(class_prior, labels.classes.tolist()))
    learned = Model.learn(rows.take(kept) if hold_out else rows, labels, models, settings)
    learned.class_log_prior  # noqa: B018  (an impossible --class-prior is an error now, not later)
    provenance = {"target": target, "hold_out": hold_out, "seed": seed, "rows": len(rows)}
    store.save(learned, output, provenance)
    counts = ", ".join(
        f"{label} {count:,.0f}"
        for label, count in zip(learned.classes.tolist(), learned.tally.class_count, strict=True)
    )
    sys.stderr.write(
        f"Learned {int(kept.sum()):,} rows of {len(learned.classes)} classes ({counts}) "
        f"in {time.perf_counter() - begin:.1f} s, wrote {Path(output)}.\n{learned.schema}\n"
    )
    if hold_out:
        from naively.cli.ask import write_scores

        write_scores(learned, rows.take(aside), y[aside], form)


def _folder_target(data: str) -> str | None:
    from pathlib import Path

    from naively.cli.source import FOLDER_TARGET

    return FOLDER_TARGET if Path(data).is_dir() else None


def _event_models(given: str) -> str | dict[str, str]:
    if "=" not in given:
        return given
    return dict(_pairs(given, "--event-models"))


def _class_prior(given: str, classes: list[Any]) -> str | dict[Any, float]:
    if "=" not in given:
        return given
    pairs = _pairs(given, "--class-prior")
    label_of = {str(label): label for label in classes}  # labels may be numbers
    try:
        return {label_of.get(label, label): float(p) for label, p in pairs}
    except ValueError:
        raise ValueError(
            f"--class-prior needs numbers, as in a=0.3,b=0.7; got {given!r}."
        ) from None


def _pairs(given: str, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in given.split(","):
        name, separator, value = part.partition("=")
        if not separator:
            raise ValueError(f"{option} needs name=value pairs split by commas; got {part!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs
