"""The noise that was added to the counts of a model, for whoever reads them later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from naively.counting.noise import Mechanism


@final
@dataclass(frozen=True)
class AddedNoise:
    """The noise in all counts of a model, and how well it hides a row.

    Parameters
    ----------
    epsilon, delta : float
        Any set of models is at most exp(epsilon) times as probable, and delta more, with one row
        as without it.
    mechanism : {"discrete Gaussian", "discrete Laplace"}
        The distribution of the noise.
    deviation : float
        The standard deviation of the noise, in rows.
    threshold : int
        Levels, cells and words that the rows alone name are kept from this noisy count on; 0
        where there are none.

    Examples
    --------
    >>> print(AddedNoise(1.0, 1e-6, "discrete Gaussian", 17.5, 104))
    noise: epsilon 1, delta 1e-06, discrete Gaussian of standard deviation 17.5; levels, cells
    and words are kept from a noisy count of 104 on
    """

    epsilon: float
    delta: float
    mechanism: Mechanism
    deviation: float
    threshold: int

    def __str__(self) -> str:
        said = (
            f"noise: epsilon {self.epsilon:g}, delta {self.delta:g}, {self.mechanism} of standard "
            f"deviation {self.deviation:.3g}"
        )
        if not self.threshold:
            return said
        kept = f"levels, cells and words are kept from a noisy count of {self.threshold:,} on"
        return f"{said}; {kept}"
