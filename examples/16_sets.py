r"""
Sets of digits that hold what they promise
==========================================

A probability may be a little wrong; a set of classes need not be. A set has each class
above a threshold of probability. In nine of ten of :math:`n` held-out rows the right
class is above it, so nine of ten sets of similar rows hold the right class. This is
conformal prediction:

.. math::
   \{c : p(c \mid x) \ge q\} \cup \{\arg\max_c p(c \mid x)\}, \quad
   q = \text{the } \lceil 0.9\,(n + 1) \rceil\text{-th largest } p(y_i \mid x_i)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from naively import NaiveBayes
from naively.lectures import side_by_side

print("Data: 1,797 digits of scikit-learn.")
X, y = load_digits(return_X_y=True)
X = X[:, ::5]  # few of the pixels, so that digits are hard to tell apart
order = np.random.default_rng(0).permutation(len(y))
learned, others = order[:500], order[500:]
nb = NaiveBayes().fit(X[learned], y[learned])
right = np.arange(len(others)), y[others]

# %%
# Sets
# ----
# If two digits are alike, both are in the set.
sets = nb.predict_set(X[others], 0.9)
print(sets.to_frame("pandas").head(12).to_string(index=False))
print(f"hold the right digit: {sets.contains[right].mean():.3f} of the other digits")

# %%
# Asked against held
# ------------------
# Every set has the most probable digit, so coverage is never below the accuracy. Above
# the accuracy, it is what was asked for. Sets grow with the coverage.
asked = np.linspace(0.5, 0.99, 25)
of = [nb.predict_set(X[others], coverage) for coverage in asked]
held, size = side_by_side("What is held", "What it takes", height=2.6)
accuracy = (nb.predict(X[others]) == y[others]).mean()
held.plot([0.5, 1], [0.5, 1], color="0.6", linestyle=":", label="asked = held")
held.axhline(accuracy, color="0.6", linewidth=0.7, label="accuracy")
held.plot(asked, [sets.contains[right].mean() for sets in of], marker=".")
held.set(xlabel="coverage asked for", ylabel="share of sets with the right digit")
held.legend()
size.plot(asked, [sets.size.mean() for sets in of], marker=".")
size.set(xlabel="coverage asked for", ylabel="digits in a set, on average")

# %%
# Digit by digit
# --------------
# Over all digits nine of ten sets are right, but for some digits fewer are.
# ``by_class=True`` asks for nine of ten of each digit.
both = [nb.predict_set(X[others], 0.9, by_class=by) for by in (False, True)]
(ax,) = side_by_side("Nine of ten are asked for", height=2.4)
for sets, label, shift in zip(
    both, ("one threshold", "by class"), (-0.2, 0.2), strict=True
):
    share = [sets.contains[right][y[others] == c].mean() for c in range(10)]
    ax.bar(np.arange(10) + shift, share, 0.4, label=label)
ax.axhline(0.9, color="0.3", linewidth=0.7)
ax.set(
    ylim=(0.6, 1.1),
    xlabel="digit",
    ylabel="sets with the right digit",
    xticks=range(10),
)
ax.legend(loc="upper center", ncols=2)
plt.show()
