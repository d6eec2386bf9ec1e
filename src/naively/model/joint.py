"""The joint table of classes and columns, where a model is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.events import JointTable
from naively.events.estimates.outcomes import Outcomes
from naively.model.model import Model


def joint_outcomes(model: Model) -> Outcomes:
    """Return the rows of a model that is a joint table, with their probabilities in each class.

    Raises
    ------
    ValueError
        If the model is something else.
    """
    groups = model.schema.groups
    if len(groups) != 1 or not isinstance(groups[0].event, JointTable):
        raise ValueError(
            "Marginal and conditional probabilities of columns are those of a joint table: learn "
            "with NaiveBayes(JointTable())."
        )
    found = groups[0].event.outcomes(model.counts[groups[0].key])
    share = np.exp(model.class_log_prior)
    return replace(found, columns=groups[0].columns, classes=model.classes.tolist(), share=share)
