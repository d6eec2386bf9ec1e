"""What answers cost: those of least expected cost, and always the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.counting.labels import Label, LabelArray
from naively.fitting.weights import mean
from naively.kernels.reference import Floats
from naively.model.class_prior import Cost, cost_table


@dataclass(frozen=True)
class Decisions:
    """What the answers of least expected cost cost, per row.

    Parameters
    ----------
    cost : float
        Their mean cost.
    always : label
        The answer that costs least if it is always given,
    always_cost : float
        and what it costs.
    answer : label, optional
        Of two classes the second,
    threshold : float, optional
        which is answered where its probability is greater than this; None of more classes, and
        where one answer is the best whatever the probability.
    recall, precision : float
        Of that answer; NaN where there is none.
    """

    cost: float
    always: Label
    always_cost: float
    answer: Label | None = None
    threshold: float | None = None
    recall: float = float("nan")
    precision: float = float("nan")

    def __str__(self) -> str:
        always = f"(always {self.always!r}: {self.always_cost:.4f})"
        said = f"cost per row       {self.cost:.4f} by answers of least expected cost   {always}"
        if self.threshold is None:
            return said
        return (
            f"{said}\n  {self.answer!r} above a probability of {self.threshold:.4f}: "
            f"recall {self.recall:.4f}, precision {self.precision:.4f}"
        )


def decisions(
    p: Floats, learned: LabelArray, y: LabelArray, weight: Floats | None, cost: Cost
) -> Decisions:
    """Return what decisions by posteriors, (rows, learned classes), would have cost."""
    # y (rows,): the right labels; weight (rows,): the weight of each row; by default 1; cost: what
    # each answer costs for each right class (see NaiveBayes.predict)
    # Of two classes the second is answered where its expected cost is less than that of the first:
    # Elkan, The foundations of cost-sensitive learning (2001).
    table = cost_table(cost, learned)
    place = {label: c for c, label in enumerate(learned.tolist())}
    unknown = next((label for label in y.tolist() if label not in place), None)
    if unknown is not None:
        raise ValueError(
            f"What an answer costs in a row of class {unknown!r} is not known, as the class was "
            "never learned; leave these rows out, or cost."
        )
    right = np.array([place[label] for label in y.tolist()], np.int64)
    answer = (p @ table).argmin(axis=1)
    of_answers = [mean(table[right, c], weight) for c in range(len(learned))]
    best = int(np.argmin(of_answers))
    found = Decisions(
        mean(table[right, answer], weight), learned[best : best + 1].tolist()[0], of_answers[best]
    )
    if len(learned) != 2:
        return found
    (hit_first, of_first), (of_second, hit_second) = table.tolist()
    wrong, saved = of_first - hit_first, of_second - hit_second
    if not (wrong + saved > 0 and 0 <= wrong / (wrong + saved) <= 1):
        return found
    count = np.ones(len(y)) if weight is None else weight
    hits, answers, rows = (
        float(count @ of) for of in (answer * (right == 1), answer == 1, right == 1)
    )
    return Decisions(
        found.cost,
        found.always,
        found.always_cost,
        learned[1:].tolist()[0],
        wrong / (wrong + saved),
        hits / rows if rows else float("nan"),
        hits / answers if answers else float("nan"),
    )
