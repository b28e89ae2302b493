"""Mistakes with special tokens."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe

on = Mutant("equivalence", "tekken_240911", PlainBpe, "special", "special-tokens", "if at % 2:")

MUTANTS = (
    on(
        "always-on",
        "Special tokens are read from ordinary text, too: what a prompt injects is obeyed.",
        b"<s>", 'if mode.special == "none"', "if False", mode="text",
    ),
    on(
        "not-at-the-end", "A special token that ends the text is taken for text.",
        b"a<s>", "'(?!)'})", "'(?!)'})(?=(?s:.))",
    ),
    on(
        "not-adjacent", "Of two special tokens side by side, the second is taken for text.",
        b"<s><s>a", "if at % 2 and (at == 1 or parts[at - 1]):",
    ),
    on(
        "any-case", "Special tokens are found in capitals, too.",
        b"<S>", "dict(self.vocabulary.special_tokens)",
        "@ | {one.upper(): self.vocabulary.special_tokens[one] for one in ('<s>', '</s>')}",
    ),
    on(
        "strips-before", "White space before a special token is dropped.",
        b"a <s>", "self.pieces(part)",
        "self.pieces(part.rstrip() if at + 1 < len(parts) else part)", stage="text",
    ),
    on(
        "first-only", "Only the first of several equal special tokens is found.",
        b"<s>a<s>", "if at % 2 and part not in parts[:at]:",
    ),
)  # fmt: skip
