"""Mail becomes rows: broken messages, charsets, HTML, mailboxes, address books."""

from __future__ import annotations

import base64
import mailbox
import random
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.wings import files
from naively.wings.mail.html import visible_text
from naively.wings.mail.learn import learn
from naively.wings.mail.mailbox import read_labelled, read_messages
from naively.wings.mail.message import COLUMNS, decode, read_contacts, read_message
from naively.wings.mail.places import is_mail
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import CLASSES, open_table


def message(**parts: object) -> bytes:
    mail = EmailMessage()
    mail["From"] = "Ann Example <ann@example.org>"
    mail["To"] = "bob@example.net"
    mail["Subject"] = "Grüße"
    for name, value in parts.items():
        mail[name.replace("_", "-")] = str(value)
    return bytes(mail)


def test_parts_and_attachments() -> None:
    mail = EmailMessage()
    mail["Subject"] = "Ein Angebot für dich"
    mail["From"] = "Ann <ann@example.org>"
    mail["X-Mailer"] = "Pen and paper"
    mail["Received"] = "from relay.example.net by mx.example.org"
    mail.set_content("Plain words, schön.", cte="quoted-printable")
    mail.add_alternative(
        "<p>HTML w<b>or</b>ds</p><style>p {}</style>", subtype="html", cte="base64"
    )
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="bill.pdf")
    row = read_message(bytes(mail))
    assert row["subject"] == "Ein Angebot für dich"
    assert row["body"] == "HTML words"  # of alternatives the one that is shown
    assert row["hidden"] == "alternative"
    assert row["attachments"] == "application_pdf bill.pdf"
    assert row["mailer"] == "Pen and paper"
    assert row["received"] == "from relay.example.net by mx.example.org"
    assert "x_mailer" in row["headers"]
    assert set(row) == set(COLUMNS)


def test_what_is_added_at_delivery_changes_nothing() -> None:
    raw = message(Date="Mon, 1 Jan 2024 00:00:00 +0000")
    local = b"X-Naively-Class: ham\nStatus: RO\nX-UID: 4\nDelivered-To: me\nContent-Length: 9\n"
    assert read_message(local + raw) == read_message(raw)
    marked = b"From ann@example.org Mon Jan  1 00:00:00 2024\n" + raw
    assert read_message(marked) == read_message(raw)


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("Grüße".encode(), "iso-8859-1", "Grüße"),
        ("Grüße".encode(), None, "Grüße"),
        ("Grüße".encode("latin-1"), "us-ascii", "Grüße"),
        ("Grüße".encode("latin-1"), "no-such-charset", "Grüße"),
        ("привет".encode("koi8-r"), "koi8-r", "привет"),
        ("こんにちは".encode("iso-2022-jp"), "iso-2022-jp", "こんにちは"),
        (b"plain", "base64", "plain"),
        (b"plain", "idna\0", "plain"),
        (b"", "rot13", ""),
    ],
)
def test_charsets(data: bytes, charset: str | None, text: str) -> None:
    assert decode(data, charset) == text


SAID = {  # what a text may be in whose charset is not said, or not what is said
    "会議は正午です。資料を送ります。": ["iso2022_jp", "cp932", "euc_jp", "utf_16", "utf_16_be"],
    "Купите сейчас дешевые лекарства": ["cp1251", "koi8_r", "iso8859_5", "utf_16_le"],
    "지금 무료로 등록하고 상품을 받으세요": ["cp949", "iso2022_kr"],
    "现在免费注册、领取奖品": ["gbk", "gb18030", "hz"],
    "現在免費註冊、領取獎品": ["big5"],
    "Grüße aus München, schöne Häuser": ["cp1252", "utf_16"],
    "קנה עכשיו תרופות זולות": ["cp1255"],
}


UNTOLD = {
    *[("euc-kr", codec) for codec in ("euc_jp", "cp932", "gbk", "gb18030")],
    ("koi8-r", "cp1255"),
}


@pytest.mark.parametrize(("text", "codec"), [(t, codec) for t, of in SAID.items() for codec in of])
@pytest.mark.parametrize(
    "said", [None, "utf-8", "us-ascii", "iso-8859-1", "x-unknown", "'UTF8'", "koi8-r", "euc-kr"]
)
def test_a_charset_that_is_not_said_or_wrong_is_guessed(
    text: str, codec: str, said: str | None
) -> None:
    if (said, codec) in UNTOLD:
        pytest.skip("it can be read so too")
    data = text.encode(codec)
    kind = f"Content-Type: text/plain; charset={said}\n" if said else ""
    body = f"{kind}Content-Transfer-Encoding: base64\n\n".encode() + base64.encodebytes(data)
    word = f"Subject: =?{said or 'x'}?b?{base64.b64encode(data).decode()}?=\n".encode()
    raw = b"Subject: " + data + b"\n"
    for head in [word] if "utf_16" in codec else [word, raw]:
        notes: dict[str, None] = {}
        row = read_message(head + body, notes=notes)
        assert (row["subject"], row["body"]) == (text, text)
        pairs = {("euc-kr", "cp949"), ("iso-8859-1", "cp1252"), ("koi8-r", "koi8_r")}
        is_said = codec == "utf_16" or (head == word and (said, codec) in pairs)
        assert is_said == (not any(note.startswith("charset guessed: ") for note in notes))


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *[("x-sjis", "cp932"), ("windows-31j", "cp932"), ("csWindows31J", "cp932")],
        *[("ks_c_5601-1987", "cp949"), ("x-windows-949", "cp949"), ("csISO2022JP", "iso2022_jp")],
        *[("unicode-1-1-utf-7", "utf_7"), ("'utf8'", "utf-8"), ("utf8mb4", "utf-8")],
        *[("cp-850", "cp850"), ("IBM-850", "cp850"), ("dos-866", "cp866"), ("win-1251", "cp1251")],
        *[("iso-8859-8-i", "iso8859_8"), ("x-mac-cyrillic", "mac_cyrillic"), ("koi8-ru", "koi8_u")],
        *[("ISO_8859-2:1987", "iso8859_2"), ("windows-1251http-equiv", "cp1251"), ("x-gbk", "gbk")],
        *[("8859_5", "iso8859_5"), ("x-x-big5", "big5"), ("cp65001", "utf-8"), ("ucs-2", "utf_16")],
    ],
)
def test_names_of_charsets(name: str, codec: str) -> None:
    texts = ("会議", "Привет", "ｱ①", "지금 뷁", "现在", "現在", "שלום", "Žluťoučký", "Grüße")
    tried = 0
    for text in texts:
        try:
            data = text.encode(codec)
        except UnicodeError:
            continue
        raw = f"Content-Type: text/plain; charset={name}\n\n".encode() + data
        tried += 1
        assert read_message(raw, notes=(notes := {}))["body"] == text
        assert notes == {}
    assert tried


def test_what_a_charset_lacks_is_read_by_a_wider_one() -> None:
    assert decode("①ｱ".encode("cp932"), "shift_jis") == "①ｱ"
    assert decode("ｱ".encode("iso2022_jp_ext"), "iso-2022-jp") == "ｱ"
    assert decode("뷁".encode("cp949"), "ks_c_5601-1987") == "뷁"
    assert decode("镕".encode("gbk"), "gb2312") == "镕"
    assert decode(b"\x93\x80\x94", "iso-8859-1") == "“€”"
    assert decode("日本語の本です。".encode("euc_jp")[:-1], "euc-jp") == "日本語の本です\ufffd"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("=?utf-8?b?4pyT4g==?=\n =?UTF-8?b?nJM=?=", "✓✓"),  # a letter in two words
        ("=?utf-8?q?a=C3?= =?utf-8?q?=A9_b?= c", "aé b c"),
        ("=?utf-8?Q?Really? Yes?= =?iso-8859-1*fr?q?=E9t=E9?=", "Really? Yesété"),
        ("=?utf-8?b?w6\tk!?= x =?utf-8?b?w6k?=", "é x é"),  # junk, and no padding
        ("a =?x?z?b?= =?utf-8?q?c?=", "a =?x?z?b?= c"),
        ("\u202earga\u202civ", "agraiv"),
    ],
)
def test_encoded_words_are_read_as_they_are_shown(subject: str, text: str) -> None:
    assert read_message(f"Subject: {subject}\n\nx".encode())["subject"] == text


def alternative(plain: str, html: str) -> dict[str, str | bool]:
    mail = EmailMessage()
    mail.set_content(plain)
    mail.add_alternative(html, subtype="html")
    mail.get_payload()[1].make_mixed()  # HTML with its pictures
    return read_message(bytes(mail))


def test_of_alternatives_the_one_that_is_shown_is_read() -> None:
    row = alternative("lunch at noon, http://a.example", "<p>cheap <b>pills</b> http://b.example")
    assert (row["body"], row["links"]) == ("cheap pills http://b.example", "b.example")
    assert row["hidden"] == "alternative"
    for plain in ("Cheap\n pills, at http://a.example/x", "", "cheap pills"):
        assert alternative(plain, "<p>cheap <b>pills</b> here")["hidden"] == ""
    assert alternative("cheap pills lunch noon meeting", "<p>cheap pills")["hidden"] != ""


PLAIN = "Content-Type: text/plain; charset=utf-8"
HTML = "Content-Type: text/html"


@pytest.mark.parametrize(
    ("head", "text", "seen"),
    [
        (f"{PLAIN}; format=flowed; delsp=yes", "> buy pi \n> lls\n-- \nme", "> buy pills\n-- \nme"),
        (f"{PLAIN}; format=flowed", "buy \npills", "buy \npills"),
        (PLAIN, "hi\nbegin 644 a.txt\n#:&D*\n`\nend\nbye", "hi\n\nbye"),
        (PLAIN, "begin 644 times a day\nto take them, and end", None),
        (PLAIN, "buy \u202eslli\u202cp", "buy illsp"),
        (f"{PLAIN}\nContent-Disposition: attachment; filename=a.txt", "lunch", ""),
        (
            f"{HTML}\nContent-Transfer-Encoding: quoted-printable",
            "<p>pi=\nlls &amp; b=75y",
            "pills & buy",
        ),
        (f"{HTML}\nContent-Transfer-Encoding: base64", "PHA+cGls\n!!bHM8L3A+", "pills"),
        (f"{PLAIN}\nContent-Transfer-Encoding: Base64 ; (x)", "cGlsbHM=", "pills"),
        (HTML, "<bdo dir=rtl>sllip</bdo> now", "pills now"),
        (HTML, "<bdo dir=rtl>sl<b>lip</b></bdo> <bdo dir=ltr>now</bdo>", "pills now"),
        (HTML, "<p dir=rtl>pills <i style='unicode-bidi:embed'>now", "pills now"),
        (HTML, "<i style='unicode-bidi:bidi-override; direction:rtl'>sllip</i> now", "pills now"),
        ("Content-Type: multipart/mixed", "buy pills", None),
    ],
)
def test_the_words_are_those_that_a_reader_sees(head: str, text: str, seen: str | None) -> None:
    assert read_message(f"{head}\n\n{text}".encode())["body"] == (text if seen is None else seen)


def test_the_charset_of_html_may_be_in_it() -> None:
    html = "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'><p>Да"
    assert read_message(b"Content-Type: text/html\n\n" + html.encode("koi8-r"))["body"] == "Да"
    for name in ("*=koi8-r''%E4%C1", "*0*=x-koi8''%E4; filename*1*=%C1", "==?koi8-r?q?=E4=C1?="):
        raw = f"Content-Disposition: attachment; filename{name}\n\nx".encode()
        assert read_message(raw)["attachments"] == "text_plain Да\nx"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"no header at all",
        b"\0\0\0",
        b"Subject: =?utf-8?b?!!!?=\n\nx",
        b"Subject: =?no-such?q?=FF?=\n\nx",
        b"Subject: \xff\xfe\n\n\xff",
        b'Content-Type: text/html; charset="\xff"\nContent-Transfer-Encoding: what\n\n<b',
        b"Content-Type: multipart/mixed\n\nno boundary",
        b"Content-Type: multipart/mixed; boundary=a\n\n--a\n\nnever closed",
        b"Content-Type: application/x; name*0*=''%ZZ; name*2=b\n\nx",
        b"Content-Type: text/plain; charset*=x'y\n\nx",
        b"Content-Disposition: attachment; filename*=a'b\n\n",
        b"Content-Transfer-Encoding: base64\n\n=A=B=C",
        b"Content-Transfer-Encoding: uuencode\n\nbegin 644 x\n\xff\n",
        b"Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\n",
        b"Content-Type: multipart/mixed; boundary=a\n\n--a\n" * 2000,
        b'From: a@b, "c <d\n\n',
    ],
)
def test_broken_mail_is_read(raw: bytes) -> None:
    row = read_message(raw, {"a@b"})
    assert {*row} == {*COLUMNS, "sender_in_contacts"}
    assert all(isinstance(row[name], str) for name in COLUMNS)


@given(st.binary(max_size=300), st.lists(st.sampled_from(
    [b"Content-Type: multipart/mixed; boundary=x\n", b"--x\n", b"--x--\n", b"\n", b"Subject: =?",
     b"utf-8?b?", b"?=", b"Content-Type: text/html\n", b"<a href=http://x.y/>", b"name*0*=",
     b"Content-Transfer-Encoding: base64\n", b'Content-Disposition: attachment; filename="',
     b"\r", b"\xff"])))  # fmt: skip
def test_no_bytes_are_an_error(noise: bytes, pieces: list[bytes]) -> None:
    row = read_message(b"".join(pieces) + noise)
    assert {*row} == {*COLUMNS}


def test_visible_text() -> None:
    html = (
        "<head><title>no</title></head><script>no()</script><h1>Yes</h1>and<br>yes"
        "<!-- no --><p>f<span>r</span>ee <a href='HTTP://Shop.example:80/x?y'>here"
        "<img src='http://pixel.example/1.gif'>"
    )
    seen = visible_text(html)
    assert seen.text.split() == ["Yes", "and", "yes", "free", "here"]
    assert (seen.links, seen.hidden) == (["Shop.example:80", "pixel.example"], [])
    assert visible_text("<div>" * 3000 + "deep").text == "deep"
    assert visible_text("").text == ""


def test_contacts() -> None:
    card = "BEGIN:VCARD\r\nFN:Ann\r\nEMAIL;TYPE=INTERNET:ann@exa\r\n mple.org\r\nEND:VCARD\r\n"
    assert read_contacts(card) == {"ann@example.org"}
    listed = '"Bob" <Bob@Example.net>, cid@example.com\nann@example.org;'
    assert read_contacts(listed) == {"bob@example.net", "cid@example.com", "ann@example.org"}
    assert read_message(message(), read_contacts(card))["sender_in_contacts"] is True
    assert read_message(message(), frozenset())["sender_in_contacts"] is False


def test_mailboxes(tmp_path: Path) -> None:
    raw = [message(Message_ID=f"<{i}@example.org>") for i in range(3)]
    mbox = mailbox.mbox(tmp_path / "spam")
    maildir = mailbox.Maildir(tmp_path / "ham")
    for one in raw:
        mbox.add(one)
        maildir.add(one)
    mbox.close()
    (tmp_path / "ham" / "new" / "one.eml").write_bytes(b"From x\nSubject: own\n\nFrom here on\n")
    assert list(read_messages(tmp_path / "spam")) == raw
    assert sorted(read_messages(tmp_path / "ham"))[1:] == sorted(raw)
    assert is_mail(tmp_path)
    labels = [label for _, label in read_labelled(tmp_path)]
    assert labels == ["ham"] * 4 + ["spam"] * 3


def test_mail_is_a_table(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.eml").write_bytes(message())
    table = files.read(tmp_path).values
    assert list(table) == [*COLUMNS, "label"]
    assert table["label"].tolist() == ["ham", "spam"]
    assert table["subject"].tolist() == ["Grüße", "Grüße"]
    assert table["mailer"].tolist() == [None, None]
    assert list(files.read(tmp_path / "ham" / "1.eml").values) == [*COLUMNS]
    assert list(files.read(tmp_path, columns=["subject", "label"]).values) == ["subject", "label"]


def test_a_folder_of_texts_is_no_mail(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").write_text("Subject: a text\n")
    assert not is_mail(tmp_path)
    assert list(files.read(tmp_path).values) == ["text", "label"]


def test_a_message_file_is_one_message(tmp_path: Path) -> None:
    raw = b"From x\nSubject: own\n\nsays\n\nFrom here on\n"
    (tmp_path / "a.eml").write_bytes(raw)
    assert list(read_messages(tmp_path / "a.eml")) == [raw]


def test_labels_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(b"a")
    (tmp_path / "labels.csv").write_text("a.eml,spam\n")
    assert list(read_labelled(tmp_path, tmp_path / "labels.csv")) == [(b"a", "spam")]
    (tmp_path / "labels.csv").write_text("b.eml,spam\n")
    with pytest.raises(FileNotFoundError, match=r"names b\.eml"):
        list(read_labelled(tmp_path, tmp_path / "labels.csv"))
    (tmp_path / "labels.csv").write_text("a.eml\n")
    with pytest.raises(ValueError, match="row 1"):
        list(read_labelled(tmp_path, tmp_path / "labels.csv"))
    with pytest.raises(ValueError, match="does not say the class"):
        list(read_labelled(tmp_path))


def test_no_real_message_is_lost(spamassassin: Path) -> None:
    rows = [(read_message(raw), label) for raw, label in read_labelled(spamassassin)]
    assert len(rows) == 3250
    assert sum(label == "spam" for _, label in rows) == 500
    assert sum(bool(str(row["body"]).strip()) for row, _ in rows) >= 3240


@pytest.mark.parametrize("subject", ["=?utf-8?b?abcde?=", "=?no-such-code?q?abc", "a =?b"])
def test_subject_that_cannot_be_decoded_is_kept(subject: str) -> None:
    assert read_message(f"Subject: {subject}\n\nbody".encode())["subject"] == subject


def test_words_in_mail_nested_too_deep_to_parse_are_found() -> None:
    raw = b"Content-Type: message/rfc822\n\n" * 5000 + b"From: a@b.example\n\nthe last words"
    assert "the last words" in str(read_message(raw)["body"])


def test_folders_of_a_maildir_are_read(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "box")
    box.add(message(X_Place="top"))
    box.add_folder("2026").add(message(X_Place="folder"))
    box.get_folder("2026").add_folder("May").add(message(X_Place="deeper"))
    found = b"".join(read_messages(tmp_path / "box"))
    assert [found.count(place) for place in (b"top", b"folder", b"deeper")] == [1, 1, 1]


MAILS = {  # in each class other words, of a script of its own
    "zh": ("优惠 特价发票 免费领取 点击链接", "明天 会议 地点 在办公室 请带上 合同"),
    "ja": ("当選 おめでとう 無料 登録 今すぐ", "明日 会議 資料 送付 よろしく お願いします"),
    "ru": ("выигрыш бесплатно срочно ссылка приз", "совещание завтра отчёт договор спасибо"),
    "th": ("ฟรี รางวัล คลิก เงินด่วน", "ประชุม พรุ่งนี้ เอกสาร รายงาน"),
    "ar": ("مَجَّانًا جائزة اضغط هنا", "اجتماع غدًا التقرير المرفق"),
}


@pytest.mark.parametrize("language", MAILS)
@pytest.mark.parametrize("spaced", [True, False])
def test_mail_of_every_language_is_told_apart(language: str, spaced: bool, tmp_path: Path) -> None:
    if not spaced and language in ("ru", "ar"):
        pytest.skip("it is written with spaces")
    rng = random.Random(0)

    def body(spam: int) -> str:
        words = MAILS[language][1 - spam].split()
        return (" " if spaced else "").join(rng.choices(words, k=6))

    rows = [({"body": body(i % 2)}, CLASSES[i % 2]) for i in range(60)]
    path = str(tmp_path / "m.naively")
    learn(path, rows)
    table = open_table(path)
    for spam in (0, 1):
        verdicts = [Verdict(table, words_of({"body": body(spam)})) for _ in range(20)]
        assert all((verdict.probability > 0.9) == spam for verdict in verdicts)
        assert all((verdict.probability < 0.1) != spam for verdict in verdicts)


def test_words_of_another_unicode_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rows = str(tmp_path / "m.naively"), [({"body": "one two"}, "ham")]
    learn(path, rows)
    before = Path(path).read_bytes()
    monkeypatch.setattr("naively.wings.mail.learn.unicode_version", lambda: "99.0.0")
    message = r"m.naively has the words of Unicode 16.0.0, and this version .* 99.0.0: learn"
    with pytest.raises(ValueError, match=message):
        learn(path, rows)
    assert Path(path).read_bytes() == before
