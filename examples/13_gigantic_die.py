r"""
The gigantic die
================

Without any assumption, M booleans and a class of two values are one die with a side for
each possible row: two times 2 to the M. The probabilities of its sides give the Bayes
optimal classifier. But no data suffice to estimate so many sides. Naive Bayes assumes
that the columns are independent given the class, and needs few parameters.

.. math::
   \text{joint table: } 2(2^M - 1) + 1 \text{ parameters}, \qquad
   \text{naive Bayes: } 2M + 1 \text{ parameters}
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import JointTable, NaiveBayes
from naively.lectures import draw_lines, side_by_side

# %%
# A die of known sides
# --------------------
# In each class the columns are independent for 6 rows in 10. For the others each side
# has a random probability, so the columns depend on each other in any way.
print("Data: rows thrown by a die whose sides are known.")
M = 6
draw = np.random.default_rng(0)
sides = (np.arange(2**M)[:, None] >> np.arange(M)) & 1 == 1
true = draw.uniform(0.3, 0.7, (2, 1, M))  # p(column is true | class)
# p(row | class): of independent columns, and of any
naive = np.where(sides, true, 1 - true).prod(axis=2)
any_way = np.stack([draw.dirichlet(np.full(2**M, 0.5)) for _ in range(2)])
p = (0.6 * naive + 0.4 * any_way) / 2  # p(class, row)
optimal = p.max(axis=0).sum()


def throw(n):
    """Return n rows and their classes."""
    side = draw.choice(p.size, n, p=p.ravel())
    return sides[side % 2**M], np.where(side < 2**M, "no", "yes")


def accuracy(nb):
    """Return how probable it is that the answer to a row of the die is right."""
    answer = (nb.predict(sides) == "yes").astype(int)
    return p[answer, np.arange(2**M)].sum()


# %%
# Joint table against naive Bayes
# -------------------------------
# The die is known, so accuracies are exact and need no test rows. None is above the
# Bayes optimal one.
sizes = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000]
models = {"joint table": NaiveBayes("joint"), "naive Bayes": NaiveBayes(weights=None)}
found = {name: [] for name in models}
print("   rows  joint table  naive Bayes   Bayes optimal")
for n in sizes:
    rows = throw(n)
    for name, nb in models.items():
        found[name].append(accuracy(nb.fit(*rows)))
    joint, naive = (of[-1] for of in found.values())
    print(f"{n:7,}  {joint:11.4f}  {naive:11.4f}  {optimal:14.4f}")
(ax,) = side_by_side(f"{M} booleans and two classes")
lines = found | {"Bayes optimal": [optimal] * len(sizes)}
draw_lines(sizes, lines, ("rows learned", "accuracy"), ax)

# %%
# How many parameters
# -------------------
print(f"{'M':>4}{'naive Bayes':>14}{'joint table':>26}")
for m in (1, 2, 6, 10, 20, 30):
    two = [[bool(i)] * m for i in range(2)]
    counts = NaiveBayes().fit(two, ["no", "yes"]).inspect.parameter_counts()
    print(f"{m:4}{counts.n_parameters:14,}{counts.n_joint_parameters:26,}")
counts.plot()

# %%
# Marginals and conditionals
# --------------------------
# A joint table answers every question by a sum over its sides: the marginal of a
# column, or the class given some of the columns.
days = [("rain", "cold", "stay")] * 5 + [("rain", "warm", "stay")] * 2
days += (
    [("sun", "cold", "go")] * 2 + [("sun", "warm", "go")] * 6 + [("rain", "warm", "go")]
)
sky, air, plan = zip(*days, strict=True)
die = NaiveBayes(JointTable(alpha=0)).fit(
    {"sky": list(sky), "air": list(air)}, list(plan)
)
print(die.inspect.marginal("sky"))
print(die.inspect.conditional(of="class", given=["sky", "air"]))
plt.show()
