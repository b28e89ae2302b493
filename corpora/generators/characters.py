"""Tables of telling characters, shared by generators and strategies.

From the Unicode Character Database (PropList, EmojiSequences) by number; odd and invisible
characters are written as escapes so that the tables can be read.
"""

from __future__ import annotations

from itertools import product

WHITE_SPACE = tuple(
    map(
        chr,
        [
            *range(0x09, 0x0E),
            0x20,
            0x85,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
        ],
    )
)
"""The 25 characters of the property White_Space, which is what ``\\s`` means in most engines."""

NEARLY_WHITE_SPACE = tuple(
    "\x1c\x1d\x1e\x1f"  # white space to Python and Java, not to Unicode
    "\u200b\u200c\u200d\u2060\ufeff"  # zero width
    "\u180e"  # white space until Unicode 6.3
    "\u00ad\u034f\u115f\u3164\u2800\u2581\u2423"  # blank or blank-like glyphs, SentencePiece's
)
"""Characters taken for white space by some engines, some versions, or some readers."""

APOSTROPHES = ("'", "\u2019", "\uff07", "\u02bc", "`")

CONTRACTION_ENDINGS = ("s", "t", "d", "m", "re", "ve", "ll")
"""Split patterns take these with an apostrophe before them."""

CONTRACTIONS = (
    *(
        f"'{''.join(letters)}"
        for ending in CONTRACTION_ENDINGS
        for letters in product(*((letter, letter.upper()) for letter in ending))
    ),
    *(
        "'\u017f",
        "'l\u017f",
        "'\u017f\u017f",
        "\u2019s",
        "''s",
        "'sz",
        "'S1",
        "'r",
        "'v",
        "'l",
        "'",
    ),
)
"""English contractions in every case, U+017F (folds to s), and near misses."""

WORDS = (
    "a", "I", "x", "the", "The", "THE", "don", "we", "You", "camelCase", "XMLHttp", "HTTPServer",
    "na\u00efve", "e\u0301", "\u4e2d\u6587", "\u0438", "\u03c3\u03c2", "_", "__init__", "-", "--",
    "/", "//", ".", "...", "!", "?!", "(", ")", "{", "}", "\u201c", "\u2014", "\u20ac", "$",
    "\U0001f600", "0", "1", "12", "123", "1234", "1234567", "3.14", "1,000", "\u0661\u0662",
    "\u00b2", "\u00bd", "\u2163", "\uff11",
)  # fmt: skip
"""Short words, numbers and marks: one or two of each class that a pre-tokenizer tells apart."""

SPACES = (
    *WHITE_SPACE, *NEARLY_WHITE_SPACE, " ", " ", " ", " ", "  ", "   ", "    ", "        ", "\n",
    "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\n\r", " \n", "\n ", " \n ", "\t\t", "\t ",
    " \t", "  \n  ", "\n\t", "\u00a0 ", " \u00a0", "\u3000\u3000", " \u200b",
)  # fmt: skip
"""White space of all kinds, single and combined; the common ones more than once."""

ODD_UNITS: dict[str, tuple[str, ...]] = {
    "marks": (
        "e\u0301", "\u0301", "a\u0301\u0327", "a\u0327\u0301", "o\u0308\u0304", "\u0344",
        "A\u030a", "\u0915\u094d\u0937", "\u0e01\u0e33", "\u0e4d\u0e32", "\u05e9\u05bc\u05c1",
        "\u0644\u0651\u064e", "\u20dd", "a\u20dd", "\u0b95\u0bcb", "\u1100\u0301", "\u0f71\u0f72",
        "Z\u0351\u036b\u0343\u032a\u0302\u036b", "\u0301" * 8, "\u3099", "\u304b\u3099",
        "\u0345", "\u1e9b\u0323", "\U0001d157\U0001d165",
    ),
    "jamo": (
        "\u1100\u1161\u11a8", "\u1112\u1161\u11ab", "\u1100", "\u1161", "\u11a8", "\uac00",
        "\uac00\u11a8", "\uac01", "\ud7a3", "\ud7a3\u11a8", "\u1100\u1100\u1161", "\u3131\u314f",
        "\uffa1\uffc2", "\u115f\u1161", "\u1160", "\ua960\ud7b0\ud7cb", "\ud55c\uae00",
    ),
    "widths": (
        "\uff21\uff42\uff43", "\uff11\uff12\uff13", "\uff01", "\uff0c", "\uff5e", "\uff76\uff9e",
        "\uff8a\uff9f", "\uff71", "\uffe6", "\uff61", "\u3000", "\uffee", "\uff07\uff53", "\uff3f",
        "\uff1c\uff5c\uff53\uff5c\uff1e", "\uff65", "\uff9e", "\uff66\uff6f",
    ),
    "ligatures": (
        "\ufb01", "\ufb03", "\ufb06", "o\ufb03ce", "\u0133", "\u01c4", "\u01c5", "\u01c6",
        "\ufb13", "\ufb4f", "\ufefb", "\ufdf2", "\u0153", "\u1e9e", "\ua733", "\u2122", "\u2116",
    ),
    "emoji": (
        "\U0001f600", "\u2764", "\u2764\ufe0f", "\u2764\ufe0e", "\U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\U0001f469\U0001f3ff\u200d\U0001f4bb", "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f1e9\U0001f1ea", "\U0001f1fa\U0001f1f8\U0001f1eb\U0001f1f7", "\U0001f1e6",
        "1\ufe0f\u20e3", "#\ufe0f\u20e3", "*\u20e3", "\U0001f3fd", "\u200d", "\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\U000e0041", "\U000e007f", "\U0001fae0", "\U0001f9d1\u200d\U0001f384", "\u00a9\ufe0f",
    ),
    "bidi": (
        "\u200e", "\u200f", "\u061c", "\u202aabc\u202c", "\u202e\u05d0\u05d1\u202c",
        "\u2066x\u2069", "\u2067\u0627\u2069", "\u05d0\u05d1\u05d2", "\u0627\u0644\u0633",
        "\u202d", "\u2068",
        "\u0661\u0662", "\u06f1\u06f2", "\u05be", "\u060c", "\u061f",
    ),
    "zero width": (
        "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\u2061",
        "\u2064", "\ufff9", "\ufffb", "\U0001d173", "a\u200bb", "\u0646\u200c\u0647",
        "\u0915\u094d\u200d\u0937", "a\u00adb", "\u17b4", "\ufeffa", "\ufe00", "\U000e0100",
    ),
    "expansions": (
        "\ufdfa", "\ufdfb", "\ufdfd", "\u3300", "\u33a2", "\u337f", "\u00bd", "\u2460", "\u32ff",
        "\u3231", "\u2121", "\u2474", "\u1f82", "\u0390", "\u0344", "\U0001d160", "\u2adc",
        "\ufb1d", "\u0958", "\u212b", "\u2126", "\u0340", "\u037e", "\u1fef", "\u2000", "\u2026",
        "\u203c", "\u2033", "\u2057", "\u222d", "\u2a0c", "\U0001f100", "\U0001f240",
        "\U0002f800", "\uf900", "\U0001d400\U0001d41a", "\U0001d7ce", "\u2075", "\u2083", "\u00aa",
    ),
    "casing": (
        "\u0130", "\u0131", "i\u0307", "I\u0307", "\u017f", "\u212a", "\u00df", "\u1e9e", "\u0149",
        "\u01f0", "\u03c3", "\u03c2", "\u03a3", "a\u03a3", "\u1fb7", "\u1f88", "\u01c5", "\u01c8",
        "\u24b6", "\u24d0", "\u13a0", "\uab70", "\U00010400\U00010428", "\u10d0", "\u1c90",
        "\ua64a", "\u1c88", "\u0345", "\u02b0", "\u00ba", "\u2160", "\u2170",
        "\U0001e900\U0001e922",
    ),
    "planes": (
        "\x00", "\x7f", "\x80", "\x9f", "\u0378", "\ue000", "\uf8ff", "\ufdd0", "\ufffc", "\ufffd",
        "\ufffe", "\uffff", "\U00010000", "\U0001ffff", "\U00020000", "\U000323af", "\U000e0001",
        "\U000f0000", "\U0010fffd", "\U0010ffff", "\ud7ff", "\U00016fe4", "\U0001b000",
    ),
}  # fmt: skip
"""Characters and sequences that normalizers, classes and segmenters treat in ways of their own."""

CODEPOINT_TEMPLATES = (
    # Is it a letter, and of which case? GPT-2 and cl100k join letters; o200k starts a new piece
    # at a capital and counts marks to the letters.
    "a{}b", "A{}B", "a{}B", "A{}b", "Aa{}", "{}a", "{}A",
    # Is it a digit? They go in groups of one to three.
    "1{}2", "12{}34", "{}{}{}{}",
    # White space, and what follows it: the only look-ahead of these patterns.
    " {}", " {}a", "  {}x", "\n{} ", " {} {}", "\t{}1", "{}\n\n",
    # Contractions, which fold case.
    "'{}", "a'{}", "a'l{}", "{}'s",
    # Punctuation takes one space before it and line ends (o200k: slashes) after it.
    "!{}\n", "-{}/", "{}{}",
    # Alone, and beside a combining mark.
    "{}", "{}\u0301", "e{}\u0301",
)  # fmt: skip
"""Each shows in the ids when two engines put a character into different classes."""

CLASS_CHARACTERS = (
    "\x00", "\t", "\n", "\r", " ", "'", "-", "/", "0", "A", "_", "a", "s", "\x7f", "\x85",
    "\u00a0", "\u00b2", "\u00df", "\u0130", "\u017f", "\u01c5", "\u02b0", "\u0301", "\u0660",
    "\u2028", "\u200d", "\u2581", "\u3000", "\u4e2d", "\uac00", "\ufb01", "\ufeff", "\ufffd",
    "\U0001f600", "\U0010ffff",
)  # fmt: skip
"""One or two characters of each general category and UTF-8 length that matter."""

CLASS_BYTES = b"\x00\t\n\r '-09A_as\x7f\x80\x85\xa0\xbf\xc0\xc2\xdf\xe0\xe2\xed\xef\xf0\xf4\xf5\xff"
"""One or two bytes of each ASCII class, and each kind of UTF-8 lead and continuation byte."""

BROKEN_UTF8 = (
    b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf\xbf\xbf",  # lone continuations
    b"\xc2", b"\xe2", b"\xe2\x80", b"\xf0", b"\xf0\x9f", b"\xf0\x9f\x98",  # truncated
    b"\xc2a", b"\xe2\x80a", b"\xf0\x9f\x98a", b"\xe2\x80\xe2\x80\x94",  # cut off by the next
    b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80",
    b"\xf0\x8f\xbf\xbf", b"\xc0\xaf",  # overlong
    b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80",  # surrogates, and a pair
    b"\xf4\x90\x80\x80", b"\xf7\xbf\xbf\xbf", b"\xf8\x88\x80\x80\x80",  # beyond U+10FFFF
    b"\xfc\x84\x80\x80\x80\x80", b"\xfe", b"\xff", b"\xff\xfe", b"\xfe\xff",  # never in UTF-8
)  # fmt: skip
"""Ill-formed UTF-8 of every kind (Unicode standard, section 3.9, table 3-7)."""

COMMON_SPECIAL_TEXTS = (
    "<|endoftext|>", "<s>", "</s>", "<unk>", "[INST]", "<|im_start|>", "<0x0A>", "\u2581",
)  # fmt: skip
"""Special-token text of the field, for vocabularies that have none or others."""
