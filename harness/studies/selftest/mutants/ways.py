"""Mistakes of other ways to the same ids: in batches, saved and loaded, in parts."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from corpora.vocabularies.model import Merges
from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain import ways
from harness.studies.selftest.plain.base import longest_first
from harness.studies.selftest.plain.bpe import PlainBpe

__all__ = ["Merges", "longest_first", "re", "replace", "sys"]  # for the changed texts

SPELLED = "self.vocabulary.spell(list(ids))"

decoding = Mutant("streaming", "toy_bytes", PlainBpe, stage="decode", at=SPELLED)
strings = Mutant(
    "surrogates", "toy_bytes", ways.Strings, stage="surrogates", at='text.encode(errors="replace")'
)
unstable = Mutant(
    "unstable", "toy_bytes", ways.Unstable, at="[], [self.encode(data, mode)]"
)  # fmt: skip
dropout = Mutant(
    "reachability", "toy_file_dropout", ways.PlainDropout, "text",
    at="for token_id in self.symbols(piece)",
)  # fmt: skip


def way(check: str, base: type, stage: str = "") -> Mutant:
    """A mistake of a way that has a check of its name, at a stage of that name."""
    return Mutant(check, "toy_bytes", base, stage=stage or check)


MUTANTS = (
    way("batch", ways.Many)(
        "truncates-batches", "In a batch, texts of more than three ids lose the last one.",
        (), "[self.encode(data, mode) for data in inputs]",
        "[(ids := self.encode(data, mode))[: len(ids) - (len(ids) > 3)] for data in inputs]",
    ),
    way("reload", ways.Reloaded)(
        "loses-last-line", "The file that it writes lacks its last line, and so a token.",
        (), "load(self.vocabulary)",
        "load(replace(self.vocabulary, merges=Merges(self.vocabulary.merges.left[:-1],"
        " self.vocabulary.merges.right[:-1], self.vocabulary.merges.merged[:-1])))",
    ),
    way("specials", PlainBpe, "on")(
        "trims-when-on",
        "Where special tokens are read, white space at the end is dropped from any text.",
        b"a ", "self.special.split(text)", "self.special.split(text.rstrip(' '))",
        vocabulary="tekken_240911", mode="special",
    ),
    decoding(
        "strips-short", "The space at the beginning of one or two ids does not come back.",
        b" ", "@.removeprefix(b' ' * (len(ids) <= 2))",
    ),
    decoding(
        "counts-from-the-end",
        "A negative id is that of a token counted from the end, as in a Python list.",
        (), "self.vocabulary.spell([i if i >= 0 else i % len(self.vocabulary) for i in ids])",
        check="single-ids", stage="unknown-id",
    ),
    decoding(
        "panics-past-the-end",
        "An id past the last one is looked up without a look at the size of the table.",
        (), "@ if max(ids, default=0) < len(self.vocabulary) else sys.exit('no row')",
        check="single-ids", stage="crashed",
    ),
    way("stream-decoder", ways.Streams, "decode")(
        "holds-the-last-back", "Id by id, a last token of a single byte is never given out.",
        (), "for token_id in ids]",
        "for at, token_id in enumerate(ids)"
        " if at + 1 < len(ids) or len(self.decode([token_id])) != 1]",
    ),
    way("truncation", ways.Truncating)(
        "loses-the-last-window",
        "A last window that has nothing but what overlaps and one id more is dropped.",
        (), "for start in starts]",
        "for start in starts if not 0 < start == len(ids) - overlap - 1]",
    ),
    way("template", ways.Framing)(
        "adds-the-end-once", "The token of the end is not added to a text that ends with a space.",
        (), "*second, *last]", "*second, *([] if data.endswith(b' ') else last)]",
    ),
    strings(
        "ends-at-a-surrogate", "A text ends for it where a lone surrogate stands.",
        (), r"re.split('[\ud800-\udfff]', text)[0].encode()",
    ),
    strings(
        "panics-at-a-surrogate", "A text is taken for UTF-8 without a look.",
        (), r"sys.exit('no UTF-8') if re.search('[\ud800-\udfff]', text) else text.encode()",
        stage="crashed",
    ),
    way("padding", ways.Padding)(
        "pads-on-the-right", "Padding comes last whichever side was asked for.",
        (), "if left else", "if False else",
    ),
    way("skip-specials", ways.Skipping, "decode")(
        "skips-the-first-alone",
        "Of special tokens only the one that a text begins with is left out.",
        (), "[one for one in ids if one not in self.specials.values()]",
        "ids[1:] if ids and ids[0] in self.specials.values() else ids",
        vocabulary="tekken_240911", mode="text",
    ),
    way("clean-up", ways.Cleaning, "decode")(
        "joins-spaces", "Cleaning up makes one space of two, wherever they stand.",
        (), '(b" .", b".")', "(b'  ', b' ')",
    ),
    unstable(
        "calls-all-stable",
        "All ids are called stable, though the last ones may merge with what follows.",
        (), "self.encode(data, mode), []", stage="stable",
    ),
    unstable(
        "completes-one-byte-less", "Completions leave out the last byte of the text.",
        (), "[], [self.encode(data[:-1], mode)]", stage="completion",
    ),
    dropout(
        "longest-with-dropout",
        "With dropout it takes the longest tokens from the left, be they made by merges or not.",
        b"then", "for token_id in map(self.tokens.get, longest_first(piece, self.tokens, 99))",
        stage="unreachable",
    ),
    dropout(
        "whole-with-dropout", "With dropout it merges beyond the ends of pre-tokens.",
        b"e e", "for token_id in self.symbols(piece)",
        "for token_id in self._merged(self.symbols(piece))",
        "[piece.encode() for piece in self.pieces(text_of(data))]", "[data]", stage="pre-tokens",
    ),
    dropout(
        "loses-with-dropout",
        "With dropout the last symbol of a pre-token is lost where nothing merges with it.",
        b"ab", "for token_id in self.symbols(piece[: max(1, len(piece) - 1)])", stage="text",
    ),
    way("chunks", PlainBpe)(
        "first-word-apart", "The space before the first word of a text is a piece of its own.",
        b" the", "pairwise(sorted(cuts))]", "pairwise(sorted({*cuts, int(text[:1] == ' ')}))]",
        mode="text",
    ),
)  # fmt: skip
