"""Verbs that make models: train."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from naively.cli.ask import write_scores
from naively.cli.output import FormatOption
from naively.cli.source import (
    DataArgument,
    InputFormatOption,
    TargetOption,
    find_target,
    folder_target,
    held_out,
    read_batches,
)

HOW = ("mean", "map", "mle", "predictive")
TEXT = ("auto", "words")
WEIGHTS = ("loo", "temperature", "none")


def train(  # noqa: PLR0917  (options, not positions)
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
            help="auto, one for all (histogram, gaussian, poisson, bernoulli, categorical, "
            "multinomial, text, ...), or by column: age=gaussian,note=text."
        ),
    ] = "auto",
    class_prior: Annotated[
        str, typer.Option(help="data, uniform, or probabilities: a=0.3,b=0.7.")
    ] = "data",
    estimate: Annotated[
        str, typer.Option(help="Of parameters: mean, map, mle or predictive.")
    ] = "mean",
    weights: Annotated[
        str,
        typer.Option(
            help="How much each column counts: loo (a weight for each), temperature (one for "
            "all) or none (pure naive Bayes)."
        ),
    ] = "loo",
    smoothing: Annotated[str, typer.Option(help="The pseudo-count, or auto.")] = "auto",
    text: Annotated[
        str,
        typer.Option(
            help="What is counted of texts: auto (words, pairs of words, and runs of characters "
            "where texts are short) or words (the fastest, in the least memory)."
        ),
    ] = "auto",
    interactions: Annotated[
        str, typer.Option(help="Of pairs of columns: none, or auto to choose some.")
    ] = "none",
    semi_supervised: Annotated[
        bool,
        typer.Option("--semi-supervised", help="Learn from rows without a label too."),
    ] = False,
    hold_out: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of random rows to set aside and score.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the random choice of --hold-out.")] = 0,
    input_format: InputFormatOption = None,
    form: FormatOption = None,
) -> None:
    """Learn a model from labelled rows, write it to a file, and assess it.

    The scores are of cross-validation, or of the rows that --hold-out sets aside.
    """
    from dataclasses import replace

    from naively import store
    from naively.assess.scores import score
    from naively.data.rows import column_rows
    from naively.estimators.naive_bayes import NaiveBayes

    begin = time.perf_counter()
    target = target or folder_target(data)
    wanted = columns if columns is None or target is None else f"{columns},{target}"
    nb = NaiveBayes(
        _event_models(event_models),
        class_prior="data" if "=" in class_prior else class_prior,
        estimate=_one_of(estimate, HOW, "--estimate"),
        smoothing=_smoothing(smoothing),
        weights=_one_of(weights, WEIGHTS, "--weights"),
        interactions=_one_of(interactions, ("auto", "none"), "--interactions"),
        semi_supervised=semi_supervised,
        text=_one_of(text, TEXT, "--text"),
    )
    aside, total, batches = None, 0, 0
    for table in read_batches(data, input_format, wanted, ignore, whole=bool(hold_out)):
        target = find_target(list(table), target, data)
        y = table.pop(target)
        rows = column_rows(table)
        total += len(rows)
        batches += 1
        if hold_out:  # there is one batch
            chosen = held_out(len(rows), hold_out, seed)
            aside = rows.take(chosen), y[chosen]
            rows, y = rows.take(~chosen), y[~chosen]
        nb.partial_fit(rows, y)
    if not batches:
        raise ValueError(f"{data} has no rows to learn from.")
    if "=" in class_prior:  # of classes that are all known now
        nb.class_prior = _class_prior(class_prior, nb.classes_.tolist())
        settings = replace(nb.model_.settings, class_prior=nb.class_prior)
        nb.keep(replace(nb.model_, settings=settings))
    learned = nb.model_
    learned.class_log_prior  # noqa: B018  (an impossible --class-prior is an error now, not later)
    if nb.weights and not semi_supervised and (batches > 1 or "=" in class_prior):
        learned = nb.calibrate().model_
    provenance = {"target": target, "hold_out": hold_out, "seed": seed, "rows": total}
    store.save(learned, output, provenance)
    sizes = zip(learned.classes.tolist(), nb.class_count_, strict=True)
    counts = ", ".join(f"{label} {_plain(count)}" for label, count in sizes)
    sys.stderr.write(
        f"Learned {total - (len(aside[0]) if aside else 0):,} rows of {len(learned.classes)} "
        f"classes ({counts}) in {time.perf_counter() - begin:.1f} s, wrote {output}.\n"
        f"{learned.described}\n"
    )
    if aside is not None:
        write_scores(score(learned, *aside), form)
    elif getattr(nb, "unlabelled_weight_", 0.0) > 0:
        sys.stderr.write("naively: rows without a label count, so that scores need --hold-out.\n")
    elif len(learned.classes) > 1 and nb.class_count_.min() > 1:
        write_scores(nb.assess(), form)


def _plain(count: float) -> str:
    """Write a count; a soft one with its fraction."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"


def _smoothing(given: str) -> float | str:
    try:
        return given if given == "auto" else float(given)
    except ValueError:
        raise ValueError(f"--smoothing must be auto or a number, got {given!r}.") from None


def _event_models(given: str) -> str | dict[str, str]:
    if "=" not in given:
        return given
    return dict(_pairs(given, "--event-models"))


def _class_prior(given: str, classes: list[Any]) -> dict[Any, float]:
    pairs = _pairs(given, "--class-prior")
    label_of = {str(label): label for label in classes}  # labels may be numbers
    try:
        return {label_of.get(label, label): float(p) for label, p in pairs}
    except ValueError:
        raise ValueError(
            f"--class-prior needs numbers, as in a=0.3,b=0.7; got {given!r}."
        ) from None


def _one_of(given: str, known: tuple[str, ...], option: str) -> Any:
    if given not in known:
        raise ValueError(f"{option} must be one of {', '.join(known)}, got {given!r}.")
    return None if given == "none" else given


def _pairs(given: str, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in given.split(","):
        name, separator, value = part.partition("=")
        if not separator:
            raise ValueError(f"{option} needs name=value pairs split by commas; got {part!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs
