"""The verbs that change a model file: update, forget, merge, decay and calibrate.

Each reads the whole model, changes it in memory and writes the whole file: on any error the file
stays as it was. The file is locked meanwhile, so that what another process learns is not lost. A
sample of the rows that is in the file is changed as the one in memory is: forget and decay drop it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively import saving
from naively.cli.source import (
    DataArgument,
    InputFormatOption,
    MemoryOption,
    ModelArgument,
    TargetOption,
    labelled_rows_for,
    labels_of,
    rows_for,
)
from naively.messages import say, tell

if TYPE_CHECKING:
    from naively.cli.learned import Learned
    from naively.counting.labels import LabelArray
    from naively.data.rows import Rows

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
    memory_limit: MemoryOption = None,
) -> None:
    """Learn more labelled rows, counted as if they had been there in training.

    Weights stay, unless the file holds a sample of rows: then they are fitted to it again once
    the rows that came since are a tenth of those before.
    """
    with _changing(model, output, data):
        nb, provenance, sampled = _open(model)
        target = target or provenance.get("target")
        rows, y = _labelled(nb, data, input_format, target, memory_limit)
        before = nb.class_count_.sum()
        nb.partial_fit(rows, y)
        nb.history_ = nb.history_.of(data)
        done = f"Learned {nb.class_count_.sum() - before:,.0f} more"
        _write(nb, output or model, provenance, done, sampled=sampled)


def forget(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    target: TargetOption = None,
    input_format: InputFormatOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Unlearn labelled rows: counts are as if they had never been there; weights stay."""
    with _changing(model, output, data):
        nb, provenance, sampled = _open(model)
        target = target or provenance.get("target")
        rows, y = _labelled(nb, data, input_format, target, memory_limit)
        before = nb.class_count_.sum()
        nb.forget(rows, y)
        nb.history_ = nb.history_.of(data)
        if not nb.class_count_.any():
            raise ValueError(f"{data} holds all rows of {model}: nothing would be left of it.")
        done = f"Forgot {before - nb.class_count_.sum():,.0f}"
        _write(nb, output or model, provenance, done, sampled=sampled)


def merge(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL MODEL...", help="Model files.", show_default=False),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The model file to write.", show_default=False)
    ],
) -> None:
    """Make one model of several: counts are as of the rows of all.

    Weights are fitted to the samples of rows that all files hold, or else the mean.
    """
    if len(models) < 2:
        raise ValueError(f"There is nothing to merge with {models[0]}; name another model.")
    saving.check_output(output, [])
    with locked(output):  # it may be one of these
        nb, provenance, sampled = _merged(models)
        _write(nb, output, provenance, f"Merged {len(models)} models", sampled=sampled)


def _merged(models: list[str]) -> tuple[Learned, dict[str, Any], bool]:
    """Return the sum of the models in some files, and the target that they have in common.

    The last value says whether any of the files holds a sample of rows. One file is read after the
    other, so that no more than two models and the samples are in memory.
    """
    from naively.model.history import History, names_of

    nb, provenance, sampled = _open(models[0])
    targets, histories = {models[0]: provenance.get("target")}, [(models[0], nb.history_)]
    path = models[0]

    def others() -> Iterator[Learned]:
        nonlocal path, sampled
        for path in models[1:]:
            other, provenance_of_other, other_sampled = _open(path)
            sampled = sampled or other_sampled
            targets[path] = provenance_of_other.get("target")
            _check_one_target(targets)
            histories.append((path, other.history_))
            yield other

    try:
        nb._merge_each(others())
    except (ValueError, TypeError) as error:
        raise type(error)(f"{models[0]} and {path}: {error}") from error
    merge = nb.history_.records[-1]
    nb.history_ = History.merged(histories).add("merge", merge.rows, merge.total, names_of(models))
    target = next((target for target in targets.values() if target is not None), None)
    return nb, {} if target is None else {"target": target}, sampled


def _check_one_target(targets: dict[str, str | None]) -> None:
    """Raise a ValueError unless all models, by the names of their files, predict the same."""
    named = {path: target for path, target in targets.items() if target is not None}
    first, last = next(iter(named), None), next(reversed(named), None)
    if first is not None and last is not None and named[first] != named[last]:
        raise ValueError(
            f"{first} predicts {named[first]!r}, but {last} predicts {named[last]!r}; "
            "models of different things cannot be merged."
        )


def decay(
    model: ModelArgument,
    factor: Annotated[
        float, typer.Argument(help="Greater than 0: 0.99 takes one hundredth off all counts.")
    ],
    output: OutputOption = None,
) -> None:
    """Scale all counts, so that what is learned later weighs more."""
    with _changing(model, output):
        nb, provenance, sampled = _open(model)
        _write(nb.decay(factor), output or model, provenance, "Decayed", sampled=sampled)


def calibrate(
    model: ModelArgument,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Labelled rows that were not learned; by default the sample in the file is used.",
            show_default=False,
        ),
    ] = None,
    output: OutputOption = None,
    target: TargetOption = None,
    input_format: InputFormatOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Fit the weights of the columns again; counts stay.

    They are fitted to labelled rows that were not learned, or to the sample of the learned rows
    that `train --keep-rows` has kept in the file, each left out in turn.
    """
    with _changing(model, output, *([] if data is None else [data])):
        nb, provenance, sampled = _open(model)
        if data is None:
            if not sampled:
                raise ValueError(f"{model} holds no sample of rows; give rows that it never saw.")
            done = "Calibrated on the sample of rows in the file"
            nb.calibrate()
        else:
            target = target or provenance.get("target")
            rows, y = labelled_rows_for(nb.model_, data, input_format, target, memory_limit)
            done = f"Calibrated on {len(rows):,} rows"
            nb.calibrate(rows, y)
            nb.history_ = nb.history_.of(data)
        _write(nb, output or model, provenance, done, sampled=sampled)


def _labelled(
    nb: Learned, data: str, input_format: str | None, target: str | None, memory: str | None
) -> tuple[Rows, LabelArray]:
    """Return the rows of DATA and their labels; columns that the model does not know are said."""
    from naively.schema.schema import list_names

    rows, table = rows_for(nb.model_, data, input_format, target, memory)
    ignored = [name for name in table.names if name != target and name not in rows.names]
    if ignored:
        say(f"{data}: column {list_names(ignored)} was not learned, and is left out.")
    return rows, labels_of(nb.model_, table, target, data)


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


def _open(path: str) -> tuple[Learned, dict[str, Any], bool]:
    """Return the model in a file, ready to change, and what was saved about where it comes from.

    The last value says whether the file holds a sample of rows.
    """
    from naively.cli.learned import Learned
    from naively.file import store

    found = store.load_all(path)
    nb = Learned._of_model(found.model, found.sample, found.history)
    return nb, found.provenance, found.sample is not None


def _write(nb: Learned, path: str, provenance: dict[str, Any], done: str, *, sampled: bool) -> None:
    """Write a model file, and say on standard error what was done.

    ``sampled`` says whether there was a sample of rows before; if there is still one, it is kept.
    """
    from naively.file import store

    model = nb.model_
    model.class_log_prior  # noqa: B018  (a class prior that does not fit any more is an error now)
    rows = nb._sampled_rows()
    store.save(model, path, provenance, rows, nb.history_)
    total = float(model.tally.class_count.sum())
    tell(f"{done}: {total:,.6g} rows of {len(model.classes)} classes, wrote {path}.")
    if sampled and rows is None:
        tell("The file holds no sample of rows any more, as it would not be one of all its rows.")
    if model.weights is not None and model.weights.fresh(total) < 1:
        share = model.weights.fresh(total)
        tell(f"Weights were fitted to {share:.0%} of them; `naively calibrate` fits them again.")
