r"""
Approval ratings as a Gaussian
==============================

How many approve of a president? A Gaussian is fitted to the ratings of many polls. It
simplifies in two ways. It gives mass to ratings below 0 and above 100. And it takes the
polls as independent draws, but opinion drifts, and polls follow each other within days.

.. math::
   p(x \mid \mu, \sigma^2) = \frac{1}{\sqrt{2\pi\sigma^2}}
   \exp\left(-\frac{(x - \mu)^2}{2\sigma^2}\right), \qquad
   \hat\mu = \frac1n \sum_i x_i, \quad \hat\sigma^2 = \frac1n \sum_i (x_i - \hat\mu)^2
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import Gaussian, NormalInverseGamma, independence
from naively.datasets import approval, real
from naively.lectures import side_by_side

# %%
# The ratings, in the order of the polls' last days.
path = real("tables/approval_polls.csv")
print(
    "Data: tables/approval_polls.csv, in full."
    if path
    else "Data: 193 polls of naively.datasets, from President Bush to President Biden."
)
if path:
    import pandas as pd

    polls = pd.read_csv(path).query("subgroup == 'All polls'").copy()
    polls["day"] = polls.enddate.map(
        lambda d: (int(d.split("/")[2]), *map(int, d.split("/")[:2]))
    )
    ratings = polls.sort_values("day").approve.to_numpy()
else:
    ratings = np.array(approval()[0]["approve"], float)

# %%
# The fit
# -------
# The prior has the mean 50 and is worth 20 polls. It draws the estimate towards 50.
# Hundreds of polls outweigh it.
prior = NormalInverseGamma(mean=50, rows=20, shape=2, scale=50)
believed = Gaussian(prior=prior).fit(ratings)
few = Gaussian(prior=prior).fit(ratings[:20])
print(f"{len(ratings):,} polls from {ratings.min():.1f} to {ratings.max():.1f}")
estimates = {
    "maximum likelihood": believed.mle,
    "posterior mode": believed.map,
    "posterior mean": believed.mean,
    "... of the first 20": few.mean,
}
for name, of in estimates.items():
    print(f"{name:20} mean {of['mean']:7.3f}   variance {of['variance']:7.3f}")
left, right = side_by_side("all polls", "the first 20 polls", height=2.8)
believed.plot(left, ratings)
few.surface().plot(ax=right)

# %%
# Mass where no rating can be
# ---------------------------
fitted = Gaussian(estimate="mle").fit(ratings).fitted
print(f"p(rating < 0)   = {fitted.cdf(0):.2g}")
print(f"p(rating > 100) = {fitted.sf(100):.2g}")

# %%
# Polls are not independent
# -------------------------
# Kendall's tau finds the trend. Autocorrelations outside the band say that a poll
# resembles the polls before it. So the effective number of polls is smaller, and the
# posterior above is too narrow.
checked = independence(ratings)
print(checked)
left, right = side_by_side("ratings in order", "ratings against later ones")
checked.plot_series(ax=left)
checked.plot_autocorrelation(ax=right)
plt.show()
