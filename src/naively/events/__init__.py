"""Event models, one family a file; they know nothing of tables.

A class that is imported here is public: ``naively`` exports it, and its ``name`` stands for an
event model on the command line and in model files.
"""

from naively.events.bags import Complement as Complement
from naively.events.bags import Multinomial as Multinomial
from naively.events.base import EventModel as EventModel
from naively.events.bernoulli import Bernoulli as Bernoulli
from naively.events.categorical import Categorical as Categorical
from naively.events.estimate import Estimate as Estimate
from naively.events.histogram import Histogram as Histogram
from naively.events.joint_table import JointTable as JointTable
from naively.events.kernel_density import KernelDensity as KernelDensity
from naively.events.logistic_normal import LogisticNormal as LogisticNormal
from naively.events.normal import Gaussian as Gaussian
from naively.events.normal import LogitNormal as LogitNormal
from naively.events.normal import LogNormal as LogNormal
from naively.events.prior import Beta as Beta
from naively.events.prior import Dirichlet as Dirichlet
from naively.events.prior import Gamma as Gamma
from naively.events.prior import InverseGamma as InverseGamma
from naively.events.prior import Normal as Normal
from naively.events.prior import NormalInverseGamma as NormalInverseGamma
from naively.events.rate import Binomial as Binomial
from naively.events.rate import Exponential as Exponential
from naively.events.rate import Geometric as Geometric
from naively.events.rate import NegativeBinomial as NegativeBinomial
from naively.events.rate import Poisson as Poisson

PUBLIC = {name: public for name, public in vars().items() if isinstance(public, type)}
EVENT_MODELS: dict[str, type[EventModel]] = {
    model.name: model
    for _, model in sorted(PUBLIC.items())
    if issubclass(model, EventModel) and model is not EventModel
}
