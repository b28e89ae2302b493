"""Mistakes of SentencePiece BPE: order, white space, byte fallback, user-defined symbols."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.pieces import PlainSpm

KEY = "queue, (merge[0], left, merge[1])"
PREFIX = 'text = f" {text}"'
BYTES = "[self.byte_ids[byte] for byte in part.encode()]"

toy = Mutant("equivalence", "toy_characters", PlainSpm, "text", at='text.replace(" ", SPACE)')

MUTANTS = (
    toy(
        "rightmost-first",
        "The best pair that stands furthest to the right is merged, even before a better one.",
        b"K aba", KEY, "queue, (-left, left, merge[1])", stage="merges",
    ),
    toy(
        "last-tie", "Of pairs of one score the rightmost is merged first.",
        b"aaaa", KEY, "queue, ((merge[0], -left), left, merge[1])",
        vocabulary="mistral_v3", stage="merges",
    ),
    toy(
        "worst-first", "The pair of the worst score is merged first: the sign is lost.",
        b"aba", KEY, "queue, (-merge[0], left, merge[1])", stage="merges",
    ),
    toy(
        "no-dummy-space", "The space that belongs before the text is missing.",
        b"a", PREFIX, "pass", stage="white-space merges",
    ),
    toy(
        "space-only-if-none",
        "The space is put before the text only if it does not begin with one.",
        b" a", PREFIX, "text = ' ' * (text[0] != ' ') + text", stage="white-space merges",
    ),
    toy(
        "merges-spaces", "Runs of spaces become one, which the vocabulary does not ask for.",
        b"a  b", "re.sub(' +', SPACE, text)",
    ),
    toy(
        "tabs-are-spaces", "Tabs are escaped like spaces.",
        b"a\tb", r"re.sub('[ \t]', SPACE, text)",
    ),
    toy(
        "no-byte-fallback",
        "A character without a piece is unknown, although there are byte pieces.",
        "\u20ac".encode(), BYTES, "[self.unknown]", stage="byte-fallback",
    ),
    toy(
        "first-byte-only", "Of a character without a piece only the first byte is kept.",
        "\u20ac".encode(), BYTES, "@[:1]",
    ),
    toy(
        "bytes-backwards", "The bytes of a character without a piece are in the wrong order.",
        "\u20ac".encode(), BYTES, "@[::-1]",
    ),
    toy(
        "users-merge",
        "User-defined symbols are not cut out: their characters merge as any others.",
        b"[REFERENCE_DOC_1]", '[*map(re.escape, self.users), "."]', "'.'", vocabulary="mistral_v3",
    ),
    toy(
        "drops-marks", "Combining marks are dropped.",
        "a\u0301".encode(), r"re.sub('[\u0300-\u036f]', '', text).replace(' ', SPACE)",
    ),
)  # fmt: skip
