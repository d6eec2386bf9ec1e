"""The event model: which statistics to count, and how their sums become a likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, final

from naively.core.block import Block
from naively.core.labels import Labels
from naively.core.likelihood import Likelihood
from naively.core.statistic import Statistic
from naively.core.tally import BlockTally, count


class EventModel(ABC):
    """How the columns of one block are generated, given the class (McCallum & Nigam 1998).

    A subclass is a frozen dataclass of its settings. It names the statistics that it counts and
    derives a likelihood from their sums; counting, merging, forgetting, missing cells, scoring
    and explaining follow from these two.

    Examples
    --------
    >>> from naively import EventModel, Gaussian
    >>> isinstance(Gaussian(), EventModel), [s.value for s in Gaussian.statistics]
    (True, ['present', 'value', 'square'])
    """

    name: ClassVar[str]
    statistics: ClassVar[tuple[Statistic, ...]]
    layout: ClassVar[Literal["numbers", "levels"]] = "numbers"  # how columns are encoded
    sparse: ClassVar[bool] = True  # zeros need not be stored to be counted and scored

    def prepare(self, block: Block) -> Block:
        """Transform encoded rows before they are counted or scored."""
        return block

    @final
    def tally(self, block: Block, labels: Labels) -> BlockTally:
        """Count a block: ``Yᵀ · s(X)``."""
        return count(self.prepare(block), self.statistics, labels)

    @abstractmethod
    def likelihood(self, tally: BlockTally) -> Likelihood:
        """Derive the log tables from the sums, smoothed by the prior's pretend data."""
