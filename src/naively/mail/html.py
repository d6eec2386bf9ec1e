"""The text of HTML that its reader sees, by lexbor, which is given nothing that takes it long.

Nested elements cost lexbor time by the square of their number. Elements that only format cost
memory too, as lexbor opens them again in each paragraph. An element within a word tells nothing
about the text but its link, so it becomes ``<wbr>``, which is never open; other elements are
counted before lexbor parses them.
"""

from __future__ import annotations

import re

from naively.mail.limits import HTML_LENGTH, OPEN_ELEMENTS, TAG_LENGTH

# These elements may begin and end within a word; any other element separates words.
WITHIN_WORDS = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
]  # fmt: skip
# These patterns are compiled when they are first used, as most mail has no HTML.
WITHIN_WORD = rf"(?i)</?(?:{'|'.join(WITHIN_WORDS)})(?=[\s/>])"
FORMATS_LINES = r"(?i)</?nobr(?=[\s/>])"
INVISIBLE = ["script", "style", "head", "template", "noscript"]
NEVER_OPEN = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
}  # fmt: skip
TAG = r"<(/?)([a-z][^\s/>]*)"
LONG_TAG = rf"<[^>]{{{TAG_LENGTH}}}"
IS_DATA = r"(?i)[\"']data:[^\"'>]*"  # long, and one attribute
LINK = re.compile(r"https?://([^\s/\"'<>?#]+)", re.IGNORECASE)


def visible_text(html: str) -> tuple[str, list[str]] | None:
    """Return the text that a reader of HTML sees, and the hosts that it links to.

    The result is None if parsing would take long: elements are nested too deep, or have too many
    attributes.

    Examples
    --------
    >>> visible_text("<style>p {}</style><p>V<b>IA</b>GRA<p>now<a href='http://a.org/x'>!</a>")
    ('VIAGRA now!', ['a.org'])
    >>> visible_text("<div>" * 4000) is None
    True
    """
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    html = re.sub(FORMATS_LINES, "<br", re.sub(WITHIN_WORD, "<wbr", html[:HTML_LENGTH]))
    if _is_long_to_parse(html):
        return None
    try:
        tree = LexborHTMLParser(html)
    except SelectolaxError:
        return None
    links = [
        host
        for node in tree.css("[href], [src], [action]")
        for name in ("href", "src", "action")
        for host in LINK.findall(node.attributes.get(name) or "")
    ]
    tree.strip_tags([*INVISIBLE, "wbr"])
    tree.merge_text_nodes()
    return (tree.body.text(separator=" ").strip() if tree.body else ""), links


def _is_long_to_parse(html: str) -> bool:
    """Whether a tag is very long, or the open elements, summed over all tags, are too many."""
    if len(html) > TAG_LENGTH and re.search(LONG_TAG, re.sub(IS_DATA, "", html)):
        return True
    begun: dict[str, int] = {}
    depth = work = 0
    for end, name in re.findall(TAG, html.lower()):
        if not end:
            if name not in NEVER_OPEN:
                begun[name] = begun.get(name, 0) + 1
                depth += 1
        elif begun.get(name):
            begun[name] -= 1
            depth -= 1
        work += depth
    return work > OPEN_ELEMENTS
