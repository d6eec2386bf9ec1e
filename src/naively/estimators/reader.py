"""How the drop-ins read rows and labels: as they are, or else as scikit-learn reads them.

Arrays and CSR matrices of the right numbers go to the kernels unchecked, as these find a missing or
an infinite cell while they count and score. Only then, and of all other input, does scikit-learn
look at every cell, and say in its own words what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_non_negative, validate_data

from naively.counting.labels import Labels, RowWeight, Target, encode_labels, refuse_several
from naively.data.arrays import check_sparse, is_plain, unmasked
from naively.data.frames import Table, as_rows
from naively.data.rows import MatrixRows, Rows, SparseRows
from naively.estimators.base import CountingClassifier
from naively.estimators.checks import plain_labels
from naively.kernels.reference import Finish, Finished
from naively.model.count import check_rows

T = TypeVar("T")


class Reader(CountingClassifier):
    """A classifier of arrays and sparse matrices of finite numbers.

    It names the types of numbers that it reads as they are (``reads``), and what scikit-learn is
    told of its input (``takes``, names of input tags).
    """

    reads: ClassVar[tuple[np.dtype[Any], ...]] = np.dtype(np.float64), np.dtype(np.float32)
    takes: ClassVar[tuple[str, ...]] = ()
    n_features_in_: int

    def _labelled(
        self, X: Table, y: Target, sample_weight: RowWeight, *, reset: bool
    ) -> tuple[Rows, Labels]:
        if isinstance(y, np.ma.MaskedArray):  # whose masks scikit-learn passes over
            encode_labels(y, sample_weight)
            y = np.asarray(y)
        labels = plain_labels(y, sample_weight)
        if labels is None:
            if isinstance(y, list | tuple):  # of which scikit-learn says less
                refuse_several(y)
            X, y = validate_data(self, _looked_at(X), y, reset=reset, **self._reading)
            check_classification_targets(y)
            return self._as_rows(X), encode_labels(y, sample_weight)
        # Sums do not tell what a row of weight 0 holds.
        rows = self._taken(X, reset=reset) if labels.weight is None else None
        if rows is None:
            X = validate_data(self, _looked_at(X), reset=reset, **self._reading)
            rows = self._as_rows(X)
        check_rows(rows, labels)
        return rows, labels

    def _taken(self, X: Table, *, reset: bool = False) -> Rows | None:
        """Return X as rows that are complete, which is seen as they are read; None of others.

        Only arrays and CSR matrices of the right numbers are taken as they are, without names of
        columns; anything else scikit-learn reads.
        """
        if not is_plain(X, self.reads, sparse="sparse" in self.takes):
            return None
        columns = int(X.shape[1])
        if reset:
            self.n_features_in_ = columns
        elif "feature_names_in_" in self.__dict__ or columns != self.n_features_in_:
            return None
        if isinstance(X, np.ndarray):
            return MatrixRows(X, range(columns), complete=True)
        return SparseRows(X, range(columns), complete=True)

    def _rows(self, X: Table) -> Rows:
        return self._as_rows(validate_data(self, _looked_at(X), reset=False, **self._reading))

    def _scored(self, X: Table, finish: Finish) -> Finished:
        model = self._checked
        rows = self._taken(X) or self._rows(X)
        return self._read_by(lambda rows: model.score(model.encode(rows), finish), X, rows)

    def _read_by(self, work: Callable[[Rows], T], X: Table, rows: Rows) -> T:
        """Do some work on the rows of X; if they have a cell that must not be, say what is wrong.

        Rows that were taken as they are have not been looked at. What the work finds, scikit-learn
        says in its own words; where it finds nothing wrong, the work is done on what it has read.
        """
        try:
            return work(rows)
        except ValueError:
            if not rows.complete:
                raise
        return work(self._rows(X))

    @property
    def _reading(self) -> dict[str, object]:
        """How scikit-learn is to read X."""
        sparse = "csr" if "sparse" in self.takes else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32]}

    def _as_rows(self, X: Table) -> Rows:
        """Return what scikit-learn has read, an array or a CSR matrix of numbers, as rows."""
        if "positive_only" in self.takes:
            check_non_negative(X, f"{type(self).__name__} (input X)")
        return replace(cast("MatrixRows | SparseRows", as_rows(X)), names=self._columns)

    @property
    def _columns(self) -> range | tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return range(self.n_features_in_) if names is None else tuple(names)


def _looked_at(X: Table) -> Table:
    """Return X as scikit-learn is to check it, which trusts SciPy and passes over masks."""
    if hasattr(X, "tocsr"):
        check_sparse(X)
    return unmasked(X) if isinstance(X, np.ma.MaskedArray) else X
