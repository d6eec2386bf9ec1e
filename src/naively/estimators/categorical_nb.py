"""CategoricalNB, as in scikit-learn: categories are the codes 0, 1, 2, ... of each column."""

from __future__ import annotations

from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Levels
from naively.counting.statistic import LEVEL
from naively.data.frames import Table
from naively.data.rows import Rows
from naively.estimators.checks import ARRAY, COUNT, NONE, NOT_NEGATIVE, Allowed
from naively.estimators.drop_in import ALPHA, Array, Smoothed
from naively.events import Categorical
from naively.kernels.reference import Floats
from naively.messages import warn


class CategoricalNB(Smoothed[Categorical]):
    """Categorical naive Bayes for codes 0, 1, 2, ..., a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each category in each class; 0 is maximum likelihood.
    force_alpha, fit_prior, class_prior
        As for ``MultinomialNB``.
    min_categories : int or array-like of shape (columns,), optional
        How many categories a column has at least.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of ndarray of shape (classes, categories)
        For each column the counts, and the log probabilities smoothed by alpha.
    n_categories_ : ndarray of shape (columns,)
        How many categories each column has: those up to the largest seen.
    class_count_, class_log_prior_, classes_ : ndarray of shape (classes,)
        Rows (total weight), log probability and label of each class.

    Notes
    -----
    Where scikit-learn fails on a category past the last, this takes it as one never seen. A number
    that is not whole is cut off as scikit-learn does it, and with a warning. The tally holds only
    categories that were seen; the lists are made for all when they are asked for.

    Examples
    --------
    >>> from naively import CategoricalNB
    >>> nb = CategoricalNB().fit([[0], [0], [2]], ["a", "a", "b"])
    >>> nb.category_count_
    [array([[2., 0., 0.],
           [0., 0., 1.]])]
    """

    allowed: ClassVar[Allowed] = {
        **ALPHA,
        "min_categories": [COUNT, ARRAY, NONE],
        "alpha": [NOT_NEGATIVE],
    }
    reads = tuple(map(np.dtype, (np.int64, np.int32, np.int16, np.int8, np.uint8)))
    takes = ("categorical", "positive_only")

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Array | None = None,
        min_categories: int | Array | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.min_categories = min_categories

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """How many categories each column has."""
        return self._counted_as.n_levels(self._levels)

    @property
    def category_count_(self) -> list[Floats]:
        """For each column how often each category was seen in each class."""
        first = self._levels.first
        none = np.zeros((len(first) - 1, len(self.classes_)))
        return self._by_category(self._block[LEVEL].high, first, none)

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column the log probability of each category in each class."""
        likelihood = self._counted_as.likelihood(self._block)
        table, first = likelihood.table, likelihood.first
        return self._by_category(table, first, table[first[1:] - 1])

    def _by_category(self, table: Floats, first: NDArray[np.int64], unseen: Floats) -> list[Floats]:
        """Spread the rows of each column over all its categories."""
        spread = []
        for j, levels in enumerate(self._levels.levels):
            of_column = np.tile(unseen[j][:, None], self.n_categories_[j])
            of_column[:, list(levels)] = table[first[j] : first[j] + len(levels)].T
            spread.append(of_column)
        return spread

    @property
    def _levels(self) -> Levels:
        return cast("Levels", self._block.axis)  # as categorical columns are counted

    def _event(self) -> Categorical:
        """Return the event model, with so many codes in each column as were asked for at least."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != (self.n_features_in_,):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like "
                f"is provided. Got {least.shape} instead."
            )
        alpha = cast("float", self._check_alpha())  # one for all columns, as ``allowed`` says
        return Categorical(alpha=alpha, codes=least.tolist())

    @property
    def _reading(self) -> dict[str, object]:
        return {"accept_sparse": False, "dtype": "numeric"}

    def _as_rows(self, X: Table) -> Rows:
        whole = X.astype(np.int64)
        cut = (whole != X).any(axis=0)
        if cut.any():
            j = int(np.flatnonzero(cut)[0])
            example = X[whole[:, j] != X[:, j], j][0]
            warn(
                f"Categories must be whole numbers: {example} in column {j} is taken as "
                f"{int(example)}."
            )
        return super()._as_rows(whole)
