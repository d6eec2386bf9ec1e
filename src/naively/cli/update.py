"""The verbs that change a model file: update, forget, merge, decay and calibrate.

Each reads the whole model, changes it in memory and writes the whole file: on any error the file
stays as it was. The file is locked meanwhile, so that what another process learns is not lost.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively import saving
from naively.cli.ask import open_model
from naively.cli.source import (
    DataArgument,
    InputFormatOption,
    ModelArgument,
    TargetOption,
    labelled_rows_for,
)
from naively.messages import say, tell

if TYPE_CHECKING:
    from naively.cli.learned import Learned
    from naively.model.model import Model

OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", help="The model file to write; by default MODEL.", show_default=False
    ),
]


def update(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    target: TargetOption = None,
    input_format: InputFormatOption = None,
) -> None:
    """Learn more labelled rows, counted as if they had been there in training; weights stay."""
    with _changing(model, output, data):
        learned, provenance = open_model(model)
        target = target or provenance.get("target")
        rows, y = labelled_rows_for(learned, data, input_format, target)
        before = learned.tally.class_count.sum()
        nb = _estimator(learned).partial_fit(rows, y)
        done = f"Learned {nb.class_count_.sum() - before:,.0f} more"
        _write(nb, output or model, provenance, done)


def forget(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    target: TargetOption = None,
    input_format: InputFormatOption = None,
) -> None:
    """Unlearn labelled rows: counts are as if they had never been there; weights stay."""
    with _changing(model, output, data):
        learned, provenance = open_model(model)
        target = target or provenance.get("target")
        rows, y = labelled_rows_for(learned, data, input_format, target)
        before = learned.tally.class_count.sum()
        nb = _estimator(learned).forget(rows, y)
        if not nb.class_count_.any():
            raise ValueError(f"{data} holds all rows of {model}: nothing would be left of it.")
        _write(nb, output or model, provenance, f"Forgot {before - nb.class_count_.sum():,.0f}")


def merge(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL MODEL...", help="Model files.", show_default=False),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The model file to write.", show_default=False)
    ],
) -> None:
    """Make one model of several: counts are as of the rows of all, weights the mean."""
    if len(models) < 2:
        raise ValueError(f"There is nothing to merge with {models[0]}; name another model.")
    saving.check_output(output, [])
    with locked(output):  # it may be one of these
        nb, provenance = _merged(models)
        _write(nb, output, provenance, f"Merged {len(models)} models")


def _merged(models: list[str]) -> tuple[Learned, dict[str, Any]]:
    """Return the sum of the models in some files, and the target that they have in common."""
    first, provenance = open_model(models[0])
    nb = _estimator(first)
    for path in models[1:]:
        other, provenance_of_other = open_model(path)
        targets = [p.get("target") for p in (provenance, provenance_of_other)]
        if None not in targets and targets[0] != targets[1]:
            raise ValueError(
                f"{models[0]} predicts {targets[0]!r}, but {path} predicts {targets[1]!r}; "
                "models of different things cannot be merged."
            )
        try:
            nb.merge(_estimator(other))
        except (ValueError, TypeError) as error:
            raise type(error)(f"{models[0]} and {path}: {error}") from error
    return nb, {"target": provenance["target"]} if "target" in provenance else {}


def decay(
    model: ModelArgument,
    factor: Annotated[
        float, typer.Argument(help="Greater than 0: 0.99 takes one hundredth off all counts.")
    ],
    output: OutputOption = None,
) -> None:
    """Scale all counts, so that what is learned later weighs more."""
    with _changing(model, output):
        learned, provenance = open_model(model)
        _write(_estimator(learned).decay(factor), output or model, provenance, "Decayed")


def calibrate(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    target: TargetOption = None,
    input_format: InputFormatOption = None,
) -> None:
    """Fit the weights of the columns to labelled rows that were not learned; counts stay."""
    with _changing(model, output, data):
        learned, provenance = open_model(model)
        target = target or provenance.get("target")
        rows, y = labelled_rows_for(learned, data, input_format, target)
        nb = _estimator(learned).calibrate(rows, y)
        _write(nb, output or model, provenance, f"Calibrated on {len(rows):,} rows")


def locked(path: str) -> AbstractContextManager[object]:
    """Take the lock of a model file that will be written, and say if that takes a while.

    A new file needs no lock, as no other process can be changing it.
    """
    if not Path(path).exists():
        return nullcontext()
    return saving.locked(
        path, waiting=lambda: say(f"waiting for another process, which is changing {path}.")
    )


def _changing(model: str, output: str | None, *inputs: str) -> AbstractContextManager[object]:
    """Take the lock of the file that a verb will write, which must not be one of its inputs."""
    path = output or model
    saving.check_output(path, inputs)
    return locked(path)


def _estimator(model: Model) -> Learned:
    from naively.cli.learned import Learned
    from naively.estimators.options import learner_of

    return learner_of(Learned, model)


def _write(nb: Learned, path: str, provenance: dict[str, Any], done: str) -> None:
    """Write a model file, and say on standard error what was done."""
    from naively.model.file import store

    model = nb.model_
    model.class_log_prior  # noqa: B018  (a class prior that does not fit any more is an error now)
    store.save(model, path, provenance)
    total = float(model.tally.class_count.sum())
    tell(f"{done}: {total:,.6g} rows of {len(model.classes)} classes, wrote {path}.")
    if model.weights is not None and model.weights.fresh(total) < 1:
        share = model.weights.fresh(total)
        tell(f"Weights were fitted to {share:.0%} of them; `naively calibrate` fits them again.")
