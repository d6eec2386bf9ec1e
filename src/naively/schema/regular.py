"""Regular expressions that are known not to stall, whoever wrote them: a model file may hold some.

Python's engine goes back over a text wherever a choice may have been wrong, and has no limit. A
pattern is taken if at each choice within a repeat the next character decides (Brüggemann-Klein &
Wood, One-unambiguous regular languages, 1998), or nothing that follows can fail: then no choice is
tried twice. What is left is to begin again at each character of a run, and runs are made short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any, TypeAlias

Characters: TypeAlias = frozenset[str]
Parsed: TypeAlias = Any  # parts, or the operands of one, as Python's own parser makes them
Part: TypeAlias = tuple[object, Parsed]  # an operation and its operands

LONGEST = 1000  # characters of a pattern
RUN = 256  # characters of a text without a space, or spaces in a row
CHOICES = 1000  # in all, of what is not repeated
DEEPEST = 12  # groups within groups
LONG_RUN = re.compile(rf"(\S{{{RUN}}})|(?<=\s{{{RUN}}})\s+")
# Latin-1, and one of each kind of other characters.
USUAL = [*map(chr, range(256)), *"ĀāΣλж漢٣Ⅷ\u0300\u2003\u2028€\U0001f600"]


def compile_bounded(pattern: str, what: str) -> re.Pattern[str]:
    r"""Compile a regular expression, or raise a ValueError that says why it is not taken.

    >>> compile_bounded(r"\w+(?:-\w+)*", "token_pattern").findall("well-known facts")
    ['well-known', 'facts']
    >>> compile_bounded("(x+x+)+y", "token_pattern")
    Traceback (most recent call last):
    ValueError: token_pattern '(x+x+)+y' could take for ever: ...
    """
    shown = repr(pattern if len(pattern) <= 60 else f"{pattern[:60]}...")
    if len(pattern) > LONGEST:
        raise ValueError(f"{what} {shown} has more than {LONGEST:,} characters.")
    try:
        compiled = re.compile(pattern)
        Choices().check(import_module("re._parser").parse(pattern))
    except (re.error, OverflowError) as error:
        raise ValueError(f"{what} {shown} is no regular expression: {error}.") from error
    except (StallError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise ValueError(
            f"{what} {shown} could take for ever: {why}; write a simpler one, or split the texts "
            "beforehand and give lists of words."
        ) from error
    return compiled


def bounded(text: str) -> str:
    """Return a text whose runs of characters without a space, and of spaces, are cut short.

    >>> len(bounded("a" * 1000).split()), len(bounded(" " * 1000))
    (4, 256)
    """
    return LONG_RUN.sub(lambda m: f"{m[1]} " if m[1] else "", text) if len(text) > RUN else text


class StallError(ValueError):
    """A pattern could take time beyond measure."""


@dataclass(frozen=True)
class After:
    """What may follow a part of a pattern."""

    first: Characters = frozenset()  # what it may begin with
    sure: bool = True  # it cannot fail
    long: bool = False  # it may be of any length
    repeated: bool = False  # it is within a repeat


@dataclass
class Choices:
    """The choices of a pattern, as they are met from its end to its beginning."""

    number: int = 1  # in how many ways it may be tried at one place
    alphabet: list[str] = field(default_factory=lambda: list(USUAL))
    found: dict[int, Characters] = field(default_factory=dict)  # of the parts, by identity

    def check(self, parsed: Parsed) -> None:
        """Raise a StallError if a choice may have to be tried again and again."""
        self.alphabet = list(dict.fromkeys([*USUAL, *_named(parsed)]))
        self._sequence(parsed, After(), 0)

    def _sequence(self, parsed: Parsed, after: After, depth: int) -> After:
        """Return what may follow whatever is before these parts."""
        if depth > DEEPEST:
            raise StallError("it is nested too deep")
        for part in reversed(parsed):
            after = self._part(parsed, part, after, depth + 1)
        return after

    def _part(self, parsed: Parsed, part: Part, after: After, depth: int) -> After:
        """Return what may follow whatever is before one part of a sequence.

        Parameters
        ----------
        parsed : the sequence, as Python's own parser of patterns has made it
        part : (operation, operands)
            One of its parts.
        after : After
            What may follow the part.
        depth : int
            In how many groups it is.
        """
        kind, of = str(part[0]), part[1]
        if kind in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            return replace(after, first=self._characters(parsed, part), sure=False)
        if kind == "GROUPREF" and parsed.state.groupwidths[of] == (1, 1):  # the same once more
            return replace(after, first=frozenset(self.alphabet), sure=False)
        if kind == "AT":  # a boundary
            return replace(after, sure=False)
        if kind in ("ASSERT", "ASSERT_NOT"):
            if self._sequence(of[1], After(sure=False), depth).long:
                raise StallError("it looks ahead or behind without a limit")
            return replace(after, sure=False)
        if kind == "SUBPATTERN" and not (of[1] or of[2]):
            return self._sequence(of[3], after, depth)
        if kind == "ATOMIC_GROUP":
            return self._sequence(of, after, depth)
        if kind == "BRANCH":
            return self._branch(of[1], after, depth)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(of, after, depth)
        raise StallError("it refers to what another part has found, or changes flags")

    def _branch(self, branches: list[Parsed], after: After, depth: int) -> After:
        """Return what may follow whatever is before alternatives."""
        found = [self._sequence(branch, after, depth) for branch in branches]
        firsts = [each.first for each in found]
        union = reduce(or_, firsts)
        if sum(map(len, firsts)) > len(union) and not after.sure:
            self._choose(len(branches), after, "alternatives begin alike")
        sure, long = any(each.sure for each in found), any(each.long for each in found)
        return replace(after, first=union, sure=sure, long=long)

    def _repeat(self, of: Parsed, after: After, depth: int) -> After:
        """Return what may follow whatever is before a repeat, of (least, most, sequence) times.

        What is repeated is looked at twice: followed by what follows the repeat, for what it may
        begin with; and followed by itself too, as it is met while it goes on.
        """
        least, most, parsed = of[0], int(of[1]), of[2]
        unlimited, often = most - least > RUN, most > 1
        if often and parsed.getwidth()[0] == 0:
            raise StallError("what is repeated may be nothing")
        number = self.number
        once = replace(after, first=frozenset(), repeated=often or after.repeated)
        once = replace(once, sure=after.sure and least <= 1)
        own = self._sequence(parsed, once, depth)
        self.number = number
        if often:  # what follows one time is the next, or what follows all
            once = replace(once, first=after.first | own.first)
        else:
            once = replace(once, first=after.first)
        self._sequence(parsed, once, depth)
        if least < most and own.first & after.first and not after.sure:
            if unlimited and (after.long or after.repeated):
                raise StallError("where a repeat ends is not decided by the next character")
            self._choose(1 if unlimited else most - least + 1, after, "a repeat may end anywhere")
        if unlimited and not after.sure:
            kinds = {character.isspace() for character in self._within(parsed)}
            if len(kinds) > 1:
                raise StallError("a repeat over words and spaces may fail in the end")
        first = own.first | after.first if least == 0 else own.first
        return replace(
            after,
            first=first,
            sure=after.sure and least == 0,
            long=after.long or unlimited or own.long,
        )

    def _choose(self, ways: int, after: After, why: str) -> None:
        self.number *= ways
        if after.repeated or self.number > CHOICES:
            raise StallError(why)

    def _within(self, parsed: Parsed) -> Characters:
        """Return all characters that a part may hold."""
        none: Characters = frozenset()
        return none.union(*(self._characters(of, part) for of, part in _single(parsed)))

    def _characters(self, parsed: Parsed, part: Part) -> Characters:
        """Return the characters that a part of one character may be, as the engine has them."""
        if id(part) not in self.found:
            alone = type(parsed)(parsed.state, [part])
            one = import_module("re._compiler").compile(alone)
            self.found[id(part)] = frozenset(filter(one.match, self.alphabet))
        return self.found[id(part)]


def _single(parsed: Parsed) -> Iterator[tuple[Parsed, Part]]:
    """Yield the parts that are one character, each with the sequence that it is in."""
    for part in parsed:
        if str(part[0]) in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield parsed, part
        for inner in _sequences(part[1]):
            yield from _single(inner)


def _sequences(of: Parsed) -> Iterator[Parsed]:
    """Yield the sequences within a part."""
    if hasattr(of, "getwidth"):
        yield of
    elif isinstance(of, list | tuple):
        for each in of:
            yield from _sequences(each)


def _named(parsed: Parsed) -> Iterator[str]:
    """Yield the characters that a pattern names, in either case, and some of each range."""
    for _, (kind, of) in _single(parsed):
        for name, value in of if str(kind) == "IN" else [(kind, of)]:
            if str(name) in ("LITERAL", "NOT_LITERAL"):
                yield from (chr(value), chr(value).upper()[0], chr(value).lower()[0])
            elif str(name) == "RANGE":
                low, high = value
                yield from map(chr, range(low, high, max(1, (high - low) // 64)))
                yield chr(high)
