"""The model: what was counted, what follows, its weights and where it comes from, all frozen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, reduce
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from naively.counting.axis import Axis, Derived, Name, Words, title
from naively.counting.block import Batch, Block, Codes, Sparse, split_texts
from naively.counting.labels import Label, LabelArray, Labels
from naively.counting.leave_one_out import Part, Parts
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import Rows
from naively.events.base import EventModel
from naively.frozen import Frozen
from naively.kernels.reference import Finish, Finished, Floats, Hashes
from naively.messages import Shown, amount
from naively.model.class_prior import PRETEND, class_probabilities
from naively.model.counted import Counted, check_rows
from naively.model.held_out import HeldOut
from naively.options import Weighting
from naively.schema.diagnose import describe
from naively.schema.schema import SHOWN, GroupKey, Schema, contents, with_texts
from naively.schema.settings import PURE, ClassPrior, Settings
from naively.schema.settle import settle, with_missing, without_words
from naively.tabular import Tabular, picture
from naively.terms.functions import NOTHING, Is, LinearPart
from naively.terms.kinds import TermBlock
from naively.terms.seen import LEAST, SeenBefore, SeenRows
from naively.terms.terms import GroupTerms, Terms, with_functions
from naively.terms.words import LENGTH_POWER

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class View(Frozen):
    """What the columns that were counted are taken for, and what follows from that alone.

    Neither the class prior nor weights have a part in it, but for how many rows a weight of 1 is:
    models that differ in these share it.
    """

    schema: Schema  # which columns go to which event model
    tally: Tally  # what was counted, of the columns as the schema takes them
    rows: Floats  # (classes,): how many independent rows each class has
    # (classes,): how many independent rows a weight of 1 is; None where it is one
    rows_per_weight: Floats | None = None

    @classmethod
    def of(cls, counted: Counted, rows_per_weight: Floats | None = None) -> View:
        """Settle what the columns are, where a weight of 1 is so many rows, (classes,)."""
        tally, rows = counted.tally, counted.tally.weight.high
        if rows_per_weight is not None:
            tally = tally.scaled(rows_per_weight, rounds=True)
            rows = rows * rows_per_weight
        schema, settings = counted.schema, counted.settings
        if settings.counts_missing:
            schema, tally = with_missing(settle(schema, tally, settings))
        elif schema.settles:
            schema, tally = without_words(settle(schema, tally, settings))
        return cls(schema, tally, rows, rows_per_weight)

    @cached_property
    def counts(self) -> dict[GroupKey, BlockTally]:
        """The tally of each block, of the words that are learned from."""
        return {
            key: block.selected() if key.analyser and key.analyser.selects else block
            for key, block in self.tally.blocks.items()
        }

    @cached_property
    def axes(self) -> dict[GroupKey, Axis]:
        """The levels and words of each block that are learned from."""
        return {name: block.axis for name, block in self.counts.items()}

    @cached_property
    def parts(self) -> dict[GroupKey, Parts]:
        """The parts of the evidence of each block."""
        return {group.key: group.parts_of(self.counts[group.key]) for group in self.schema.groups}

    @cached_property
    def terms(self) -> dict[GroupKey, TermBlock]:
        """The evidence of each block, as the event models say, without weights."""
        return {
            group.key: group.event.terms(self.counts[group.key]) for group in self.schema.groups
        }

    @cached_property
    def reads(self) -> dict[GroupKey, Callable[[Block], Block]]:
        """How groups whose cells are not scored as they are read them."""
        return {
            group.key: group.event.prepare
            for group in self.schema.groups
            if type(group.event).prepare is not EventModel.prepare
        }

    def terms_of(self, key: GroupKey) -> TermBlock:
        """Return the evidence of one block, which is not kept: that of words takes much memory."""
        if "terms" in vars(self):
            return self.terms[key]
        return key.event.terms(self.counts[key])


class Model(Shown, Frozen):
    """What was learned: what was counted, what follows from it, and weights.

    ``a + b`` is the model of the rows of both, ``a - b`` the model without b's rows, and ``a *
    0.99`` a model with faded counts.

    Examples
    --------
    >>> from naively.counting.labels import encode_labels
    >>> from naively.data.frames import as_rows
    >>> from naively.schema.choose import infer
    >>> rows = as_rows([[1.0], [3.0], [8.0]])
    >>> model = Model.learn(rows, encode_labels(["low", "low", "high"]), infer(rows))
    >>> model.decide(as_rows([[2.5]]))
    array(['low'], dtype='<U4')
    """

    counted: Counted  # what was counted, and how parameters are derived from it
    view: View  # what the columns that were counted are taken for
    weights: Weights | None = None  # how much the evidence of each column counts; all alike without

    @classmethod
    def of(cls, counted: Counted, weights: Weights | None = None) -> Model:
        """Return the model of what was counted, with these weights."""
        per = None if weights is None else weights.rows_of(counted.tally.classes.tolist())
        return cls(counted, View.of(counted, per), weights)

    @classmethod
    def learn(
        cls, rows: Rows, labels: Labels, schema: Schema, settings: Settings | None = None
    ) -> Model:
        """Count labelled rows in one pass, each column for the event model that the schema says."""
        check_rows(rows, labels)
        return cls.of(Counted.of(schema.encode(rows, labels), schema, settings or PURE))

    def __str__(self) -> str:
        rows, classes = self.counted.rows, len(self.classes)
        size = f"{amount(rows)} rows, {classes:,} classes, {self.view.schema.width:,} columns"
        copies = [] if self.seen is None else [self.seen.note]
        return "\n".join([size, str(self.described()), *copies, *map(str, self.counted.noise)])

    def __add__(self, other: Model) -> Model:
        return Model.total((self, other))

    @classmethod
    def total(cls, models: Iterable[Model], *, consume: bool = False) -> Model:
        """Return the sum of one model or more: the model of the rows of all.

        They may have other classes, columns, levels and words, and other weights, of which the mean
        is taken; what one lacks is the others'. Each is added in a time that follows from its own
        size. Where the first is to be consumed, its words go on in the sum, which need not copy
        them, and it must not be asked for anything afterwards.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> days = [NaiveBayes().fit([[x], [x + 1]], ["a", "b"]).model_ for x in (1.0, 2.0, 7.0)]
        >>> Model.total(days).counted.tally.class_count
        array([3., 3.])
        """
        weights: list[Weights | None] = []

        def parts() -> Iterator[Counted]:
            for model in models:
                weights.append(model.weights)
                yield model.counted

        return cls.of(Counted.total(parts(), consume=consume), reduce(mean, weights))

    def __sub__(self, other: Model) -> Model:
        weights, gone = self.weights, other.weights
        if weights is not None and gone is not None and gone.seen is not None:
            weights = weights.less(gone.seen, gone.classes)
        return Model.of(self.counted - other.counted, weights)

    def forget(self, other: Counted) -> Model:
        """Return the model that never saw these rows, or raise a ValueError if that cannot be."""
        return Model.of(self.counted.forget(other), self.weights)

    def without_copies(self, batch: Batch) -> Model:
        """Return the model whose rows that were seen before are fewer by these of its own."""
        assert self.weights is not None
        classes = batch.labels.classes.tolist()
        own = batch.labels.times(self.weights.rows_of(classes)).one_hot()  # as rows are counted
        gone = SeenRows(number_of_cells(self.recode(batch)), own, 0.0)
        return replace(self, weights=self.weights.less(gone, classes))

    def __mul__(self, factor: float) -> Model:
        weights = self.weights
        if weights is not None:  # the rows that they were fitted with fade like the others
            seen = None if weights.seen is None else weights.seen * factor
            weights = replace(weights, rows=weights.rows * factor, seen=seen)
        return Model.of(self.counted * factor, weights)

    def counting(self, **changes: Any) -> Model:
        """Return the model with changes of what was counted, or of how it is read."""
        return Model.of(replace(self.counted, **changes), self.weights)

    def weighed(self, weights: Weights | None) -> Model:
        """Return the model with these weights; what was settled without them is kept."""
        if weights is not None and weights.sought is None and self.weights is not None:
            weights = replace(weights, sought=self.weights.sought)
        counted = self.counted
        if counted.held_out is not None:
            counted = replace(counted, held_out=None)
        before = self.view.rows_per_weight
        per = None if weights is None else weights.rows_of(self.classes.tolist())
        same = per is before if per is None or before is None else np.array_equal(per, before)
        return Model(counted, self.view if same else View.of(counted, per), weights)

    def with_held_out(self, held_out: HeldOut | None) -> Model:
        """Return the model with what is known of held-out rows."""
        return replace(self, counted=replace(self.counted, held_out=held_out))

    @property
    def settings(self) -> Settings:
        """How parameters are derived from what was counted."""
        return self.counted.settings

    @property
    def seeks_interactions(self) -> bool:
        """Whether interactions were looked for, or are there."""
        weights = self.weights
        return weights is not None and (weights.sought is not None or self.has_interactions)

    @property
    def seen(self) -> SeenRows | None:
        """The rows that came more than once, where that is evidence."""
        return None if self.weights is None else self.weights.seen

    def with_classes(self, classes: LabelArray) -> Model:
        """Return the model with a place for each of these classes; some may have no row yet."""
        if np.array_equal(classes, self.classes):
            return self
        return Model.of(self.counted.with_classes(classes), self.weights)

    def pure(self) -> Model:
        """Return the model of how rows are generated: without weights or what missing cells say."""
        settings = replace(self.settings, presence="ignore")
        return Model.of(replace(self.counted, settings=settings))

    def under_prior(self, prior: ClassPrior) -> Model:
        """Return the model under another class prior, in which what is settled has no part.

        Everything is fitted under the class frequencies of its rows ("data"). So it is evidence
        alone, and another class prior only shifts the log odds.
        """
        settings = replace(self.settings, class_prior=prior)
        return replace(self, counted=replace(self.counted, settings=settings))

    @property
    def has_interactions(self) -> bool:
        """Whether several columns at a time say something too, in products or rules."""
        return self.weights is not None and self.weights.linear.is_of_several

    def columns(self) -> Schema:
        """Return what the columns are, whatever a row weighs: no count is scaled for it."""
        scaled = self.view.rows_per_weight is not None
        return View.of(self.counted).schema if scaled else self.view.schema

    @property
    def classes(self) -> LabelArray:
        """The class labels, of shape (classes,)."""
        return self.counted.tally.classes

    def described(self) -> Schema:
        """Return the schema with what the tally says of columns, and which are multiplied."""
        schema = describe(self.view.schema, self.view.tally)
        return schema if self.weights is None else with_linear_part(schema, self.weights.linear)

    @property
    def class_log_prior(self) -> Floats:
        """Log probability of each class before anything is seen, of shape (classes,)."""
        prior, how = self.settings.class_prior, self.settings.estimate
        count = self.counted.tally.class_count
        p = class_probabilities(prior, how, count, self.classes, self.pretend_rows)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(p))

    @property
    def pretend_rows(self) -> float:
        """How many rows each class has more where its share among the rows is its prior.

        With weights it is one row (Laplace's rule of succession), with the mean weight of all rows.
        """
        if self.weights is None:
            return 0.0
        rows = float(self.view.rows.sum())
        return PRETEND * self.counted.rows / rows if rows > 0 else PRETEND

    @property
    def length_power(self) -> float:
        """The power of a text's length that its evidence is divided by; 0 without weights."""
        return 0.0 if self.weights is None else LENGTH_POWER

    @cached_property
    def terms(self) -> Terms:
        """All that is added up to score rows: evidence times weights, and the linear part."""
        view, weights, classes = self.view, self.weights, self.classes.tolist()
        if weights is None:
            plain = {key: GroupTerms(evidence) for key, evidence in view.terms.items()}
            return Terms(self.class_log_prior, np.zeros(len(classes)), plain, (), view.reads)
        of, places = {}, weights.places(classes)
        for key, parts in view.parts.items():
            table = weights.table(parts.keys, classes)
            found = view.terms_of(key).weighted_by_part(table, parts.of_unit)
            if parts.by_word and key in weights.groups:
                found = found.over_length(self.length_power)
            of[key] = with_functions(found, weights.linear, key, view.axes[key], places)
        several = weights.linear.of_several(view.axes, places)
        bias = weights.bias_of(classes)
        if weights.seen is None:
            return Terms(self.class_log_prior, bias, of, several, view.reads)
        data = np.maximum(
            self.under_prior("data").class_log_prior, LEAST
        )  # of a class without rows
        seen = SeenBefore(weights.seen.of_classes(places), data, number_of_cells)
        return Terms(self.class_log_prior, bias, of, several, view.reads, seen)

    def encode(self, rows: Rows, labels: Labels | None = None) -> Batch:
        """Encode rows as they were encoded in training."""
        labels = Labels.none(len(rows), self.classes) if labels is None else labels
        schema = self.view.schema
        batch = schema.encode_own(schema.match(rows), labels, self.view.axes)
        weights = self.weights
        return batch if weights is None or weights.seen is None else with_texts(batch)

    def recode(self, batch: Batch) -> Batch:
        """Encode rows by the columns, levels and words of this model, as any has encoded them."""
        return self.view.schema.recode(batch, self.view.axes)

    def blocks(self, batch: Batch) -> dict[GroupKey, Block]:
        """Return the blocks of encoded rows as event models count them, with texts split."""
        read = {key: prepare(batch.blocks[key]) for key, prepare in self.view.reads.items()}
        return split_texts({**batch.blocks, **read})

    def score(self, batch: Batch, finish: Finish) -> Finished:
        """Add up the evidence of encoded rows, and finish it (see ``Finish`` in the kernels).

        Labels, as numbers of classes, are of shape (rows,), all else of shape (rows, classes).
        """
        return self.terms.add(batch, finish)

    def joint_log_likelihood(self, rows: Rows, *, single: bool = False) -> Floats:
        """Return log p(c) + log p(x | c), less what does not depend on c: (rows, classes)."""
        return self.score(self.encode(rows), "joint32" if single else "joint")

    def posterior(self, rows: Rows, *, single: bool = False) -> Floats:
        """Return p(c | x), of shape (rows, classes), of float32 if ``single``."""
        return self.score(self.encode(rows), "posterior32" if single else "posterior")

    def log_evidence(self, rows: Rows) -> Floats:
        """Return log p(x), of shape (rows,), by the event models without weights.

        Interactions and missing cells are left out: with them it would not sum to 1.
        """
        plain = self.pure()
        batch = plain.encode(rows)
        total: Floats = np.logaddexp.reduce(plain.score(batch, "joint"), axis=1)
        for name, block in plain.blocks(batch).items():
            total += plain.view.terms[name].log_base(block)
        return total

    def log_posterior(self, rows: Rows, *, single: bool = False) -> Floats:
        """Return log p(c | x), of shape (rows, classes)."""
        return self.score(self.encode(rows), "log_posterior32" if single else "log_posterior")

    def decide(self, rows: Rows) -> LabelArray:
        """Return the most probable class of each row, of shape (rows,)."""
        classes: LabelArray = self.classes[self.score(self.encode(rows), "label")]
        return classes

    def sample(
        self,
        n: int,
        label: Label | None = None,
        random_state: int | np.random.Generator | None = None,
        length: int | None = None,
    ) -> tuple[Rows, LabelArray]:
        """Draw n rows and their labels (n,): all of one label, or labels by the class prior."""
        rng = np.random.default_rng(random_state)
        if label is None:
            codes = rng.choice(len(self.classes), n, p=np.exp(self.class_log_prior))
        else:
            if label not in (labels := self.classes.tolist()):
                raise ValueError(f"There is no class {label!r}; the classes are {labels}.")
            codes = np.full(n, labels.index(label))
        blocks = {
            group.key: group.event.sample_rows(self.view.counts[group.key], codes, rng, length)
            for group in self.view.schema.written
        }
        return self.view.schema.decode(blocks), self.classes[codes]


def number_of_cells(batch: Batch) -> Hashes:
    """Return a number for each row by its cells, (rows,); 0 where a cell was never seen."""
    number = contents(batch, by_name=True)
    for block in batch.blocks.values():
        match block:
            case Codes():
                known = np.array([len(levels) for levels in block.axis.levels])
                number[(block.codes >= known).any(axis=1)] = 0
            case Sparse(axis=Words()) if batch.texts is None:  # the texts themselves are gone
                number[:] = 0
    return number


# --- What is to be said of columns beside what was counted: what is made of them -----------------


MOST = 3  # columns that are named


def with_linear_part(schema: Schema, linear: LinearPart) -> Schema:
    """Return the schema with notes of columns that are multiplied, made into others, or names."""
    # There are no such notes where columns are too many for a line each.
    if len(schema.columns) > SHOWN:
        return schema
    groups = {group.key: frozenset(group.columns) for group in schema.groups}
    notes: dict[Name, list[str]] = {}
    products: dict[Name, dict[Name, None]] = {}
    size = {product: max(map(abs, slopes)) for product, slopes in linear.products.items()}
    for product in sorted(size, key=lambda product: -size[product]):  # the largest slopes first
        a, b = product.columns
        if all(of.column in groups.get(of.group, ()) for of in (product.a, product.b)):
            products.setdefault(a, {})[b] = None
            products.setdefault(b, {})[a] = None
    for name, others in products.items():
        notes.setdefault(name, []).append(_listed("products with", others))
    made: dict[Name, dict[Name, None]] = {}
    for column in linear.made:
        for name in column.sources:
            made.setdefault(name, {})[column] = None
    for name, columns in made.items():
        notes.setdefault(name, []).append(_listed("made of it:", columns))
    named = Counter(term.column for term in linear.of if isinstance(term.function, Is))
    for name, values in named.items():
        said = f"{values:,} of its values count by themselves, and are taken to come again"
        notes.setdefault(name, []).append(said)
    said_of = {
        name: "; ".join([schema.notes.get(name, f"{schema.columns[name].kind}s"), *each])
        for name, each in notes.items()
        if name in schema.columns
    }
    return replace(schema, notes={**schema.notes, **said_of})


def _listed(what: str, columns: Iterable[Name]) -> str:
    """Name some of the columns that something is done with."""
    first = [*columns]
    more = f" and {len(first) - MOST:,} more" if len(first) > MOST else ""
    return f"{what} {', '.join(map(title, first[:MOST]))}{more}"


# --- Weights: how much the evidence of each column counts ----------------------------------------
#
# Naive Bayes counts what two columns have in common twice. Non-negative factors of each column's
# log likelihoods, one for each class, take that back; every explanation is still a sum, and the
# probabilities are calibrated.


class Sought(Frozen, eq=True):
    """What came of looking for interactions."""

    why_none: str = ""  # why there are none
    notes: tuple[str, ...] = ()  # how many products and rules there are, and what they gain


class Weights(Shown, Frozen, eq=True):
    """A non-negative factor for the log likelihoods of each part of the evidence.

    A log likelihood is centred over the classes before it is multiplied: weights that are equal
    for all classes merely temper it.
    """

    classes: tuple[Label, ...]
    of: Mapping[Part, tuple[float, ...]]  # of each part, (classes,)
    bias: tuple[float, ...]  # (classes,): what is added to the log prior of each, in nats
    usual: float  # the weight, for every class, of a part that has none of its own
    rows: float  # how many independent rows the model held when these were fitted
    how: Weighting = "loo"  # a weight for each part, or one for all
    linear: LinearPart = NOTHING  # what is added to the evidence so weighted
    # (classes,): how many independent rows a weight of 1 is (see ``naively.fitting.sample``);
    # where there are none, it is one
    rows_per_weight: tuple[float, ...] = ()
    sought: Sought | None = None  # what came of looking for interactions; None if nobody looked
    seen: SeenRows | None = None  # rows that came more than once, where that is evidence

    @classmethod
    def even(cls, classes: LabelArray, rows_per_weight: Floats | None) -> Weights:
        """Return weights that are all 1, of a model of which a weight of 1 is so many rows."""
        of = () if rows_per_weight is None else tuple(rows_per_weight.tolist())
        return cls(tuple(classes.tolist()), {}, (0.0,) * len(classes), 1.0, 0.0, rows_per_weight=of)

    @property
    def by_name(self) -> dict[str, dict[Label, float]]:
        """The weights of each part by class, under the name of the part."""
        return {
            str(part): dict(zip(self.classes, each, strict=True)) for part, each in self.of.items()
        }

    def __str__(self) -> str:
        lines = [f"fitted on {amount(self.rows)} rows; mean over the classes (least to greatest)"]
        for name, by_class in self.by_name.items():
            of = list(by_class.values())
            lines.append(f"  {np.mean(of):.3f} ({min(of):.3f} to {max(of):.3f})  {name}")
        lines += [f"with a linear part: {self.linear}"] if self.linear else []
        lines += [self.seen.note] if self.seen is not None else []
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, n: int = 20) -> Axes:
        """Draw the n greatest weights."""
        return picture(self, ax, n=n)

    def fresh(self, rows: float) -> float:
        """Return what share of so many rows the model held when the weights were fitted."""
        return min(1.0, self.rows / rows) if rows > 0 else 1.0

    def less(self, gone: SeenRows, classes: Sequence[Label]) -> Weights:
        """Return the weights with fewer rows seen, by rows of these classes that are gone."""
        place = {label: i for i, label in enumerate(classes)}
        gone = gone.of_classes([place.get(label, len(place)) for label in self.classes])
        return self if self.seen is None else replace(self, seen=self.seen.minus(gone))

    @cached_property
    def groups(self) -> frozenset[Hashable]:
        """The groups of which some column has weights of its own."""
        return frozenset(part.group for part in self.of if part.column is not None)

    def of_rows_like(self, other: Weights | None) -> Weights:
        """Return these weights for a model whose weight of 1 is as many rows as another model's."""
        return self if other is None else replace(self, rows_per_weight=other.rows_per_weight)

    def tempered(self, by: float) -> Weights:
        """Return these weights with all that is learned beyond the class prior times a number."""
        places = self.places(self.classes)
        return replace(
            self,
            of={part: tuple(by * weight for weight in each) for part, each in self.of.items()},
            bias=tuple(by * bias for bias in self.bias),
            usual=by * self.usual,
            linear=self.linear.mean(NOTHING, by, (places, places)),
        )

    def rows_of(self, classes: Sequence[Label]) -> Floats | None:
        """Return how many rows a weight of 1 is, (classes,); None where it is one throughout."""
        if not self.rows_per_weight:
            return None
        return np.array([*self.rows_per_weight, 1.0])[self.places(classes)]

    def table(self, parts: Sequence[Part], classes: Sequence[Label]) -> Floats:
        """Return the weights of parts, of shape (parts, classes)."""
        # A band of words that came more often than any did when the weights were fitted has those
        # of the last band. Another part without weights of its own has those of its whole group, or
        # the usual one, or 0 of what is said beside the columns.
        # To look a part up takes long; those that the weights were fitted to are in their order.
        own = [*self.of] == [*parts]
        each = [*self.of.values()] if own else [self._of(part) for part in parts]
        found = np.array(each, np.float64).reshape(len(parts), len(self.classes))  # of none too
        place = self.places(classes)
        mean = found.mean(axis=1, keepdims=True) if self.classes else np.zeros((len(found), 1))
        return np.hstack([found, mean])[:, place]

    def _of(self, part: Part) -> tuple[float, ...]:
        """Return the weights of a part by class."""
        last = self._last_band.get((part.group, part.column))
        if part.band is not None and last is not None:
            part = part._replace(band=min(part.band, last))
        beside = isinstance(part.column, Derived) and part.column.beside
        usual = 0.0 if beside else self.usual
        of_group = self.of.get(Part(part.group), (usual,) * len(self.classes))
        return self.of.get(part, of_group)

    @cached_property
    def _last_band(self) -> dict[tuple[Hashable, Name | None], int]:
        """The last band of each text that has weights by band."""
        last: dict[tuple[Hashable, Name | None], int] = {}
        for part in self.of:
            if part.band is not None:
                of = part.group, part.column
                last[of] = max(part.band, last.get(of, 0))
        return last

    def bias_of(self, classes: Sequence[Label]) -> Floats:
        """Return what is added to the log priors of classes, of shape (classes,)."""
        places = self.places(classes)
        bias: Floats = np.array([*self.bias, 0.0])[places]
        return bias + self.linear.intercept_of(places) if self.linear.intercept else bias

    def places(self, classes: Sequence[Label]) -> list[int]:
        """Return the number of each class; of one that has no weights, the number after all."""
        place = {label: i for i, label in enumerate(self.classes)}
        return [place.get(label, len(place)) for label in classes]

    def __add__(self, other: Weights) -> Weights:
        """Average the weights, each by the rows behind it; what one lacks is the other's."""
        rows = self.rows + other.rows
        share = self.rows / rows if rows > 0 else 0.5
        classes = tuple(dict.fromkeys([*self.classes, *other.classes]))

        def mean_of(part: Part) -> tuple[float, ...]:
            mine, theirs = (
                w.table([part], classes)[0] if part in w.of else None for w in (self, other)
            )
            if mine is None or theirs is None:
                one = other if mine is None else self
                return tuple(one.table([part], classes)[0].tolist())
            return tuple((theirs + share * (mine - theirs)).tolist())

        places = self.places(classes), other.places(classes)
        mine, theirs = (
            np.array([*w.bias, 0.0])[at] for w, at in zip((self, other), places, strict=True)
        )
        bias = share * mine + (1 - share) * theirs
        per: tuple[float, ...] = ()
        if self.rows_per_weight or other.rows_per_weight:
            ours, others = (
                np.ones(len(classes)) if of is None else of
                for of in (self.rows_of(classes), other.rows_of(classes))
            )
            per = tuple((share * ours + (1 - share) * others).tolist())
        return Weights(
            classes,
            {part: mean_of(part) for part in dict.fromkeys([*self.of, *other.of])},
            tuple(bias.tolist()),
            other.usual + share * (self.usual - other.usual),
            rows,
            self.how if self.how == other.how else "loo",
            self.linear.mean(other.linear, share, places),
            per,
            self.sought or other.sought,
            self._seen_by_both(other, share, places),
        )

    def _seen_by_both(
        self, other: Weights, share: float, places: tuple[list[int], list[int]]
    ) -> SeenRows | None:
        """Return the rows that came more than once in either; if one knows none, the other's."""
        mine, theirs = (
            w.seen and w.seen.of_classes(at) for w, at in zip((self, other), places, strict=True)
        )
        return theirs if mine is None else mine if theirs is None else mine.plus(theirs, share)


def mean(a: Weights | None, b: Weights | None) -> Weights | None:
    """Return the mean of the weights of two models; if one has none, those of the other."""
    return b if a is None else a if b is None else a + b


# --- Where a model comes from: what was learned and forgotten, when, how much, and from where -----


Verb: TypeAlias = Literal["train", "update", "forget", "merge", "decay", "calibrate"]
KEPT = 100  # records; of older ones there is but the number
NAMED = 10  # files of a merge
LONGEST = 500  # characters of a source


class Record(Frozen, eq=True):
    """What was done to a model."""

    verb: Verb  # what was done; "train" is ``fit``, "update" is ``partial_fit``
    when: str  # the time in UTC, by ISO 8601
    rows: float  # how many rows (their total weight) it added, took away, or was fitted to
    total: float  # how many rows the model held afterwards
    # where the rows came from: the name of a file, as it was given, or "" where rows came from
    # memory. A merge has the names of its files here, and a decay its factor
    source: str = ""
    # the file of the model that this was done to before it was merged into this one, or ""
    model: str = ""
    # of the bytes of that file of rows, by which it is known when it comes again; "" where rows
    # came otherwise
    digest: str = ""


class History(Tabular, eq=True):
    """What was done to a model, the last hundred times; a row for each time, oldest first.

    Parameters
    ----------
    records : tuple of Record
        The last of them.
    earlier : int
        How many there were before these.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"]).forget([[2.0]], ["a"])
    >>> [(record.verb, record.rows, record.total) for record in nb.history_.records]
    [('train', 3.0, 3.0), ('forget', 1.0, 2.0)]
    """

    records: tuple[Record, ...] = ()
    earlier: int = 0

    def add(self, verb: Verb, rows: float, total: float, source: str = "") -> History:
        """Return the history with what was done now."""
        record = Record(verb, now(), rows, total, source[:LONGEST])
        records = [*self.records, record]
        return History(tuple(records[-KEPT:]), self.earlier + (len(records) > KEPT))

    def of(self, source: str, digest: str = "") -> History:
        """Return the history whose last record says where the rows came from."""
        if not self.records:
            return self
        *before, last = self.records
        named = replace(last, source=source[:LONGEST], digest=digest)
        return replace(self, records=(*before, named))

    def learned(self, digest: str) -> Record | None:
        """Return the record of when a file was learned, unless it was forgotten as often."""
        of_file = [record for record in self.records if digest and record.digest == digest]
        learned = [record for record in of_file if record.verb != "forget"]
        return learned[-1] if 2 * len(learned) > len(of_file) else None

    @classmethod
    def merged(cls, histories: Mapping[str, History] | Sequence[tuple[str, History]]) -> History:
        """Return what was done to models, by the names of their files, in the order of time."""
        pairs = [*histories.items()] if isinstance(histories, Mapping) else histories
        every = chain.from_iterable(
            (replace(record, model=record.model or name[:LONGEST]) for record in history.records)
            for name, history in pairs
        )
        earlier = sum(history.earlier for _, history in pairs)
        ordered = sorted(every, key=lambda record: record.when)
        return History(tuple(ordered[-KEPT:]), earlier + max(0, len(ordered) - KEPT))

    def to_dict(self) -> dict[str, list[Any]]:
        names = ("when", "verb", "rows", "total", "source", "model")
        return {name: [getattr(record, name) for record in self.records] for name in names}

    def __str__(self) -> str:
        """Return a sentence for each record, oldest first."""
        lines = [f"{self.earlier:,} earlier changes are not listed"] * (self.earlier > 0)
        return "\n".join(lines + [_said(record) for record in self.records])


def now() -> str:
    """Return the time in UTC by ISO 8601; ``SOURCE_DATE_EPOCH`` sets it, for files to be alike."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def names_of(paths: Iterable[str]) -> str:
    """Return the names of files for a record, so many at most."""
    every = list(paths)
    more = f" and {len(every) - NAMED:,} more" if len(every) > NAMED else ""
    return ", ".join(islice(every, NAMED)) + more


def _said(record: Record) -> str:
    source = f" {record.source}" * bool(record.source)
    model = f" [{record.model}]" * bool(record.model)
    return (
        f"{record.when}  {record.verb}{source}: {amount(record.rows)} rows, "
        f"{amount(record.total)} afterwards{model}"
    )
