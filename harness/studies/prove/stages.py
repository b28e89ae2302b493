"""The stages of two vocabularies' encodings, and what is proved of each.

Two vocabularies tokenize every text alike if each stage does: what normalizes a text, the added
tokens that are cut out of it, the pattern that parts it, the model that encodes the parts, and what
the file adds to the ids. What is compared is the plain model of each file
(docs/vocabulary-model.md).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import regex

from corpora.generators.material import is_text
from corpora.vocabularies.merges import MERGEABLE
from corpora.vocabularies.model import RankOrder
from corpora.vocabularies.pattern_spellings import plain_spelling
from harness.core.comparisons import algorithm_of
from harness.studies.compare import differences
from harness.studies.prove import merges, patterns
from harness.studies.prove.charsmaps import rules
from harness.studies.prove.expressions import Undecidable
from impls.explanations import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Piece, Vocabulary

EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"

WHOLE = ("normalizer", "pre_tokenizer", "model", "added_tokens", "post_processor")
"""The sections of a tokenizer.json that decide an encoding."""


@dataclass(frozen=True)
class Judged:
    """A stage: its name, EQUAL, DIFFERENT or UNDECIDED, and why, in words.

    texts: that show a difference in this stage, the shortest first.
    """

    name: str
    verdict: str
    words: str
    texts: Sequence[bytes] = ()


def judged(a: Vocabulary, b: Vocabulary) -> Iterator[Judged]:
    """Judge the stages, one after another."""
    shared = any(one.native is not None and one.native.shared for one in (a, b))
    if shared or a.unexpressed or b.unexpressed or algorithm_of(a) != algorithm_of(b):
        yield _whole(a, b)
        return
    yield _normalizer(a, b)
    yield _added(a, b)
    pattern = _pattern(a, b)
    yield pattern
    if algorithm_of(a) == "bpe" and not a.pieces and not b.pieces:
        yield _merges(a, b, same_pattern=pattern.verdict == EQUAL)
    else:
        yield _pieces(a, b)
    yield from _template(a, b)


def _whole(a: Vocabulary, b: Vocabulary) -> Judged:
    """Files that can only be compared as they are written."""
    if a.format == b.format == "tokenizer.json" and not differences.sections(a, b, WHOLE):
        return Judged("file", EQUAL, "all sections of the files that decide an encoding are equal")
    return Judged("file", UNDECIDED, differences.apart(a, b) or "two tokens of a file have one id")


def _normalizer(a: Vocabulary, b: Vocabulary) -> Judged:
    name = "normalizer"
    differing = [one for one in differences.settings(a, b) if one.part.keys() == {name}]
    if a.wordpiece != b.wordpiece:
        return Judged(name, UNDECIDED, "the rules of WordPiece differ")
    words = [one.words for one in differing if one.name not in ("charsmap", *differences.TOGETHER)]
    if a.normalizer.charsmap != b.normalizer.charsmap:
        try:
            mine, theirs = rules(a.normalizer.charsmap), rules(b.normalizer.charsmap)
        except (ValueError, LookupError, struct.error):
            return Judged(name, UNDECIDED, "a character map is damaged")
        changed = sorted(
            (text for text in mine.keys() | theirs.keys() if mine.get(text) != theirs.get(text)),
            key=len,
        )
        if changed:
            line = f"the character maps differ in {len(changed):,} rules"
            return Judged(name, DIFFERENT, "; ".join([line, *words]), changed[: merges.MANY])
    if words:
        return Judged(name, UNDECIDED, "; ".join(words))
    return Judged(name, EQUAL, "both normalize by the same definition")


def _added(a: Vocabulary, b: Vocabulary) -> Judged:
    """Special and added tokens, by their texts, flags and ids."""
    name = "added tokens"
    mine, theirs = _kinds(a, differences.numbering(a, b)), _kinds(b, {})
    apart = [text for text in mine.keys() | theirs.keys() if mine.get(text) != theirs.get(text)]
    if not apart:
        return Judged(name, EQUAL, f"the same texts, with the same flags: {len(mine):,}")
    apart.sort(key=lambda text: (len(text), text))
    words = f"they differ in {differences.some([literal(text.encode()) for text in apart])}"
    texts = [text.encode(errors="ignore") for text in apart[: merges.MANY]]
    return Judged(name, DIFFERENT, words, texts)


def _kinds(vocabulary: Vocabulary, numbers: Mapping[int, int]) -> dict[str, Any]:
    """What decides of each special or added token: whether it is special, its flags, and its id.

    ``normalized`` means nothing where nothing is normalized.
    """
    flags, special = differences.flags(vocabulary), vocabulary.special_tokens
    plain = {"special"} if vocabulary.normalizes else {"special", "normalized"}
    ids = {**special, **{one.text: one.id for one in vocabulary.added_tokens}}
    return {
        text: (text in special, {*flags.get(text, ())} - plain, numbers.get(i, i))
        for text, i in ids.items()
    }


def _pattern(a: Vocabulary, b: Vocabulary) -> Judged:
    name = "pattern"
    mine, theirs = (tuple(map(plain_spelling, one.splits)) for one in (a, b))
    if mine == theirs:
        words = "the same expression" if mine else "neither parts the text"
        return Judged(name, EQUAL, words)
    if len(mine) != len(theirs):
        words = f"{len(mine)} expressions in A, {len(theirs)} in B"
        return Judged(name, UNDECIDED, words)
    skewed: list[str] = []
    for one, other in zip(a.splits, b.splits, strict=True):
        if plain_spelling(one) == plain_spelling(other):
            continue
        found = patterns.alike(one, other)
        if found.undecided:
            return Judged(name, UNDECIDED, found.undecided)
        if found.texts and len(mine) == 1:
            texts = [text.encode() for text in (*found.texts, *_own(a, b))]
            words = f"they part {literal(texts[0])} in two ways, and no shorter text"
            return Judged(name, DIFFERENT, words, texts)
        if found.texts:
            return Judged(name, UNDECIDED, "expressions that are applied one after another differ")
        skewed += [
            f"; by Unicode {version:g} {count:,} characters differ, such as U+{ord(first):04X}"
            for version, count, first in patterns.by_other_versions(one, other)
        ]
    words = f"other expressions, which part every text alike{' by Unicode 16' * bool(skewed)}"
    return Judged(name, EQUAL, words + "".join(skewed))


def _own(a: Vocabulary, b: Vocabulary) -> Iterator[str]:
    """Tokens that the patterns part in two ways: a text of them is likely to differ."""
    one, other = (regex.compile(v.splits[0]) for v in (a, b))
    tokens = sorted((t for t in {*a.ids} | {*b.ids} if is_text(t)), key=merges.by_length)
    apart = (t for t in map(bytes.decode, tokens)
             if patterns.parted(one, t) != patterns.parted(other, t))  # fmt: skip
    yield from islice(apart, merges.MANY)


def _merges(a: Vocabulary, b: Vocabulary, *, same_pattern: bool) -> Judged:
    name = "merges"
    if None in a.byte_ids and _unknown(a) != _unknown(b):
        return Judged(name, UNDECIDED, "bytes without a token are not treated alike")
    numbers = differences.numbering(a, b)
    try:
        found = merges.alike(a, b, numbers)
    except ValueError as error:
        return Judged(name, UNDECIDED, str(error))
    if found.undecided:
        return Judged(name, UNDECIDED, found.undecided)
    if not found.texts:
        return Judged(name, EQUAL, "the same tokens are made, and the same pairs are valid")
    shortest = literal(found.texts[0])
    words = f"as one piece, {shortest} differs" + ", and no shorter text" * found.exact
    if not same_pattern or len(a.splits) > 1:
        return Judged(name, DIFFERENT, words, found.texts)
    try:
        language = patterns.Language(a.splits[0] if a.splits else None)
    except Undecidable as error:
        return Judged(name, DIFFERENT, f"{words}; of the pattern's pieces: {error}", found.texts)
    within = merges.alike(a, b, numbers, language.possible)
    if within.texts or within.undecided:
        return Judged(name, DIFFERENT, words, [*within.texts, *found.texts])
    return Judged(name, EQUAL, f"in every piece of a text; {words}, but no text has such a piece")


def _pieces(a: Vocabulary, b: Vocabulary) -> Judged:
    """Scores of SentencePiece, and words of WordPiece: equal if all that decides is."""
    name = "scores" if a.pieces else "tokens"
    mine, theirs = map(_entries, (a, b))
    keys = [key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)]
    for field in ("byte_fallback", "ignore_merges", "rank_order"):
        if getattr(a, field) != getattr(b, field):
            return Judged(name, UNDECIDED, f"{field} differs")
    if _unknown(a) != _unknown(b):
        return Judged(name, UNDECIDED, "the unknown tokens differ")
    if a.rank_order is not RankOrder.SCORES:
        numbers = differences.numbering(a, b)
        moved = [tuple(numbers.get(i) for i in one) for one in a.merges.triples()]
        if moved != b.merges.triples():
            return Judged(name, UNDECIDED, "the lists of merges differ")
    if keys:
        shown = sorted({key[0] for key in keys}, key=merges.by_length)
        words = f"they differ in {len(shown):,} entries, such as {literal(shown[0])}"
        texts = [one.replace("\u2581".encode(), b" ") for one in shown[: merges.MANY]]
        return Judged(name, UNDECIDED, words, texts)
    return Judged(name, EQUAL, "the same entries, of the same types and scores")


def _unknown(vocabulary: Vocabulary) -> tuple[bool, bytes | None]:
    """What becomes of what has no token."""
    known = vocabulary.unk_id
    return vocabulary.byte_fallback, None if known is None else vocabulary.spelling(known)


def _entries(vocabulary: Vocabulary) -> dict[tuple[bytes, int], Any]:
    """What each id is, by what it spells: its type and its score, or its place among scores."""
    pieces: Sequence[Piece] = vocabulary.pieces
    if not pieces:
        return dict.fromkeys(differences.spelled(vocabulary).values(), True)
    known = differences.spelled(vocabulary)
    scores = {i: one.score for i, one in enumerate(pieces)}
    if algorithm_of(vocabulary) == "spm":  # merging asks for the order alone
        merged = {i: scores[i] for i, one in enumerate(pieces) if one.type in MERGEABLE}
        places = {score: place for place, score in enumerate(sorted({*merged.values()}))}
        scores = {i: places[merged[i]] if i in merged else 0 for i in scores}
    return {known[i]: (one.type, scores[i]) for i, one in enumerate(pieces)}


def _template(a: Vocabulary, b: Vocabulary) -> Iterator[Judged]:
    """What a file adds to the ids of a text, where both files say it."""
    name = "post_processor"
    if a.format == b.format == "tokenizer.json":
        if differences.sections(a, b, [name]):
            yield Judged("template", UNDECIDED, f"the {name} of the files differs")
        else:
            yield Judged("template", EQUAL, f"the same {name}")
