"""How good a model is by how many rows it learns, and by its pseudo-counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import MANY_CLASSES, Labels
from naively.counting.leave_one_out import one_of_each
from naively.counting.tally import BlockTally, Tally
from naively.events import EventModel
from naively.fitting.reservoir import ANY
from naively.fitting.sample import Sample
from naively.fitting.weights import accuracy_and_log_loss
from naively.kernels.reference import Floats
from naively.model.class_prior import among_fewer, is_estimated, pretended_rows
from naively.model.counted import Counted, count_batch
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.schema import Group, GroupKey
from naively.schema.settle import make_sure
from naively.schema.text import TextModel
from naively.tabular import Tabular, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- The smoothing curve: how good a model is with another pseudo-count --------------------------
#
# All points are of one tally. Parameters are derived from it anew for each pseudo-count, and a row
# is left out of it in closed form; nothing is counted again.


VALUES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)


class SmoothingCurve(Tabular):
    """Scores of a model by its pseudo-count; one line for each pseudo-count and kind of rows.

    Parameters
    ----------
    smoothing : list of float
        The pseudo-count.
    which : list of {"leave-one-out", "training", "held-out"}
        What was scored: learned rows, each as if it had not been; learned rows; others.
    accuracy : list of float
        The share of right answers.
    log_loss : list of float
        In nats per row.
    chosen : mapping of str to float
        The pseudo-count that leave-one-out has chosen for an event model, where it has.
    """

    smoothing: list[float]
    which: list[str]
    accuracy: list[float]
    log_loss: list[float]
    chosen: Mapping[str, float]

    TABLE = ("smoothing", "which", "accuracy", "log_loss")

    def plot(self, ax: Axes | None = None, metric: Metric = "log_loss") -> Axes:
        """Draw a score against the pseudo-count, on an axis that is logarithmic but for 0.

        Parameters
        ----------
        metric : {"accuracy", "log_loss"}
            What is drawn.
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
            Where they are in the range, 0 (maximum likelihood), 1/2 (Jeffreys) and 1 (Laplace) are
            marked, and what leave-one-out has chosen.
        """
        return picture(self, ax, metric=check_metric(metric))


def smoothing_curve(
    model: Model, sample: Sample | None, held_out: Batch | None, values: Iterable[float] | None
) -> SmoothingCurve:
    """Score a model, without its weights and interactions, with each of some pseudo-counts."""
    # sample: rows that it has learned; held_out: labelled rows that it has not learned, as it
    # encodes them
    plain = model.pure()
    points: list[tuple[float, str, float, float]] = []
    some, labels = (None, None) if sample is None else sample.at_once(model)
    for value in check_values(values):
        then = with_pseudo_count(plain, value)
        classes = then.classes
        if some is not None and labels is not None:
            batches = [known_to(then, b) for b in some.batches]
            found = [left_out_posterior(then, then.recode(b)) for b in batches if len(b)]
            for rows, p in (
                ("leave-one-out", np.concatenate(found)),
                ("training", Sample(batches).posterior(then)),
            ):
                points.append((value, rows, *accuracy_and_log_loss(p, classes, labels)))
        if held_out is not None:
            p = then.score(then.recode(known_to(then, held_out)), "posterior")
            points.append((value, "held-out", *accuracy_and_log_loss(p, classes, held_out.labels)))
    smoothing, which, accuracy, log_loss = map(list, zip(*points, strict=True))
    return SmoothingCurve(smoothing, which, accuracy, log_loss, _chosen(plain))


def check_values(values: Iterable[float] | None) -> list[float]:
    """Return pseudo-counts, ascending, each once, or raise which is none."""
    each = list(VALUES if values is None else values)
    for value in each:
        if not number_of(value) >= 0:
            raise ValueError(f"A pseudo-count must be a number of at least 0, got {value!r}.")
    if not each:
        raise ValueError("values is empty: name at least one pseudo-count.")
    return sorted({float(value) for value in each})


def with_pseudo_count(model: Model, value: float) -> Model:
    """Return the model whose event models all have this pseudo-count, of the same tally."""
    groups: dict[GroupKey, Group] = {}
    blocks: dict[GroupKey, BlockTally] = {}
    changed = False
    for group in model.counted.schema.groups:
        event = smoothed(group.event, value)
        changed |= event is not None
        new = group if event is None else _with_event(group, event)
        block = model.counted.tally.blocks[group.key]
        if new.key in groups and group.analyser is not None:
            continue  # it counts what the other counts
        if new.key in groups:  # event models that differ in nothing else are one now
            columns = (*groups[new.key].columns, *new.columns)
            new, block = replace(new, columns=columns), blocks[new.key] + block
        groups[new.key], blocks[new.key] = new, block
    if not changed:
        names = ", ".join(sorted({group.event.name for group in model.counted.schema.groups}))
        raise ValueError(
            f"There is nothing to smooth: no event model ({names or 'there is none'}) adds a "
            "pseudo-count, or all are estimated by maximum likelihood."
        )
    return model.counting(
        schema=replace(model.counted.schema, groups=tuple(groups.values())),
        tally=replace(model.counted.tally, blocks=blocks),
        settings=replace(model.settings, smoothing=value),
    )


def smoothed(event: EventModel, value: float) -> EventModel | None:
    """Return an event model with another pseudo-count, in place of a prior; None if it has none."""
    usual = {field.name: field.default for field in fields(cast("Any", event))}
    if event.smoothed_by not in usual or event.estimate == "mle":
        return None
    others = {name: usual[name] for name in ("prior", "m", "p") if name in usual}
    return cast("EventModel", replace(cast("Any", event), **others, **{event.smoothed_by: value}))


def known_to(model: Model, batch: Batch) -> Batch:
    """Return a batch whose texts are under the keys that a model with another pseudo-count has."""
    of_texts = {
        _splitting(g.key): g.key for g in model.counted.schema.groups if g.analyser is not None
    }
    blocks = {of_texts.get(_splitting(key), key): block for key, block in batch.blocks.items()}
    return replace(batch, blocks=blocks)


def _splitting(key: GroupKey) -> tuple[object, ...]:
    """Return what a text is known by, whatever its pseudo-count."""
    if not isinstance(key.analyser, TextModel):
        return (key,)
    event = smoothed(key.event, 0.0) or key.event
    return key.column, event, key.analyser.with_event(event)


def _with_event(group: Group, event: EventModel) -> Group:
    analyser = group.analyser
    if isinstance(analyser, TextModel):
        analyser = analyser.with_event(event)
    return replace(group, event=event, analyser=analyser)


def left_out_posterior(model: Model, batch: Batch) -> Floats:
    """Return the posterior of each learned row as if it had not been learned, (rows, classes)."""
    # A class that has no rows then has the posterior 0. Where all classes are impossible, it is the
    # class prior.
    labels, blocks = batch.labels.among(model.classes), model.blocks(batch)
    labels = one_of_each(labels, batch.times)
    prior = _prior_without(model, labels)
    with np.errstate(divide="ignore"):
        joint = np.log(prior)
    for group in model.view.schema.groups:
        of = group.event.leave_one_out(model.view.counts[group.key], blocks[group.key], labels)
        joint += of.sum(axis=1)
    best = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(best)
    p = np.where(possible, np.exp(joint - np.where(possible, best, 0.0)), prior)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _prior_without(model: Model, labels: Labels) -> Floats:
    """Return the class prior without each row, (rows, classes)."""
    prior, estimate = model.settings.class_prior, model.settings.estimate
    if not is_estimated(prior):
        return np.tile(np.exp(model.class_log_prior), (len(labels), 1))
    count = model.counted.tally.class_count - labels.one_hot()
    count = np.maximum(count + pretended_rows(prior, estimate, model.classes, 0.0), 0.0)
    total, alike = count.sum(axis=1, keepdims=True), np.full_like(count, 1 / len(labels.classes))
    return np.asarray(np.divide(count, total, out=alike, where=total > 0))


def _chosen(model: Model) -> dict[str, float]:
    """Return the pseudo-counts that leave-one-out has chosen, by event model."""
    found: dict[str, list[float]] = {}
    for group in model.view.schema.groups:
        event: Any = group.event
        if event.chosen_by == event.smoothed_by and getattr(event, event.chosen_by) == "auto":
            settled = event.settled(model.view.counts[group.key])
            found.setdefault(event.name, []).append(float(getattr(settled, event.chosen_by)))
    return {
        name if len(each) == 1 else f"{name} {i + 1}": value
        for name, each in found.items()
        for i, value in enumerate(each)
    }


# --- The learning curve: how good a model is after so many rows ----------------------------------
#
# It is one pass: rows are encoded once, and come in a random order. The tally of more rows is the
# tally of fewer, plus that of the rows between; the model of each size follows from its tally, and
# no row is counted twice.


Metric: TypeAlias = Literal["accuracy", "log_loss"]
METRICS: tuple[Metric, ...] = ("accuracy", "log_loss")
Sizes: TypeAlias = "Sequence[float] | NDArray[np.number] | None"
SHARE = 0.25  # of the rows that are held out, unless it is said
STEPS = 10  # sizes, unless they are said,
LEAST = 10  # from so many rows on


class LearningCurve(Tabular):
    """Scores of models of more and more rows; one line for each size, repeat and kind of rows.

    Parameters
    ----------
    size : list of int
        How many rows were learned.
    repeat : list of int
        Which random order they came in, from 0.
    which : list of {"training", "held-out"}
        What was scored: the rows learned, or others.
    accuracy : list of float
        The share of right answers.
    log_loss : list of float
        In nats per row.
    classes : list of int
        How many classes had come. The posterior of one that has not come yet is 0.
    """

    size: list[int]
    repeat: list[int]
    which: list[str]
    accuracy: list[float]
    log_loss: list[float]
    classes: list[int]

    TABLE = ("size", "repeat", "which", "accuracy", "log_loss", "classes")

    def plot(self, ax: Axes | None = None, metric: Metric = "accuracy") -> Axes:
        """Draw a score against how many rows were learned, on a logarithmic axis.

        Parameters
        ----------
        metric : {"accuracy", "log_loss"}
            What is drawn.
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
            The mean of the repeats, of held-out rows solid, of training rows dashed; the bands are
            from the least to the greatest of them.
        """
        return picture(self, ax, metric=check_metric(metric))


def learning_curve(
    model: Model,  # what was learned of all rows, without weights
    batch: Batch,
    # the rows to score, encoded alike; or how many rows to hold out anew in each repeat, or a share
    # of them below 1
    test: Batch | float | None,
    # how many rows to learn; a fraction up to 1.0 is a share of those that are not held out
    sizes: Sizes,
    repeats: int,  # how many random orders
    random_state: int | np.random.Generator | None,  # chooses them
    weights: Weighting | None = None,  # the weights to fit at each size; by default none
) -> LearningCurve:
    """Score the models of the first rows of some random orders."""
    if not (number_of(repeats) >= 1 and number_of(repeats).is_integer()):
        raise ValueError(f"repeats must be a whole number of at least 1, got {repeats!r}.")
    pool = split_once(model, batch)
    scored, aside = None, 0
    if isinstance(test, Batch):
        scored = split_once(model, test)
    else:
        aside = count_held_out(test, len(pool))
    each = check_sizes(sizes, len(pool) - aside)
    rng = np.random.default_rng(random_state)
    points: list[tuple[int, int, str, float, float, int]] = []
    for repeat in range(int(repeats)):
        order = rng.permutation(len(pool))
        learned = pool.take(order[: len(pool) - aside])
        held_out = pool.take(order[len(pool) - aside :]) if scored is None else scored
        tally: Tally | None = None
        done = 0
        for size in each:
            seen = learned.take(np.arange(size))
            # With many classes a tally is larger than its rows: these are counted again.
            done = 0 if len(model.classes) >= MANY_CLASSES else done
            more = count_batch(learned.take(np.arange(done, size)), model.counted.schema)
            tally, done = tally + more if tally is not None and done else more, size
            then = of_tally(model, tally)
            if weights is not None:
                sample = ANY.added(batch.take(order[:size])).for_model(then)
                then = then.weighed(sample.of(then).weighed(then, weights).weights)
            for which, rows in (("training", seen), ("held-out", held_out)):
                p = then.score(then.recode(rows), "posterior")
                good = accuracy_and_log_loss(p, then.classes, rows.labels)
                points.append((size, repeat, which, *good, len(then.classes)))
    return LearningCurve(*map(list, zip(*points, strict=True)))


def split_once(model: Model, batch: Batch) -> Batch:
    """Return rows by the levels and words of all rows that were counted, each text split once."""
    return model.counted.schema.recode(batch, model.counted.tally.axes).split()


def of_tally(model: Model, tally: Tally) -> Model:
    """Return the model of fewer rows, whose classes and words are those that have come."""
    schema, tally = make_sure(model.counted.schema, tally.pruned(), model.settings)
    prior = among_fewer(model.settings.class_prior, model.classes, tally.classes)
    return Model.of(Counted(schema, tally, replace(model.settings, class_prior=prior)))


def count_held_out(test: float | None, rows: int) -> int:
    """Return how many rows to hold out: a share of them below 1, or a number."""
    given = number_of(SHARE if test is None else test)
    if not (0 < given < 1 or (given >= 1 and given.is_integer())):
        raise ValueError(
            "test must be a share of the rows below 1, a whole number of rows, or (X, y); "
            f"got {test!r}."
        )
    aside = max(1, round(given * rows)) if given < 1 else int(given)
    if aside >= rows:
        raise ValueError(f"{aside:,} of {rows:,} rows cannot be held out: none would be learned.")
    return aside


def check_sizes(sizes: Sizes, rows: int) -> list[int]:
    """Return how many rows to learn, ascending, each once, or raise why it cannot be."""
    if sizes is None:
        spaced = np.geomspace(min(LEAST, rows), rows, STEPS)
        return sorted({round(size) for size in spaced.tolist()})
    each = np.ravel(sizes).tolist() if isinstance(sizes, np.ndarray) else list(sizes)
    of_rows = any(isinstance(size, float) and size > 1 for size in each)  # as in [1.0, 10.0]
    counts = set()
    for given in each:
        size, is_share = number_of(given), isinstance(given, float) and given <= 1 and not of_rows
        if not (size > 0 and (is_share or size.is_integer())):
            raise ValueError(
                "sizes must be whole numbers of rows that are at least 1, or shares of them up to "
                f"1.0; got {given!r}."
            )
        if size > rows:
            raise ValueError(f"There are {rows:,} rows to learn, and sizes asks for {size:,.10g}.")
        counts.add(max(1, round(size * rows)) if is_share else int(size))
    if not counts:
        raise ValueError("sizes is empty: name at least one number of rows.")
    return sorted(counts)


def number_of(given: object) -> float:
    """Return a real, finite number as a float; NaN for anything else."""
    is_number = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    return float(given) if is_number and abs(float(given)) < math.inf else math.nan  # type: ignore[arg-type]  # a Real


def check_metric(metric: str) -> Metric:
    """Return what can be drawn of a curve, or raise a ValueError that says what can be."""
    for known in METRICS:
        if metric == known:
            return known
    raise ValueError(f"metric must be {' or '.join(map(repr, METRICS))}, got {metric!r}.")
