"""Lists of senders that decide, whatever the words say: addresses and domains, allowed or blocked.

The sender is who a message says it is from, which anybody can write: allow an address only where
the mail server has checked senders (DMARC), or where a forged one does no harm.
"""

from __future__ import annotations

import re
from email.utils import getaddresses

from naively.wings.mail.limits import COMMENTS, SENDER_LENGTH
from naively.wings.mail.message import ADDRESS, read_contacts

Senders = frozenset[str]  # addresses, and domains that begin with @
DOMAIN = r"@?(?:[\w-]+\.)+[\w-]+"


def read_list(text: str, name: str) -> Senders:
    """Return the addresses and domains of a list: a vCard file, or one a line."""
    if "BEGIN:VCARD" in text:
        return read_contacts(text)
    found = set()
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.split("#")[0].strip().lower()
        if not entry:
            continue
        if re.fullmatch(ADDRESS, entry):
            found.add(entry)
        elif re.fullmatch(DOMAIN, entry):
            found.add(f"@{entry.removeprefix('@')}")
        else:
            raise ValueError(
                f"{name}, line {number}: {entry[:60]!r} is neither an address (ann@example.org) "
                "nor a domain (example.org)."
            )
    return frozenset(found)


def decided(sender: str, allowed: Senders, blocked: Senders) -> tuple[str, str] | None:
    """Return the class that lists decide on, and why; None if they do not."""
    # A domain stands for all domains below it. Where an address is of both lists, the longer entry
    # counts, and if they are alike it is allowed. With several senders one that is blocked is
    # enough, and all must be allowed, as anybody may name a friend beside themselves.
    if len(sender) > SENDER_LENGTH or sender.count("(") > COMMENTS:
        return None
    addresses = [address.lower() for _, address in getaddresses([sender])]
    found = [_of_address(address, allowed, blocked) for address in addresses]
    for each in found:
        if each is not None and each[0] == "spam":
            return each
    return found[0] if found and all(found) else None


def _of_address(address: str, allowed: Senders, blocked: Senders) -> tuple[str, str] | None:
    """Return the class of one address, and why."""
    domain = address.rpartition("@")[2].split(".")
    for entry in address, *(f"@{'.'.join(domain[i:])}" for i in range(len(domain) - 1)):
        if entry in allowed:
            return "ham", f"allowed: {entry}"
        if entry in blocked:
            return "spam", f"blocked: {entry}"
    return None
