"""Mistakes of the services: counts, chunks, texts that grow, intervals."""

from __future__ import annotations

from dataclasses import replace

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.bpe import PlainServices

toy = Mutant("incremental", "toy_bytes", PlainServices, stages=("append",))
interval = replace(toy, check="interval", stages=("interval",))
till_limit = replace(toy, check="count-till-limit", stages=("count_till_limit",))
split = replace(toy, check="split", stages=("cover",))

BEGINNINGS = "return [self.size(text, mode) for text in accumulate(chunks)]"
ENDS = "accumulate(chunks, lambda a, b: b + a)"
FIT = "self.size(data[start:cut], mode) <= limit"
SPLIT = "return ends"

MUTANTS = (
    toy(
        "appends-late", "The last byte is not counted yet.",
        b"a", BEGINNINGS, "return [self.size(text[:-1], mode) for text in accumulate(chunks)]",
    ),
    toy(
        "appends-chunks", "Chunks are encoded by themselves: wrong where a token spans two.",
        b"the", BEGINNINGS, "return list(accumulate(self.size(one, mode) for one in chunks))",
    ),
    replace(toy, stages=("prepend",))(
        "prepends-behind", "Puts the chunks behind those already there.",
        b"the", ENDS, "accumulate(chunks)",
    ),
    replace(toy, stages=("append-errored",))(
        "append-raises", "A text that grows runs out of rows.",
        b"a", BEGINNINGS, "raise IndexError('row 7 of 7')",
    ),
    replace(toy, stages=("append-errored",))(
        "append-gives-fewer", "The count after the first chunk is left out.",
        b"a", BEGINNINGS, f"{BEGINNINGS}[1:]",
    ),
    interval(
        "end-inclusive", "The end of an interval is taken for its last byte.",
        b"abc", "self.size(text[start:end], mode)", "self.size(text[start : end + 1], mode)",
    ),
    interval(
        "differences",
        "Subtracts the counts of two prefixes, as if the tokens between them stayed the same.",
        b"the the the", "self.size(text[start:end], mode)",
        "max(0, self.size(text[:end], mode) - self.size(text[:start], mode))",
    ),
    replace(till_limit, stages=("count",))(
        "counts-one-more",
        "``count`` alone gives one too many: it counts an end-of-text token.",
        b"a", "return self.size(data, mode)", "return self.size(data, mode) + 1",
    ),
    till_limit(
        "stops-at-the-limit", "Null already where the count is the limit.",
        b"abc", "if count <= limit", "if count < limit",
    ),
    till_limit(
        "stops-late", "Null only where the count is past the limit by two.",
        b"abc", "if count <= limit", "if count <= limit + 1",
    ),
    replace(split, stages=("limit",))(
        "splits-one-more", "A token too many in a chunk.",
        b"abcdef", FIT, f"{FIT} + 1",
    ),
    replace(split, stages=("character",))(
        "splits-characters", "Cuts inside characters.",
        b"\xc3\xa9", SPLIT, "return list(range(1, len(data) + 1))",
    ),
    split(
        "splits-empty", "The first chunk is followed by an empty one.",
        b"abcdef", SPLIT, "return ends[:1] + ends",
    ),
    split("splits-short", "Forgets the last chunk.", b"abcdef", SPLIT, "return ends[:-1]"),
    replace(split, stages=("split-errored",))(
        "no-method", "Claims what it does not do.", b"a", split=property(lambda _: None),
    ),
)  # fmt: skip
