r"""
Coin flips and priors
=====================

A coin came up heads 8 times in 10 tosses. The maximum likelihood estimate says p = 0.8.
But for most coins p is near 1/2. A Beta prior states such a belief, and it counts as
pretend tosses. With h heads in n tosses and the prior Beta(a, b):

.. math::
   \hat p_{\text{MLE}} = \frac{h}{n}, \qquad
   \hat p_{\text{MAP}} = \frac{h + a - 1}{n + a + b - 2}, \qquad
   E[p \mid \text{tosses}] = \frac{h + a}{n + a + b}
"""

import matplotlib.pyplot as plt

from naively import Bernoulli, Beta
from naively.lectures import side_by_side

# %%
# The three estimates
# -------------------
# For the mode, Beta(101, 101) is worth 100 pretend heads and 100 pretend tails.
print("Data: ten tosses, and tosses drawn from coins of known p.")
tosses = [1] * 8 + [0] * 2
coin = Bernoulli(prior=Beta(101, 101)).fit(tosses)
print(f"MLE             8/10    = {coin.mle:.6f}")
print(f"MAP             108/210 = {coin.map:.6f}")
print(f"posterior mean  109/212 = {coin.mean:.6f}")
print(f"p(next is heads)        = {coin.predictive.pmf(1):.6f}")

# %%
# Prior, likelihood, posterior
# ----------------------------
# The posterior is the prior times the likelihood, scaled to an area of 1. A strong
# prior hardly moves. A uniform prior leaves the likelihood as it is. Beta(2, 2) is in
# between.
priors = Beta(1, 1), Beta(2, 2), Beta(101, 101)
for prior, ax in zip(priors, side_by_side(*map(str, priors)), strict=True):
    Bernoulli(prior=prior).fit(tosses).plot_posterior(ax=ax)

# %%
# Data arrive
# -----------
# Each toss adds 1 to one of two counts. The more tosses there are, the less any prior
# matters.
thumbtack = Bernoulli.of(p=0.8)
many = thumbtack.sample(1000, random_state=0)
for prior, ax in zip(priors, side_by_side(*map(str, priors)), strict=True):
    Bernoulli(prior=prior).updates(many, at=[0, 10, 100, 1000]).plot(ax=ax)
print(Bernoulli(prior=Beta(101, 101)).updates(many, at=[0, 10, 100, 1000]))

# %%
# Consistency
# -----------
# The maximum likelihood estimate converges to the true p. The width of its band falls
# as one over the square root of the number of tosses.
converges = Bernoulli(prior=Beta(1, 1)).consistency(
    thumbtack.sample(10_000, random_state=1), 0.8
)
converges.plot()
last = converges.estimate["p"][-1]
print(f"MLE of {converges.n[-1]:,} tosses: {last:.4f}; the truth is 0.8")
plt.show()
