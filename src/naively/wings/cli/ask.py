"""The verbs that ask a model: evaluate, explain, show, diff, report."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from naively import saving
from naively.messages import Verbosity, many, say, tell
from naively.wings.cli import options, predictions, shared
from naively.wings.cli.options import Format, HowRead, Verb
from naively.wings.cli.predictions import ENDINGS

if TYPE_CHECKING:
    from naively.assess.scores import Scores
    from naively.counting.labels import LabelArray, Target
    from naively.data.columns import Rows
    from naively.file.parts import SampledRows
    from naively.file.store import Content
    from naively.inspect.explain import Weighed
    from naively.model.model import History, Model
    from naively.wings.report.subject import Subject


@click.command(cls=Verb)
@options.data_argument
@options.target_option
@options.reading_options
@options.format_option
def columns(data: str, target: str | None, how: HowRead, form: Format | None) -> None:
    """Show what each column is taken for, before anything is learned, with examples and notes."""
    from naively.schema.overview import columns as overview_of

    with shared.Data(data, how, labels=target).opened() as stream:
        found = overview_of(stream, target=target).to_dict()
    found["note"] = [*map(Verbosity.written, found["note"])]
    shared.write([*found], zip(*found.values(), strict=True), form)


@click.command(cls=Verb)
@options.model_argument
@options.data_argument
@click.option(
    "--output",
    "-o",
    "out",
    help=f"The file to write, instead of standard output; its name ends in {ENDINGS}.",
)
@click.option("--probabilities", "-p", is_flag=True, help="Write the probability of every class.")
@click.option("--keep", help="Write these columns of DATA too, as they are: id,name.")
@click.option(
    "--coverage",
    type=float,
    help="Write a set of classes for each row; this share of sets holds the right class: 0.9.",
)
@click.option(
    "--interval",
    type=float,
    help="Write low and high too, the ends of an interval of the probability: 0.9 is a 90 % "
    "interval. With weights it needs `train --keep-rows`.",
)
@options.class_prior_option
@options.cost_option
@options.reject_option
@options.reading_options
@options.format_option
def predict(
    model: str,
    data: str,
    out: str | None,
    probabilities: bool,
    keep: str | None,
    coverage: float | None,
    interval: float | None,
    class_prior: str | None,
    cost: str | None,
    reject: float | None,
    how: HowRead,
    form: Format | None,
) -> None:
    """Predict the class of each row, with its probability.

    DATA may be of any length: it is read, and its predictions are written, batch by batch.
    """
    from naively.data.columns import missing_column
    from naively.wings.files.reader import files_at

    to = None if out is None else predictions.file_of(out, form)
    if out is not None:
        saving.check_output(out, [*map(str, files_at(Path(data)) or ()), data, model])
    learned, provenance, sample = shared.load(model)
    target = provenance.get("target")
    kept = shared.names(keep) or []
    decision = predictions.decision_of(learned, class_prior, cost, reject)
    if class_prior is not None and (coverage is not None or interval is not None):
        option = "--interval" if coverage is None else "--coverage"
        raise ValueError(f"{option} is known under the class prior of the model: leave out one.")
    if coverage is not None:
        learned = calibrated(learned, sample, coverage)
    sure = None if interval is None else _intervals(learned, sample, interval)
    sets = ["set"] * (coverage is not None)
    of = predictions.Predictions(
        learned.classes,
        every=probabilities,
        keep=[*kept, *sets],
        interval=interval is not None,
        decision=decision,
    )
    source = shared.Data(data, how.over(provenance), labels=target)
    with source.opened(shared.types_for(learned, target)) as stream:
        unknown = next((name for name in kept if name not in stream.names), None)
        if unknown is not None:
            raise ValueError(f"--keep: {data}: {missing_column(unknown, stream.names)}")
        stream.kept = tuple(kept)
        batches = partial(predictions.scored, learned, stream, target, coverage, sure, decision)
        if to is not None:
            predictions.write_file(of, batches, to)
            return
        if sys.stdout.isatty():
            stream.watch = iter  # the rows themselves show how far it is
        predictions.write(of, batches, form, sys.stdout)


def calibrated(model: Model, sample: SampledRows | None, coverage: float) -> Model:
    """Return a model of which sets are known, by a sample of its rows if need be."""
    from naively.assess.decisions import least_of

    if sample is not None:
        model = shared.estimator_of(model, sample)._calibrated()
    least_of(model, coverage)  # what is wrong is said before anything is written
    return model


def _intervals(model: Model, sample: SampledRows | None, coverage: float) -> predictions.Intervals:
    """Return what finds the intervals of the probabilities of rows."""
    from naively.fitting.reservoir import Reservoir
    from naively.inspect.uncertainty import covariance_for, probability_intervals

    if not 0 < coverage < 1:
        raise ValueError(f"--interval must be between 0 and 1, such as 0.9, got {coverage:g}.")
    rows = None if sample is None else Reservoir.restored(sample, model)
    covariance = covariance_for(model, rows)
    return partial(probability_intervals, model, coverage=coverage, covariance=covariance)


@click.command(cls=Verb)
@options.model_argument
@options.some_data_argument(
    help="Labelled rows; by default the sample that `train --keep-rows` has kept."
)
@options.target_option
@click.option(
    "--held-out",
    "only_held_out",
    is_flag=True,
    help="Score only the rows that `train --hold-out` set aside.",
)
@click.option(
    "--folds",
    type=int,
    help="Learn DATA again without each of so many folds, as the model learns, and score "
    "that fold (10 with --groups or --time).",
)
@click.option(
    "--groups", help="A column whose groups no fold splits: customer; or copies, equal rows."
)
@click.option("--time", help="A column of times: each fold is predicted from those before it.")
@options.cost_option
@options.reading_options
@options.format_option
def evaluate(
    model: str,
    data: str | None,
    target: str | None,
    only_held_out: bool,
    folds: int | None,
    groups: str | None,
    time: str | None,
    cost: str | None,
    how: HowRead,
    form: Format | None,
) -> None:
    """Score a model's predictions on labelled rows, or learn again without each fold of them.

    Without DATA the sample of the learned rows is cross-validated.
    """
    from naively.assess.scores import score

    beside = {"groups": groups, "time": time}
    anew = {"folds": folds, **beside}
    said = [f"--{name}" for name, of in anew.items() if of is not None]
    if data is None and (said or only_held_out):
        raise ValueError(f"{(said or ['--held-out'])[0]} is of the rows of DATA; give DATA.")
    learned, provenance, sample = found = shared.load(model)
    if data is None and sample is None:
        raise ValueError(f"{model} holds no sample of rows; give DATA, or train with --keep-rows.")
    if said and only_held_out:
        raise ValueError(f"--held-out scores the model as it is; leave out {said[0]}.")
    costs = predictions.decision_of(learned, None, cost, None).cost
    if data is None:
        nb = shared.estimator_of(learned, sample, found.history)
        write_scores(nb.assess(cost=costs), form)
        return
    target = target or provenance.get("target")
    rows, table = shared.rows_for(learned, data, how.over(provenance), target)
    y, weight = shared.labels_of(learned, table, target, data), None
    if provenance.get("frequencies") in table.names:
        weight = table.values(provenance["frequencies"])
    if said:
        each = {"folds": 10 if folds is None else folds, "cost": costs, "sample_weight": weight}
        write_scores(_learned_again(learned, rows, table, y, beside, **each), form)
        return
    if only_held_out:
        if not provenance.get("hold_out"):
            raise ValueError(f"{model} was trained on all rows; train it with --hold-out.")
        aside = shared.set_aside(provenance, table)
        if aside is None:
            raise ValueError(
                f"{data} has {len(rows):,} rows, but {model} was trained on a file of "
                f"{provenance['rows']:,}; --held-out needs that file."
            )
        rows, y = rows.take(aside), y[aside]
        weight = None if weight is None else weight[aside]
    else:
        _say_if_learned(model, data, found.history, held_out=bool(provenance.get("hold_out")))
    write_scores(score(learned, rows, y, frequencies=weight, cost=costs), form)


def _say_if_learned(model: str, data: str, history: History, *, held_out: bool) -> None:
    """Say that scores flatter, where a model has learned the file."""
    if history.learned(shared.digest_of(data)) is not None:
        say(
            f"{model} has learned rows of {data}, which it knows better than new ones; "
            f"{'--held-out' if held_out else '--folds 10'} scores rows as if they were new."
        )


def _learned_again(
    learned: Model, rows: Rows, table: Rows, y: LabelArray, beside: dict[str, Any], **how: Any
) -> Scores:
    """Score rows, each by a model that is learned as the one in the file without its fold."""
    for what, name in beside.items():
        if name is not None:
            shared.column_of(table, name, what)
    columns = dict.fromkeys([*rows.names, *{*beside.values()}.intersection(table.names)])
    known = table.select(list(columns))
    return shared.estimator_of(learned).assess(known, y, **beside, **how)


@click.command(cls=Verb)
@options.model_argument
@options.data_argument
@options.top_option(help="Items of greatest weight for each row; all others are one line.")
@click.option("--row", type=click.IntRange(min=0), help="Explain this row only, from 0.")
@click.option("--wrong", type=click.IntRange(min=1), help="Explain so many most wrong rows only.")
@options.target_option
@options.cost_option
@options.reading_options
@options.format_option
def explain(
    model: str,
    data: str,
    top: int,
    row: int | None,
    wrong: int | None,
    target: str | None,
    cost: str | None,
    how: HowRead,
    form: Format | None,
) -> None:
    """Explain predictions: the weight of evidence (nats) of each item, against the rival."""
    from naively.inspect.explain import explain as explain_rows

    learned, provenance, _ = shared.load(model)
    target = target or provenance.get("target")
    rows, table = shared.rows_for(learned, data, how.over(provenance), target)
    if row is not None and (wrong is not None or row >= len(rows)):
        why = f"{data} has rows 0 to {len(rows) - 1}" if wrong is None else "leave out --wrong"
        raise ValueError(f"--row {row}: {why}.")
    decision = predictions.decision_of(learned, None, cost, None)
    chosen, right = range(len(rows)) if row is None else [row], {}
    if wrong is not None:
        y = shared.labels_of(learned, table, target, data)
        p, truth = learned.posterior(rows), y[:, None] == learned.classes
        missed = (~truth[range(len(p)), decision.answers(p)[0]]).nonzero()[0]
        chosen = missed[(p * truth)[missed].sum(axis=1).argsort(kind="stable")][:wrong].tolist()
        right = dict(zip(chosen, y[chosen].tolist(), strict=True))
        if not right:
            tell("No row is answered wrongly.")
    names = ["row", "prediction", "probability", "against", "column", "value", "weight"]
    names[1:1] = ["right"] if right else []
    labels = learned.classes.tolist()
    explained = explain_rows(learned, rows.take([*chosen]), cost=decision.cost)
    if other := sum(found.best != found.most_probable for found in explained):
        tell(f"In {many(other, 'row')} the answer of least cost is not the most probable class.")
    lines = (
        [i, *said, labels[c], found.probability(c), labels[found.rival(c)], column, value, weight]
        for i, found in zip(chosen, explained, strict=True)
        for c, said in [(found.best, [right[i]] if right else [])]
        for column, value, weight in _with_rest(found.top(c), top)
    )
    shared.write(names, lines, form)


def _with_rest(items: list[Weighed], top: int) -> list[Weighed]:
    """Return the first items, and all others as one, so that the weights add up."""
    rest = items[top:]
    if not rest:
        return items
    others = sum(weight for *_, weight in rest)
    return [*items[:top], (f"({many(len(rest), 'other')})", None, others)]


@click.command(cls=Verb)
@options.model_argument
@options.top_option(help="Items of greatest weight for each class.")
@click.option(
    "--parameters",
    is_flag=True,
    help="Write parameters instead: those of the items that tell the classes apart most.",
)
@click.option("--column", help="With --parameters: those of this column only.")
@click.option(
    "--history",
    is_flag=True,
    help="Write instead what was learned, forgotten and merged, and when.",
)
@options.format_option
def show(
    model: str, top: int, parameters: bool, column: str | None, history: bool, form: Format | None
) -> None:
    """Show a model: its classes, columns, history, and the strongest evidence for each class."""
    from naively.inspect.odds import strongest
    from naively.inspect.parameters import parameters as items_of

    if column is not None and not parameters:
        raise ValueError("--column chooses among parameters; give --parameters too.")
    if shared.all_of_mail([model]):
        if parameters or history:
            raise ValueError("The model of a mail filter has neither --parameters nor --history.")
        from naively.wings.cli import mail_models

        mail_models.show(model, top, form)
        return
    found = shared.load(model)
    learned, sample = found.model, found.sample
    if history:
        shared.write_table(found.history, form)
        return
    if parameters:
        items = items_of(learned, column=column)
        shared.write_table(items.strongest(top) or items, form)
        return
    total = learned.counted.tally.class_count.sum()
    tell(f"{many(round(total), 'row')}, {many(learned.view.schema.width, 'column')}")
    if sample is not None:
        size = sum(array.nbytes for array in sample.arrays(learned.counted.schema.groups).values())
        tell(f"a sample of {len(sample):,} of {sample.seen:,} rows is in the file ({size:,} bytes)")
    tell(*str(learned.described()).split("\n"), *map(str, learned.counted.noise))
    if found.history.records:
        tell(*str(found.history).split("\n"))
    p = learned.counted.tally.class_count / total
    lines = (
        [label, float(p[c]), column, value, weight]
        for c, label in enumerate(learned.classes.tolist())
        for column, value, weight in strongest(learned, c, top)
    )
    shared.write(["class", "share", "column", "value", "weight"], lines, form)


@click.command(cls=Verb)
@click.argument("before", metavar="MODEL", help="The model file before.")
@click.argument("after", metavar="MODEL", help="The model file after.")
@options.top_option("-n", help="The most counts, levels, words and weights to show.")
@options.format_option
def diff(before: str, after: str, top: int, form: Format | None) -> None:
    """Show how two models differ, the largest changes first."""
    from naively.inspect.difference import difference

    if shared.all_of_mail([before, after]):
        from naively.wings.cli import mail_models

        mail_models.diff(before, after, top, form)
        return
    found = difference(shared.load(before).model, shared.load(after).model, top)
    if found.equal or not found.changes:
        tell(found)
    shared.write_table(found, form)


def write_scores(s: Scores, form: Format | None, out: TextIO | None = None) -> None:
    """Write accuracy, log loss and calibration, and precision and recall by class."""
    if s.how:
        tell(f"Judged by {s.how}.")
    if s.too_rare:
        only = ", ".join(map(repr, s.too_rare))
        tell(f"The only row of class {only} is not scored: nobody would know the class without it.")
    for label, rows in s.unmet.items():
        tell(
            f"{rows:,} rows of class {label!r} are missed: what judges them has not met the class."
        )
    if not s.area_is_known and "auc" in s.intervals:
        tell(f"The area under the ROC curve is {s.area_in_words}.")
    shared.write_table(s, form, out)


@click.command(cls=Verb)
@options.model_argument
@options.some_data_argument(
    help="Rows that were not learned, to score, show and explain; for a mail filter, a "
    "folder with folders or mboxes named spam and ham."
)
@click.option(
    "--output",
    "-o",
    default="report.html",
    help="The page to write; one that ends in .md is a model card, in Markdown.",
)
@click.option("--use", help="What the model should be used for, and what not: for the card.")
@options.target_option
@options.reading_options
def report(
    model: str, data: str | None, output: str, use: str | None, target: str | None, how: HowRead
) -> None:
    """Write one page: what a model learned, how good it is, and why it answers so.

    The page needs no network. Without DATA it shows rows of the sample that `train --keep-rows` has
    kept in the file, if there is one.
    """
    saving.check_output(output, [model] if data is None else [model, data])
    if shared.all_of_mail([model]):
        if (target, how.format, how.memory) != (None, None, None):
            raise ValueError("For the model of a mail filter, DATA is mail, which has no options.")
        from naively.wings.cli import mail_models

        mail_models.report(model, data, output)
        return
    from naively.counting.labels import as_classes
    from naively.wings.report.card import write_card
    from naively.wings.report.page import write_report

    learned, provenance, sample = found = shared.load(model)
    target = target or provenance.get("target")
    rows = labels = None
    if data is not None:
        rows, table = shared.rows_for(learned, data, how.over(provenance), target)
        if target is not None and target in table.names:
            labels = as_classes(table.values(target), learned.classes)
        aside = shared.set_aside(provenance, table)
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
    subject = subject_of(found, rows, labels)
    name = Path(model).stem
    if Path(output).suffix == ".md":
        page = write_card(subject, name, use or "", found.history).encode()
    else:
        page = write_report(subject, name).html.encode()
    saving.save(output, page)
    tell(f"Wrote {output}: {len(page):,} bytes.")


def subject_of(found: Content, rows: Rows | None = None, labels: Target = None) -> Subject:
    """Return what a page or a card about the model in a file is of."""
    from naively.fitting.reservoir import Reservoir
    from naively.wings.report.subject import Subject

    model, provenance, sample = found
    reservoir = None if sample is None else Reservoir.restored(sample, model)
    kind = None if model.weights is None else model.weights.how
    return Subject.of(model, reservoir, kind, rows, labels, provenance)
