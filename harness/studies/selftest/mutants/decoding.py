"""Mistakes of decoders."""

from __future__ import annotations

from dataclasses import replace

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe

toy = Mutant("round-trip", "toy_bytes", PlainBpe, stages=("decode",))

SPELLED = "self.vocabulary.spell(list(ids))"

MUTANTS = (
    toy(
        "replaces-decoded", "What is not UTF-8 comes back as U+FFFD.",
        b"\xff", SPELLED, f"{SPELLED}.decode(errors='replace').encode()",
    ),
    toy(
        "decodes-tokens",
        "Each token is decoded by itself: characters of several tokens are lost.",
        "\xfc".encode(), SPELLED,
        "''.join(self.vocabulary.spelling(i).decode(errors='ignore') for i in ids).encode()",
    ),
    toy(
        "strips-space", "A space at the beginning does not come back.",
        b" a", SPELLED, f"{SPELLED}.removeprefix(b' ')",
    ),
    toy(
        "cleans-up", "Spaces before punctuation are cleaned away.",
        b"a .", SPELLED, f"{SPELLED}.replace(b' .', b'.').replace(b' ,', b',')",
    ),
    toy(
        "stops-at-buffer", "Ids beyond 512 do not come back.",
        b"ab" * 300, SPELLED, "self.vocabulary.spell(list(ids)[:512])",
    ),
    toy(
        "drops-padding", "Ids of zero are dropped as if they were padding.",
        b"\0", SPELLED, "self.vocabulary.spell([i for i in ids if i])",
    ),
    replace(toy, stages=("errored",))(
        "table-too-short", "The last id of the vocabulary is out of the decoder's table.",
        b"123", SPELLED, "b''.join(self.vocabulary.tokens[:-1][i] or b'' for i in ids)",
    ),
    replace(toy, vocabulary="tekken_240911", mode="special", members={"modes": ("special",)})(
        "skips-specials", "Special tokens do not come back, even if nobody asked to skip them.",
        b"<s>", SPELLED,
        "self.vocabulary.spell([i for i in ids if i not in self.specials.values()])",
    ),
)  # fmt: skip
