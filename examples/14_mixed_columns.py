r"""
Binary, categorical and real columns in one table
=================================================

Given the class, columns are independent: so each may have an event model of its own. A
boolean is Bernoulli, a category is a die, a number has a density; their log likelihoods
are added. A cell that is missing adds nothing.

.. math::
   \log p(c \mid x) = \log p(c) + \sum_{\text{binary}} \log p(x_j \mid c)
   + \sum_{\text{categories}} \log p(x_j \mid c)
   + \sum_{\text{reals}} \log p(x_j \mid c)
   + \text{const}
"""

import matplotlib.pyplot as plt

from naively import Bernoulli, Categorical, Exponential, Gaussian, NaiveBayes
from naively.datasets import real
from naively.lectures import side_by_side

# %%
# Passengers of the Titanic
# -------------------------
path = real("tables/titanic.csv")
print(
    "Data: tables/titanic.csv, in full."
    if path
    else "Data: 900 synthetic passengers, drawn from a model of given parameters."
)
if path:
    import pandas as pd

    table = pd.read_csv(path)[["sex", "class", "alone", "age", "fare", "survived"]]
    y = table.pop("survived").map({0: "died", 1: "survived"})
else:
    columns = {
        "sex": [Categorical.of({"male": p, "female": 1 - p}) for p in (0.85, 0.32)],
        "class": [
            Categorical.of({"First": 0.15, "Second": 0.17, "Third": 0.68}),
            Categorical.of({"First": 0.40, "Second": 0.25, "Third": 0.35}),
        ],
        "alone": [Bernoulli.of(p) for p in (0.68, 0.48)],
        "age": [Gaussian.of(mean, 200.0) for mean in (30.6, 28.3)],
        "fare": [Exponential.of(1 / mean) for mean in (22.0, 48.0)],
    }
    of = {
        name: dict(zip(("died", "survived"), two, strict=True))
        for name, two in columns.items()
    }
    table, y = NaiveBayes.of({"died": 0.62, "survived": 0.38}, of).inspect.sample(
        900, random_state=0
    )

# %%
# An event model for each column
# ------------------------------
chosen = {
    "sex": "categorical", "class": "categorical", "alone": "bernoulli",
    "age": "gaussian", "fare": "exponential",
}  # fmt: skip
mixed = NaiveBayes(chosen, weights=None).fit(table, y)
print(mixed.schema_)
default = NaiveBayes().fit(table, y)
# Scores are by leave-one-out.
for name, nb in (("chosen by hand", mixed), ("naively's default", default)):
    s = nb.assess()
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )
for column, ax in zip(chosen, side_by_side(*chosen, rows=2), strict=True):
    mixed.inspect.column(column).plot(ax=ax)

# %%
# What the columns are worth
# --------------------------
# The log loss grows by so much without a column.
default.assess().plot_columns()

# %%
# The model on one page
# ---------------------
# A nomogram reads the model without a computer: look up each cell's weight, add, and
# read off the probability.
mixed.inspect.nomogram("survived").plot()

# %%
# One passenger
# -------------
row = {
    "sex": ["female"],
    "class": ["Third"],
    "alone": [True],
    "age": [float("nan")],
    "fare": [8.0],
}
explained = mixed.explain(row)[0]
print(explained)
explained.plot()
plt.show()
