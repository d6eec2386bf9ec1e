"""The encoding of text that is not UTF-8 is guessed, and no two of its bytes become one letter."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# --- Whether text is UTF-8 with stray bytes, or in which encoding it is --------------------------
#
# charset-normalizer tells scripts apart (Cyrillic, Greek, Japanese, ...), but not the code pages of
# Latin letters: it takes most of Western Europe for windows-1250. Of these, that one is chosen
# which makes words of the letters of one language.


SAMPLE = 1 << 16  # bytes of words that hold other than ASCII, by which an encoding is guessed
LONG = 1 << 10  # bytes of a word at most
SURE = 0.95  # of the letters are those of one language
CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r\x1a\x1b"))  # of which text has none
MOSTLY = 2  # times as many bytes of other than ASCII letters are UTF-8 as are not, where text is
RUBBISH = 0.02  # a file of which a greater share is such is no text

LATIN = (  # the first of those that are equally good is taken
    *("cp1252", "iso8859_15", "cp1250", "iso8859_2", "cp1254", "cp1257"),
    *("cp850", "cp852", "mac_roman"),
)
GREEK = ("cp1253", "iso8859_7")
OTHERS = (  # the most usual ones of each script
    *("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic", *GREEK, "cp1255"),
    *("cp1256", "tis_620", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
ALPHABETS = (
    *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúüªº", "áàâãçéêíóôõúüªº", "àèéìîòóù", "åäöé", "æøåé"),
    *("áðéíóúýþæö", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű"),
    *("ăâîşţșț", "čćđšž", "çğıi̇öşüâî", "ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
    "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
)
SIGNS = frozenset("€£§°©®™«»‹›“”„‘’–—…•·¿¡½¼¾²³µ×±№´`¨†%\xa0")  # that stand alone,
BETWEEN = "’\xa0"  # or between letters
SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "HALFWIDTH": "Japanese",
}


@dataclass(frozen=True)
class Guess:
    """What a file's text is found to be.

    Parameters
    ----------
    encoding : str
        A name that Python knows; "utf-8" where only strays are not UTF-8.
    strays : int
        How many bytes are not UTF-8.
    script : str
        Whose letters these are; empty if they are Latin.
    is_text : bool
        Whether it is text at all.
    """

    encoding: str
    strays: int
    script: str = ""
    is_text: bool = True

    @property
    def title(self) -> str:
        """The name of the encoding, as most call it, and the script.

        >>> Guess("cp1251", 9, "Cyrillic").title
        'windows-1251 (Cyrillic)'
        """
        name = re.sub("^cp125", "windows-125", self.encoding).replace("_", "-")
        return f"{name} ({self.script})" if self.script else name


def guess(chunks: Iterable[bytes]) -> Guess:
    r"""Return what the text of a file is, whose bytes are not all UTF-8.

    Examples
    --------
    >>> guess(["Москва, Казань".encode("cp1251")]).title
    'windows-1251 (Cyrillic)'
    >>> guess(["café, Łódź".encode() + b" caf\xe9"]).encoding
    'utf-8'
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    words: dict[bytes, None] = {}
    size = strays = letters = controls = sampled = 0
    for chunk in chunks:
        size += len(chunk)
        controls += len(chunk) - len(chunk.translate(None, CONTROLS))
        text = decoder.decode(chunk)
        if text.isascii():
            continue
        others = "".join(re.findall("[^\x00-\x7f]+", text))
        found = len(re.findall("[\udc80-\udcff]", others))
        strays += found
        letters += len(others.encode("utf-8", "surrogateescape")) - found  # in bytes
        if sampled < SAMPLE:
            for word in re.findall(rb"[^\x00-\x2f]+", chunk):
                if not word.isascii() and len(word) <= LONG and word not in words:
                    words[word] = None
                    sampled += len(word)
    if controls > RUBBISH * size:
        return Guess("", strays, is_text=False)
    if letters > MOSTLY * strays:
        return Guess("utf-8", strays)
    encoding, script = _encoding_of(list(words))
    return Guess(encoding, strays, script)


def _encoding_of(words: list[bytes]) -> tuple[str, str]:
    """Return the encoding of words, and their script unless that is Latin."""
    merits = {encoding: _merit(words, encoding) for encoding in LATIN}
    latin = max(LATIN, key=merits.__getitem__)
    if merits[latin] >= SURE:
        return latin, ""
    from charset_normalizer import from_bytes

    best = from_bytes(b"\n".join(words), cp_isolation=list(OTHERS)).best()
    script = "" if best is None else _script(str(best))
    if best is None or not script:
        return latin, ""
    if script == "Greek":  # it knows both of its encodings as one
        return max(GREEK, key=lambda encoding: _merit(words, encoding)), script
    return best.encoding, script


def _merit(words: list[bytes], encoding: str) -> float:
    """Return the share of other than ASCII letters that are those of one language, in place."""
    right, total = dict.fromkeys(ALPHABETS, 0), 0
    for word in words:
        text = word.decode(encoding, "replace")
        for i, letter in enumerate(text):
            if letter <= "\x7f":
                continue
            total += 1
            before, after = text[i - 1 : i], text[i + 1 : i + 2]
            if letter in SIGNS:
                stands = letter in BETWEEN or not (before.isalpha() and after.isalpha())
                for alphabet in right:
                    right[alphabet] += stands
            elif letter.islower() or not before.islower():
                alone = letter.isupper() and len(text) == 1
                for alphabet in right:
                    right[alphabet] += letter.lower() in alphabet and not alone
    return max(right.values()) / max(total, 1)


def _script(text: str) -> str:
    """Return the script of most letters, empty if it is Latin, or words are half of Latin ones."""
    counts: dict[str, int] = {}
    lines = text.split("\n")
    if sum(bool(re.search("[A-Za-z]", line)) for line in lines) > len(lines) / 2:
        return ""
    for letter in text:
        if letter > "\x7f" and letter.isalpha():
            script = unicodedata.name(letter, "LATIN").split()[0].split("-")[0]
            script = SCRIPTS.get(script, script.title())
            counts[script] = counts.get(script, 0) + 1
    if counts.get("Japanese"):
        return "Japanese"  # most of whose letters may be Chinese
    most = max(counts, key=counts.__getitem__, default="Latin")
    return "" if most == "Latin" else most


# --- Bytes that no encoding has a letter for -----------------------------------------------------


STRAY = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(128, 256)
}


def with_letters(text: str) -> tuple[str, int]:
    r"""Make each stray byte (as "surrogateescape" has it) the letter of windows-1252, and count.

    Those that it has no letter for are those of latin-1, so that no two become one.

    Examples
    --------
    >>> with_letters(b"caf\xe9 \x80\x81".decode("utf-8", "surrogateescape"))
    ('café €\x81', 3)
    """
    return re.subn("[\udc80-\udcff]", lambda stray: STRAY[ord(stray[0])], text)
