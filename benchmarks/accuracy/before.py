"""The baseline of "naively": weights of columns alone, whatever its default becomes."""

from __future__ import annotations

from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from naively.counting.labels import encode_labels
from naively.data.frames import as_rows, read_labels
from naively.fitting.sample import Reservoir
from naively.fitting.weights import fit
from naively.model.model import Model
from naively.schema.choose import infer
from naively.schema.diagnose import warn_of_leaks, warn_of_no_tokens
from naively.schema.settings import Settings

SETTINGS = Settings(
    missing="ignore"
)  # those of NaiveBayes() when weights of columns were all it had


class WeightedColumns(ClassifierMixin, BaseEstimator):
    """Naive Bayes with a weight for each column and class, fitted to leave-one-out evidence."""

    def fit(self, X: pd.DataFrame, y: NDArray) -> Self:
        rows, labels = as_rows(X), encode_labels(read_labels(y))
        schema = infer(rows, "auto", SETTINGS)
        batch = schema.encode(rows, labels)
        model = Model.count(batch, schema, SETTINGS)
        sample = Reservoir()
        sample.add(batch, model)
        warn_of_leaks(
            model.taken.schema, model.taken.tally
        )  # NaiveBayes looks too, which takes its time
        warn_of_no_tokens(model.taken.schema, model.taken.tally)
        found = sample.of(model).leave_one_out(model)
        learned = float(model.counted.tally.class_count.sum())
        self.model_ = model.weighed(fit(found, "loo", learned))
        self.classes_ = np.asarray(model.classes)
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray:
        return self.model_.posterior(as_rows(X))

    def predict(self, X: pd.DataFrame) -> NDArray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
