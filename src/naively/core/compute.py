"""temporary: replaced by the dispatching module."""

from naively.core.kernels import *  # noqa
from naively.core.vocabulary import Vocabulary  # noqa
