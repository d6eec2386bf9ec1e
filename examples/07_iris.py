r"""
Iris: straight borders and curved ones
======================================

Petals and sepals of three species are Gaussian in each class. If the classes share the
variance of a column, the squares cancel in the log odds, and the border between two
classes is a straight line; with a variance in each class it is a quadratic curve.

.. math::
   \log\frac{p(a \mid x)}{p(b \mid x)} = \log\frac{p(a)}{p(b)} + \sum_j \left(
   \frac{(x_j - \mu_{jb})^2}{2\sigma_{jb}^2} - \frac{(x_j - \mu_{ja})^2}{2\sigma_{ja}^2}
   + \log\frac{\sigma_{jb}}{\sigma_{ja}} \right)
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from naively import Gaussian, NaiveBayes
from naively.lectures import side_by_side

# %%
print("Data: the 150 irises of scikit-learn, which are all that there are.")
iris = load_iris()
X = dict(zip(iris.feature_names, iris.data.T, strict=True))
y = iris.target_names[iris.target]
kinds = {"one variance": "shared", "a variance in each class": "class"}
both = ["petal length (cm)", "petal width (cm)"]

# %%
# Three classes
# -------------
# Accuracy is by leave-one-out: each flower is classified by what the other 149 say.
three = {
    name: NaiveBayes(Gaussian(variance=kind), weights=None).fit(X, y)
    for name, kind in kinds.items()
}
for name, nb in three.items():
    title, s = f"three classes, {name}", nb.assess()
    print(
        f"{title:40}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )
for nb, ax in zip(three.values(), side_by_side(*three, height=3.1), strict=True):
    nb.inspect.regions(both).plot(ax=ax)

# %%
# The densities behind them
# -------------------------
# The density of a class is the product of two Gaussians. The first two pictures show
# the Gaussians, the third one their product.
titles = *both, "both, a variance in each class"
nb = three["a variance in each class"]
axes = side_by_side(*titles, height=3.1)
for column, ax in zip(both, axes, strict=False):
    nb.inspect.column(column).plot(ax=ax)
nb.inspect.regions(both).plot(what="density", ax=axes[2])

# %%
# Two classes
# -----------
# Versicolor and virginica are the two that are hard to tell apart.
hard = y != "setosa"
two = {
    name: NaiveBayes(Gaussian(variance=kind), weights=None).fit(
        {name: column[hard] for name, column in X.items()}, y[hard]
    )
    for name, kind in kinds.items()
}
for name, nb in two.items():
    title, s = f"two classes, {name}", nb.assess()
    print(
        f"{title:40}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )
for nb, ax in zip(two.values(), side_by_side(*two, height=3.1), strict=True):
    nb.inspect.regions(both).plot(ax=ax)

# %%
# Posterior and difference
# ------------------------
# On the border the posterior is 1/2. There the difference of the joint log
# probabilities, the log odds, is 0.
nb = two["a variance in each class"]
left, right = side_by_side("the posterior", "the difference", height=3.1)
nb.inspect.regions(both).plot(what="posterior", ax=left)
nb.inspect.regions(both).plot(what="difference", ax=right)
plt.show()
