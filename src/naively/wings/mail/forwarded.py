"""The messages that a message forwards as attachments, to be learned instead of it."""

from __future__ import annotations

from email.policy import compat32

from naively.wings.mail.message import take_apart, within_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from typing import Any

AS_IT_CAME = compat32.clone(max_line_length=0)  # headers are not folded anew


def forwarded(raw: bytes) -> list[bytes]:
    """Return the messages that are attached to a message."""
    message, _ = take_apart(within_limits(raw, {}), {})
    found = [inner.as_bytes(policy=AS_IT_CAME) for inner in _attached(message)]
    if not found:
        raise ValueError(
            "A message has no other attached to it. Forward as attachment, as mail that is "
            "forwarded as text has lost its headers."
        )
    return found


def _attached(message: Message) -> Iterator[Message]:
    """Yield the messages in a message, and not what is in these."""
    parts: Any = message.get_payload() if message.is_multipart() else ()
    for part in parts:
        if message.get_content_type() == "message/rfc822":
            yield part
        else:
            yield from _attached(part)
