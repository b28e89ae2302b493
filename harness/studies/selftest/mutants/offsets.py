"""Mistakes of offsets."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Mode

__all__ = ["Mode"]  # for the changed texts

toy = Mutant("offsets", "toy_bytes", PlainBpe, stage="text", at="return ids, spans")

MUTANTS = (
    toy(
        "in-characters", "Offsets count characters, not bytes.",
        "\xe91".encode(),
        "return ids, [tuple(len(data[:one].decode(errors='ignore')) for one in span)"
        " for span in spans]",
    ),
    toy(
        "end-inclusive", "Ends are those of the last byte, not those after it.",
        b"ab", "return ids, [(start, end - 1) for start, end in spans]",
    ),
    toy(
        "trims-space", "The space at a token's beginning is left out of its range.",
        b" the",
        "return ids, [(start + (data[start:end][:1] == b' '), end) for start, end in spans]",
    ),
    toy(
        "beyond-the-end", "The last range ends a byte beyond the text.",
        b"a", "return ids, [*spans[:-1], *((start, end + 1) for start, end in spans[-1:])]",
        stage="range",
    ),
    toy(
        "reversed", "In texts of several tokens the last two ranges are exchanged.",
        b"abcde", "return ids, [*spans[:-2], *spans[-2:][::-1]]", stage="order text",
    ),
    toy(
        "other-ids", "With offsets, nothing is pre-tokenized, so that the ids are others.",
        b"  the", "ids = self.encode(data, mode)\n",
        # What is refused stays so.
        "self.encode(data, mode); ids = self.encode(data, Mode(pretokenize=False))\n",
        mode="text", stage="ids",
    ),
    toy(
        "one-too-few", "A text of more than 256 tokens has a range too few.",
        b"a" * 300, "return ids, spans[: len(spans) - (len(spans) > 256)]", stage="errored",
    ),
)  # fmt: skip
