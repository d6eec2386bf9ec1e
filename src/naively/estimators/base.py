"""What every estimator does with its model, whichever way it reads rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from itertools import chain
from os import PathLike
from threading import RLock
from typing import Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np

from naively.counting.labels import RowWeight, Target
from naively.data.frames import TEXT, Table
from naively.estimators.checks import check_is_fitted
from naively.estimators.in_onnx import InOnnx
from naively.evaluation.reservoir import Reservoir, merged
from naively.model.file import store
from naively.model.file.sample import SampledRows
from naively.model.history import History, Verb
from naively.model.model import Model
from naively.model.weights import Weighting

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

LOCK = "_lock"  # neither pickled nor copied: another object has one of its own


def exclusive(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method that changes an estimator in place run in one thread at a time.

    The model is frozen and exchanged whole, so that who only asks needs no lock.
    """

    @wraps(verb)
    def alone(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        # dict.setdefault is atomic: all threads get the same lock.
        with self.__dict__.setdefault(LOCK, RLock()):
            return verb(self, *args, **kwargs)

    return alone


class CountingClassifier(InOnnx):
    """A classifier that holds a frozen model: it predicts, explains, merges, forgets, decays."""

    unlabelled_weight_: float = 0.0  # how much a row without a label counts
    history_: History = History()  # what was learned and forgotten, and when

    @abstractmethod
    def _model_of(self, X: Table, y: Target, sample_weight: RowWeight) -> Model:
        """Count more labelled rows, as the fitted model counted its own."""

    @exclusive
    def forget(self, X: Table, y: Target, sample_weight: RowWeight = None) -> Self:
        """Unlearn rows: the counts are then as if they had never been seen; the weights stay.

        Raises
        ------
        ValueError
            If these rows can be seen not to have been learned, as no rows can have made what would
            be left: a count below zero, more cells of a column than rows, squares less than the
            square of their sum. Nothing is changed then. Sums do not tell more: of rows whose every
            cell was learned, in other rows of the class, it cannot be seen that they were not.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"])
        >>> nb.forget([[2.0]], ["a"]).class_count_
        array([1., 1.])
        """
        check_is_fitted(self)
        before = self._total
        self.keep(self.model_.forget(self._model_of(X, y, sample_weight)))
        self._sample = None
        self._record("forget", before - self._total)
        return self

    @exclusive
    def merge(self, *others: CountingClassifier) -> Self:
        """Add what other models have learned: the counts are those of the rows of all.

        Weights are fitted to the samples of the rows that all have in memory, so that predictions
        are those of a model that has learned all rows. Where one has none, as after ``load`` of a
        file without a sample, or counts rows without a label, they are the mean of all models' by
        the rows behind them, and so are the functions of their linear parts.

        Parameters
        ----------
        *others : NaiveBayes
            One model or more; many are quicker at once than one after the other. They stay as they
            are, and in which order they come does not show in what is predicted.

        Returns
        -------
        self : NaiveBayes
            With the classes, columns, levels and words of all. It fits weights, and looks for
            interactions, if any of them does; missing cells are evidence if they are in any.

        Raises
        ------
        ValueError
            If a column was counted otherwise in another model (by another event model, or a text
            split otherwise), if columns have names in one and places in the other, or if the
            models have another ``class_prior``, ``estimate`` or ``smoothing``. It says which, and
            nothing is changed then.
        TypeError
            If the labels are strings in one model and numbers in the other.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> north = NaiveBayes().fit([[1.0], [3.0]], ["a", "b"])
        >>> north.merge(NaiveBayes().fit([[2.0]], ["a"])).class_count_
        array([2., 1.])
        """
        return self.merge_each(others)

    @exclusive
    def merge_each(self, others: Iterable[CountingClassifier]) -> Self:
        """Merge models that come one after the other, none of which is held (see ``merge``).

        Only their samples of rows are, until all have come.
        """
        check_is_fitted(self)
        every: list[tuple[Reservoir | None, Weighting | None, bool, float]] = []
        histories: list[tuple[str, History]] = []

        first: CountingClassifier = self

        def models() -> Iterator[Model]:
            for other in chain([first], others):
                check_is_fitted(other)
                how = other._kind, other._interacts, other.unlabelled_weight_  # noqa: SLF001
                every.append((other._sample, *how))  # noqa: SLF001
                histories.append(("" if other is first else "merged", other.history_))
                yield other.model_

        model = Model.total(models())
        if len(every) == 1:
            return self
        model.class_log_prior  # noqa: B018  (a prior that does not fit all classes is an error now)
        samples, kinds, interact, unlabelled = zip(*every, strict=True)
        self._learn_as(set(kinds), any(interact), model)
        if max(unlabelled) > 0:
            self.unlabelled_weight_ = max(unlabelled)
        self._sample = merged(samples, model)
        before = self._total
        self.keep(model if self._sample is None else self._weighed(model))
        self.history_ = History.merged(histories)
        self._record("merge", self._total - before)
        return self

    def _learn_as(self, kinds: Collection[Weighting | None], interacts: bool, model: Model) -> None:
        """Learn from now on as the models do that were merged into one.

        Parameters
        ----------
        kinds : collection of {"loo", "temperature"} or None
            Of the weights that they fit.
        interacts : bool
            Whether any of them looks for interactions.
        model : Model
            What they have learned.
        """

    def _weighed(self, model: Model) -> Model:
        """Return the model with weights fitted to the sample of the rows in memory."""
        return model

    @exclusive
    def decay(self, factor: float) -> Self:
        """Scale all counts, so that what comes later weighs more.

        Parameters
        ----------
        factor : float
            Greater than 0; 0.99 takes one hundredth off.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).decay(0.5).class_count_
        array([0.5, 0.5])
        """
        check_is_fitted(self)
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(f"The decay factor must be greater than 0, got {factor}.")
        faded = self.model_ * float(factor)
        if not faded.tally.class_count.any():
            raise ValueError("Nothing would be left: all counts are too small to be told from 0.")
        before = self._total
        self.keep(faded)
        self._sample = None
        self._record("decay", before - self._total, f"{factor:g}")
        return self

    @exclusive
    def save(self, path: str | PathLike[str], *, sample: bool = False) -> None:
        """Write the model to a file (safetensors: no code in it), whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file. One whose name ends in ``.gz`` is compressed, to about a third if the model
            is of texts; ``load`` reads both.
        sample : bool, default False
            Whether to write the sample of the learned rows that is in memory too: at most 10,000
            different ones, or, of a table without texts, about 10,000 (1 + log(n / 10,000)) of n.
            After ``load`` of such a file everything that needs rows works as before: ``assess``,
            ``calibrate``, and the weights after ``merge`` and ``partial_fit``. By default no row is
            written, as rows may be private.

        Raises
        ------
        ValueError
            If there is to be a sample and there is none: after ``forget`` and ``decay``, after
            ``load`` of a file without one, or if rows without a label count.
        OSError
            If the file cannot be written.

        Notes
        -----
        Every file names the categories and words that were counted; a column of up to 1,000
        different texts is counted as categories. Who has a file with a sample can also read which
        of them each sampled row holds, with its numbers, its label and its weight. Of a text these
        are its words, word bigrams and character n-grams, and how often each comes: not their
        order, but a short text can be put together from them. Hashed words have no names, yet of
        any word can be tried whether a text may hold it.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from naively import NaiveBayes, load
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]] * 5, ["a", "a", "b", "b"] * 5)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
        >>> nb.save(path, sample=True)
        >>> load(path).assess().log_loss == nb.assess().log_loss
        True
        """
        check_is_fitted(self)
        rows = self.sampled() if sample else None
        if sample and rows is None:
            raise ValueError(
                "There is no sample of the learned rows to save: none is in memory, or rows "
                "without a label count. Save the model without it."
            )
        store.save(self.model_, path, sample=rows, history=self.history_)

    @property
    def _total(self) -> float:
        """How many rows (their total weight) the model holds."""
        return float(self.model_.tally.class_count.sum())

    def _record(self, verb: Verb, rows: float, source: str = "") -> None:
        """Keep in the history what was done to the model."""
        before = History() if verb == "train" else self.history_
        self.history_ = before.add(verb, rows, self._total, source)

    def sampled(self) -> SampledRows | None:
        """Return the sample of the learned rows for a model file; None if there is none."""
        if self._sample is None or self._counts_unlabelled:
            return None
        return self._sample.saved(self.model_)

    def keep_sample(self, rows: SampledRows) -> None:
        """Make these rows the sample of those that the fitted model has learned."""
        self._sample = Reservoir.restored(rows, self.model_)

    @property
    def _counts_unlabelled(self) -> bool:
        """Whether rows without a label count, so that no row can be left out."""
        return self.unlabelled_weight_ > 0

    def keep(self, model: Model) -> None:
        """Make this frozen model the fitted one."""
        self.model_ = model
        self.n_features_in_ = model.schema.width
        names = model.schema.names
        self.__dict__.pop("feature_names_in_", None)
        if names and names != [TEXT]:
            self.feature_names_in_ = np.array(names, object)

    def __getstate__(self) -> dict[str, object]:
        found = cast("dict[str, object] | None", super().__getstate__())
        state = {name: of for name, of in (found or {}).items() if name != LOCK}
        return {**state, "_sample": None} if "_sample" in state else state  # rows stay private

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__
