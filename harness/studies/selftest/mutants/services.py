"""Mistakes of the services: counts, chunks, texts that grow, intervals."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainServices

BEGINNINGS = "return [self.size(text, mode) for text in accumulate(chunks)]"

toy = Mutant("incremental", "toy_bytes", PlainServices, stage="append", at=BEGINNINGS)
interval = toy(
    "", "", check="interval", stage="interval", at="self.size(text[start:end], mode)"
)  # fmt: skip
till_limit = toy(
    "", "", check="count-till-limit", stage="count_till_limit", at="if count <= limit"
)  # fmt: skip
split = toy("", "", check="split", stage="cover", at="return ends[1:]")

MUTANTS = (
    toy(
        "appends-late", "The last byte is not counted yet.",
        b"a", "return [self.size(text[:-1], mode) for text in accumulate(chunks)]",
    ),
    toy(
        "appends-chunks", "Chunks are encoded by themselves: wrong where a token spans two.",
        b"the", "return list(accumulate(self.size(one, mode) for one in chunks))",
    ),
    toy(
        "prepends-behind", "Puts the chunks behind those already there.",
        b"the", "accumulate(chunks, lambda a, b: b + a)", "accumulate(chunks)", stage="prepend",
    ),
    toy(
        "append-raises", "A text that grows runs out of rows.",
        b"a", "raise IndexError('row 7 of 7')", stage="append-errored",
    ),
    toy(
        "append-gives-fewer", "The count after the first chunk is left out.",
        b"a", "@[1:]", stage="append-errored",
    ),
    interval(
        "end-inclusive", "The end of an interval is taken for its last byte.",
        b"abc", "self.size(text[start : end + 1], mode)",
    ),
    interval(
        "differences",
        "Subtracts the counts of two prefixes, as if the tokens between them stayed the same.",
        b"the the the", "max(0, self.size(text[:end], mode) - self.size(text[:start], mode))",
    ),
    till_limit(
        "counts-one-more",
        "``count`` alone gives one too many: it counts an end-of-text token.",
        b"a", "return self.size(data, mode)", "@ + 1", stage="count",
    ),
    till_limit(
        "stops-at-the-limit", "Null already where the count is the limit.",
        b"abc", "if count < limit",
    ),
    till_limit(
        "stops-late", "Null only where the count is past the limit by two.",
        b"abc", "@ + 1",
    ),
    split(
        "splits-one-more", "A token too many in a chunk.",
        b"abcdef", "self.size(data[start:cut], mode) <= limit", "@ + 1", stage="limit",
    ),
    split(
        "splits-characters", "Cuts inside characters.",
        b"\xc3\xa9", "return list(range(1, len(data) + 1))", stage="character",
    ),
    split(
        "splits-empty", "The first chunk is followed by an empty one.",
        b"abcdef", "return ends[1:2] + ends[1:]",
    ),
    split("splits-short", "Forgets the last chunk.", b"abcdef", "return ends[1:-1]"),
    split(
        "no-method", "Claims what it does not do.", b"a",
        split=property(lambda _: None), stage="split-errored",
    ),
)  # fmt: skip
