"""What an estimator does with a frame of Spark, whose rows stay where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from naively.counting.batch import Batch
from naively.counting.labels import LabelArray, RowWeight, Target
from naively.data.frames import Table, is_on_cluster
from naively.engines.spark.learn import LabelledFrame, learn
from naively.engines.spark.predict import predict, predict_proba
from naively.estimators.base import CountingClassifier
from naively.estimators.checks import is_single
from naively.estimators.training import NotInMemory, check_columns
from naively.evaluation.reservoir import Reservoir
from naively.kernels.reference import Floats
from naively.model.class_prior import Cost
from naively.model.model import Model
from naively.schema.given import EventModels
from naively.schema.schema import Schema
from naively.schema.settings import Probabilities, Settings


@dataclass(frozen=True, eq=False)
class OnCluster(NotInMemory):
    """A frame of Spark, which is learned where its partitions are."""

    table: LabelledFrame
    nothing = "There are no rows to learn from: the frame is empty."

    def check_interactions(self) -> None:
        raise ValueError(
            "interactions='auto' needs a second pass over the rows, which is not made on Spark; "
            "learn without it."
        )

    @property
    def columns(self) -> Sequence[str]:
        frame, *own = self.table
        return [name for name in frame.columns if name not in own]

    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        return learn(self.table, event_models, settings, sample, known)

    def batches(self, schema: Schema) -> Iterable[Batch]:  # noqa: ARG002  (none is read again)
        return ()


def read_frame(
    frame: Any, y: Target, sample_weight: RowWeight, *, semi_supervised: bool
) -> OnCluster:
    """Return a frame of Spark with the columns of its labels and weights."""
    check_columns(frame.columns, y, sample_weight, semi_supervised=semi_supervised)
    for what, column in (("y", y), ("sample_weight", sample_weight)):
        if column is not None and not isinstance(column, str):
            raise ValueError(
                f"{what} must be the name of a column of the frame, got a {type(column).__name__}."
            )
    return OnCluster(LabelledFrame(frame, y, cast("str | None", sample_weight)))


class ClusterAnswers(CountingClassifier):
    """A classifier that answers for a frame of Spark by another one."""

    def predict(
        self, X: Table, *, cost: Cost = None, reject: float | None = None
    ) -> LabelArray | Any:
        if is_on_cluster(X):
            return predict(X, self._checked, cost, reject)
        return super().predict(X, cost=cost, reject=reject)

    def predict_proba(
        self,
        X: Table,
        *,
        class_prior: Probabilities | None = None,
        dtype: DTypeLike = np.float64,
    ) -> Floats | Any:
        if is_on_cluster(X):
            if is_single(dtype):
                raise ValueError("The probabilities of a frame of Spark are of float64.")
            return predict_proba(X, self._checked, class_prior)
        return super().predict_proba(X, class_prior=class_prior, dtype=dtype)
