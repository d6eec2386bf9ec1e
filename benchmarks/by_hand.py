"""The same with scikit-learn, by hand; as a program of its own, for a CSV of a few rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder


class ByHand:
    """GaussianNB of the numbers and CategoricalNB of the strings, which share a class prior.

    Parameters
    ----------
    numbers, strings : sequence of str
        Names of columns.
    """

    def __init__(self, numbers: Sequence[str], strings: Sequence[str]) -> None:
        self.numbers, self.strings = list(numbers), list(strings)

    def fit(self, table: Any, y: Any) -> Self:
        """Learn a frame of pandas or Polars."""
        self.encoder = _encoder().fit(table[self.strings])
        return self._start().partial_fit(table, y, np.unique(np.asarray(y)))

    def fit_batches(
        self, batches: Iterable[Any], levels: Sequence[Any], target: str, classes: Any
    ) -> Self:
        """Learn frames of pandas, all of whose strings are known.

        Parameters
        ----------
        batches
            Frames, which hold the target.
        levels : sequence of ndarray
            The different strings of each column, sorted.
        target : str
            Column of the labels.
        classes : array-like
            The different labels.
        """
        first = pd.DataFrame({s: of[:1] for s, of in zip(self.strings, levels, strict=True)})
        self.encoder = _encoder(levels).fit(first)
        self._start()
        for batch in batches:
            self.partial_fit(batch, batch[target], classes)
        return self

    def partial_fit(self, table: Any, y: Any, classes: Any) -> Self:
        y = np.asarray(y)
        self.gaussian.partial_fit(table[self.numbers], y, classes)
        self.categorical.partial_fit(self._codes(table), y, classes)
        return self

    def predict_proba(self, table: Any) -> np.ndarray:
        """Return probabilities of shape (rows, classes)."""
        joint = self.gaussian.predict_joint_log_proba(table[self.numbers])
        joint += self.categorical.predict_joint_log_proba(self._codes(table))
        joint -= np.log(self.gaussian.class_prior_)  # each has it
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _start(self) -> Self:
        levels = [len(of) + 1 for of in self.encoder.categories_]
        self.gaussian = GaussianNB()
        self.categorical = CategoricalNB(min_categories=levels)
        return self

    def _codes(self, table: Any) -> np.ndarray:
        return np.asarray(self.encoder.transform(table[self.strings])) + 1


def of_pandas(table: pd.DataFrame) -> ByHand:
    """Return one whose numbers and strings are told by their types."""
    numbers = table.select_dtypes("number").columns
    return ByHand(numbers, [name for name in table.columns if name not in numbers])


def _encoder(categories: Any = "auto") -> OrdinalEncoder:
    # Every value is a level; after 1 is added, 0 stands for a missing or unknown one.
    return OrdinalEncoder(
        categories=categories,
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-1,
    )


def fit_csv(path: str, target: str) -> ByHand:
    """Learn a CSV."""
    table = pd.read_csv(path)
    y = table.pop(target)
    return of_pandas(table).fit(table, y)


if __name__ == "__main__":
    fit_csv(*sys.argv[1:])
