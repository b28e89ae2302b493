"""Mistakes of SentencePiece BPE: order, white space, byte fallback, user-defined symbols."""

from __future__ import annotations

from dataclasses import replace

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.spm import PlainSpm

toy = Mutant("equivalence", "toy_characters", PlainSpm, "text")
merges = replace(toy, stages=("merges",))
spaces = replace(toy, stages=("white-space", "merges"))

KEY = "found[0], place"
PREFIX = 'text = f" {text}"'
ESCAPED = 'text.replace(" ", SPACE)'
BYTES = "[self.byte_ids[byte] for byte in part.encode()]"

MUTANTS = (
    merges(
        "rightmost-first",
        "The best pair that stands furthest to the right is merged, even before a better one.",
        b"K aba", KEY, "-place, 0",
    ),
    replace(merges, vocabulary="mistral_v3")(
        "last-tie", "Of pairs of one score the rightmost is merged first.",
        b"aaaa", KEY, "found[0], -place",
    ),
    merges(
        "worst-first", "The pair of the worst score is merged first: the sign is lost.",
        b"aba", KEY, "-found[0], place",
    ),
    spaces(
        "no-dummy-space", "The space that belongs before the text is missing.",
        b"a", PREFIX, "pass",
    ),
    spaces(
        "space-only-if-none",
        "The space is put before the text only if it does not begin with one.",
        b" a", PREFIX, "text = ' ' * (text[0] != ' ') + text",
    ),
    toy(
        "merges-spaces", "Runs of spaces become one, which the vocabulary does not ask for.",
        b"a  b", ESCAPED, "re.sub(' +', SPACE, text)",
    ),
    toy(
        "tabs-are-spaces", "Tabs are escaped like spaces.",
        b"a\tb", ESCAPED, r"re.sub('[ \t]', SPACE, text)",
    ),
    replace(toy, stages=("byte-fallback",))(
        "no-byte-fallback",
        "A character without a piece is unknown, although there are byte pieces.",
        "\u20ac".encode(), BYTES, "[self.unknown]",
    ),
    toy(
        "first-byte-only", "Of a character without a piece only the first byte is kept.",
        "\u20ac".encode(), BYTES, f"{BYTES}[:1]",
    ),
    toy(
        "bytes-backwards", "The bytes of a character without a piece are in the wrong order.",
        "\u20ac".encode(), BYTES, f"{BYTES}[::-1]",
    ),
    replace(toy, vocabulary="mistral_v3")(
        "users-merge",
        "User-defined symbols are not cut out: their characters merge as any others.",
        b"[REFERENCE_DOC_1]", "[*map(re.escape, self.users), \".\"]", "'.'",
    ),
    toy(
        "drops-marks", "Combining marks are dropped.",
        "a\u0301".encode(), ESCAPED, r"re.sub('[\u0300-\u036f]', '', text).replace(' ', SPACE)",
    ),
)  # fmt: skip
