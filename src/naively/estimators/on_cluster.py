"""What an estimator does with a frame of Spark, whose rows stay where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from naively.counting.labels import LabelArray, RowWeight, Target
from naively.data.frames import Table, is_on_cluster
from naively.engines.spark.learn import LabelledFrame, learn
from naively.engines.spark.predict import predict, predict_proba
from naively.estimators.base import CountingClassifier
from naively.estimators.checks import check_classification, check_some_weight
from naively.estimators.training import Learned, Training, check_columns
from naively.evaluation.reservoir import Reservoir
from naively.kernels.reference import Floats
from naively.model.class_prior import Cost
from naively.model.model import Model
from naively.schema.given import EventModels
from naively.schema.settings import Probabilities, Settings

EMPTY = "There are no rows to learn from: the frame is empty."


@dataclass(frozen=True, eq=False)
class OnCluster(Training):
    """A frame of Spark, which is learned where its partitions are."""

    table: LabelledFrame

    def check_interactions(self) -> None:
        raise ValueError(
            "interactions='auto' needs a second pass over the rows, which is not made on Spark; "
            "learn without it."
        )

    def learn(self, event_models: EventModels, settings: Settings, sample: Reservoir) -> Learned:
        frame, *own = self.table
        model, sample = learn(self.table, event_models, settings, sample)
        if model is None:
            raise ValueError(EMPTY)
        columns = [name for name in frame.columns if name not in own]
        check_classification(columns, int(sample.seen), model.classes)
        check_some_weight(model.tally.class_count)
        return Learned(model, sample, ())

    def learn_more(
        self, model: Model, event_models: EventModels, sample: Reservoir | None
    ) -> tuple[Model, Reservoir | None]:
        empty = Reservoir() if sample is None else sample.empty()
        more, new = learn(self.table, event_models, model.settings, empty, model.counted)
        if more is None:
            return model, sample
        model += more
        return model, None if sample is None else sample.merged(new, model)

    def alone(self, model: Model, event_models: EventModels) -> Model:
        found, _ = learn(self.table, event_models, model.settings, Reservoir(), model.counted)
        if found is None:
            raise ValueError(EMPTY)
        return found


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

    def predict_proba(self, X: Table, *, class_prior: Probabilities | None = None) -> Floats | Any:
        if is_on_cluster(X):
            return predict_proba(X, self._checked, class_prior)
        return super().predict_proba(X, class_prior=class_prior)
