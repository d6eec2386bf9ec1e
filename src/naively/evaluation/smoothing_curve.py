"""The smoothing curve: how good a model is with another pseudo-count.

All points are of one tally. Parameters are derived from it anew for each pseudo-count, and a row is
left out of it in closed form; nothing is counted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.leave_one_out import one_of_each
from naively.counting.tally import BlockTally
from naively.evaluation.learning_curve import Metric, check_metric, number_of
from naively.evaluation.losses import accuracy_and_log_loss
from naively.evaluation.sample import Sample
from naively.events import Beta, Dirichlet, EventModel
from naively.kernels.reference import Floats
from naively.model.class_prior import is_estimated, pretend_classes
from naively.model.model import Model
from naively.schema.group import Group, GroupKey
from naively.schema.text import TextModel
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, eq=False, repr=False)
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
        In nats a row.
    chosen : mapping of str to float
        The pseudo-count that leave-one-out has chosen for an event model, where it has.
    """

    smoothing: list[float]
    which: list[str]
    accuracy: list[float]
    log_loss: list[float]
    chosen: Mapping[str, float]

    def to_dict(self) -> dict[str, list[Any]]:
        names = ("smoothing", "which", "accuracy", "log_loss")
        return {name: list(getattr(self, name)) for name in names}

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
        from naively.pictures.scores import Curve, plot_smoothing

        value = np.array(getattr(self, check_metric(metric)))
        which, smoothing = np.array(self.which), np.array(self.smoothing)
        curves = [
            Curve(name, smoothing[which == name], value[which == name])
            for name in ("held-out", "leave-one-out", "training")
            if name in self.which
        ]
        return plot_smoothing(curves, metric, self.chosen, ax)


def smoothing_curve(
    model: Model, sample: Sample | None, held_out: Batch | None, values: Iterable[float] | None
) -> SmoothingCurve:
    """Score a model, without its weights and interactions, with each of some pseudo-counts.

    Parameters
    ----------
    model : Model
        What was learned.
    sample : Sample, optional
        Rows that it has learned.
    held_out : Batch, optional
        Labelled rows that it has not learned, as it encodes them.
    values : iterable of float, optional
        The pseudo-counts.
    """
    plain = model.pure
    points: list[tuple[float, str, float, float]] = []
    for value in check_values(values):
        then = with_pseudo_count(plain, value)
        classes = then.classes
        if sample is not None:
            batches, labels = [known_to(then, b) for b in sample.batches], sample.labels
            found = [left_out_posterior(then, then.recode(b)) for b in batches if len(b)]
            for rows, p in (
                ("leave-one-out", np.concatenate(found)),
                ("training", Sample(batches).posterior(then)),
            ):
                points.append((value, rows, *accuracy_and_log_loss(p, classes, labels)))
        if held_out is not None:
            p = then.score(then.recode(known_to(then, held_out)), "posterior")
            points.append((value, "held-out", *accuracy_and_log_loss(p, classes, held_out.labels)))
    smoothing, which, accuracy, log_loss = zip(*points, strict=True)
    columns = [*smoothing], [*which], [*accuracy], [*log_loss]
    return SmoothingCurve(*columns, _chosen(plain))


def check_values(values: Iterable[float] | None) -> list[float]:
    """Return pseudo-counts, ascending, each once, or raise which is none.

    Examples
    --------
    >>> check_values([1, 0.5, 1.0])
    [0.5, 1.0]
    """
    each = list(VALUES if values is None else values)
    for value in each:
        if not number_of(value) >= 0:
            raise ValueError(f"A pseudo-count must be a number of at least 0, got {value!r}.")
    if not each:
        raise ValueError("values is empty: name at least one pseudo-count.")
    return sorted({float(value) for value in each})


def with_pseudo_count(model: Model, value: float) -> Model:
    """Return the model whose event models all have this pseudo-count, of the same tally.

    Raises
    ------
    ValueError
        If no event model has a pseudo-count; it says why.
    """
    groups: dict[GroupKey, Group] = {}
    blocks: dict[GroupKey, BlockTally] = {}
    changed = False
    for group in model.counted.groups:
        event = smoothed(group.event, value)
        changed |= event is not None
        new = group if event is None else _with_event(group, event)
        block = model.tally.blocks[group.key]
        if new.key in groups and group.analyser is not None:
            continue  # it counts what the other counts
        if new.key in groups:  # event models that differ in nothing else are one now
            columns = (*groups[new.key].columns, *new.columns)
            new, block = replace(new, columns=columns), blocks[new.key] + block
        groups[new.key], blocks[new.key] = new, block
    if not changed:
        names = ", ".join(sorted({group.event.name for group in model.counted.groups}))
        raise ValueError(
            f"There is nothing to smooth: no event model ({names or 'there is none'}) adds a "
            "pseudo-count, or all are estimated by maximum likelihood."
        )
    return replace(
        model,
        counted=replace(model.counted, groups=tuple(groups.values())),
        tally=replace(model.tally, blocks=blocks),
        settings=replace(model.settings, smoothing=value),
    )


def smoothed(event: EventModel, value: float) -> EventModel | None:
    """Return an event model with another pseudo-count, in place of a prior; None if it has none.

    Examples
    --------
    >>> from naively import Bernoulli, Beta
    >>> print(smoothed(Bernoulli(prior=Beta(2, 2)), 0.5))
    bernoulli(alpha=0.5)
    """
    usual = {field.name: field.default for field in fields(cast("Any", event))}
    if event.smoothed_by not in usual or event.estimate == "mle":
        return None
    others = {name: usual[name] for name in ("prior", "m", "p") if name in usual}
    return cast("EventModel", replace(cast("Any", event), **others, **{event.smoothed_by: value}))


def known_to(model: Model, batch: Batch) -> Batch:
    """Return a batch whose texts are under the keys that a model with another pseudo-count has."""
    of_texts = {_splitting(g.key): g.key for g in model.counted.groups if g.analyser is not None}
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
    """Return the posterior of each learned row as if it had not been learned, (rows, classes).

    A class that has no rows then has the posterior 0. Where all classes are impossible, it is the
    class prior.
    """
    labels, blocks = batch.labels.among(model.classes), model.blocks(batch.split())
    labels = one_of_each(labels, batch.times)
    prior = _prior_without(model, labels)
    with np.errstate(divide="ignore"):
        joint = np.log(prior)
    for group in model.schema.groups:
        of = group.event.leave_one_out(model.counts[group.key], blocks[group.key], labels)
        joint += of.sum(axis=1)
    best = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(best)
    p: Floats = np.exp(joint - np.where(possible, best, 0.0))
    p = np.where(possible, p, prior)
    p /= p.sum(axis=1, keepdims=True)
    return p


def _prior_without(model: Model, labels: Labels) -> Floats:
    """Return the class prior without each row, (rows, classes)."""
    prior, estimate = model.settings.class_prior, model.settings.estimate
    if not is_estimated(prior):
        return np.tile(np.exp(model.class_log_prior), (len(labels), 1))
    count = model.tally.class_count - labels.one_hot()
    if isinstance(prior, Beta | Dirichlet):
        count = count + pretend_classes(prior, estimate, model.classes)
    count = np.maximum(count, 0.0)
    total = count.sum(axis=1, keepdims=True)
    p: Floats = np.divide(count, total, out=np.full_like(count, 1 / labels.k), where=total > 0)
    return p


def _chosen(model: Model) -> dict[str, float]:
    """Return the pseudo-counts that leave-one-out has chosen, by event model."""
    found: dict[str, list[float]] = {}
    for group in model.schema.groups:
        event: Any = group.event
        if event.chosen_by == event.smoothed_by and getattr(event, event.chosen_by) == "auto":
            settled = event.settled(model.counts[group.key])
            found.setdefault(event.name, []).append(float(getattr(settled, event.chosen_by)))
    return {
        name if len(each) == 1 else f"{name} {i + 1}": value
        for name, each in found.items()
        for i, value in enumerate(each)
    }
