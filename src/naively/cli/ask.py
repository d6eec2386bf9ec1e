"""Verbs that ask a model: predict, evaluate, explain, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from naively.cli import output
from naively.cli.output import FormatOption
from naively.cli.source import (
    DataArgument,
    InputFormatOption,
    ModelArgument,
    TargetOption,
    find_target,
    held_out,
    read,
)
from naively.messages import tell

if TYPE_CHECKING:
    from naively.data.rows import Rows
    from naively.evaluation.scores import Scores
    from naively.model.model import Model


def predict(
    model: ModelArgument,
    data: DataArgument,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Write the probability of every class.")
    ] = False,
    input_format: InputFormatOption = None,
    form: FormatOption = None,
) -> None:
    """Predict the class of each row, with its probability."""
    learned, rows, _, _ = open_model(model, data, input_format)
    p = learned.posterior(rows)
    best = p.argmax(axis=1)
    classes = learned.classes.tolist()
    names = ["prediction", "probability"]
    lines: Any = ([classes[c], float(p[i, c])] for i, c in enumerate(best.tolist()))
    if probabilities:
        names += [f"p({label})" for label in classes]
        lines = ([*line, *p[i].tolist()] for i, line in enumerate(lines))
    output.write(names, lines, form)


def evaluate(
    model: ModelArgument,
    data: DataArgument,
    target: TargetOption = None,
    only_held_out: Annotated[
        bool,
        typer.Option("--held-out", help="Score only the rows that `train --hold-out` set aside."),
    ] = False,
    input_format: InputFormatOption = None,
    form: FormatOption = None,
) -> None:
    """Score a model's predictions on labelled rows."""
    from naively.evaluation.scores import score

    learned, rows, y, provenance = open_model(model, data, input_format, target, labelled=True)
    if only_held_out:
        part, seed = provenance.get("hold_out", 0.0), provenance.get("seed", 0)
        if not part:
            raise ValueError(f"{model} was trained on all rows; train it with --hold-out.")
        if len(rows) != provenance["rows"]:
            raise ValueError(
                f"{data} has {len(rows):,} rows, but {model} was trained on a file of "
                f"{provenance['rows']:,}; --held-out needs that file."
            )
        aside = held_out(len(rows), part, seed)
        rows, y = rows.take(aside), y[aside]
    write_scores(score(learned, rows, y), form)


def explain(
    model: ModelArgument,
    data: DataArgument,
    top: Annotated[int, typer.Option(min=1, help="Items of greatest weight for each row.")] = 10,
    row: Annotated[int | None, typer.Option(min=0, help="Explain this row only, from 0.")] = None,
    input_format: InputFormatOption = None,
    form: FormatOption = None,
) -> None:
    """Say why: the weight of evidence (nats) of each item for the prediction against its rival."""
    from naively.model.explain import explain as explain_rows

    learned, rows, _, _ = open_model(model, data, input_format)
    if row is not None and row >= len(rows):
        raise ValueError(f"--row {row}: {data} has rows 0 to {len(rows) - 1}.")
    first = 0 if row is None else row
    rows = rows if row is None else rows.take(slice(row, row + 1))
    names = ["row", "prediction", "probability", "against", "column", "value", "weight"]
    lines = (
        [first + i, *_verdict(evidence), column, value, weight]
        for i, evidence in enumerate(explain_rows(learned, rows))
        for column, value, weight in evidence.top(evidence.best, top)
    )
    output.write(names, lines, form)


def show(
    model: ModelArgument,
    top: Annotated[int, typer.Option(min=1, help="Items of greatest weight for each class.")] = 10,
    form: FormatOption = None,
) -> None:
    """Show a model: its classes, its columns, and what speaks most for each class."""
    from naively.model.explain import strongest
    from naively.model.file import store

    learned = store.load(model)
    total = learned.tally.class_count.sum()
    tell(f"{total:,.0f} rows, {learned.schema.width:,} columns")
    tell(*str(learned.described).split("\n"))
    p = learned.tally.class_count / total
    lines = (
        [label, float(p[c]), column, value, weight]
        for c, label in enumerate(learned.classes.tolist())
        for column, value, weight in strongest(learned, c, top)
    )
    output.write(["class", "share", "column", "value", "weight"], lines, form)


def write_scores(s: Scores, form: output.Format | None, out: TextIO | None = None) -> None:
    """Write accuracy, log loss and calibration, and precision and recall by class."""
    lines: list[list[Any]] = [
        ["rows", None, s.rows],
        ["accuracy", None, s.accuracy],
        ["accuracy of the majority class", s.majority, s.majority_accuracy],
        ["log loss", None, s.log_loss],
        ["Brier score", None, s.brier],
        ["area under ROC", None, s.auc],
        ["calibration error", None, s.calibration_error],
    ]
    for label, (precision, recall, support) in s.by_class.items():
        lines += [
            ["precision", label, precision],
            ["recall", label, recall],
            ["rows", label, support],
        ]
    output.write(["score", "class", "value"], lines, form, out)


def _verdict(evidence: Any) -> list[Any]:
    c = evidence.best
    labels = evidence.classes.tolist()
    return [labels[c], evidence.probability(c), labels[evidence.rival(c)]]


def open_model(
    path: str,
    data: str,
    input_format: str | None,
    target: str | None = None,
    *,
    labelled: bool = False,
) -> tuple[Model, Rows, Any, dict[str, Any]]:
    """Load a model, and the rows as it expects them; with their labels if asked."""
    from naively.counting.labels import as_classes
    from naively.data.rows import column_rows
    from naively.model.file import store

    learned, provenance = store.load_with_provenance(path)
    target = target or provenance.get("target")
    kinds = {
        str(name): "string" if kind == "text" else kind
        for name, kind in learned.schema.kinds.items()
    }
    if target is not None and all(isinstance(label, str) for label in learned.classes.tolist()):
        kinds[target] = "string"
    table = read(data, input_format, types=kinds, labels=target)
    y = table[find_target(list(table), target, data)] if labelled else None
    if y is not None:
        y = as_classes(y, learned.classes)
    table.pop(target or "", None)
    learned_from = set(map(str, learned.schema.order))
    known = {name: column for name, column in table.items() if name in learned_from}
    return learned, column_rows(known or table), y, provenance
