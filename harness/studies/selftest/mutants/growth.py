"""Costs that grow faster than the text: everywhere, on some texts only, above a size only.

And memory: that is taken while an input is encoded, and that is left behind. And costs that grow
with something else than the text: special tokens, texts in a batch, ids, tokens of the vocabulary.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.plain.growing import PlainBytes, PlainGrowing, passed

if TYPE_CHECKING:
    from impls.interface import Mode

STRIDE = 16
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""

HELD = 1024
"""Bytes that ``holds-megabytes`` takes for each byte: 1 MiB for each KiB."""

LEFT = 2 << 10
"""Bytes that ``leaves-behind`` keeps of each input."""

LOADED = 4
"""Tokens to each pass of ``square-in-loading``: a second for 30,000 tokens."""

LARGE = 8 << 10
"""Bytes up to which ``square-when-large`` is linear."""

FEW_NEWLINES = 16
"""Newlines in a piece up to which ``rescans-newlines`` is right."""

toy = Mutant(
    "scaling", "toy_bytes", PlainBytes, at="return list(passed(data, self.passes(data)))"
)  # fmt: skip
growing = Mutant("scaling", "toy_bytes", PlainGrowing)
# A vocabulary with merges of everything: runs of one byte, newlines, words.
merging = Mutant(
    "scaling", "tekken_240718", PlainBpe, "text", at="self._merged(self.symbols(piece))",
    members={"modes": ("text",), "max_input": None},
)  # fmt: skip


def rescanned(encoder: PlainBpe, symbols: list[int]) -> list[int]:
    """As merged by the heap, each merge by a scan of the whole piece."""
    while found := [
        (encoder._merges[pair], place)
        for place, pair in enumerate(pairwise(symbols))
        if pair in encoder._merges
    ]:
        (_, merged), place = min(found)
        symbols[place : place + 2] = [merged]
    return symbols


def keep(encoder: PlainBytes, data: bytes, mode: Mode) -> list[int]:
    """The answer to a text, which is kept."""
    known: dict[bytes, list[int]] = encoder.__dict__.setdefault("known", {})
    if data not in known:
        known[data] = PlainBytes.encode(encoder, data, mode)
    return known[data]


def search(encoder: PlainBytes) -> None:
    """Go over all tokens once for some of them."""
    whole = b"".join(token or b"" for token in encoder.vocabulary.tokens)
    passed(whole, len(encoder.vocabulary) // LOADED)


MUTANTS = (
    toy(
        "square", "Goes over its input once for every so many bytes of it.",
        passes=lambda _, data: len(data) // STRIDE,
    ),
    toy(
        "square-on-runs", "Likewise, where all bytes are alike.",
        passes=lambda _, data: len(data) // STRIDE if len(set(data)) == 1 else 1,
    ),
    toy(
        "square-when-large", "Likewise, above 8 KiB: a table that is searched from its beginning.",
        passes=lambda _, data: max(0, len(data) - LARGE) // STRIDE,
    ),
    toy(
        "square-on-spaces",
        "Each white space looks at all that come after it: a pattern that backtracks.",
        passes=lambda _, data: sum(map(data.count, (b" ", b"\n", b"\t"))) // STRIDE,
    ),
    toy(
        "power-of-one-and-a-half",
        "Grows with the power 1.5: a list searched in blocks of its root.",
        passes=lambda _, data: 4 * int(len(data) ** 0.5),
    ),
    toy(
        "exponential-on-brackets",
        "Tries twice as much for every other bracket of a run that is never closed.",
        passes=lambda _, data: 1 << (len(data) - len(data.rstrip(b"["))) // 2,
    ),
    toy(
        "copies-for-each-character", "Copies the normalized text for each of its characters.",
        (), "return [list(data)[place] for place in range(len(data))]",
    ),
    toy(
        "keeps-answers", "Keeps the answers to all texts, and a square is inside.",
        encode=keep, passes=lambda _, data: len(data) // STRIDE,
    ),
    merging(
        "rescans", "Scans the whole piece for each merge.",
        (), "rescanned(self, self.symbols(piece))",
    ),
    merging(
        "rescans-runs", "Scans the whole piece for each merge, in runs of one byte.",
        (), "rescanned(self, self.symbols(piece)) if len(set(piece)) == 1 else @",
    ),
    merging(
        "rescans-newlines", "Scans the whole piece for each merge, where it has many newlines.",
        (),
        r"rescanned(self, self.symbols(piece)) if piece.count(b'\n') > FEW_NEWLINES else @",
    ),
    toy(
        "holds-megabytes",
        "Takes 1 MiB for each KiB of its input, and gives it back: a matrix in place of a row.",
        (), r"taken = b'\x01' * (HELD * len(data)); return list(data[: len(taken)])",
    ),
    toy(
        "leaves-behind", "Keeps 2 KiB of each input that nobody will ask for: a log of calls.",
        (), r"self.__dict__.setdefault('log', []).append(b'\x01' * LEFT); return list(data)",
    ),
    growing(
        "square-in-specials",
        "Looks for the next special token from the beginning of the text, for each of them.",
        # Each special token of the vocabulary begins with one of these.
        passes=lambda _, data: data.count(b"<") + data.count(b"["),
        vocabulary="tekken_240911", mode="special",
    ),
    growing(
        "square-in-batch", "Joins what it has so far for each text of a batch.",
        batch_passes=lambda _, count: count,
    ),
    growing(
        "square-in-decoding", "Joins what it has so far for each id.",
        decode_passes=lambda _, count: STRIDE * count,
    ),
    growing(
        "square-in-loading", "Looks for each token among all that come before it.",
        prepare=search,
    ),
)  # fmt: skip
