"""The verbs that make and change a model: train, update, forget, merge, decay, calibrate."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from naively import saving
from naively.messages import amount, say, tell
from naively.options import COPIES, FileOptions, from_text, number_of
from naively.wings.cli import options, shared
from naively.wings.cli.ask import write_scores
from naively.wings.cli.options import Format, HowRead, Verb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from naively.assess.prequential import Prequential
    from naively.assess.scores import Scores
    from naively.counting.labels import Label, LabelArray
    from naively.data.columns import Cells, Rows
    from naively.data.reading import ReadAs
    from naively.estimators.naive_bayes import NaiveBayes
    from naively.events import Beta, Dirichlet
    from naively.file.header import Saved
    from naively.model.model import Model
    from naively.schema.settings import ClassPrior

    Opened = tuple[NaiveBayes, Saved, bool]  # with its provenance; is there a sample of rows?

# --- The verb that makes a model: train ----------------------------------------------------------


SHOWN = 20  # classes, of which it is said how many rows they have
PRIORS = ("data", "uniform")
LEFT_OUT, ALL_OTHERS = "left_out", "all others"  # of the columns of a file, in the provenance


def _no_class_weight(_context: object, _option: object, given: str | None) -> None:
    """Raise a ValueError that says what to give instead."""
    if given is not None:
        raise ValueError(
            "There is no --class-weight: weights that only change how much each class counts are a "
            "class prior; say --class-prior uniform, or give the probability of each class."
        )


@click.command(cls=Verb)
@options.data_argument
@click.option(
    "--output", "-o", default="model.naively", help="The model file to write; .gz is compressed."
)
@options.target_option
@options.columns_option
@options.ignore_option
@click.option(
    "--event-models",
    default="auto",
    help="auto, one for all (histogram, gaussian, poisson, bernoulli, categorical, "
    "multinomial, text, ...), or by column: age=gaussian,note=text.",
)
@click.option(
    "--class-prior",
    default="data",
    help="data, uniform, probabilities: a=0.3,b=0.7, or pretend rows to add to those of "
    "the sorted classes: 'dirichlet(1)' to each, 'dirichlet(1,2,3)', or 'beta(2,1)', 2 to "
    "the second of two and 1 to the first.",
)
@click.option("--semi-supervised", is_flag=True, help="Learn from rows without a label too.")
@click.option("--frequencies", help="A column that says how many equal rows each row is.")
@click.option(
    "--groups",
    help="A column whose equal values mark rows that belong together, as those of a customer: "
    "they are held out together. 'copies': equal rows.",
)
@click.option(
    "--time", help="With --half-life, the column of times of the rows, which is not learned."
)
@click.option(
    "--hold-out",
    default="0",
    help="Random rows to set aside and score: a share of them below 1, or how many.",
)
@click.option("--seed", default=0, help="The seed of the random choice of --hold-out.")
@click.option(
    "--keep-rows",
    is_flag=True,
    help="Keep a sample of the rows in the model file, so that update, merge and calibrate "
    "fit the weights to it. Anybody who has the file can read these rows.",
)
@click.option("--class-weight", hidden=True, expose_value=False, callback=_no_class_weight)
@options.reading_options
@options.format_option
@options.settings_options
def train(  # noqa: PLR0915, PLR0917  (options, not positions)
    data: str,
    output: str,
    target: str | None,
    columns: str | None,
    ignore: str | None,
    event_models: str,
    class_prior: str,
    semi_supervised: bool,
    frequencies: str | None,
    groups: str | None,
    time: str | None,
    hold_out: str,
    seed: int,
    keep_rows: bool,
    how: HowRead,
    form: Format | None,
    **settings: str,
) -> None:
    """Learn a model from labelled rows, write it to a file, and assess it.

    The scores are of cross-validation, or of the rows that --hold-out sets aside.
    """
    from naively.estimators.naive_bayes import NaiveBayes
    from naively.model.model import History

    begin = perf_counter()
    saving.check_output(output, [data])
    part = _hold_out(hold_out)
    prior = _class_prior(class_prior)
    late = class_prior not in PRIORS  # it is for classes that are not known before all rows are
    target = target or shared.folder_target(data)
    read = columns_to_read(columns, ignore, target, frequencies, groups, time)
    source = shared.Data(data, how, *read, target)
    beside = {"frequencies": frequencies, "groups": groups, "time": time}
    nb = NaiveBayes(
        event_models_of(event_models),
        class_prior="data" if late else prior,
        semi_supervised=semi_supervised,
        **{name: from_text(name, given) for name, given in settings.items()},
    )
    aside = None
    if part or semi_supervised or time:
        table = source.read(said=partial(_said, nb, frequencies))
        target = shared.find_target(list(map(str, table.names)), target, data)
        rows, y = table.split(target)
        total = len(rows)
        if part:
            chosen = shared.held_out(total, part, seed, shared.groups_of(rows, groups, target))
            rows, y, aside = _split(rows, y, chosen, hold_out, data)
        nb.fit(rows, y, **beside)
    else:
        with source.opened() as stream:
            target = shared.find_target(stream.names, target, data)
            if stream.total == 0:
                raise ValueError(f"{data} has no rows to learn from.")
            nb.fit(stream, target, **beside)
        total = round(nb.class_count_.sum())
    if late:
        nb.class_prior = _by_label(prior, nb.classes_.tolist())
        nb._exchange(model=nb.model_.under_prior(nb.class_prior))
    learned = nb.model_
    learned.class_log_prior  # noqa: B018  (an impossible --class-prior is an error now, not later)
    if nb.weights and not semi_supervised and late:
        learned = nb.calibrate().model_
    provenance: Saved = {"target": target, "hold_out": part, "seed": seed, "rows": total}
    provenance |= how.file.kept() | {name: of for name, of in beside.items() if of}
    if columns or ignore:  # what else is in a file was left out by who knew it
        provenance[LEFT_OUT] = ALL_OTHERS if columns else shared.names(ignore)
    learned_now = nb.class_count_.sum()
    history = History().add("train", learned_now, learned_now)
    nb._exchange(history=history.of(data, shared.digest_of(data)))
    seconds = perf_counter() - begin
    scores = _assessed(nb, aside, target, frequencies)  # the file keeps what sets follow from
    _save(nb, output, provenance, keep_rows=keep_rows)
    learned_rows = total - (len(aside[0]) if aside else 0)
    if frequencies:
        learned_rows = round(nb.class_count_.sum())
    tell(
        f"Learned {learned_rows:,} rows of {len(learned.classes):,} "
        f"classes ({_counts(learned)}) in {seconds:.1f} s, wrote {output}.",
        *str(learned.described()).split("\n"),
        *([f"Interactions: none; {nb.why_no_interactions_}."] if nb.why_no_interactions_ else []),
        *nb.notes_,
    )
    out = sys.stderr if saving.is_standard_output(output) else sys.stdout
    if scores is not None:
        write_scores(scores, form, out)
    elif nb.unlabelled_weight_ > 0:
        say("rows without a label count, so that scores need --hold-out.")


def _assessed(
    nb: NaiveBayes, aside: tuple[Rows, Cells] | None, target: str, frequencies: str | None
) -> Scores | None:
    """Assess a model by the rows that were set aside, or by its own; None if it cannot be."""
    from naively.assess.decisions import held_out_rows
    from naively.assess.scores import score

    if aside is not None:
        rows, y = aside
        times = frequencies and shared.column_of(rows, frequencies, "frequencies")
        rows = shared.known_to(nb.model_, rows, target)
        nb._exchange(model=nb.model_.with_held_out(held_out_rows(nb.model_, rows, y, times)))
        return score(nb.model_, rows, y, frequencies=times)
    if nb.unlabelled_weight_ > 0 or len(nb.classes_) < 2 or nb.class_count_.max() <= 1:
        return None
    scores = nb.assess()
    nb._exchange(model=nb._calibrated())
    return scores


def _said(nb: NaiveBayes, times: str | None, names: Sequence[str]) -> ReadAs:
    """Return what the options of an estimator say of the columns of a table."""
    from naively.schema.choose import contents_given

    given = contents_given(nb.event_models, names)
    contents = {str(name): of for name, of in given.items()}
    return replace(nb._read_as, contents=contents, times=times)


def _split(
    rows: Rows, y: Cells, is_aside: NDArray[np.bool_], hold_out: str, data: str
) -> tuple[Rows, Cells, tuple[Rows, Cells]]:
    """Return the rows to learn from and their labels, and those that are set aside."""
    if is_aside.all() or not is_aside.any():
        raise ValueError(
            f"--hold-out {hold_out} sets {is_aside.sum():,} of the {len(rows):,} rows of {data} "
            "aside; there must be some to score and some to learn from."
        )
    aside = rows.take(is_aside), y[is_aside]
    return rows.take(~is_aside), y[~is_aside], aside


def _save(nb: NaiveBayes, output: str, provenance: Saved, *, keep_rows: bool) -> None:
    """Write a model file, with a sample of the rows if it is wanted and there is one."""
    from naively.file import store

    rows = nb._sampled_rows() if keep_rows else None
    if keep_rows and rows is None:
        say("rows without a label count, so that no sample of rows is kept.")
    with locked(output):
        store.save(nb.model_, output, provenance, rows, nb.history_)


def _counts(learned: Model) -> str:
    """Return how many rows each of the first classes has, for a sentence."""
    sizes = zip(learned.classes.tolist(), learned.counted.tally.class_count, strict=True)
    said = ", ".join(f"{label} {amount(count)}" for label, count in islice(sizes, SHOWN))
    more = len(learned.classes) - SHOWN
    return f"{said} and {more:,} more" if more > 0 else said


def _hold_out(given: str) -> float | int:
    """Return --hold-out as a share of the rows if it is below 1, else as a number of rows."""
    part = number_of(given)
    if part is None or part < 0 or (part > 1 and not part.is_integer()):
        raise ValueError(
            "--hold-out must be a share of the rows below 1, such as 0.2, or a whole number of "
            f"rows, such as 1000; got {given!r}."
        )
    return part if part < 1 else int(part)


def event_models_of(given: str) -> str | dict[str, str]:
    """Return --event-models: one for all, or by column."""
    return shared.pairs(given, "--event-models") if "=" in given else given


def _class_prior(given: str) -> str | dict[str, float] | Beta | Dirichlet:
    """Return a class prior: its name, probabilities by label (still strings), or a distribution."""
    from naively import Beta, Dirichlet

    if given in PRIORS:
        return given
    if "=" in given:
        return shared.numbers_by_name(given, "--class-prior")
    written = re.fullmatch(r"\s*(beta|dirichlet)\s*\(([^()]*)\)\s*", given, re.IGNORECASE)
    name, inside = written.groups() if written else ("", "")
    parts = inside.split(",")
    counts = [number for number in map(number_of, parts) if number is not None]
    if name.lower() == "beta" and len(counts) == len(parts) == 2:
        return Beta(*counts)
    if name.lower() == "dirichlet" and len(counts) == len(parts):
        return Dirichlet(counts[0] if len(counts) == 1 else counts)
    raise ValueError(
        f"--class-prior must be {', '.join(PRIORS)}, probabilities such as a=0.3,b=0.7, beta(a,b) "
        f"of two classes, or dirichlet(a) or dirichlet(a,b,...) of more; got {given!r}."
    )


def _by_label(prior: ClassPrior, classes: list[Label]) -> ClassPrior:
    """Return a prior whose labels are those of the classes, as numbers where these are numbers."""
    if not isinstance(prior, dict):
        return prior
    label_of = {str(label): label for label in classes}
    return {label_of.get(label, label): p for label, p in prior.items()}


def columns_to_read(
    columns: str | None, ignore: str | None, target: str | None, *beside: str | None
) -> tuple[list[str] | None, list[str]]:
    """Return the columns to read (None: all), and those to leave out."""
    chosen, left_out = shared.names(columns), shared.names(ignore) or []
    for option, listed in (("--columns", chosen or []), ("--ignore", left_out)):
        for name, count in Counter(listed).items():
            if count > 1:
                raise ValueError(f"{option} names {name!r} twice; give it once.")
    if chosen is None:
        return None, left_out
    for name in chosen:
        if name in left_out:
            raise ValueError(f"Both --columns and --ignore name {name!r}; give it to one of them.")
    if chosen == [target]:
        raise ValueError(f"--columns names only {target!r}, the target; name what to learn from.")
    own = [name for name in (target, *beside) if name is not None and name != COPIES]
    return list(dict.fromkeys([*chosen, *own])), left_out


# --- The verbs that change a model file: update, forget, merge, decay and calibrate --------------
#
# Each reads the whole model, changes it in memory and writes the whole file: on any error the file
# stays as it was. The file is locked meanwhile, so that what another process learns is not lost. A
# sample of the rows that is in the file is changed as the one in memory is: forget and decay drop
# it.


output_option = click.option("--output", "-o", help="The model file to write; by default MODEL.")


@click.command(cls=Verb)
@options.model_argument
@options.data_argument
@output_option
@options.target_option
@click.option(
    "--decay",
    type=float,
    help="Scale what was learned before, so that these rows weigh more: 0.5 halves it. "
    "With --score, before each batch.",
)
@click.option("--score", is_flag=True, help="Score each batch of rows before it is learned.")
@click.option(
    "--batch", type=click.IntRange(min=1), default=1000, help="Rows of a batch that --score scores."
)
@click.option("--again", is_flag=True, help="Learn a file that was learned before once more.")
@options.reading_options
@options.format_option
def update(
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    decay: float | None,
    score: bool,
    batch: int,
    again: bool,
    how: HowRead,
    form: Format | None,
) -> None:
    """Learn more labelled rows, counted as if they had been there in training.

    A file that was learned before is refused, by its content, unless --again is given.

    Weights stay, unless the file holds a sample of rows: then they are fitted to it again once
    the rows that came since are a tenth of those before. With --decay the sample is dropped.
    """
    with _changing(model, output, data) as (nb, provenance, sampled):
        digest = shared.digest_of(data)
        known = nb.history_.learned(digest)
        if known is not None and not again:
            raise ValueError(
                f"{model} has learned {data} already, as {known.source} at {known.when}; give "
                "--again to learn it once more."
            )
        rows, y, beside = _labelled(nb, data, how, target, provenance)
        before = nb.class_count_.sum()
        if score:
            found = _prequential(nb, rows, y, beside, batch, decay)
            learned = found.rows[-1]
        else:
            nb.partial_fit(rows, y, **beside, decay=decay)
            learned = float(nb.class_count_.sum() - before * (1.0 if decay is None else decay))
        nb._exchange(history=nb.history_.of(data, digest))
        done = f"Learned {amount(learned)} more"
        _write(nb, output or model, provenance, done, sampled=sampled)
        if score:
            shared.write_table(found, form)


def _prequential(
    nb: NaiveBayes,
    rows: Rows,
    y: LabelArray,
    beside: dict[str, LabelArray | str],
    every: int,
    decay: float | None,
) -> Prequential:
    """Score and learn rows batch by batch; the history has one record of them."""
    import numpy as np

    from naively.assess.prequential import prequential
    from naively.counting.labels import Beside

    def learn(some: slice) -> None:
        place = np.arange(some.start, some.stop)
        more = {what: np.asarray(values)[some] for what, values in beside.items()}
        nb.partial_fit(rows.take(place), y[some], **more, decay=decay)

    labels = Beside(**{what: of for what, of in beside.items() if what != "time"}).encode(y)
    history = nb.history_
    found = prequential(rows, labels, lambda: nb.model_, learn, every)
    nb._exchange(history=history.add("update", found.rows[-1], float(nb.class_count_.sum())))
    return found


@click.command(cls=Verb)
@options.model_argument
@options.data_argument
@output_option
@options.target_option
@options.reading_options
def forget(model: str, data: str, output: str | None, target: str | None, how: HowRead) -> None:
    """Unlearn labelled rows: counts are as if they had never been there; weights stay."""
    with _changing(model, output, data) as (nb, provenance, sampled):
        rows, y, beside = _labelled(nb, data, how, target, provenance)
        before = nb.class_count_.sum()
        nb.forget(rows, y, beside.get("frequencies"))
        nb._exchange(history=nb.history_.of(data, shared.digest_of(data)))
        if not nb.class_count_.any():
            raise ValueError(f"{data} holds all rows of {model}: nothing would be left of it.")
        done = f"Forgot {amount(before - nb.class_count_.sum())}"
        _write(nb, output or model, provenance, done, sampled=sampled)


@click.command(cls=Verb)
@click.argument("models", metavar="MODEL MODEL...", nargs=-1, required=True, help="Model files.")
@click.option("--output", "-o", required=True, help="The model file to write.")
@click.option("--again", is_flag=True, help="Count rows once for each model that learned them.")
def merge(models: list[str], output: str, again: bool) -> None:
    """Make one model of several: its counts are those of all their rows.

    Models that learned the same file, by its content, are refused, unless --again is given. Weights
    are fitted to the samples of rows that all files hold, or else the mean.
    """
    if len(models) < 2:
        raise ValueError(f"There is nothing to merge with {models[0]}; name another model.")
    saving.check_output(output, [])
    with locked(output):  # it may be one of these
        seen: dict[str, str] = {}
        for path in models:
            same = path if again else seen.setdefault(shared.digest_of(path) or path, path)
            if same != path or (not again and models.count(path) > 1):
                raise ValueError(
                    f"{same} and {path} are one model, whose rows would count twice; give --again "
                    "to merge them."
                )
        if shared.all_of_mail(models):
            from naively.wings.cli import mail_models

            mail_models.merge(models, output)
            return
        nb, provenance, sampled = _merged(models, again=again)
        _write(nb, output, provenance, f"Merged {len(models)} models", sampled=sampled)


def _merged(models: list[str], *, again: bool) -> Opened:
    """Return the sum of the models in some files, and what they have in common."""
    # One file is read after the other, so that only two models and the samples are in memory.
    from naively.model.model import History, names_of

    nb, provenance, sampled = _open(models[0])
    targets, histories = {models[0]: provenance.get("target")}, [(models[0], nb.history_)]
    kept = [FileOptions().over(provenance).kept()]
    path = models[0]

    def others() -> Iterator[NaiveBayes]:
        nonlocal path, sampled
        for path in models[1:]:
            other, provenance_of_other, other_sampled = _open(path)
            sampled = sampled or other_sampled
            targets[path] = provenance_of_other.get("target")
            kept.append(FileOptions().over(provenance_of_other).kept())
            _check_one_target(targets)
            for before, of in histories if not again else ():
                for record in other.history_.records:
                    if of.learned(record.digest) and other.history_.learned(record.digest):
                        raise ValueError(
                            f"{before} has learned {record.source} too, whose rows would count "
                            "twice; give --again to merge them."
                        )
            histories.append((path, other.history_))
            yield other

    try:
        nb._merge_each(others())
    except (ValueError, TypeError) as error:
        raise type(error)(f"{models[0]} and {path}: {error}") from error
    merge = nb.history_.records[-1]
    nb._exchange(
        history=History.merged(histories).add("merge", merge.rows, merge.total, names_of(models))
    )
    target = next((target for target in targets.values() if target is not None), None)
    alike = kept[0] if kept.count(kept[0]) == len(kept) else {}
    return nb, alike | ({} if target is None else {"target": target}), sampled


def _check_one_target(targets: dict[str, str | None]) -> None:
    """Raise a ValueError unless all models, by the names of their files, predict the same."""
    named = {path: target for path, target in targets.items() if target is not None}
    first, last = next(iter(named), None), next(reversed(named), None)
    if first is not None and last is not None and named[first] != named[last]:
        raise ValueError(
            f"{first} predicts {named[first]!r}, but {last} predicts {named[last]!r}; "
            "models of different things cannot be merged."
        )


@click.command(cls=Verb)
@options.model_argument
@click.argument(
    "factor", type=float, help="Greater than 0: 0.99 takes one hundredth off all counts."
)
@output_option
def decay(model: str, factor: float, output: str | None) -> None:
    """Scale all counts, so that what is learned later weighs more."""
    if shared.all_of_mail([model]):
        from naively.wings.cli import mail_models

        mail_models.decay(model, factor, output)
        return
    with _changing(model, output) as (nb, provenance, sampled):
        _write(nb.decay(factor), output or model, provenance, "Decayed", sampled=sampled)


@click.command(cls=Verb)
@options.model_argument
@options.some_data_argument(
    help="Labelled rows that were not learned; by default the sample in the file is used."
)
@output_option
@options.target_option
@options.reading_options
def calibrate(
    model: str, data: str | None, output: str | None, target: str | None, how: HowRead
) -> None:
    """Fit the weights of the columns again; counts stay.

    They are fitted to labelled rows that were not learned, or to the sample of the learned rows
    that `train --keep-rows` has kept in the file, each left out in turn.
    """
    with _changing(model, output, *filter(None, [data])) as (nb, provenance, sampled):
        if data is None:
            if not sampled:
                raise ValueError(f"{model} holds no sample of rows; give rows that it never saw.")
            done = "Calibrated on the sample of rows in the file"
            nb.calibrate()
        else:
            target = target or provenance.get("target")
            rows, y = shared.labelled_rows_for(nb.model_, data, how.over(provenance), target)
            done = f"Calibrated on {len(rows):,} rows"
            nb.calibrate(rows, y)
            nb._exchange(history=nb.history_.of(data))
        _write(nb, output or model, provenance, done, sampled=sampled)


def _labelled(
    nb: NaiveBayes, data: str, how: HowRead, target: str | None, provenance: Saved
) -> tuple[Rows, LabelArray, dict[str, LabelArray | str]]:
    """Return the rows of DATA, their labels, and their frequencies and groups as in training."""
    from naively.schema.schema import list_names

    target = target or provenance.get("target")
    rows, table = shared.rows_for(nb.model_, data, how.over(provenance), target, learns=True)
    known = ("frequencies", "groups", "time")
    named: dict[str, str] = {what: provenance[what] for what in known if what in provenance}
    beside = {what: shared.column_of(table, name, what) for what, name in named.items()}
    own = [target, *named.values()]
    ignored = [name for name in table.names if name not in own and name not in rows.names]
    left_out = provenance.get(LEFT_OUT)
    if left_out == ALL_OTHERS:
        ignored = []
    elif isinstance(left_out, list):
        ignored = [name for name in ignored if name not in left_out]
    if ignored:
        say(f"{data}: column {list_names(ignored)} was not learned, and is left out.")
    return rows, shared.labels_of(nb.model_, table, target, data), beside


def locked(path: str) -> AbstractContextManager[object]:
    """Take the lock of a model file that will be written, and say if that takes a while."""
    # A new file needs no lock, as no other process can be changing it.
    if not Path(path).exists():
        return nullcontext()
    return saving.locked(
        path, waiting=lambda: say(f"waiting for another process, which is changing {path}.")
    )


@contextmanager
def _changing(model: str, output: str | None, *inputs: str) -> Iterator[Opened]:
    """Open a model under the lock of the file that a verb will write, which is no input of it."""
    path = output or model
    saving.check_output(path, inputs)
    with locked(path):
        yield _open(model)


def _open(path: str) -> Opened:
    """Return the model in a file, ready to change."""
    found = shared.load(path)
    nb = shared.estimator_of(found.model, found.sample, found.history)
    return nb, found.provenance, found.sample is not None


def _write(nb: NaiveBayes, path: str, provenance: Saved, done: str, *, sampled: bool) -> None:
    """Write a model file, and say on standard error what was done."""
    # sampled says whether there was a sample of rows before; if there is still one, it is kept.
    from naively.file import store

    model = nb.model_
    model.class_log_prior  # noqa: B018  (a class prior that does not fit any more is an error now)
    rows = nb._sampled_rows()
    store.save(model, path, provenance, rows, nb.history_)
    total = float(model.counted.tally.class_count.sum())
    tell(f"{done}: {amount(total)} rows of {len(model.classes)} classes, wrote {path}.")
    if sampled and rows is None:
        tell("The file holds no sample of rows any more, as it would not be one of all its rows.")
    share = 1.0 if model.weights is None else model.weights.fresh(model.view.rows.sum())
    if share < 1:
        tell(f"Weights were fitted to {share:.0%} of them; `naively calibrate` fits them again.")
