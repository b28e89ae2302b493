"""Mistakes with the models of a tokenizer.json."""

from __future__ import annotations

from harness.studies.selftest.mutants.files import (
    affixes,
    characters,
    modelled,
    read_as,
    running,
    scores,
    subwords,
    words,
)
from impls.pipeline.models import Bpe, Unigram, WordLevel, WordPiece

LOOKED_UP = "[self.vocab.get(piece, self._unknown)]"
LOST = "if end == start:\n            return self._unknown"

MUTANTS = (
    words(
        "drops-unknown-words",
        "WordLevel drops a word that is no token, where the unknown token belongs.",
        b"x", **running(WordLevel, LOOKED_UP, "[self.vocab[piece]] if piece in self.vocab else []"),
    ),
    words(
        "finds-any-case", "WordLevel looks a word up in small letters where it is no token.",
        b"A", **running(
            WordLevel, LOOKED_UP,
            "[self.vocab.get(piece, self.vocab.get(piece.lower(), self._unknown))]",
        ),
    ),
    affixes(
        "forgets-the-prefix",
        "BPE looks characters up without the prefix of those that continue a word.",
        b"ba", **running(Bpe, '(self._prefix if at else "")', '""'),
    ),
    affixes(
        "forgets-the-suffix", "BPE looks the last character of a word up without the suffix.",
        b"a", **modelled(end_of_word_suffix=None),
    ),
    affixes(
        "fuses-unknowns", "BPE has one unknown token for several in a row, though fuse_unk is off.",
        b"xx", **modelled(fuse_unk=True),
    ),
    affixes(
        "last-merges-first", "BPE does the merges in the reverse order of the file.",
        (b"bab", b"abab", b"baba"), **read_as(
            lambda file: {"model": {**file["model"], "merges": file["model"]["merges"][::-1]}}
        ),
    ),
    characters(
        "no-byte-fallback",
        "A character without a token is unknown, although there are tokens of bytes.",
        "\u20ac".encode(), **modelled(byte_fallback=False),
    ),
    characters(
        "looks-words-up",
        "A text that is a token is looked up whole, though ignore_merges is off.",
        b"1", **modelled(ignore_merges=True),
    ),
    subwords(
        "limit-off-by-one",
        "WordPiece does not look at a word as long as max_input_chars_per_word.",
        b"ababab",
        **running(WordPiece, "len(piece) > self._longest:", "len(piece) >= self._longest:"),
    ),
    subwords(
        "keeps-parts",
        "WordPiece keeps what it has matched of a word that it cannot match to the end.",
        b"ax", **running(WordPiece, LOST, LOST.replace("return", "return ids +")),
    ),
    scores(
        "last-tie", "Unigram takes the last one found of paths of equal sums.",
        b"ab", **running(Unigram, "score > held", "score >= held"),
    ),
    scores(
        "unknown-each",
        "Unigram has an unknown token for each character of an unknown part.",
        b"xy", **running(Unigram, "if unknown and joined:", "if False:"),
    ),
)  # fmt: skip
