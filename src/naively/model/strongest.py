"""What speaks most for a class: its words, levels and usual numbers of greatest weight."""

from __future__ import annotations

import numpy as np

from naively.counting.names import title
from naively.model.explain import Weighed
from naively.model.model import Model


def strongest(model: Model, c: int, n: int) -> list[Weighed]:
    """Return the n items that speak most for class c against all others together.

    An item is a word (no character n-gram), a level, a column that is true, or a number that is
    usual in the class: its mean, or one in the most probable bin. Its weight is
    log p(item | c) - log p(item | not c), the others weighted by their priors.
    """
    others = np.arange(len(model.classes)) != c
    if not others.any():
        return []
    prior = model.class_log_prior[others]
    log_share = prior - np.logaddexp.reduce(prior)
    found: list[Weighed] = []
    for name, likelihood in model.without_interactions().likelihoods.items():
        axis = model.counts[name].axis
        if name in model.schema.of_character_ngrams:
            continue
        typical = likelihood.typical(c)
        rest = np.logaddexp.reduce(typical.value[:, others] + log_share, axis=1)
        with np.errstate(invalid="ignore"):
            weight = np.nan_to_num(
                typical.value[:, c] - rest, nan=0.0, posinf=np.inf, neginf=-np.inf
            )
        for i in np.argsort(-weight, kind="stable")[:n].tolist():
            if typical.x is None:
                column, shown = axis.label(i)
            else:
                column, shown = axis.columns[i], float(typical.x[i])
                if column in model.schema.times:
                    shown = np.datetime64(round(shown), "s").item()
            found.append((title(column), shown, float(weight[i])))
    return sorted(found, key=lambda item: -item[2])[:n]
