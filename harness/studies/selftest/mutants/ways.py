"""Mistakes of other ways to the same ids: in batches, saved and loaded, in parts."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from corpora.vocabularies.model import Merges
from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain import ways
from harness.studies.selftest.plain.base import longest_first
from harness.studies.selftest.plain.bpe import PlainBpe, PlainDropout

__all__ = ["Merges", "longest_first", "re", "replace", "sys"]  # for the changed texts

toy = Mutant("batch", "toy_bytes", PlainBpe)
dropout = Mutant("reachability", "toy_file_dropout", PlainDropout, "text")

SPELLED = "self.vocabulary.spell(list(ids))"

MUTANTS = (
    replace(toy, base=ways.Many, stages=("batch",))(
        "truncates-batches", "In a batch, texts of more than three ids lose the last one.",
        (), "[self.encode(data, mode) for data in inputs]",
        "[(ids := self.encode(data, mode))[: len(ids) - (len(ids) > 3)] for data in inputs]",
    ),
    replace(toy, check="reload", base=ways.Reloaded, stages=("reload",))(
        "loses-last-line", "The file that it writes lacks its last line, and so a token.",
        (), "load(self.vocabulary)",
        "load(replace(self.vocabulary, merges=Merges(self.vocabulary.merges.left[:-1],"
        " self.vocabulary.merges.right[:-1], self.vocabulary.merges.merged[:-1])))",
    ),
    replace(
        toy, check="specials", vocabulary="tekken_240911", mode="special", stages=("on",),
        members={"modes": ("special",)},
    )(
        "trims-when-on",
        "Where special tokens are read, white space at the end is dropped from any text.",
        b"a ", "self.special.split(text)", "self.special.split(text.rstrip(' '))",
    ),
    replace(toy, check="streaming", stages=("decode",))(
        "strips-short", "The space at the beginning of one or two ids does not come back.",
        b" ", SPELLED, f"{SPELLED}.removeprefix(b' ' * (len(ids) <= 2))",
    ),
    replace(toy, check="single-ids", stages=("unknown-id",))(
        "counts-from-the-end",
        "A negative id is that of a token counted from the end, as in a Python list.",
        (), SPELLED,
        "self.vocabulary.spell([i if i >= 0 else i % len(self.vocabulary) for i in ids])",
    ),
    replace(toy, check="single-ids", stages=("crashed",))(
        "panics-past-the-end",
        "An id past the last one is looked up without a look at the size of the table.",
        (), SPELLED,
        f"{SPELLED} if max(ids, default=0) < len(self.vocabulary) else sys.exit('no row')",
    ),
    replace(toy, check="stream-decoder", base=ways.Streams, stages=("decode",))(
        "holds-the-last-back", "Id by id, a last token of a single byte is never given out.",
        (), "for token_id in ids]",
        "for at, token_id in enumerate(ids)"
        " if at + 1 < len(ids) or len(self.decode([token_id])) != 1]",
    ),
    replace(toy, check="truncation", base=ways.Truncating, stages=("truncation",))(
        "loses-the-last-window",
        "A last window that has nothing but what overlaps and one id more is dropped.",
        (), "return windows",
        "return windows[: len(windows) - (len(windows) > 1 and len(windows[-1]) == overlap + 1)]",
    ),
    replace(toy, check="template", base=ways.Framing, stages=("template",))(
        "adds-the-end-once", "The token of the end is not added to a text that ends with a space.",
        (), "return ids + last", "return ids if data.endswith(b' ') else ids + last",
    ),
    replace(toy, check="surrogates", base=ways.Strings, stages=("surrogates",))(
        "ends-at-a-surrogate", "A text ends for it where a lone surrogate stands.",
        (), 'text.encode(errors="replace")',
        r"re.split('[\ud800-\udfff]', text)[0].encode()",
    ),
    replace(toy, check="surrogates", base=ways.Strings, stages=("crashed",))(
        "panics-at-a-surrogate", "A text is taken for UTF-8 without a look.",
        (), 'text.encode(errors="replace")',
        r"sys.exit('no UTF-8') if re.search('[\ud800-\udfff]', text) else text.encode()",
    ),
    replace(toy, check="padding", base=ways.Padding, stages=("padding",))(
        "pads-on-the-right", "Padding comes last whichever side was asked for.",
        (), "if left:", "if False:",
    ),
    replace(
        toy, check="skip-specials", base=ways.Skipping, vocabulary="tekken_240911", mode="text",
        stages=("decode",),
    )(
        "skips-the-first-alone",
        "Of special tokens only the one that a text begins with is left out.",
        (), "[token_id for token_id in ids if token_id not in special]",
        "ids[1:] if ids and ids[0] in special else ids",
    ),
    replace(toy, check="clean-up", base=ways.Cleaning, stages=("decode",))(
        "joins-spaces", "Cleaning up makes one space of two, wherever they stand.",
        (), "(b\" .\", b\".\")", "(b'  ', b' ')",
    ),
    replace(toy, check="unstable", base=ways.Unstable, stages=("stable",))(
        "calls-all-stable",
        "All ids are called stable, though the last ones may merge with what follows.",
        (), "[], [self.encode(data, mode)]", "self.encode(data, mode), []",
    ),
    replace(toy, check="unstable", base=ways.Unstable, stages=("completion",))(
        "completes-one-byte-less", "Completions leave out the last byte of the text.",
        (), "[], [self.encode(data, mode)]", "[], [self.encode(data[:-1], mode)]",
    ),
    replace(dropout, stages=("unreachable",))(
        "longest-with-dropout",
        "With dropout it takes the longest tokens from the left, be they made by merges or not.",
        b"then", "for token_id in self.symbols(piece)",
        "for token_id in map(self.ids.get, longest_first(piece, self.ids, len(piece)))",
    ),
    replace(dropout, stages=("pre-tokens",))(
        "whole-with-dropout", "With dropout it merges beyond the ends of pre-tokens.",
        b"e e", "for token_id in self.symbols(piece)",
        "for token_id in self.merge(self.symbols(piece))",
        "[piece.encode() for piece in self.pieces(text_of(data))]", "[data]",
    ),
    replace(dropout, stages=("text",))(
        "loses-with-dropout",
        "With dropout the last symbol of a pre-token is lost where nothing merges with it.",
        b"ab", "for token_id in self.symbols(piece)",
        "for token_id in self.symbols(piece[: max(1, len(piece) - 1)])",
    ),
    replace(toy, check="chunks", mode="text", stages=("chunks",), members={"modes": ("text",)})(
        "first-word-apart", "The space before the first word of a text is a piece of its own.",
        b" the", "pairwise(cuts) if", "pairwise(sorted({*cuts, int(text[:1] == ' ')})) if",
    ),
)  # fmt: skip
