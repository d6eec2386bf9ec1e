"""What every fitted estimator holds: what it has learned, by the names that scikit-learn gives."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import replace

from naively.counting.labels import LabelArray
from naively.counting.tally import Tally
from naively.data.frames import Table
from naively.data.stream import Stream
from naively.estimators.checks import check_is_fitted
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.parameter_counts import (
    ParameterCount,
    count_joint_parameters,
    count_parameters,
)
from naively.model.weights import Weights
from naively.schema.schema import Schema


class Fitted(metaclass=ABCMeta):
    """Attributes that follow from a fitted model, and which tables it reads in batches."""

    model_: Model

    def _stream(self, X: Table) -> Stream | None:  # noqa: ARG002  (for those that can)
        """Return a table that is predicted batch by batch; None if it is predicted at once."""
        return None

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""

    @property
    def classes_(self) -> LabelArray:
        """The class labels."""
        return self._fitted.classes

    @property
    def class_count_(self) -> Floats:
        """Rows (total weight) of each class."""
        return self._fitted.tally.class_count

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class."""
        return self._fitted.class_log_prior

    @property
    def tally_(self) -> Tally:
        """What was counted; how many cells are missing follows from it."""
        taken = self._fitted.taken
        follows = [g.key for g in self._fitted.schema.groups if g.kind == "missing"]
        blocks = {key: block for key, block in taken.blocks.items() if key not in follows}
        return replace(taken, blocks=blocks) if follows else taken

    @property
    def schema_(self) -> Schema:
        """Which columns go to which event model, and why."""
        return self._fitted.described

    @property
    def weights_(self) -> Weights | None:
        """How much the evidence of each column counts, and the linear part beside it."""
        return self._fitted.weights

    @property
    def n_parameters_(self) -> int:
        """How many parameters are free: with M booleans and two classes 2M + 1.

        A class prior that is given has none; the weights of columns are not among them.
        """
        return count_parameters(self._fitted)

    @property
    def n_joint_parameters_(self) -> ParameterCount | float:
        """How many there would be without the naive Bayes assumption: 2(2ᴹ - 1) + 1.

        It is a whole number, which prints as a power of 2 where it is long and has ``log2``, or
        ``inf`` where a column holds numbers without end.
        """
        return count_joint_parameters(self._fitted)

    @property
    def _fitted(self) -> Model:
        """The model, of whose attributes there are none before it has learned."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.model_

    @property
    def _checked(self) -> Model:
        """The model, or scikit-learn's error that there is none yet."""
        check_is_fitted(self)
        return self.model_
