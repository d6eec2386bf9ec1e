"""The messages of a mailbox: mbox, Maildir, .eml files, and folders of these by class."""

from __future__ import annotations

import csv
import mailbox
import re
from functools import partial
from pathlib import Path

from naively.messages import warn
from naively.wings.mail.limits import BYTES
from naively.wings.mail.message import COLUMNS, read_message
from naively.wings.mail.places import SINGLE, entries, is_maildir, is_mbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BEGINNING = 1 << 16  # bytes of a file that tell whether it is mail
FROM_LINE = re.compile(rb">?From ")
FIELD = re.compile(rb"([A-Za-z][\w.-]*)[ \t]*:")
KNOWN = re.compile(  # a header of mail, with which neither a table nor a program begins
    rb"(?:x|content|list|resent|arc|dkim|authentication|received|return|delivered|disposition|"
    rb"auto|original|envelope|errors|mailing|thread|user|domainkey)-.+|"
    rb"from|to|cc|bcc|date|subject|sender|received|message-id|in-reply-to|references|reply-to|"
    rb"mime-version|status|lines|comments|keywords|precedence|importance|priority|sensitivity|"
    rb"organization|organisation|apparently-to|newsgroups|path|xref|return-path"
)


def read_columns(path: Path) -> dict[str, list[str | None]]:
    """Read mail as a table: the columns of ``read_message``, and "label" if classes are known."""
    by_class = path.is_dir() and not is_maildir(path) and _classes(path)
    labelled = read_labelled(path) if by_class else ((raw, None) for raw in read_messages(path))
    columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS}
    labels: list[str | None] = []
    for raw, label in labelled:
        for name, text in read_message(raw).items():
            columns[name].append(str(text) or None)
        labels.append(label)
    return columns | {"label": labels} if by_class else columns


def read_messages(path: Path) -> Iterator[bytes]:
    """Iterate over the raw messages below a path, sorted by name."""
    # Each message is cut after limits.BYTES, as no more of it is read. An entry of a folder that is
    # no file or folder (a FIFO, a device, a socket) is passed over, with a warning.
    for found in find_messages(path):
        yield found.read()


class Found:
    """A message that was found, and is not read yet."""

    def __init__(self, path: Path, read: Callable[[], bytes], number: int | None = None) -> None:
        # To read what is plainly not mail is an error. The number is that in an mbox, from 1 on.
        self.path, self.read, self.number = path, read, number


def find_messages(path: Path) -> Iterator[Found]:
    """Iterate over the messages below a path, as ``read_messages`` does, without reading them."""
    if path.is_dir():
        yield from _in_folder(path, frozenset())
    else:
        yield from _in_file(path)


def _in_folder(folder: Path, above: frozenset[Path]) -> Iterator[Found]:
    """Yield the messages below a folder, which is in the folders ``above``."""
    place = folder.resolve()
    if place in above:  # a link to a folder that is being read
        return
    of_maildir = is_maildir(folder)
    if of_maildir:
        files = [file for name in ("new", "cur") for file in entries(folder / name)]
        found = sorted(files, key=lambda file: file.name.split(":")[0])  # flags follow a colon
        found += sorted(box for box in folder.glob(".?*") if box.is_dir())
    else:
        found = entries(folder)
    for entry in found:
        if entry.is_dir():
            yield from _in_folder(entry, above | {place})
        elif entry.is_file():
            yield from [_single(entry)] if of_maildir else _in_file(entry)
        else:
            warn(f"{entry} is no file: it is passed over.")


def _in_file(path: Path) -> Iterator[Found]:
    """Yield the one message in a file, or those of an mbox."""
    if path.suffix.lower() in SINGLE or not is_mbox(path):
        yield _single(path)
        return
    mbox = mailbox.mbox(path, create=False)
    try:
        for number, key in enumerate(mbox.iterkeys(), 1):
            yield Found(path, partial(_of_mbox, path, mbox, key, number), number)
    finally:
        mbox.close()


def _of_mbox(path: Path, mbox: mailbox.mbox, key: str, number: int) -> bytes:
    """Return a message of an mbox, the beginning of which must be that of mail."""
    if number == 1:
        with path.open("rb") as file:
            _check(path, file.read(BEGINNING))
    return mbox.get_file(key).read(BYTES)


def _single(path: Path) -> Found:
    return Found(path, partial(_message, path))


def _message(path: Path) -> bytes:
    """Return the message in a file of its own."""
    with path.open("rb") as file:
        raw = file.read(BYTES)
    _check(path, raw)
    return raw


def _check(path: Path, raw: bytes) -> None:
    """Raise a ValueError if a file is plainly not mail: it does not begin with a header of mail."""
    if path.suffix.lower() in SINGLE or not raw.strip():
        is_mail = b"\0" not in raw[:BEGINNING]
    else:
        is_mail = _begins_as_mail(raw)
    if not is_mail:
        raise ValueError(
            f"{path} is no mail: it does not begin with the headers of a message. Leave it out."
        )


def _begins_as_mail(raw: bytes) -> bool:
    """Whether a file begins with headers, one of which mail has."""
    head = raw[:BEGINNING].removeprefix(b"\xef\xbb\xbf")
    lines = (line for line in head.lstrip().splitlines() if not FROM_LINE.match(line))
    names = []
    for line in lines:
        field = FIELD.match(line)
        if field:
            names.append(field[1].lower())
        elif not (names and line[:1] in b" \t"):  # what is folded continues a field
            break
    return any(KNOWN.fullmatch(name) for name in names)


def read_labelled(path: Path, labels: Path | None = None) -> Iterator[tuple[bytes, str]]:
    """Iterate over raw messages and their classes."""
    if labels is not None:
        for name, label in _read_labels(labels).items():
            if not (path / name).resolve().is_relative_to(path.resolve()):
                raise ValueError(f"{labels} names {name}, which leads out of {path}.")
            if not (path / name).is_file():
                raise FileNotFoundError(f"{labels} names {name}, which is not in {path}.")
            yield _message(path / name), label
        return
    classes = _classes(path) if path.is_dir() and not is_maildir(path) else []
    if not classes:
        raise ValueError(
            f"{path} does not say the class of its messages: give a folder with a folder or mbox "
            "file for each class, or say the class."
        )
    for entry in classes:
        for raw in read_messages(entry):
            yield raw, entry.name if entry.is_dir() else entry.stem


def _read_labels(path: Path) -> Mapping[str, str]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    for i, row in enumerate(rows):
        if len(row) != 2:
            raise ValueError(f"{path}, row {i + 1}: expected a file name and a class, got {row}.")
    return {name.strip(): label.strip() for name, label in rows}


def _classes(folder: Path) -> list[Path]:
    """Return the folders and mailboxes, each of which holds the mail of one class."""
    return [
        entry
        for entry in entries(folder)
        if entry.is_dir() or (entry.suffix.lower() not in SINGLE and is_mbox(entry))
    ]
