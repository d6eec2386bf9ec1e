"""Rows that a model has learned, held out in turn: what weights and scores are fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import reduce
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.block import Batch, with_each
from naively.counting.labels import MANY_CLASSES, Label, Labels
from naively.counting.tally import Tally
from naively.fitting.copies import seen_before
from naively.fitting.leave_one_out import LeaveOneOut, left_out
from naively.fitting.limits import Limits
from naively.fitting.seek import Weighed, seek
from naively.fitting.weights import (
    ROUGH,
    ROWS,
    THIRDS,
    Third,
    fit,
    loss_of_one_weight,
    on_one_thread,
    rows_at_once,
)
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import amount, many, warn
from naively.model.class_prior import is_estimated
from naively.model.counted import count_batch
from naively.model.model import Model, Sought, Weights
from naively.options import Weighting

FOLDS = 10  # of groups, each of which is left out
FIFTHS = 5  # folds, by which the weight of all evidence is chosen
FEW_ROWS = 100  # where the rows are at most so many
FEW_HELD_OUT = 5_000  # rows, below which each third is held out in turn
FEW = 1_000  # rows, of which with interactions thirds are held out of the counts too
LEAST = 1e-9  # of a class that was forgotten
EQUAL = 1e-9  # of the weight of a class, that may lack by rounding


class FoundWeights(NamedTuple):
    """Weights, and the log loss of held-out rows without and with what is added to them."""

    weights: Weights
    before: float = 0.0  # in nats per row
    after: float = 0.0


class Fold(NamedTuple):
    """Rows that are held out, the others, and the model that has learned these alone.

    ``row`` is where in the sample the rows are that are held out, (rows held out,).
    """

    model: Model
    out: Sample
    others: Sample
    row: NDArray[np.int64]


class Sample(Frozen):
    """Different rows that a model has learned, encoded by its levels and words."""

    # The rows, with how many equal ones each stands for; in several batches where some came as a
    # sparse matrix and some did not.
    batches: list[Batch]
    copied: tuple[Label, ...] = ()  # the classes whose rows look as if they were copied
    copies: NDArray[np.int64] = field(init=False)  # (rows,): how many equal rows each stands for
    labels: Labels = field(init=False)  # of the rows, numbered among the classes of the model
    several_groups: bool = field(init=False)  # whether rows are of groups, at least two of them

    def __post_init__(self) -> None:
        copies = np.concatenate([np.empty(0, np.int64), *(of.times for of in self.batches)])
        object.__setattr__(self, "copies", copies)
        every = [of.labels for of in self.batches] or [Labels.none(0, np.empty(0, object))]
        labels = Labels.join(every)
        object.__setattr__(self, "labels", labels)
        several = labels.group is not None and bool((labels.group != labels.group[:1]).any())
        object.__setattr__(self, "several_groups", several)

    def __len__(self) -> int:
        return int(self.copies.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of scores of the rows."""
        return notes_of(self.copied, self.batches)

    def weighed_alike(
        self, model: Model, *, learned: bool = True
    ) -> tuple[Model, list[Batch], Floats]:
        """Return what weights are fitted of: a model whose weights are 1, rows, (classes,)."""
        # The last is how many rows of each class they stand for. A weight of 1 is then an
        # independent row: in what the model has counted, as follows from the sample, and among the
        # rows, which may be others that it has not learned.
        rows = self._among(model)
        own = rows_per_weight(model, rows)
        per = own if learned else model.view.rows_per_weight
        model = model.weighed(Weights.even(model.classes, per))
        batches = [model.recode(batch).split() for batch in in_rows(rows, own)]
        if learned:
            return model, batches, model.view.rows
        return model, batches, Labels.join([of.independent for of in batches]).one_hot().sum(axis=0)

    def keep(self, copies: NDArray[np.int64]) -> Sample:
        """Return so many copies of each row, where ``copies`` is of shape (rows,)."""
        return Sample([batch.keep(of) for batch, of in with_each(self.batches, copies)])

    def in_pieces(self, dealt: NDArray[np.int64]) -> tuple[Sample, NDArray[np.int64]]:
        """Return each row once for each fold that has copies of it, and the fold of each."""
        # ``dealt`` is how many copies of each row are in each fold, (rows, folds).
        fold = np.nonzero(dealt)[1]
        if len(fold) == len(dealt):
            return self, fold
        pieces = []
        for batch, of in with_each(self.batches, dealt):
            row = np.nonzero(of)[0]
            pieces.append(batch.take(row).keep(of[of > 0]))
        return Sample(pieces), fold

    def held_out(
        self, model: Model, dealt: NDArray[np.int64], *, learned: bool = True
    ) -> Iterator[Fold]:
        """Yield each fold of the rows, with the other rows and the model of these alone."""
        # ``dealt`` is how many copies of each row are in each fold, (rows, folds). Where the sample
        # has but some rows of the groups, the model is what the rest of it teaches. A model that
        # has not ``learned`` the rows stays as it is.
        whole = not self.several_groups or bool(self.holds_all(model).all())
        for copies in dealt.T[dealt.any(axis=0)]:
            out, others, rest = self.keep(copies), self.keep(self.copies - copies), model
            if learned:
                tally = model.counted.tally - out.tally(model) if whole else others.tally(model)
                rest = self._of_rest(model, tally, whole=whole)
                del tally
            yield Fold(rest, out, others, np.flatnonzero(copies))
            del rest, out, others  # before the next fold is made: words take much memory

    def _of_rest(self, model: Model, tally: Tally, *, whole: bool) -> Model:
        """Return the model of what was counted without a fold of all rows, or of the sample."""
        settings = model.settings
        if not whole and is_estimated(settings.class_prior):
            share = tally.class_count / self.class_count(model)
            p = np.exp(model.class_log_prior) * share
            settings = replace(settings, class_prior=tuple((p / p.sum()).tolist()))
        return model.counting(tally=tally, settings=settings)

    def class_count(self, model: Model) -> Floats:
        """Return the weight of the rows of each class, (classes,); 1 of a class without rows."""
        labels = self.labels.among(model.classes)
        weight = np.bincount(labels.codes, labels.weights, len(model.classes))
        return np.where(weight > 0, weight, 1.0)

    def holds_all(self, model: Model) -> NDArray[np.bool_]:
        """Mark the classes of which the sample has all rows that the model has learned."""
        learned = model.counted.tally.class_count
        return np.asarray(learned <= self.class_count(model) * (1 + EQUAL))

    def tally(self, model: Model) -> Tally:
        """Count the rows as a model counts them."""
        found = (count_batch(batch, model.counted.schema) for batch in self.batches if len(batch))
        return reduce(Tally.__add__, found)

    def posterior(self, model: Model) -> Floats:
        """Return the posteriors of the rows, of shape (rows, classes)."""
        return np.concatenate([model.score(model.recode(b), "posterior") for b in self.batches])

    def leave_one_out(self, model: Model) -> LeaveOneOut:
        """Return the leave-one-out table of the rows under a model that has learned them."""
        found = left_out(model, self.encoded(model))
        return found.standing_for(model.counted.tally.class_count)

    def at_once(self, model: Model) -> tuple[Sample, Labels]:
        """Return the rows that are looked at together, and the labels that these stand for."""
        # They are all; of many classes as many as a table of all classes holds, drawn by how many
        # each stands for.
        labels = self.labels.standing_for(model.counted.tally.class_count)
        if len(model.classes) < MANY_CLASSES:
            return self, labels
        some, stand_for = self._drawn(model, labels)
        return some, replace(some.labels, weight=stand_for[stand_for > 0])

    def _drawn(self, model: Model, labels: Labels) -> tuple[Sample, Floats]:
        """Return rows that are drawn evenly by weight, and what each of all stands for, (rows,)."""
        stand_for = drawn(labels.weights, rows_at_once(model))
        return self.keep(np.where(stand_for > 0, self.copies, 0)), stand_for

    def _without_groups(
        self, model: Model, near: Weights | None
    ) -> tuple[Model, list[Batch], Floats, LeaveOneOut]:
        """Return what weights are fitted of, and the evidence of each row without its group."""
        # How alike the rows of a group are decides how many independent rows they are: all of them,
        # one, or as many as are between. It is what predicts other groups best, or if there are
        # weights of nearly the same rows, what it was of these.
        batches = self._among(model)
        own, alone = rows_per_weight(model, batches), rows_per_group(model, batches)
        one = np.ones(len(model.classes)) if own is None else own
        tried = [own, one * np.sqrt(alone), one * alone]
        if near is not None:
            tried = [near.rows_of(model.classes.tolist())]
        models = [model.weighed(Weights.even(model.classes, per)) for per in tried]
        found = self._by_fold(models)
        each = zip(models, found, strict=True)
        losses = [loss_of_one_weight(of.standing_for(then.view.rows)) for then, of in each]
        best = int(np.argmin(losses))
        then = models[best]
        return then, self.encoded(then), then.view.rows, found[best]

    def _by_fold(self, models: Sequence[Model]) -> list[LeaveOneOut]:
        """Return the evidence of each row by models that have not learned its fold of groups."""
        # They have counted the same, of which their weights make other numbers of rows.
        assert self.labels.group is not None
        places: list[NDArray[np.int64]] = []
        tables: list[list[LeaveOneOut]] = [[] for _ in models]
        first, whole = models[0], self.holds_all(models[0])
        drawn = self.class_count(first) / np.maximum(first.counted.tally.class_count, LEAST)
        drawn[whole] = 1.0
        dealt = deal(self.labels, self.copies, min(FOLDS, len(np.unique(self.labels.group))))
        for fold in self.held_out(first, dealt):
            places.append(fold.row)
            tally = fold.model.counted.tally
            for model, of_model in zip(models, tables, strict=True):
                rest = fold.model
                if model is not first:
                    rest = self._of_rest(model, tally, whole=bool(whole.all()))
                rest = rest.with_classes(model.classes)
                some = left_out(rest, fold.out.encoded(rest), learned=False)
                lone = rest.view.rows[some.labels.codes] <= 0  # a class of this fold alone
                labels = replace(some.labels, weight=np.where(lone, 0.0, some.labels.weights))
                of_model.append(replace(some, prior=some.prior - np.log(drawn), labels=labels))
        order = np.argsort(np.concatenate(places))
        every = [LeaveOneOut.join(of_model).take(order) for of_model in tables]
        return [
            of if of.labels.weights.any() else replace(of, labels=replace(of.labels, weight=None))
            for of in every
        ]

    def encoded(self, model: Model) -> list[Batch]:
        """Return the rows as a model encodes them; each text is split, and a weight of 1 a row."""
        rows = in_rows(self._among(model), model.view.rows_per_weight)
        return [model.recode(batch).split() for batch in rows]

    def _among(self, model: Model) -> list[Batch]:
        """Return the batches that have rows, their labels numbered among the model's classes."""
        return [
            replace(batch, labels=batch.labels.among(model.classes))
            for batch in self.batches
            if len(batch)
        ]

    def weighed_table(self, model: Model) -> LeaveOneOut:
        """Return the leave-one-out table that the weights of a model are fitted to."""
        if len(model.classes) >= MANY_CLASSES:
            return self._of_many_classes(model, model.weights)[1]
        if self.several_groups:
            _, _, count, found = self._without_groups(model, model.weights)
        else:
            model, batches, count = self.weighed_alike(model)
            found = left_out(model, next(in_tables(model, batches)))
        return found.standing_for(count).take(slice(ROWS)).standing_for(count)

    @on_one_thread()
    def weighed(
        self,
        model: Model,
        kind: Weighting = "loo",
        *,
        learned: bool = True,
        near: Weights | None = None,
        limits: Limits | None = None,
    ) -> FoundWeights:
        """Leave each row out, weigh what its columns say, and seek what is to be added to that."""
        # Rows that the model has not ``learned`` are not left out. ``near`` are weights of nearly
        # the same rows, by which it was found how many independent rows those of a group are.
        if self.labels.group is not None and not self.several_groups:
            warn("All rows are of one group, which cannot be left out; each row is left out alone.")
        # A row for each third that has copies of it.
        sample, third = self.in_pieces(deal(self.labels, self.copies, THIRDS))
        if len(model.classes) >= MANY_CLASSES:
            model, found = sample._of_many_classes(model, near, learned=learned)  # noqa: SLF001
            weights = fit(found, kind, float(model.view.rows.sum()))
            return FoundWeights(weights.of_rows_like(model.weights))
        by_group = learned and sample.several_groups
        if by_group:
            model, batches, count, found = sample._without_groups(model, near)  # noqa: SLF001
            others: Iterator[list[Batch]] = iter([])
        else:
            model, batches, count = sample.weighed_alike(model, learned=learned)
            others = in_tables(model, batches)
            found = left_out(model, next(others), learned=learned)
        found = found.standing_for(count)
        first = found.take(slice(ROWS))
        weights = fit(first.standing_for(count), kind, float(model.view.rows.sum()))
        weights = weights.of_rows_like(model.weights)
        if kind != "loo" or len(model.classes) < 2:
            return FoundWeights(weights)
        labels, joint = [found.labels], [found.joint(weights)]
        for rows in others:
            table = left_out(model, rows, learned=learned)
            labels.append(table.labels)
            joint.append(table.joint(weights))
        every = Labels.join(labels).standing_for(count)
        counted = learned and not by_group
        found_thirds = sample._thirds(  # noqa: SLF001
            third,
            model,
            weights,
            first if limits is None else found,
            every,
            counted=counted,
            few=0.0 if limits is None else FEW,
        )
        fifths: Iterator[tuple[Third, Floats]] = iter([])
        if len(self) <= FEW_ROWS:
            some = in_fifths(every), model, weights, replace(found, labels=every)
            fifths = sample._each_held_out(*some, honest=counted)  # noqa: SLF001
        held_out = np.concatenate(joint), found_thirds, fifths
        weighed = Weighed(model, weights, found, batches, every, *held_out, bool(self.copied))
        linear, by, *losses = seek(weighed, limits)
        weights = replace(weights, linear=linear)
        weights = weights if by == 1 else weights.tempered(by)
        # A part of the rows does not tell how often a row came with another label.
        alone = counted and every.group is None and model.settings.derived == "auto"
        if alone and self.holds_all(model).all():
            seen = seen_before(model.weighed(weights), batches, every, held_out[0])
            weights = replace(weights, seen=seen)
        return FoundWeights(weights, *losses)

    def _of_many_classes(
        self, model: Model, near: Weights | None, *, learned: bool = True
    ) -> tuple[Model, LeaveOneOut]:
        """Return a model, and the evidence of rows that are drawn by how many each stands for."""
        # As the weights are those of all classes, none of these needs rows of its own.
        alike, batches, count = self.weighed_alike(model, learned=learned)
        labels = Labels.join([batch.independent for batch in batches]).standing_for(count)
        some, stand_for = self._drawn(model, labels)
        if learned and some.several_groups:
            alike, _, _, found = some._without_groups(model, near)  # noqa: SLF001
        else:
            few = [batch.take(np.flatnonzero(of)) for batch, of in with_each(batches, stand_for)]
            found = left_out(alike, few, learned=learned)
        weight = stand_for[stand_for > 0]
        return alike, replace(found, labels=replace(found.labels, weight=weight))

    def _thirds(
        self,
        third: NDArray[np.int64],  # (rows,): that each row is in
        model: Model,  # with weights that are all 1
        weights: Weights,  # those that were fitted to all
        found: LeaveOneOut,  # the evidence of the first rows
        labels: Labels,  # of all rows
        *,
        counted: bool,  # whether the third is in the model's counts
        # With fewer rows each third is held out of the counts, which takes as long as to learn.
        # With more this is done where there is but one third: what is left of its rows in the
        # counts of the others falls as one over their number.
        few: float,
    ) -> Iterator[Third]:
        """Yield the first rows with a third held out, each third if they are not many."""
        first = replace(found, labels=labels.take(np.arange(len(found.prior))))
        splits = in_thirds(first.labels, third[: len(first.prior)])
        honest = counted and (len(splits) == 1 or first.labels.weights.sum() < few)
        for held_out, _ in self._each_held_out(splits, model, weights, first, honest=honest):
            yield held_out

    def _each_held_out(
        self,
        splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
        model: Model,
        weights: Weights,
        first: LeaveOneOut,
        *,
        honest: bool,  # whether what is held out is taken out of the counts
    ) -> Iterator[tuple[Third, Floats]]:
        """Yield rows by weights that are fitted to the rest, and their prior, (rows, classes)."""
        for rest, held in splits:
            some = first
            if honest:
                some = self._without(model, len(first.prior), held)
                some = replace(some, labels=first.labels)
            without = fit(some.take(rest), weights.how, weights.rows, weights, ROUGH)
            yield Third(some.joint(without), rest, held), some.prior

    def _without(self, model: Model, first: int, held: NDArray[np.int64]) -> LeaveOneOut:
        """Return the evidence of the first rows by a model that never saw some of them."""
        copies = np.zeros_like(self.copies)
        copies[held] = self.copies[held]
        (fold,) = self.held_out(model, copies[:, None])
        rest, others = fold.model.with_classes(model.classes), fold.others.copies.copy()
        others[first - len(held) :] = 0
        of_rest = left_out(rest, fold.others.keep(others).encoded(rest))
        both = LeaveOneOut.join([of_rest, left_out(rest, fold.out.encoded(rest), learned=False)])
        places = np.concatenate([np.setdiff1d(np.arange(first), held), held])
        return both.take(np.argsort(places))


def in_tables(model: Model, batches: list[Batch]) -> Iterator[list[Batch]]:
    """Yield the rows of each leave-one-out table: of all, unless that would take much memory."""
    most = rows_at_once(model)
    if sum(map(len, batches)) <= most:
        yield batches
        return
    for batch in batches:
        for rows in np.array_split(np.arange(len(batch)), -(-len(batch) // most)):
            yield [batch.take(rows)]


def drawn(weight: Floats, rows: int) -> Floats:
    """Return what each row stands for, (rows,), if so many are drawn evenly by their weight."""
    if rows >= len(weight):
        return weight
    total = weight.sum()
    places = (np.arange(rows) + 0.5) / rows * total
    at = np.minimum(np.searchsorted(np.cumsum(weight), places, side="right"), len(weight) - 1)
    return np.asarray(np.bincount(at, minlength=len(weight)) * (total / rows))


def fold_of_groups(groups: NDArray[np.uint64], folds: int) -> NDArray[np.int64]:
    """Return the fold of each row, (rows,): groups stay whole, and folds are about as large."""
    # The largest group goes to the fold that has fewest rows so far, and so on.
    number, of, rows = np.unique(groups, return_inverse=True, return_counts=True)
    fold, filled = np.empty(len(number), np.int64), [(0, at) for at in range(folds)]
    for group in np.lexsort((number, -rows)).tolist():
        size, at = heappop(filled)
        fold[group] = at
        heappush(filled, (size + int(rows[group]), at))
    return fold[of]


def in_thirds(
    labels: Labels,
    third: NDArray[np.int64],  # (rows,): that each row is in
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit, and a third to hold out: each third of few rows, else the first."""
    times = THIRDS if labels.weights.sum() < FEW_HELD_OUT else 1
    return [(np.flatnonzero(third != t), np.flatnonzero(third == t)) for t in range(times)]


def in_fifths(labels: Labels) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit, and a fifth to hold out: each fifth, if both have some weight."""
    dealt = deal(labels, np.ones(len(labels.codes), np.int64), FIFTHS).astype(np.bool_)
    weight = labels.weights
    each = ((np.flatnonzero(~held), np.flatnonzero(held)) for held in dealt.T)
    return [(rest, held) for rest, held in each if weight[rest].any() and weight[held].any()]


def deal(labels: Labels, copies: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Return how many of the ``copies`` of each row are in each fold, (rows, folds)."""
    # The rows of a group are in one fold. Others are dealt out class by class in their order, one
    # copy to a fold after the other, so that the first of them are dealt alike.
    dealt = np.zeros((len(copies), folds), np.int64)
    if labels.group is not None:
        dealt[np.arange(len(dealt)), fold_of_groups(labels.group, folds)] = copies
        return dealt
    # Classes come in the order of their first rows, whatever they are called.
    _, first, number = np.unique(labels.codes, return_index=True, return_inverse=True)
    order = np.argsort(first[number], kind="stable")
    ends = np.concatenate([[0], np.cumsum(copies[order])])
    # Every ``folds``-th of the copies before an end is in the same fold.
    before = (ends[:, None] - np.arange(folds) + folds - 1) // folds
    dealt[order] = np.diff(before, axis=0)
    return dealt


# --- How many independent rows a weight of 1 is --------------------------------------------------
#
# What rows weigh is another thing than how many they are: that a row weighs 10 does not say that
# ten were seen. It counts as such in the tally. But where weights are fitted, a row counts by the
# square root of what it weighs: by all of it the few rows that weigh most would decide alone
# (Shimodaira, Improving predictive inference under covariate shift by weighting the log-likelihood
# function, 2000). The effective number of independent rows that count by u is (Σ u)² / Σ u² (Kish,
# Survey sampling, 1965). It is taken class by class, as a class may have weights of its own.


FLAT = 0.5  # the power of a row's weight by which it counts where weights are fitted
ALIKE = 1e-9  # rows per weight that differ from 1 by no more do so by rounding


def flattened(batches: Sequence[Batch]) -> list[Batch]:
    """Return rows each of which counts by the square root of its weight, unless all weigh alike."""
    weight = np.concatenate([np.empty(0), *(of.labels.weights / of.times for of in batches)])
    if not len(weight) or np.ptp(weight) <= ALIKE * weight.max():
        return list(batches)
    return [
        replace(batch, each=np.power(batch.labels.weights / batch.times, FLAT)) for batch in batches
    ]


def notes_of(classes: Sequence[Label], batches: Sequence[Batch]) -> tuple[str, ...]:
    """Return what is to be said of scores of rows: that some are copies, or look like counts."""
    found = []
    if classes:
        found.append(
            f"Copies: nearly every row of class {', '.join(map(repr, classes))} came more than "
            "once, so that the scores are those of rows that were seen before; groups='copies' "
            "leaves equal rows out together."
        )
    weight = np.concatenate([np.empty(0), *(of.labels.weights / of.times for of in batches)])
    if len(weight) and np.ptp(weight) > 0 and (weight == np.rint(weight)).all():
        found.append(
            "Weights: they are whole numbers. If they say how many equal rows each row is, give "
            "them as frequencies= instead of sample_weight=."
        )
    return tuple(found)


def in_rows(batches: Sequence[Batch], per: Floats | None) -> list[Batch]:
    """Return rows whose weights are numbers of rows: a weight of 1 is ``per``, (classes,)."""
    # By what they count where weights are fitted they weigh as much together, class by class.
    if per is None and all(batch.each is None for batch in batches):
        return list(batches)
    k = max((len(batch.labels.classes) for batch in batches), default=0)
    every, alone = np.zeros(k), np.zeros(k)
    for batch in batches:
        every += np.bincount(batch.labels.codes, batch.labels.weights, k)
        alone += np.bincount(batch.labels.codes, batch.independent.weights, k)
    more = np.divide(every, alone, out=np.ones(k), where=alone > 0)
    more = more if per is None else more * per
    return [
        replace(
            batch,
            labels=batch.labels.times(per),
            each=None if batch.each is None else batch.each * more[batch.labels.codes],
        )
        for batch in batches
    ]


def rows_per_weight(model: Model, batches: Sequence[Batch]) -> Floats | None:
    """Return how many independent rows a weight of 1 is, (classes,); None where it is one."""
    # ``batches`` are a sample of the rows that the model has learned.
    k = len(model.classes)
    every, alone, square = np.zeros(k), np.zeros(k), np.zeros(k)
    largest = max((float(b.labels.weights.max(initial=0.0)) for b in batches), default=0.0) or 1.0
    for batch in batches:
        codes, w = batch.labels.codes, batch.independent.weights / largest  # no square overflows
        every += np.bincount(codes, batch.labels.weights / largest, k)
        alone += np.bincount(codes, w, k)
        square += np.bincount(codes, w * w / batch.times, k)
    there = square > 0
    rows = np.divide(alone * alone, square, out=np.ones(k), where=there)
    found = np.divide(rows, every * largest, out=np.ones(k), where=there)
    return None if (np.abs(found - 1.0) <= ALIKE).all() else found


def rows_per_group(model: Model, batches: Sequence[Batch]) -> Floats:
    """Return how many independent rows a row is if those of a group are one, (classes,)."""
    # They are by Kish's rule, of groups and of rows.
    k = len(model.classes)
    labels = Labels.join([batch.independent for batch in batches])
    assert labels.group is not None
    weight = labels.weights / (labels.weights.max(initial=0.0) or 1.0)
    number = np.unique(labels.group, return_inverse=True)[1]
    size = (int(number.max(initial=-1)) + 1) * k
    of_group = np.bincount(number * k + labels.codes, weight, size).astype(np.float64)
    times = np.concatenate([batch.times for batch in batches])
    rows = np.bincount(labels.codes, weight * weight / times, k)
    groups = np.square(of_group.reshape(-1, k)).sum(axis=0)
    return np.asarray(np.divide(rows, groups, out=np.ones(k), where=groups > 0))


# --- Interactions: what a few columns say together, in products and decision tables ---------------


FEWEST = 100  # rows that interactions are chosen by


def add_interactions(model: Model, sample: Sample, *, learned: bool = True) -> Model:
    """Choose interactions, and fit all weights."""
    limits = Limits.of(model.settings.interactions)
    limits.check([title(name) for name in model.view.schema.columns], len(model.classes))
    why_none = _why_none(model, sample)
    if why_none:
        weights = sample.weighed(model, learned=learned).weights
        return model.weighed(replace(weights, sought=Sought(why_none)))
    weights, before, after = sample.weighed(model, learned=learned, limits=limits)
    linear = weights.linear
    if not (linear.products or linear.rules):
        why = "no product and no rule of columns lowers the log loss of held-out rows"
        return model.weighed(replace(weights, sought=Sought(why)))
    products, rules = many(len(linear.products), "product"), many(len(linear.rules), "rule")
    note = (
        f"Interactions: {products} and {rules} of columns; the log loss of held-out rows is "
        f"{after:.4g} with them, and {before:.4g} without."
    )
    return model.weighed(replace(weights, sought=Sought(notes=(note,))))


def _why_none(model: Model, sample: Sample) -> str:
    """Say why there can be no interactions, or nothing."""
    if len(model.classes) < 2:
        return "there is only one class"
    if len(model.classes) >= MANY_CLASSES:
        return f"{len(model.classes):,} classes have too few rows each"
    rows = float(sample.copies.sum())
    if rows < FEWEST:
        return f"{amount(rows)} rows are too few, it takes {FEWEST}"
    able = sum(
        len(g.columns)
        for g in model.view.schema.of_columns
        if not g.analyser and not g.event.joined
    )
    if able < 2:
        return "they are of columns, and not of words of texts or of bags of counts"
    return ""
