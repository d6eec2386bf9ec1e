"""Event models, one a file; they know nothing of tables."""

from naively.core.event import EventModel
from naively.events.bernoulli import Bernoulli
from naively.events.categorical import Categorical
from naively.events.gaussian import Gaussian
from naively.events.multinomial import Multinomial

EVENT_MODELS: dict[str, type[EventModel]] = {
    model.name: model for model in (Bernoulli, Categorical, Gaussian, Multinomial)
}

__all__ = ["EVENT_MODELS", "Bernoulli", "Categorical", "EventModel", "Gaussian", "Multinomial"]
