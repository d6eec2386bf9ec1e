"""Bytes of mail become text, by codecs whose time follows the length of the text."""

from __future__ import annotations

from encodings import normalize_encoding
from encodings.aliases import aliases

from naively.mail.limits import CHARSET_LENGTH

# These are Python's names of codecs. Among those left out are punycode and idna, which take
# time by the square of the length, and codecs that decode to anything but text.
LINEAR = """
    ascii latin_1 utf_7 utf_8 utf_8_sig utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le
    iso8859_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9
    iso8859_10 iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16
    cp037 cp273 cp424 cp437 cp500 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861
    cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp875 cp932 cp949 cp950 cp1006 cp1026 cp1125 cp1140
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    big5 big5hkscs gb2312 gbk gb18030 hz euc_jp euc_jis_2004 euc_jisx0213 euc_kr johab
    iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr
    shift_jis shift_jis_2004 shift_jisx0213 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620
    hp_roman8 palmos mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek mac_iceland
    mac_latin2 mac_roman mac_romanian mac_turkish
    """.split()  # noqa: SIM905


def decode(data: bytes, charset: str | None = None) -> str:
    r"""Decode text by the charset that it has, which need not be the one that it declares.

    Bytes that are valid UTF-8 and not ASCII are UTF-8. Else they have the declared charset, if they
    can be decoded by it; else they are Windows-1252, as most text without a declaration is.

    Examples
    --------
    >>> decode("é".encode(), "iso-8859-1"), decode(b"\xe9", "utf-8"), decode(b"\xe9", "no-such")
    ('é', 'é', 'é')
    """
    declared = _codec(charset) if charset else "ascii"
    for name in (declared, "utf-8") if data.isascii() else ("utf-8", declared):
        if name is not None:
            try:
                text = data.decode(name)
            except ValueError:
                continue
            if name == "utf_7":  # it may hold halves of characters, which nothing can write
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return text
    return data.decode("windows-1252", "replace")


def _codec(charset: str) -> str | None:
    """Return Python's name of a charset, or None; to ask Python takes long for an unknown one."""
    if len(charset) > CHARSET_LENGTH or not charset.isascii():
        return None
    name = normalize_encoding(charset).lower()
    name = aliases.get(name) or aliases.get(name.replace(".", "_")) or name
    return name if name in LINEAR else None
