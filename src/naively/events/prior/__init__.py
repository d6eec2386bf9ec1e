"""Conjugate priors: distributions of parameters, and pretend data.

As a distribution a prior has a density, a mean, a mode, a variance, an interval, a sample and a
picture. As pretend data it is added to the tally before anything is estimated: with no pretend
data the estimate is maximum likelihood, with the prior's own it is the posterior mean, and with
one count less of each outcome it is the mode of the same posterior, the maximum a posteriori.
Where that would leave a negative count, the mode gives the outcome probability 0. What is updated
with data is a prior of the same family, the prior of the next sample.
"""

from naively.events.prior.base import Prior as Prior
from naively.events.prior.base import pretend_rows as pretend_rows
from naively.events.prior.base import share as share
from naively.events.prior.moments import InverseGamma as InverseGamma
from naively.events.prior.moments import Normal as Normal
from naively.events.prior.moments import NormalInverseGamma as NormalInverseGamma
from naively.events.prior.probabilities import Beta as Beta
from naively.events.prior.probabilities import Dirichlet as Dirichlet
from naively.events.prior.probabilities import dirichlet as dirichlet
from naively.events.prior.rates import Gamma as Gamma
