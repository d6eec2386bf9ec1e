"""Learning and unlearning: under a lock, so that two at once do not lose what the other learned."""

from __future__ import annotations

import random
from pathlib import Path

from naively import saving
from naively.filter.evidence import fit_temperature, words_of
from naively.filter.table import CLASSES, Table, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Row = Mapping[str, str | bool]

SAMPLE = 2000  # messages of a batch, chosen at random, that the temperature is fitted on
ENOUGH = 20  # of each class, to fit it at all
PATIENCE = 60.0  # seconds to wait for another that learns; a batch takes a few


def learn(path: str, rows: Iterable[tuple[Row, str]], *, forget: bool = False) -> int:
    """Add messages to a model file, which is made if it is not there; or take them back.

    Where the messages are enough and of both classes, the temperature is fitted on them.

    Parameters
    ----------
    path : str
        The model file.
    rows : iterable of (mapping, str)
        Messages, as ``read_message`` makes them, and the class of each.
    forget : bool
        Take them back: the file has then the counts as if they had never been learned.

    Returns
    -------
    n : int
        How many messages there were.

    Raises
    ------
    ValueError
        If a message that is taken back was not learned; nothing is changed.
    TimeoutError
        If another process has been learning for a minute.
    """
    sign = -1 if forget else 1
    counts: dict[str, list[float]] = {}
    messages = [0.0, 0.0]
    sample: list[tuple[list[str], int]] = []
    chance = random.Random(0)
    n = 0
    for row, label in rows:
        if label not in CLASSES:
            raise ValueError(f"The classes of mail are spam and ham; there is mail of {label!r}.")
        c, words = CLASSES.index(label), words_of(row)
        messages[c] += sign
        for word in words:
            counts.setdefault(word, [0.0, 0.0])[c] += sign
        place = n if n < SAMPLE else chance.randrange(n + 1)
        if place < SAMPLE:
            sample[place : place + 1] = [(words, c)]
        n += 1
    with saving.locked(path, PATIENCE):
        old = load(path) if Path(path).exists() else Table.empty()
        new = old.add(
            {w: (ham, spam) for w, (ham, spam) in counts.items()}, (messages[0], messages[1])
        )
        enough = all(sum(c == i for _, c in sample) >= ENOUGH for i in range(len(CLASSES)))
        if enough and not forget:
            new = new.with_temperature(fit_temperature(new, sample))
        # A new file can be read by its owner only, as it holds the words of their mail.
        saving.save(path, new.to_bytes(), private=True)
    return n
