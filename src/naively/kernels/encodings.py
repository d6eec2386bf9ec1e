"""The encoding of text that is not UTF-8 is guessed, and no two of its bytes become one letter."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# --- Whether text is UTF-8 with stray bytes, or in which encoding it is --------------------------
#
# That code page of Latin letters is chosen which makes words of the letters of one
# language; else that of another script whose most usual letters are most of the text.


SAMPLE = 1 << 16  # bytes of words that hold other than ASCII, by which an encoding is guessed
LONG = 1 << 10  # bytes of a word at most
FEW = 2  # words, of which it is not sure in which code page of Latin letters they are
SURE = 0.95  # of the letters are those of one language
CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r\x1a\x1b"))  # of which text has none
MOSTLY = 2  # times as many bytes of other than ASCII letters are UTF-8 as are not, where text is
RUBBISH = 0.02  # a file of which a greater share is such is no text

LATIN = (  # the first of those that are equally good is taken
    *("cp1252", "iso8859_15", "cp1250", "iso8859_2", "cp1254", "cp1257"),
    *("cp850", "cp852", "mac_roman"),
)
GREEK = ("cp1253", "iso8859_7")
SCRIPTS = {  # their encodings, and their letters, the most usual first
    "Cyrillic": (
        ("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic"),
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфіїєёґъјўњљџђћѓќѕ",
    ),
    "Greek": (GREEK, "αοιετσνηυρπκμλςίόγάδήέύχθώφβξζψϊϋΐΰ"),
    "Hebrew": (("cp1255",), "יוהלאבתרמשנםדקעחפגסטזכןצךףץ"),
    "Arabic": (("cp1256", "iso8859_6"), "اليمنرتبوةعدسفهكقأحجشطصخإىذضئزثآغظءؤپچکگی"),
    "Thai": (("tis_620",), "านรอก่เ้งมยลวดทสตัะปบิคีห์แจพชขใไโุูผำื็ซถณธศึษญฉภฟฝฐฎ"),
    "Japanese": (
        ("cp932", "euc_jp"),
        (
            "のいしにたとをはるでがてすなまかっれらもこりさあうんきくよけじどせめちだそおみつえやわろばごぎぶざずー"
            "ンスイルトリアラクドシジロレコタフマメントプグデバサィッ日本人大年出会国上一中的事分行生者時"
        ),
    ),
    "Chinese": (
        ("gb18030", "big5"),
        (
            "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于着下"
            "自之年过過发發后後作里用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小"
            "部其些主样樣理心本前开開但因只从從想实實日免费費请請今明我"
        ),
    ),
    "Korean": (
        ("cp949",),
        (
            "이다는에을의가하고지은한를기도로어리사자아시나니해대서인일그라스정있수게보부여전원들으과구장제오주우안상만세"
            "조마무요국할것개동경"
        ),
    ),
}
NAMED = {  # of those with many letters, what the names of all begin with
    "Japanese": ("HIRAGANA", "KATAKANA", "CJK UNIFIED"),
    "Chinese": ("CJK UNIFIED",),
    "Korean": ("HANGUL SYLLABLE",),
}
COMMON = {  # the first and the last code of letters that are not rare, and the least second byte
    "cp932": (b"\x88\x40", b"\x98\x72"), "euc_jp": (b"\xb0\xa1", b"\xcf\xd3"),
    "gb18030": (b"\xb0\xa1", b"\xd7\xf9"), "big5": (b"\xa4\x40", b"\xc6\x7e"),
    "cp949": (b"\xb0\xa1", b"\xc8\xfe"),
}  # fmt: skip
LIKELY, RARE = 0.55, 0.4  # merit of a letter that is none of the usual ones
ENOUGH = 0.5  # of a text that is in another script
CLOSE = 0.1  # what is said is believed, where no other has so much more merit
KNOWN = [(*encodings, "utf_8", "") for encodings, _ in SCRIPTS.values()]
LETTERS = 36  # of an alphabet, the last of which tell nothing
CAPITAL = 0.92  # of the merit of the small letter
ALPHABETS = """
    äöüß àâæçéèêëîïôœùûüÿ áéíñóúüªº áàâãçéêíóôõúüªº àèéìîòóù àçèéíïòóúü åäöé æøåé
    áðéíóúýþæö ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű
    ăâîşţșț čćđšž çğıi̇öşüâî ąčęėįšųūž āčēģīķļņšūž äõöüšž αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ
    """.split()  # noqa: SIM905
SIGNS = frozenset("€£§°©®™«»‹›“”„‘’–—…•·¿¡½¼¾²³µ×±№´`¨†%\xa0")  # that stand alone,
BETWEEN = "’\xa0"  # or between letters


class Guess(NamedTuple):
    """What a file's text is found to be."""

    encoding: str  # a name that Python knows; "utf-8" where only strays are not UTF-8
    strays: int  # how many bytes are not UTF-8
    script: str = ""  # whose letters these are; empty if they are Latin
    is_text: bool = True  # whether it is text at all
    is_sure: bool = True  # whether its letters are those of a language

    @property
    def title(self) -> str:
        """The name of the encoding, as most call it, and the script."""
        name = re.sub("^cp125", "windows-125", self.encoding).replace("_", "-")
        return f"{name} ({self.script})" if self.script else name


def guess(chunks: Iterable[bytes], said: str = "") -> Guess:
    """Return what a text is, whose bytes are not all UTF-8: what it is said to be, if that fits."""
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
    if said and not any(said in encodings for encodings in (LATIN, *KNOWN)):
        return Guess(said, strays, is_sure=False)
    encoding, script, is_sure = _encoding_of(list(words), said)
    return Guess(encoding, strays, script, is_sure=is_sure)


def _encoding_of(words: list[bytes], said: str) -> tuple[str, str, bool]:
    """Return the encoding of words, their script unless that is Latin, and whether it is sure."""
    others, text = {}, b"\n".join(words)
    for script, (encodings, _) in SCRIPTS.items():
        for encoding in encodings:
            others[encoding, script] = _likeness(text, encoding, script)
    encoding, script = max(others, key=others.__getitem__)
    best = others[encoding, script]
    for of, merit in others.items():
        if of[0] == said and merit >= max(ENOUGH, best - CLOSE):
            return *of, True
    merits = {encoding: _merit(words, encoding) for encoding in LATIN}
    latin = said if merits.get(said, 0.0) >= SURE else max(LATIN, key=merits.__getitem__)
    if merits[latin] >= SURE:
        return latin, "", len(words) > FEW
    lines = text.decode(encoding, "replace").split("\n")
    is_latin = sum(bool(re.search("[A-Za-z]", line)) for line in lines) > len(lines) / 2
    if is_latin or best < ENOUGH:
        return latin, "", False
    if script == "Greek":  # both of its encodings differ in capitals alone
        encoding = max(GREEK, key=lambda encoding: _merit(words, encoding))
    return encoding, script, True


def _likeness(data: bytes, encoding: str, script: str) -> float:
    """Return how much like text in a script other than Latin letters are, from 0 to 1."""
    usual, names = SCRIPTS[script][1], NAMED.get(script, ())
    first, last = COMMON.get(encoding, (b"\0\0", b"\xff"))
    total, value, text = 0.0, 0.0, data.decode(encoding, "replace")
    for character, n in Counter(re.findall("[^\x00-\x7f]", text)).items():
        place, total = usual.find(character.lower()), total + n
        is_sign = unicodedata.category(character)[0] in "PZ" or character in SIGNS
        if place >= 0:
            merit = 1.0 if names else max(0.0, 1 - place / LETTERS)
            value += n * merit * (CAPITAL if character.isupper() else 1)
        elif is_sign or unicodedata.name(character, "").startswith(names or "?"):
            code = character.encode(encoding, "replace")
            is_common = first <= code <= last and code[-1] >= first[1]
            is_rare = not is_common and unicodedata.name(character, "").startswith(names[-1:])
            value += n * (RARE if is_rare else LIKELY)
    odd = sum(a.islower() and b.isupper() for a, b in pairwise(text))
    return (value - odd) / max(total, 1)


def _merit(words: list[bytes], encoding: str) -> float:
    """Return the share of other than ASCII letters that are those of one language, in place."""
    right, total = dict.fromkeys(ALPHABETS, 0), 0
    for word in words:
        text = word.decode(encoding, "replace")
        for i, letter in enumerate(text):
            if letter <= "\x7f":
                continue
            total += 1
            before, after, is_sign = text[i - 1 : i], text[i + 1 : i + 2], letter in SIGNS
            if is_sign:
                in_place = letter in BETWEEN or not (before.isalpha() and after.isalpha())
            elif letter.isupper():
                in_place = not before.islower() and len(text) > 1
            else:
                in_place = letter.islower() or not before.islower()
            for alphabet in ALPHABETS if in_place else ():
                right[alphabet] += is_sign or letter.lower() in alphabet
    return max(right.values()) / max(total, 1)


# --- Bytes that no encoding has a letter for -----------------------------------------------------


STRAY = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(128, 256)
}


def with_letters(text: str) -> tuple[str, int]:
    """Make each stray byte (as "surrogateescape" has it) the letter of windows-1252, and count."""
    # Those that it has no letter for are those of latin-1, so that no two become one.
    return re.subn("[\udc80-\udcff]", lambda stray: STRAY[ord(stray[0])], text)
