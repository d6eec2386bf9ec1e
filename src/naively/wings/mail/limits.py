"""What is read of one message at most, whoever wrote it: no message takes long or much memory.

What is beyond a limit is cut off, or, where a cut would leave nothing to be parsed, the message is
read as plain text. A note says so in either case. Ordinary mail is far within these limits
(docs/decisions/0011-mail.md).
"""

BYTES = 8 << 20  # of a message; the filter holds as many in memory, and passes on what follows
LINES = 150_000  # 8 MiB hold as many of the usual length
MARKED_LINES = 10_000  # of a head, after which the filter's own headers come in any case

PARTS = 1_000
DEPTH = 20  # parts in parts: a line is compared with the boundary of each

HEADERS = 5_000  # of all parts
HEADER_LENGTH = 20_000  # characters of one header
ALL_HEADERS_LENGTH = 300_000  # characters of all headers
PARAMETERS_LENGTH = 2_000  # characters of a header that has parameters
SEMICOLONS = 200  # between parameters; `email` looks for quotes again at each
SENDER_LENGTH = 2_000  # characters of a sender that is looked for among the contacts
COMMENTS = 20  # in parentheses of a sender, which the standard library reads one in another
CHARSET_LENGTH = 40  # characters of a charset's name
GUESSES = 3  # charsets of one message
GUESSED = 4_096  # bytes that a charset is guessed by

TEXT_BYTES = 1 << 20  # of the text of all parts
HTML_LENGTH = 100_000  # characters of a part of HTML; no reader reads on beyond them
ALL_HTML_LENGTH = 3 * HTML_LENGTH  # characters of HTML that are parsed
OPEN_ELEMENTS = 5_000_000  # of HTML, summed over all tags: 40 ms; ordinary mail comes to 30,000
MISNESTED = 100_000  # open elements that are passed where one ends out of its place: 10 ms
REOPENED = 10  # of these, as many as it takes the time of, to open one again
TAG_LENGTH = 10_000  # characters of HTML without a >: attributes cost the square of their number

WORDS = 50_000  # different ones; ordinary mail has 10,000
WORD_LENGTH = 40  # characters; longer ones are the remains of encodings
