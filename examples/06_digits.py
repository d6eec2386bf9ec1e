r"""
Digits: images of what was learned
==================================

A digit is 64 pixels. Each pixel has a Gaussian in each class. The means of a class are
an image, and so is the evidence of one digit. A pixel may have one variance for all
classes, or one for each class. The first makes the log odds linear in the pixels.

.. math::
   \log p(x \mid c) = -\sum_{j=1}^{64} \left( \frac{(x_j - \mu_{jc})^2}{2\sigma_{jc}^2}
   + \frac12 \log 2\pi\sigma_{jc}^2 \right)
"""

import matplotlib.pyplot as plt

from naively import Bernoulli, Gaussian, NaiveBayes
from naively.datasets import digits, real
from naively.lectures import side_by_side

# %%
# Rows are images, line after line of 8 x 8 pixels.
path = real("tables/optdigits.csv")
print(
    "Data: tables/optdigits.csv, in full."
    if path
    else "Data: the 1,797 digits of scikit-learn."
)
if path:
    import pandas as pd

    table = pd.read_csv(path)
    X, y = table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
else:
    X, y, _, _ = digits()
n = 2 * len(X) // 3

# %%
# One variance, or many
# ---------------------
# Some pixels are white in every image of a class, and have variance 0 there. The
# pseudo-count of the Gaussian makes it positive. Bernoulli asks only whether a pixel is
# dark.
models = {
    "one variance a pixel": NaiveBayes(Gaussian(variance="shared"), weights=None),
    "one a pixel and class": NaiveBayes("gaussian", weights=None),
    "dark or not": NaiveBayes(Bernoulli(threshold=8.0), weights=None),
    "naively's default": NaiveBayes(),
}
scores = {
    name: nb.fit(X[:n], y[:n]).evaluate(X[n:], y[n:]) for name, nb in models.items()
}
print(f"{n:,} digits learned, {len(X) - n:,} classified")
for name, s in scores.items():
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )

# %%
# The means of the classes
# ------------------------
nb = models["one a pixel and class"]
nb.inspect.images((8, 8)).plot()

# %%
# Why this digit is what it is
# ----------------------------
# Each pixel speaks for the answer, or for its strongest rival. Here are a digit that
# was recognised and one that was not.
answers = nb.predict(X[n:])
right, wrong = (int((answers == y[n:]).argmax()), int((answers != y[n:]).argmax()))
titles = [f"a {y[n + i]}, taken for a {answers[i]}" for i in (right, wrong)]
for i, ax in zip((right, wrong), side_by_side(*titles), strict=True):
    nb.explain(X[n + i : n + i + 1])[0].plot_image((8, 8), ax=ax)

# %%
# What is confused with what
# --------------------------
left, right = side_by_side(
    "one variance a pixel and class", "naively's default", height=3.2
)
scores["one a pixel and class"].plot_confusion(ax=left)
scores["naively's default"].plot_confusion(ax=right)
plt.show()
