"""Event models, one a file; they know nothing of tables.

A class that is imported here is public: ``naively`` exports it, and its ``name`` stands for an
event model on the command line and in model files.
"""

from naively.events.base import EventModel as EventModel
from naively.events.bernoulli import Bernoulli as Bernoulli
from naively.events.binomial import Binomial as Binomial
from naively.events.categorical import Categorical as Categorical
from naively.events.complement import Complement as Complement
from naively.events.estimate import Estimate as Estimate
from naively.events.exponential import Exponential as Exponential
from naively.events.gaussian import Gaussian as Gaussian
from naively.events.gaussian import LogNormal as LogNormal
from naively.events.geometric import Geometric as Geometric
from naively.events.histogram import Histogram as Histogram
from naively.events.joint_table import JointTable as JointTable
from naively.events.kernel_density import KernelDensity as KernelDensity
from naively.events.multinomial import Multinomial as Multinomial
from naively.events.negative_binomial import NegativeBinomial as NegativeBinomial
from naively.events.poisson import Poisson as Poisson
from naively.events.prior import Beta as Beta
from naively.events.prior import Dirichlet as Dirichlet
from naively.events.prior import Gamma as Gamma
from naively.events.prior import InverseGamma as InverseGamma
from naively.events.prior import Normal as Normal
from naively.events.prior import NormalInverseGamma as NormalInverseGamma

PUBLIC = {name: public for name, public in vars().items() if isinstance(public, type)}
EVENT_MODELS: dict[str, type[EventModel]] = {
    model.name: model
    for model in PUBLIC.values()
    if issubclass(model, EventModel) and model is not EventModel
}
