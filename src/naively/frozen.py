"""Frozen dataclasses whose methods are written here, once for all of them.

``@dataclass(frozen=True)`` writes and compiles six methods for each class, which took half of the
time of importing this package. What reads dataclasses (``fields``, ``replace``, ``asdict``) reads
these too. What is made for every row that is asked about stays a dataclass of its own: its
``__init__`` takes half of the time of the one here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from inspect import Parameter, Signature
from operator import attrgetter
from typing import ClassVar, Never, dataclass_transform


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Frozen:
    """A frozen dataclass; ``eq`` and ``kw_only`` are as ``dataclass`` has them.

    Its pickle holds the fields, not what another thread derives from them.
    """

    _in_order: ClassVar[dict[str, object]]  # the fields, with the defaults that are fixed
    _needed: ClassVar[set[str]]  # those without a default
    _made: ClassVar[dict[str, Callable[[], object]]]  # what makes a default, anew for each object
    _compared: Callable[[object], object] = id  # returns what is the same of those that are equal
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]
    __match_args__: ClassVar[tuple[str, ...]]
    __signature__: ClassVar[Signature]

    def __init_subclass__(cls, *, eq: bool = False, kw_only: bool = False) -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        given = sorted([f for f in fields(cls) if f.init], key=lambda f: f.kw_only is True)
        cls._in_order = {f.name: f.default for f in fields(cls) if f.init}
        cls._made = {f.name: f.default_factory for f in given if f.default_factory is not MISSING}
        default = {n: of for n, of in cls._in_order.items() if of is not MISSING} | cls._made
        cls._needed = cls._in_order.keys() - default.keys()
        if eq or cls._compared is not id:  # as a class above it
            compared = [f.name for f in fields(cls) if f.compare]
            cls._compared = attrgetter(*compared) if compared else type
        parameters = [
            Parameter(
                f.name,
                Parameter.KEYWORD_ONLY if f.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=default.get(f.name, Parameter.empty),
                annotation=f.type,
            )
            for f in given
        ]
        cls.__signature__ = Signature(parameters, return_annotation=None)

    def __init__(self, *args: object, **named: object) -> None:
        held, given = self.__dict__, dict(zip(self.__match_args__, args, strict=False), **named)
        held |= self._in_order
        held |= given
        for name in self._made:
            if name not in given:
                held[name] = self._made[name]()
        too_much = len(given) != len(args) + len(named) or len(held) != len(self._in_order)
        if too_much or not self._needed <= given.keys():
            self.__signature__.bind(*args, **named)  # says what is wrong
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check or complete the fields."""

    def __setattr__(self, name: str, *_: object) -> Never:
        raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")

    __delattr__ = __setattr__

    def __getstate__(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __repr__(self) -> str:
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return [self._compared(self)] == [self._compared(other)]

    def __hash__(self) -> int:
        return hash(self._compared(self))
