r"""
Binary, categorical and real columns in one table
=================================================

Given the class, columns are independent, so each may have its own event model. A
boolean is Bernoulli, a category is a die, and a number has a density. Their log
likelihoods are added. A missing cell adds nothing. The rows are penguins, and the class
is their species.

.. math::
   \log p(c \mid x) = \log p(c) + \sum_{\text{binary}} \log p(x_j \mid c)
   + \sum_{\text{categories}} \log p(x_j \mid c)
   + \sum_{\text{reals}} \log p(x_j \mid c)
   + \text{const}
"""

import matplotlib.pyplot as plt

from naively import NaiveBayes
from naively.datasets import penguins
from naively.lectures import side_by_side

# %%
# Penguins
# --------
# The bill is left out: it tells the species at once.
print("Data: the 344 penguins of naively.datasets.")
X, species = penguins()
table = {
    "island": X["island"],
    "male": [None if sex is None else sex == "male" for sex in X["sex"]],
    "flipper_length_mm": X["flipper_length_mm"],
    "body_mass_g": X["body_mass_g"],
}

# %%
# An event model for each column
# ------------------------------
# Scores are by leave-one-out. The default must choose event models from 344 penguins,
# and is a little worse than the choice by hand.
chosen = {
    "island": "categorical", "male": "bernoulli",
    "flipper_length_mm": "gaussian", "body_mass_g": "lognormal",
}  # fmt: skip
mixed = NaiveBayes(chosen, weights=None).fit(table, species)
print(mixed.schema_)
default = NaiveBayes().fit(table, species)
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
# A nomogram needs no computer: look up each cell's weight, add the weights, and read
# off the probability.
mixed.inspect.nomogram("Chinstrap").plot()

# %%
# One penguin
# -----------
# Its mass is not known.
row = {
    "island": ["Dream"],
    "male": [True],
    "flipper_length_mm": [199.0],
    "body_mass_g": [float("nan")],
}
explained = mixed.explain(row)[0]
print(explained)
explained.plot()
plt.show()
