r"""
Where naive Bayes fails
=======================

Naive Bayes adds up what each column says by itself. In XOR the class depends on both
columns together: each by itself says nothing, so there is nothing to add. A ring and a
pocket are milder. Each column says something, but the sum has the wrong shape.

.. math::
   \log p(c \mid x_1, x_2) = \log p(c) + \log p(x_1 \mid c)
   + \log p(x_2 \mid c) + \text{const}

There are two ways out. The joint table is one die with a side for each pair of values.
With ``interactions="auto"`` pairs of columns are added as evidence if held-out rows
gain.
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import NaiveBayes
from naively.lectures import side_by_side

print("Data: 2,000 synthetic points for each of three shapes.")
draw = np.random.default_rng(0)
x, y = draw.uniform(-3, 3, (2, 4000))
shapes = {
    "XOR": np.where(x * y > 0, "in", "out"),
    "a ring": np.where(np.abs(np.hypot(x, y) - 1.8) < 0.6, "in", "out"),
    "a pocket": np.where((x > 0.5) & (y > 0.5), "in", "out"),
}


def table(places):
    """Return the two numbers, and the two as codes of 12 steps, for the joint table."""
    steps = np.floor((places + 3) * 2).astype(int).astype(str)
    return {"x": places[0], "y": places[1]}, {"x": steps[0], "y": steps[1]}


learned, sides = table(np.array([x, y])[:, :2000])
later, later_sides = table(np.array([x, y])[:, 2000:])

# %%
# Four models of three shapes
# ---------------------------
print(f"{'accuracy on 2,000 others':24}" + "".join(f"{name:>10}" for name in shapes))
models = {
    "Gaussian": NaiveBayes("gaussian", weights=None),
    "histograms": NaiveBayes("histogram", weights=None),
    "interactions": NaiveBayes(interactions="auto", random_state=0),
    "joint table": NaiveBayes("joint"),
}
fitted = {}
for name, model in models.items():
    found = []
    for shape, of in shapes.items():
        now, then = (sides, later_sides) if name == "joint table" else (learned, later)
        fitted[name, shape] = NaiveBayes(**model.get_params()).fit(now, of[:2000])
        found.append(fitted[name, shape].evaluate(then, of[2000:]).accuracy)
    print(f"{name:24}" + "".join(f"{accuracy:10.4f}" for accuracy in found))

# %%
# What is predicted where
# -----------------------
# The joint table is left out, as its columns are codes. Its regions would be a
# chequered copy of the learned rows.
drawn = [key for key in fitted if key[0] != "joint table"]
titles = [f"{name}: {shape}" for name, shape in drawn]
for key, ax in zip(drawn, side_by_side(*titles, rows=3), strict=True):
    fitted[key].inspect.regions(["x", "y"]).plot(ax=ax)

# %%
# The assumption, tested
# ----------------------
# If naive Bayes is right, the mutual information of the two columns, given the class,
# is 0.
for shape in shapes:
    found = fitted["histograms", shape].inspect.dependence()
    print(f"{shape}:\n{found}")
plt.show()
