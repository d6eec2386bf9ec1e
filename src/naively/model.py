"""The model: a schema, a tally and settings, all frozen. Models merge, forget and decay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Block
from naively.core.event import How
from naively.core.kernels import Finish, Floats
from naively.core.labels import Labels
from naively.core.likelihood import Contributions, Likelihood
from naively.core.tally import Tally, count_classes
from naively.data.rows import Rows
from naively.schema import EventModels, Schema

ClassPrior: TypeAlias = "str | Sequence[float] | Mapping[Any, float]"


@dataclass(frozen=True)
class Settings:
    """How parameters are derived from the tally.

    Parameters
    ----------
    class_prior : "data", "uniform", or probabilities
        From the class counts, all equal, or given, in the order of the classes or by label.
    estimate : {"mean", "map", "mle", "predictive"}
        For event models that are not given as objects, which have their own.
    """

    class_prior: ClassPrior = "data"
    estimate: How = "mean"


@dataclass(frozen=True, eq=False)
class Model:
    """What was learned, and everything that follows from it.

    ``a + b`` is the model of the rows of both, ``a - b`` the model that never saw b's rows,
    ``a * 0.99`` one that trusts what it has seen a little less.

    Parameters
    ----------
    schema : Schema
        Which columns go to which event model.
    tally : Tally
        What was counted.
    settings : Settings
        How parameters are derived from the tally.

    Examples
    --------
    >>> from naively.core.labels import encode_labels
    >>> from naively.data.frames import as_rows
    >>> rows = as_rows([[1.0], [3.0], [8.0]])
    >>> model = Model.learn(rows, encode_labels(["low", "low", "high"]))
    >>> model.decide(as_rows([[2.5]]))
    array(['low'], dtype='<U4')
    """

    schema: Schema
    tally: Tally
    settings: Settings = Settings()

    @classmethod
    def learn(
        cls,
        rows: Rows,
        labels: Labels,
        event_models: EventModels | Schema = "auto",
        settings: Settings | None = None,
    ) -> Model:
        """Count labelled rows, in one pass."""
        if len(rows) != len(labels):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: "
                f"{len(rows)} rows and {len(labels)} labels."
            )
        if not len(rows):
            raise ValueError(
                "There are no rows to learn from: found 0 sample(s), at least 1 needed."
            )
        if isinstance(event_models, Schema):
            schema = event_models
        else:
            schema = Schema.infer(rows, event_models, (settings or Settings()).estimate)
        events = {group.name: group.event for group in schema.groups}
        blocks = {
            name: events[name].tally(block, labels) for name, block in schema.encode(rows).items()
        }
        tally = Tally(labels.classes, count_classes(labels), blocks)
        if labels.weight is not None:
            tally = tally.pruned()  # a row of weight 0 was never seen
        return cls(schema, tally, settings or Settings())

    def __add__(self, other: Model) -> Model:
        return replace(self, schema=self.schema.union(other.schema), tally=self.tally + other.tally)

    def __sub__(self, other: Model) -> Model:
        return replace(self, schema=self.schema.union(other.schema), tally=self.tally - other.tally)

    def __mul__(self, factor: float) -> Model:
        return replace(self, tally=self.tally * factor)

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels."""
        return self.tally.classes

    @cached_property
    def class_log_prior(self) -> Floats:
        """Log probability of each class before anything is seen."""
        prior, k = self.settings.class_prior, len(self.classes)
        if isinstance(prior, str):
            if prior not in ("data", "uniform"):
                raise ValueError(
                    f"class_prior must be 'data', 'uniform' or probabilities, got {prior!r}."
                )
            count = self.tally.class_count if prior == "data" else np.ones(k)
            if not count.sum() > 0:
                raise ValueError("Nothing is left to predict from: the counts are all zero.")
            p = count / count.sum()
        else:
            p = given_prior(prior, self.classes)
        with np.errstate(divide="ignore"):
            log_prior: Floats = np.log(p)
            return log_prior

    @cached_property
    def likelihoods(self) -> dict[str, Likelihood]:
        """The log tables of each block, derived once."""
        return {
            group.name: group.event.likelihood(self.tally.blocks[group.name])
            for group in self.schema.groups
        }

    def blocks(self, rows: Rows) -> dict[str, Block]:
        """Encode rows as they were encoded in training."""
        axes = {name: block.axis for name, block in self.tally.blocks.items()}
        encoded = self.schema.encode(rows, axes)
        return {
            group.name: group.event.prepare(encoded[group.name]) for group in self.schema.groups
        }

    def score(self, rows: Rows, finish: Finish) -> Any:
        """Add up the evidence of each row and finish it (see ``core.kernels``)."""
        log_prior = self.class_log_prior
        blocks = list(self.blocks(rows).items())
        out: Any = log_prior
        for i, (name, block) in enumerate(blocks):
            last = finish if i == len(blocks) - 1 else "joint"
            out = self.likelihoods[name].log_prob(block, out, last, log_prior)
        if not blocks:
            out = compute.finish_rows(np.tile(log_prior, (len(rows), 1)), finish, log_prior)
        return out

    def joint_log_likelihood(self, rows: Rows) -> Floats:
        """Return log p(c) + log p(x | c), less what does not depend on the class."""
        return self.score(rows, "joint")  # type: ignore[no-any-return]

    def posterior(self, rows: Rows) -> Floats:
        """Return p(c | x)."""
        return self.score(rows, "posterior")  # type: ignore[no-any-return]

    def log_posterior(self, rows: Rows) -> Floats:
        """Return log p(c | x)."""
        return self.score(rows, "log_posterior")  # type: ignore[no-any-return]

    def decide(self, rows: Rows) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return self.classes[self.score(rows, "label")]  # type: ignore[no-any-return]

    def contributions(self, rows: Rows) -> dict[str, Contributions]:
        """Return the log likelihoods item by item; with the prior they sum to the joint."""
        return {
            name: self.likelihoods[name].contributions(block)
            for name, block in self.blocks(rows).items()
        }


def given_prior(prior: Sequence[float] | Mapping[Any, float], classes: NDArray[Any]) -> Floats:
    """Check probabilities that were given for the classes, in order or by label."""
    if isinstance(prior, Mapping):
        labels = classes.tolist()
        if set(prior) != set(labels):
            raise ValueError(f"class_prior names {list(prior)}, but the classes are {labels}.")
        prior = [prior[label] for label in labels]
    p = np.asarray(prior, np.float64)
    if p.shape != classes.shape:
        raise ValueError(
            f"class_prior must have one probability for each of the {len(classes)} classes, "
            f"got shape {p.shape}."
        )
    if not (np.isfinite(p).all() and (p >= 0).all() and np.isclose(p.sum(), 1.0)):
        raise ValueError(f"class_prior must be probabilities that sum to 1, got {p.tolist()}.")
    return p
