"""Mistakes of decoders."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe

toy = Mutant(
    "round-trip", "toy_bytes", PlainBpe, stage="decode", at="self.vocabulary.spell(list(ids))"
)

MUTANTS = (
    toy(
        "replaces-decoded", "What is not UTF-8 comes back as U+FFFD.",
        b"\xff", "@.decode(errors='replace').encode()",
    ),
    toy(
        "decodes-tokens",
        "Each token is decoded by itself: characters of several tokens are lost.",
        "\xfc".encode(),
        "''.join(self.vocabulary.spelling(i).decode(errors='ignore') for i in ids).encode()",
    ),
    toy(
        "strips-space", "A space at the beginning does not come back.",
        b" a", "@.removeprefix(b' ')",
    ),
    toy(
        "cleans-up", "Spaces before punctuation are cleaned away.",
        b"a .", "@.replace(b' .', b'.').replace(b' ,', b',')",
    ),
    toy(
        "stops-at-buffer", "Ids beyond 512 do not come back.",
        b"ab" * 300, "self.vocabulary.spell(list(ids)[:512])",
    ),
    toy(
        "drops-padding", "Ids of zero are dropped as if they were padding.",
        b"\0", "self.vocabulary.spell([i for i in ids if i])",
    ),
    toy(
        "table-too-short", "The last id of the vocabulary is out of the decoder's table.",
        b"123", "b''.join(self.vocabulary.tokens[:-1][i] or b'' for i in ids)", stage="errored",
    ),
    toy(
        "skips-specials", "Special tokens do not come back, even if nobody asked to skip them.",
        b"<s>", "self.vocabulary.spell([i for i in ids if i not in self.specials.values()])",
        vocabulary="tekken_240911", mode="special",
    ),
)  # fmt: skip
