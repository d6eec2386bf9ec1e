r"""
Copies of a column: over-confidence
===================================

Copy a column k times. Nothing new is known, yet naive Bayes counts its evidence k
times. The answers hardly change, but their probabilities run to 0 and 1. Fitted weights
correct this: k copies of weight 1/k are one column.

.. math::
   \log p(c \mid x) = \log p(c) + \sum_j w_j \log p(x_j \mid c) + \text{const}
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes
from naively.lectures import side_by_side

print("Data: 569 tumours of scikit-learn, three measurements of each.")
tumours = load_breast_cancer(as_frame=False)
kept = [
    list(tumours.feature_names).index(f"mean {of}")
    for of in ("radius", "texture", "symmetry")
]
y = tumours.target_names[tumours.target]


def table(copies):
    """Return three columns, and further copies of the first."""
    columns = {tumours.feature_names[j]: tumours.data[:, j] for j in kept}
    first = next(iter(columns.values()))
    return columns | {f"copy {i}": first for i in range(1, copies)}


# %%
# One column, three, ten
# ----------------------
# All scores are by leave-one-out.
scores = {}
for copies in (1, 3, 10):
    for weights in (None, "loo"):
        nb = NaiveBayes("gaussian", weights=weights).fit(table(copies), y)
        scores[f"copies {copies}, weights {weights}"] = nb.assess()
for name, s in scores.items():
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )

# %%
# Reliability, before and after
# -----------------------------
# If answers have a probability of 0.9, nine in ten should be right. The line of an
# overconfident model lies below the diagonal.
titles = "1 column of each", "10 copies of one"
for copies, ax in zip((1, 10), side_by_side(*titles, height=3), strict=True):
    before = scores[f"copies {copies}, weights None"]
    scores[f"copies {copies}, weights loo"].plot_reliability(ax=ax, before=before)

# %%
# What the weights are
# --------------------
print(nb.weights_)

# %%
# The assumption, tested
# ----------------------
# Copies depend on each other as much as columns can.
nb.inspect.dependence().plot()
plt.show()
