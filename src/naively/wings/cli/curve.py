"""The verbs of curves: learning, smoothing and decay.

They write a table, and a picture if it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import click

from naively import saving
from naively.messages import say
from naively.options import from_text
from naively.wings.cli import options, shared
from naively.wings.cli.learn import columns_to_read, event_models_of
from naively.wings.cli.options import Declared, Format, HowRead, Verb, Verbs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.counting.labels import LabelArray
    from naively.data.columns import Rows
    from naively.tabular import Tabular

Read: TypeAlias = tuple[list[str] | None, list[str]]  # columns to read, and to ignore
PICTURES = (".png", ".svg", ".pdf")

event_models_option = click.option(
    "--event-models",
    default="auto",
    help="As of train: auto, one for all, or by column: age=gaussian,note=text.",
)
smoothing_option = click.option(
    "--smoothing", default="auto", help="The pseudo-count: a number, laplace, jeffreys or auto."
)
test_option = click.option("--test", help="Labelled rows to score, in another file.")


def drawn(metric: str) -> Callable[[Declared], Declared]:
    """Return what gives a verb the options of columns and of a picture, and writes its curve."""

    def declare(verb: Declared) -> Declared:
        def write(
            *,
            out: str | None,
            metric: str,
            form: Format | None,
            columns: str | None,
            ignore: str | None,
            **given: Any,
        ) -> None:
            _check(out, filter(None, map(given.get, ("data", "test"))), metric)
            read = columns_to_read(columns, ignore, given["target"], given.get("time"))
            curve = verb(**given, read=read)
            shared.write_table(curve, form)
            if out is not None:
                save_picture(curve.plot(metric=metric), out)

        of_picture = click.option(
            "--output", "-o", "out", help="A picture to write: its name ends in .png, .svg or .pdf."
        )
        of_metric = click.option(
            "--metric", default=metric, help="What is drawn: accuracy or log_loss."
        )
        declared = of_picture(of_metric(cast("Declared", update_wrapper(write, verb))))
        return options.columns_option(options.ignore_option(declared))

    return declare


@click.group(cls=Verbs, no_args_is_help=False)
def curve() -> None:
    """Score models by how many rows they learn, by their pseudo-count or by their decay."""


@curve.command(cls=Verb)
@options.data_argument
@options.target_option
@click.option("--sizes", help="How many rows to learn: 10,100,1000, or shares: 0.01,0.1,1.0.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, help="Random orders of the rows.")
@test_option
@click.option(
    "--hold-out",
    default="0.25",
    help="Random rows to score without --test: a share of them, or how many.",
)
@click.option("--seed", default=0, help="The seed of the random orders.")
@event_models_option
@smoothing_option
@click.option("--weights", is_flag=True, help="Fit the weights of train at each size; slower.")
@drawn(metric="accuracy")
@options.reading_options
@options.format_option
def learning(
    data: str,
    target: str | None,
    sizes: str | None,
    repeats: int,
    test: str | None,
    hold_out: str,
    seed: int,
    event_models: str,
    smoothing: str,
    weights: bool,
    how: HowRead,
    read: Read,
) -> Tabular:
    """Score models of more and more rows of DATA, on these rows and on others.

    Models are pure naive Bayes, as of `train --weights none`, unless --weights is given.
    """
    from naively.estimators.naive_bayes import NaiveBayes

    rows, y, name = shared.read_labelled(data, target, how, *read)
    nb = NaiveBayes(event_models_of(event_models), smoothing=from_text("smoothing", smoothing))
    held_out: float | tuple[Rows, LabelArray] = _number(
        hold_out, "--hold-out", "a share of the rows or how many, as in 0.25"
    )
    if test is not None:
        held_out = shared.read_labelled(test, name, how, *read)[:2]
    each = _numbers(sizes, "--sizes", "numbers of rows (10,100,1000) or shares (0.1,1.0)")
    return nb.curve.learning(
        rows, y, test=held_out, sizes=each, repeats=repeats, weights=weights, random_state=seed
    )


@curve.command(cls=Verb)
@click.argument(
    "data",
    metavar="DATA|MODEL",
    help="Labelled rows to learn, or a model file, as `train` writes it.",
)
@options.target_option
@click.option("--values", help="Pseudo-counts, at least 0: 0,0.5,1.")
@test_option
@event_models_option
@drawn(metric="log_loss")
@options.reading_options
@options.format_option
def smoothing(
    data: str,
    target: str | None,
    values: str | None,
    test: str | None,
    event_models: str,
    how: HowRead,
    read: Read,
) -> Tabular:
    """Score pure naive Bayes with several pseudo-counts; nothing is counted again.

    Learned rows are scored as they are and each left out in turn, and the rows of --test. A model
    file must hold a sample of the learned rows (`train --keep-rows`), or --test is needed.
    """
    from naively.estimators.naive_bayes import NaiveBayes

    each = _numbers(values, "--values", "pseudo-counts of at least 0, as in 0,0.5,1")
    held_out: tuple[Rows, LabelArray] | tuple[()] = ()
    if _is_model(data):
        if event_models != "auto" or any(read):
            raise ValueError(
                f"{data} is a model, whose columns and event models stay: leave out the option."
            )
        content = shared.load(data)
        nb = shared.estimator_of(content.model, content.sample)
        target = target or content.provenance.get("target")
        if content.sample is None and test is None:
            raise ValueError(
                f"{data} holds no rows to score: name some with --test, or train with --keep-rows."
            )
        model, how = content.model, how.over(content.provenance)
    else:
        rows, y, target = shared.read_labelled(data, target, how, *read)
        nb = NaiveBayes(event_models_of(event_models), weights=None).fit(rows, y)
        model = nb.model_
    if test is not None:
        held_out = shared.labelled_rows_for(model, test, how, target)
    return nb.curve.smoothing(*held_out, values=each)


@curve.command(cls=Verb)
@options.data_argument
@options.target_option
@click.option(
    "--time",
    help="The column of times or numbers by which rows are sorted; it is not learned. By "
    "default rows are in order.",
)
@click.option(
    "--blocks", type=click.IntRange(min=2), default=10, help="Blocks of equal numbers of rows."
)
@click.option("--half-lives", help="Half-lives in blocks: 0.5,1,2; an infinite one is added.")
@click.option(
    "--weights",
    default="fitted",
    help="fitted (anew before each block), kept (those of the first, as decay and update "
    "do) or none.",
)
@event_models_option
@smoothing_option
@drawn(metric="log_loss")
@options.reading_options
@options.format_option
def decay(
    data: str,
    target: str | None,
    time: str | None,
    blocks: int,
    half_lives: str | None,
    weights: str,
    event_models: str,
    smoothing: str,
    how: HowRead,
    read: Read,
) -> Tabular:
    """Score each block of time by what was learned before it, fading with several half-lives.

    The best half-life is said on standard error.
    """
    from naively.estimators.naive_bayes import NaiveBayes

    if weights not in {"none", "fitted", "kept"}:
        raise ValueError(f"--weights must be fitted, kept or none, got {weights!r}.")
    follow = None if weights == "none" else cast("Literal['fitted', 'kept']", weights)
    each = _numbers(half_lives, "--half-lives", "numbers of blocks, as in 0.5,1,2")
    rows, y, _ = shared.read_labelled(data, target, how, *read)
    nb = NaiveBayes(event_models_of(event_models), smoothing=from_text("smoothing", smoothing))
    curve = nb.curve.decay(rows, y, time=time, blocks=blocks, half_lives=each, weights=follow)
    say(curve.said)
    return curve


def _is_model(data: str) -> bool:
    """Whether a file begins as a model file does: the length of a header, and the header."""
    if not Path(data).is_file():
        return False
    with Path(data).open("rb") as file:
        begin = file.read(9)
    return begin[6:] == b"\0\0{"


def _numbers(listed: str | None, option: str, what: str) -> list[float] | None:
    """Return numbers that are split by commas, whole ones as such."""
    each = shared.names(listed)
    return None if each is None else [_number(one, option, what) for one in each]


def _number(written: str, option: str, what: str) -> float:
    for read in (int, float):
        try:
            return read(written)
        except ValueError:
            continue
    raise ValueError(f"{option} must be {what}; got {written!r}.")


def _check(out: str | None, inputs: Iterable[str], metric: str) -> None:
    """Raise what is wrong with the picture before the work for it is done."""
    from naively.assess.curves import check_metric
    from naively.wings.pictures.axes import pyplot

    check_metric(metric)
    if out is None:
        return
    if Path(out).suffix.lower() not in PICTURES:
        raise ValueError(f"--output {out} must end in {' or '.join(PICTURES)}.")
    saving.check_output(out, inputs)
    pyplot()


def save_picture(ax: Axes, out: str) -> None:
    """Write a picture to a file, whole or not at all."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    content = BytesIO()
    form = cast("Literal['png', 'svg', 'pdf']", Path(out).suffix.lower()[1:])
    figure.savefig(content, format=form)
    saving.save(out, content.getvalue())
