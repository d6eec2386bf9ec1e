"""Event models, one a file; they know nothing of tables."""

from naively.events.base import EventModel
from naively.events.bernoulli import Bernoulli
from naively.events.categorical import Categorical
from naively.events.complement import Complement
from naively.events.estimate import Estimate
from naively.events.exponential import Exponential
from naively.events.gaussian import Gaussian
from naively.events.geometric import Geometric
from naively.events.histogram import Histogram
from naively.events.joint_table import JointTable
from naively.events.kernel_density import KernelDensity
from naively.events.lognormal import LogNormal
from naively.events.multinomial import Multinomial
from naively.events.poisson import Poisson
from naively.events.prior import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

EVENT_MODELS: dict[str, type[EventModel]] = {
    model.name: model
    for model in (
        Bernoulli,
        Categorical,
        Complement,
        Exponential,
        Gaussian,
        Geometric,
        Histogram,
        JointTable,
        KernelDensity,
        LogNormal,
        Multinomial,
        Poisson,
    )
}
PRIORS = {prior.__name__: prior for prior in (Beta, Dirichlet, Gamma, Normal, NormalInverseGamma)}

__all__ = [
    "EVENT_MODELS",
    "PRIORS",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Complement",
    "Dirichlet",
    "Estimate",
    "EventModel",
    "Exponential",
    "Gamma",
    "Gaussian",
    "Geometric",
    "Histogram",
    "JointTable",
    "KernelDensity",
    "LogNormal",
    "Multinomial",
    "Normal",
    "NormalInverseGamma",
    "Poisson",
]
