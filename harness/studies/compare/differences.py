"""What two vocabularies say differently, in words and in data. Pure functions.

Tokens are told apart by what they spell, so that vocabularies whose ids are in another order can be
compared. A *setting* is a part of a vocabulary that can be put in place of the other's, such as a
field of its normalizer: a text that both encode alike after that differs because of that part.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import AddedToken, RankOrder, Vocabulary
from harness.core.comparisons import algorithm_of
from impls.explanations import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

FEW = 3
"""Examples that are told of a kind of difference."""

TOGETHER = frozenset({"normalizer", "settings"})
"""Names of several settings together."""

ELSEWHERE = "elsewhere"
"""Stands for what is neither a setting nor a token, a merge or a score."""

Words = tuple[str, str]
"""What a vocabulary does where a setting is on, and where it is off."""

SWITCHES: Mapping[str, Words] = {
    "add_dummy_prefix": ("prepends a space", "does not prepend a space"),
    "remove_extra_whitespaces": ("removes extra spaces", "keeps extra spaces"),
    "escape_whitespaces": ("writes spaces as U+2581", "keeps spaces as they are"),
    "treat_whitespace_as_suffix": ("puts spaces behind words", "puts spaces before words"),
    "clean_text": ("removes control characters", "keeps control characters"),
    "handle_chinese_chars": ("splits CJK characters apart", "does not split CJK characters apart"),
    "strip_accents": ("removes accents", "keeps accents"),
    "lowercase": ("lowercases", "does not lowercase"),
    "byte_fallback": ("falls back to bytes", "does not fall back to bytes"),
    "ignore_merges": (
        "takes a pre-token whole that is a token (ignore_merges)",
        "merges a pre-token even if it is a token (no ignore_merges)",
    ),
}
"""Settings that are on or off."""


def apart(a: Vocabulary, b: Vocabulary) -> str:
    """Why no setting of one can be put in place of the other's; empty where that can be."""
    mine, theirs = algorithm_of(a), algorithm_of(b)
    if mine != theirs:
        return f"the algorithms differ: {mine} in A, {theirs} in B"
    for name, one in (("A", a), ("B", b)):
        if one.unexpressed:
            steps = "; ".join(one.unexpressed)
            known = sections(a, b, ("normalizer", "pre_tokenizer", "model", "added_tokens"))
            where = f"the files differ in {', '.join(known)}; " if known else ""
            return f"{where}{name} has steps that tokgate's own model does not have: {steps}"
    return ""


def not_encoded(a: Vocabulary, b: Vocabulary) -> list[str]:
    """What the files say differently that encoding does not show, in words."""
    known = sections(a, b, ("post_processor", "decoder", "truncation", "padding"))
    return [f"the {name} of the files, which differ" for name in known]


def sections(a: Vocabulary, b: Vocabulary, names: Iterable[str]) -> list[str]:
    """Those of these sections that differ in two files of tokenizer.json."""
    files = [one.native for one in (a, b) if one.format == "tokenizer.json"]
    contents = [json.loads(one.content) for one in files if one is not None]
    if len(contents) < 2:
        return []
    return [name for name in names if contents[0].get(name) != contents[1].get(name)]


@dataclass(frozen=True)
class Setting:
    """A part in which two vocabularies differ. words: how, told of the second one, ``B``.

    part: the first one's, as fields of a vocabulary that replace those of the second one.
    """

    name: str
    words: str
    part: Mapping[str, Any]


def settings(a: Vocabulary, b: Vocabulary) -> list[Setting]:
    """The settings in which two vocabularies of one algorithm differ; last, all of them together.

    Those of a normalizer come one by one, and then together.
    """
    normalizer = [*_switched(a, b, "normalizer")]
    single = [*normalizer]
    if a.wordpiece is not None and b.wordpiece is not None:
        single += _switched(a, b, "wordpiece")
    if a.splits != b.splits:
        single.append(Setting("pattern", "B splits text by another pattern", {"splits": a.splits}))
    for name in ("byte_fallback", "ignore_merges"):
        mine, theirs = getattr(a, name), getattr(b, name)
        if mine != theirs:
            single.append(Setting(name, told(name, mine, theirs), {name: mine}))
    if words := added_tokens(a, b):
        known = numbering(a, b)
        special = {text: known.get(i, i) for text, i in a.special_tokens.items()}
        added = tuple(replace(one, id=known.get(one.id, one.id)) for one in a.added_tokens)
        part = {"special_tokens": special, "added_tokens": added}
        single.append(Setting("added-tokens", words, part))
    together, whole = [], {"normalizer": a.normalizer, "wordpiece": a.wordpiece}
    if len(normalizer) > 1:
        together.append(Setting("normalizer", joined(normalizer), {"normalizer": a.normalizer}))
    if len(single) > 1:
        parts = {name: value for one in single for name, value in one.part.items()}
        together.append(Setting("settings", joined(single), parts | whole))
    return single + together


def joined(several: Iterable[Setting]) -> str:
    """The words of several settings."""
    return "; ".join(one.words for one in several)


def _switched(a: Vocabulary, b: Vocabulary, rules: str) -> Iterator[Setting]:
    """The fields that differ of the rules of this name, which both have."""
    mine, theirs = getattr(a, rules), getattr(b, rules)
    for one in fields(mine):
        here, there = getattr(mine, one.name), getattr(theirs, one.name)
        if here != there:
            part = {rules: replace(theirs, **{one.name: here})}
            yield Setting(one.name, told(one.name, here, there), part)


def told(name: str, mine: Any, theirs: Any) -> str:
    """How the second vocabulary differs in a field of the first one's value."""
    if name in SWITCHES:
        on, off = SWITCHES[name]
        return f"B {on if theirs else off}"
    if name == "form":
        return f"B lacks {mine}" if theirs is None else f"B normalizes by {theirs}, A by {mine}"
    if name == "charsmap":
        if theirs is None:
            return "B lacks the character map of A's normalizer (precompiled_charsmap)"
        whose = "A has none" if mine is None else "A has another one"
        return f"B normalizes by a character map (precompiled_charsmap), {whose}"
    return f"{name} is {theirs!r} in B, {mine!r} in A"


def added_tokens(a: Vocabulary, b: Vocabulary) -> str:
    """How the special and added tokens differ; empty where they do not."""
    mine, theirs = ({**dict.fromkeys(v.special_tokens), **flags(v)} for v in (a, b))
    said = []
    for lacking, others, owner in ((theirs, mine, "B"), (mine, theirs, "A")):
        if missing := [literal(text.encode()) for text in others if text not in lacking]:
            said.append(f"{owner} lacks the special or added tokens {some(missing)}")
    changed = [text for text in mine if text in theirs and mine[text] != theirs[text]]
    for text in changed[:FEW]:
        one, other = (set(sides[text] or ()) for sides in (mine, theirs))
        differ = ", ".join(sorted(one ^ other)) or "kind"
        said.append(f"{literal(text.encode())} has other flags in B ({differ})")
    return "; ".join(said)


def flags(vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    """The flags that are set of each added token, by its text."""
    names = [one.name for one in fields(AddedToken) if one.name not in ("text", "id")]
    return {
        token.text: tuple(name for name in names if getattr(token, name))
        for token in vocabulary.added_tokens
    }


def some(items: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    left = len(items) - FEW
    return ", ".join(items[:FEW]) + (f" and {left:,} more" if left > 0 else "")


# Tokens, merges and scores.


@lru_cache(maxsize=2)  # the two that are compared
def spelled(vocabulary: Vocabulary) -> dict[int, tuple[bytes, int]]:
    """What tells each id apart: what it spells, and which of those that spell the same it is."""
    if vocabulary.pieces:
        texts = {i: piece.text.encode() for i, piece in enumerate(vocabulary.pieces)}
    else:
        texts = {i: token for i, token in enumerate(vocabulary.tokens) if token is not None}
    texts = {**vocabulary.special_spellings, **texts}
    seen = Counter[bytes]()
    found = {}
    for i in sorted(texts):
        found[i] = texts[i], seen[texts[i]]
        seen[texts[i]] += 1
    return found


def numbering(a: Vocabulary, b: Vocabulary) -> dict[int, int]:
    """The id in the second vocabulary of each id of the first one that it has, too."""
    known = {key: i for i, key in spelled(b).items()}
    return {i: known[key] for i, key in spelled(a).items() if key in known}


def token_lines(a: Vocabulary, b: Vocabulary) -> list[str]:
    """What is to be said of the tokens of two vocabularies, whatever texts show."""
    moved = [i for i, other in numbering(a, b).items() if i != other]
    lines = []
    if moved:
        lines.append(f"{len(moved):,} of A's {len(spelled(a)):,} tokens have another id in B")
    for owner, ids in (("A", alone(a, b)), ("B", alone(b, a))):
        if ids:
            lines.append(f"only {owner} has the tokens {some([*map(literal, ids.values())])}")
    return lines


def alone(a: Vocabulary, b: Vocabulary) -> dict[int, bytes]:
    """The tokens that the first vocabulary has and the second one has not, by their ids."""
    known = {*spelled(b).values()}
    return {i: key[0] for i, key in spelled(a).items() if key not in known}


@dataclass(frozen=True)
class ModelDifferences:
    """Tokens, merges and scores that differ, by what each has to be in a text to matter.

    tokens: of one vocabulary alone. merges: that one lacks, or that stand at another place among
    those which both have; what each makes, with words. scores: of pieces, with words.
    """

    tokens: Mapping[bytes, str]
    merges: Mapping[bytes, str]
    scores: Mapping[bytes, str]

    @property
    def keys(self) -> Sequence[bytes]:
        """All that has to be in a text for something to matter."""
        return [*self.tokens, *self.merges, *self.scores]

    @property
    def words(self) -> list[str]:
        """The first few differences of each kind, and how many more there are."""
        every = (dict.fromkeys(one.values()) for one in (self.merges, self.scores))
        return [some([*one]) for one in every if one]

    def cause(self, used: Collection[bytes], texts: Sequence[bytes]) -> tuple[str, str]:
        """The kind and the words of the first difference that matters to an encoding.

        used: what the tokens of both vocabularies spell, of which one vocabulary may have some
        alone. texts: the text, in all ways in which a token may be in it.
        """
        for key in used:
            if key in self.tokens:
                return "tokens", self.tokens[key]
        for kind, known in (("merges", self.merges), ("scores", self.scores)):
            for key, words in known.items():
                if any(key in one for one in texts):
                    return kind, words
        return ELSEWHERE, "no cause was found in the vocabularies"


def model_differences(a: Vocabulary, b: Vocabulary) -> ModelDifferences:
    """What the models of two vocabularies differ in."""
    tokens = {
        text: f"{lacking} lacks the token {literal(text)} (id {i:,})"
        for lacking, ids in (("B", alone(a, b)), ("A", alone(b, a)))
        for i, text in ids.items()
    }
    return ModelDifferences(tokens, dict(_merges(a, b)), dict(_scores(a, b)))


def _merges(a: Vocabulary, b: Vocabulary) -> Iterator[tuple[bytes, str]]:
    """The merges that differ: what each makes, and how it differs."""
    ranks: list[dict[Pair, int]] = []
    if {a.rank_order, b.rank_order} == {RankOrder.SCORES}:
        return  # then the scores say it
    for one in (a, b):
        text = spelled(one)
        triples = one.merges.triples()
        pairs = [(text.get(left), text.get(right)) for left, right, _ in triples]
        ranks.append({pair: rank for rank, pair in reversed([*enumerate(pairs)])})
    mine, theirs = ranks
    for ours, others, lacking in ((mine, theirs, "B"), (theirs, mine, "A")):
        for pair, rank in sorted(ours.items(), key=lambda item: item[1]):
            if pair not in others and None not in pair:
                yield made(pair), f"{lacking} lacks merge {rank:,} ({shown(pair)})"
    common = [sorted(ours.keys() & others, key=ours.__getitem__) for ours, others in
              ((mine, theirs), (theirs, mine))]  # fmt: skip
    moved = [pair for pair, other in zip(*common, strict=True) if pair != other]
    if len(moved) == 2:
        first, second = moved
        words = f"merges {mine[first]:,} ({shown(first)}) and {mine[second]:,} ({shown(second)})"
        yield from ((made(pair), f"{words} are swapped") for pair in moved)
    else:
        for pair in moved:
            yield made(pair), f"merge {mine[pair]:,} ({shown(pair)}) is merge {theirs[pair]:,} of B"


def _scores(a: Vocabulary, b: Vocabulary) -> Iterator[tuple[bytes, str]]:
    if not (a.pieces and b.pieces):
        return
    texts = spelled(a)
    for i, other in numbering(a, b).items():
        if i < len(a.pieces) and other < len(b.pieces):
            mine, theirs = a.pieces[i].score, b.pieces[other].score
            if mine != theirs:
                text = texts[i][0]
                yield text, f"the score of {literal(text)} is {theirs:.6g} in B, {mine:.6g} in A"


Pair = tuple[Any, Any]


def made(pair: Pair) -> bytes:
    """What a merge makes."""
    made: bytes = pair[0][0] + pair[1][0]
    return made


def shown(pair: Pair) -> str:
    """A merge as it is told: its two parts."""
    return f"{literal(pair[0][0])} + {literal(pair[1][0])}"
