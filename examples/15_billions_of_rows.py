r"""
Billions of rows, by arithmetic
===============================

To fit naive Bayes is to count in one pass. The size of the tally does not depend on the
rows, and the tallies of parts of the data add up to the tally of all. So the time is
rows times features, divided by a rate. The rate is measured here, and all else
extrapolated.

.. math::
   T = \frac{n \cdot d}{\text{cells per second} \cdot \text{machines}} , \qquad
   \log \prod_j p(x_j \mid c) = \sum_j \log p(x_j \mid c)
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from naively import Counts, Fading, NaiveBayes

# %%
# Measured here
# -------------
# The numbers of the next two blocks are of this machine, at this moment.
print("Data: random numbers and random booleans.")
draw = np.random.default_rng(0)
rows, features = 200_000, 50
X = draw.normal(size=(rows, features)).astype(np.float32)
y = (X[:, 0] + draw.normal(size=rows) > 0).astype(int)
begun = time.perf_counter()
whole = NaiveBayes("gaussian", weights=None).fit(X, y)
seconds = time.perf_counter() - begun
rate = rows * features / seconds
print(f"measured: {rows:,} rows of {features} numbers in {seconds:.2f} s, "
      f"{rows / seconds:,.0f} rows/s, {rate:,.0f} cells/s")  # fmt: skip

words = 100  # of each of 20,000 texts, out of a million that there could be
place = np.arange(0, 20_001) * words, draw.integers(0, 1_000_000, 20_000 * words)
texts = csr_array(
    (np.ones(len(place[1])), place[1], place[0]), shape=(20_000, 1_000_000)
)
begun = time.perf_counter()
NaiveBayes("multinomial", smoothing=1.0, weights=None).fit(texts, y[:20_000])
seconds = time.perf_counter() - begun
of_words = texts.nnz / seconds
print(f"measured: 20,000 texts in {seconds:.2f} s, {of_words:,.0f} words/s")

# %%
# Parts, and their sum
# --------------------
parts = [NaiveBayes("gaussian", weights=None).fit(X[i::4], y[i::4]) for i in range(4)]
begun = time.perf_counter()
merged = parts[0].tally_ + parts[1].tally_ + parts[2].tally_ + parts[3].tally_
seconds = time.perf_counter() - begun
print(f"measured: three merges of tallies in {1000 * seconds:.1f} ms")
print(f"rows in the sum of four tallies: {merged.class_count.sum():,.0f}")
together = NaiveBayes("gaussian", weights=None).fit(X[::4], y[::4])
for part in parts[1:]:
    together.merge(part)
same = np.abs(together.predict_proba(X[:1000]) - whole.predict_proba(X[:1000])).max()
print(f"greatest difference between merged and whole, in probability: {same:.1e}")
names = {f"part {i + 1}": part.tally_ for i, part in enumerate(parts)} | {"sum": merged}
Counts.of(names).plot()

# %%
# Tallies fade
# ------------
# If the world drifts, all counts are multiplied by a factor before each new batch.
fading = Fading.of([part.tally_ for part in parts], 0.7)
fading.plot()
print(f"with the factor 0.7 at most {fading.effective.max():,.0f} rows count, of "
      f"{fading.new.sum():,.0f} learned")  # fmt: skip

# %%
# Extrapolated, not measured
# --------------------------
# A billion rows of 100 million features have 10 to the 17 cells. A text of 1,000 words
# fills only 1,000 cells of its row, and only these are counted.
day = 86_400
for name, cells, speed in (
    ("dense", 1e17, rate),
    ("1,000 words a row", 1e12, of_words),
):
    days = cells / speed / day
    print(f"extrapolated: 10^9 rows x 10^8 features, {name}: {days:,.2f} days here,")
    print(f"    {days / 1000 * 24:,.3f} hours on 1,000 such machines")

# %%
# Why logarithms
# --------------
# A product of 1,000 probabilities is below the smallest number of 64 bits. The sum of
# their logarithms is an ordinary number, and only differences of such sums matter.
p = {"spam": np.full(1_000, 0.02), "ham": np.full(1_000, 0.019)}
for name, of in p.items():
    sum_of_logs = np.log(of).sum()
    print(f"{name:4}: product of 1,000 numbers {of.prod():g}; logs {sum_of_logs:.1f}")
booleans = draw.random((200, 1_000)) < 0.5
nb = NaiveBayes("bernoulli", weights=None).fit(booleans, np.arange(200) % 2)
print(f"log p(row) of 1,000 booleans: {nb.score_samples(booleans[:1])[0]:.1f} nats; "
      f"p(class | row) = {nb.predict_proba(booleans[:1])[0].max():.4f}")  # fmt: skip
plt.show()
