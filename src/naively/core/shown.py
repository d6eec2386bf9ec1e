"""What an object shows: at a prompt what it prints, and in a notebook the same."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod


class Shown(ABC):
    """An object that is shown as it is printed. Its dataclass needs ``repr=False``."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return f"<pre>{html.escape(str(self))}</pre>"
