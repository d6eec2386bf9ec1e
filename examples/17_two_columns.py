r"""
What two columns say together, names, and copies
================================================

Naive Bayes adds up what each column says by itself. It misses three things: the
difference of two columns, the meaning of one exact value, and the classes of equal
rows. Each joins the sum if held-out rows gain by it. A difference is a number made of
two columns, and adds by steps. An exact value adds

.. math::
   \log \frac{O_c + a\,s_c}{E_c + a\,s_c}, \quad
   O_c \text{ rows of class } c \text{ where } E_c \text{ were expected},
   \text{ of a share } s_c \text{ of all rows}.

A row that was seen :math:`n` times adds :math:`\log \frac{n_c + a\,p_c}{n + a} - \log
p_c`. There :math:`p_c` is what all else says.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.datasets import real
from naively.lectures import side_by_side

rng = np.random.default_rng(0)


def compared(table, target):
    """Learn two rows of three, with and without what is made, and score the others."""
    table = table.sample(frac=1, random_state=0)[:6000].dropna(subset=target)
    X, y = table.drop(columns=target), table[target].astype(str).to_numpy()
    end, losses = 2 * len(y) // 3, []
    for derived in (None, "auto"):
        nb = NaiveBayes(derived=derived).fit(X[:end], y[:end])
        right = np.searchsorted(nb.classes_, y[end:])
        p = nb.predict_proba(X[end:])[np.arange(len(right)), right]
        losses.append(-np.log(p).mean())
    print("log loss of other rows: {:.3f} without, {:.3f} with".format(*losses))
    return nb, X[end:], y[end:]


# %%
# A difference: how rides are paid
# --------------------------------
# The total includes a tip by card, and no tip in cash. (The total is known only after
# the ride. That is no leak here, as the ride is over when its payment is asked for.)
path = real("tables/taxis.csv")
print(
    "Data: tables/taxis.csv, in full." if path else "Data: 6,000 synthetic taxi rides."
)
if path:
    table = pd.read_csv(path).drop(columns="tip")
else:
    fare, card = rng.gamma(3, 5, 6000).round(2), rng.random(6000) < 0.6
    total = (fare + 3.3 + card * fare * rng.uniform(0.1, 0.4, 6000)).round(2)
    paid = np.where(card ^ (rng.random(6000) < 0.05), "credit card", "cash")
    table = pd.DataFrame({"fare": fare, "total": total, "payment": paid})
rides, new, right = compared(table, "payment")
print("made:", ", ".join(str(made) for made in rides.weights_.linear.made))
print(rides.explain(new[:1])[0])

# %%
# Rides paid in cash lie along a line. No threshold on one of the two columns separates
# them from the others.
(ax,) = side_by_side("Fare and total of rides", height=3.2)
for label, marker in (("cash", "o"), ("credit card", "x")):
    some = new[right == label][:400]
    ax.scatter(some["total"], some["fare"], s=12, marker=marker, label=label, alpha=0.6)
ax.set(xlabel="total", ylabel="fare", xlim=(0, 60), ylim=(0, 60))
ax.legend()

# %%
# A name: amounts, persons, shops
# -------------------------------
# A capital gain of 15,024 comes again and again, and says another thing than its
# neighbours. Only rows with a seen value gain. If new rows are of other persons,
# ``groups=`` holds out whole persons, and no person is a name.
path, column = real("tables/adult.csv"), "capital-gain"
if path:
    table = pd.read_csv(path)
else:
    person, rate, column = rng.integers(0, 300, 6000), rng.beta(0.3, 0.3, 300), "person"
    came = np.where(rng.random(6000) < rate[person], "bought", "left")
    table = pd.DataFrame({"person": 7 * person, "income": came})
named, _, _ = compared(table, "income")
print(named.schema_.said_of(column))
added = {
    term.function.value: slope[1] - slope[0]
    for term, slope in named.weights_.linear.of.items()
    if term.column == column and hasattr(term.function, "value")
}
(ax,) = side_by_side(f"What values of {column} add by themselves", height=2.6)
ax.vlines(list(added), 0, list(added.values()), linewidth=1)
ax.axhline(0, color="0.5", linewidth=0.7)
ax.set(xlabel=column, ylabel=f"log odds of {named.classes_[1]} (nats)")
if path:
    ax.set_xlim(0, 20_000)

# %%
# Copies: a row that was seen before
# ----------------------------------
# A mail to many readers is the same row many times. So is the output of one machine.
path = real("tables/spambase.csv")
if path:
    table = pd.read_csv(path)
else:
    profile, rate = rng.integers(0, 60, 3000), rng.beta(0.5, 0.5, 60)
    cells = rng.choice(["red", "green", "blue"], (60, 8))[profile]
    table = pd.DataFrame(cells, columns=[f"c{j}" for j in range(8)])
    table["class"] = np.where(rng.random(3000) < rate[profile], "fail", "ok")
copies, new, _ = compared(table, "class")
print(copies.notes_[0])
seen = [row for row in copies.explain(new[:500]) if "this very row" in str(row)]
print(str(seen[0])[:400])
plt.show()
