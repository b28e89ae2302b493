"""Where two outcomes part: the stage, the kind of the input, and the bucket that they make.

Pure functions of a violation and its vocabulary. The stage and the kind make a finding's bucket,
so they must come out alike for like causes, whatever the input's length.

An encoding tells something of each stage that it went through (:func:`seen`), and the first stage
of which two encodings tell different things is where they part. Stages are named only of those
whose inside is known: who explains itself, or has a model of ours. Of all others only what they
answer can be seen, and to name a stage of theirs ("merges", "pre-tokens") would be a guess.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType
from harness.checks.base import Violation, ids_of
from harness.core.outcomes import Answered, Encoded, Rejected
from harness.core.partition import NEITHER
from harness.core.pretokens import piece_ends
from harness.core.standing import Standing
from impls import registry
from impls.explaining import IDS, SEGMENTATION
from impls.interface import Explains

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant

    Seen = Iterator[tuple[str, object]]
    """Stages in order, each with what an encoding tells of it."""

SPACE = "\u2581".encode()
TIE = 1e-4
"""Two sums of scores nearer than this, relative to their size, are a tie broken differently:
float32 sums of a few dozen scores differ by about this much from one order to another."""

PLAIN = frozenset({"Ll", "Lu", "Lo", "Lt", "Nd", "Zs", "Po", "Ps", "Pe", "Pd", "Pc", "Sm"})
"""Categories that say little about a cause: they are in any text."""

KIND_LIMIT = 2
"""A kind names at most so many categories; more is ``mixed``."""

BYTES = "bytes"
"""The kind of what is not UTF-8."""

CUTS = frozenset({"tie", "scores", "merges", "unknown-merging", "pieces", "part"})
"""Stages at which the text is the same and only its cuts differ."""

MODELS: dict[str, dict[str, str]] = {
    "sentencepiece": {"unigram": "unigram.sentencepiece", "spm": "spm.sentencepiece"},
    "mistral-common": {"spm": "spm.sentencepiece"},
    "tokenizers": {"unigram": "unigram.huggingface", "wordpiece": "wordpiece.bert"},
    "llama.cpp": {
        "unigram": "unigram.llama-cpp",
        "spm": "spm.llama-cpp",
        "wordpiece": "wordpiece.llama-cpp",
    },
}
"""The implementation that explains an engine, by the contract's algorithm."""


Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens of two encodings at a place where they differ."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes violations alike while one is minimised: check, stage, culprits by part."""

    check: str
    stage: str
    culprits: str


def signature(violation: Violation, contract: Contract) -> Signature:
    """The signature of a violation: a part's names joined by ``=``, parts by ``|``.

    Equals of which none is blamed are joined by ``<>``, in alphabetical order.
    """
    stage = violation.stage or stage_of(violation, contract)
    named = set(violation.culprits)
    parts = violation.parts if violation.undecided else violation.parts[1:]
    groups = [members for part in parts if (members := [n for n in part.names if n in named])]
    if violation.undecided:
        about = NEITHER.join(sorted("=".join(sorted(group)) for group in groups))
    else:
        about = "|".join("=".join(group) for group in groups) or "|".join(violation.culprits)
    return Signature(violation.check, stage, about)


def bucket(sign: Signature, contract: Contract, kind: str) -> str:
    """The bucket of a finding, stable from run to run: ``kind`` is that of its minimal input."""
    place = (sign.check, contract.algorithm, contract.mode.label)
    return "/".join((*place, sign.stage, kind, sign.culprits))


def kind_of(violation: Violation, stage: str, contract: Contract) -> str:
    """What sort of input or difference a minimised finding shows, coarse on purpose.

    Where tokens are cut differently: ``more``, ``fewer`` or ``as-many`` tokens than the trusted
    ones. Where a decoder meets the unknown token: ``unknown``. Where a service counts wrongly:
    ``count``, as what its bytes spell says nothing. Elsewhere the Unicode general
    categories that stand out in the input (``Mn``), or the class of a plain one (``L``).
    """
    if any(isinstance(part.outcome, Answered) for part in violation.parts):
        return "count"
    if len(violation.parts) > 1:
        one, other = (ids_of(part.outcome) for part in violation.parts[:2])
        if stage in CUTS:
            more = len(other) - len(one)
            return "more" if more > 0 else "fewer" if more else "as-many"
        if stage == "decode" and contract.vocabulary.unk_id in one:
            return "unknown"
    return categories(violation.data)


def categories(data: bytes) -> str:
    """The categories that stand out in a text; ``bytes`` for what is not UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return BYTES
    found = sorted({unicodedata.category(character) for character in text})
    odd = [category for category in found if category not in PLAIN]
    if odd:
        return "+".join(odd) if len(odd) <= KIND_LIMIT else "mixed"
    return "+".join(sorted({category[0] for category in found})) or "empty"


def differences(violation: Violation, contract: Contract) -> frozenset[Pair]:
    """The tokens in which a violation's first two encodings differ; none if there are no two."""
    encodings = [
        part.outcome.ids for part in violation.parts[:2] if isinstance(part.outcome, Encoded)
    ]
    if len(encodings) < 2 or not known(contract.vocabulary, *encodings[0], *encodings[1]):
        return frozenset()
    return frozenset(regions(contract.vocabulary, *encodings))


def regions(vocabulary: Vocabulary, *encodings: Sequence[int]) -> Iterator[Pair]:
    """The places at which two encodings differ, each between boundaries that both have."""
    ends = [[0, *accumulate(len(vocabulary.spelling(i)) for i in ids)] for ids in encodings]
    shared = sorted(set(ends[0]) & set(ends[1]))
    cuts = [[*(bisect_left(one, at) for at in shared), len(one)] for one in ends]
    for places in zip(*map(pairwise, cuts), strict=True):
        one, other = (tuple(ids[a:b]) for ids, (a, b) in zip(encodings, places, strict=True))
        if one != other:
            yield one, other


def stages_known(violation: Violation, contract: Contract) -> bool:
    """Whether a diagnosis may say at which stage the first two parts of a violation differ.

    The stages of whoever is blamed must be known. So must those of the part that it is compared
    with, unless that has a built-in reference: its outcome is what the vocabulary defines, and what
    the vocabulary defines has stages.
    """
    if len(violation.parts) < 2:
        return False
    trusted, other = (
        [one for one in contract.participants if one.name in part.names]
        for part in violation.parts[:2]
    )
    if not any(_known_inside(one, contract.algorithm) for one in other):
        return False
    standing = contract.standing
    return any(
        _known_inside(one, contract.algorithm)
        or (
            not violation.undecided
            and registry.built_in(one.spec)
            and standing[one.name] is Standing.REFERENCE
        )
        for one in trusted
    )


def _known_inside(one: Participant, algorithm: str) -> bool:
    """Whether the stages of an implementation may be named when it encodes by an algorithm."""
    if registry.our_own(one.spec) or isinstance(one.implementation, Explains):
        return True
    return registry.built_in(one.spec) and algorithm in MODELS.get(one.spec, {})


STAGES = {
    "outside": ("special-tokens", "unknown", "text", "white-space", IDS),
    "words": ("special-tokens", "unknown", "normalization", "words", "pieces"),
    "pieces": (
        "byte-fallback",
        "special-tokens",
        "normalization",
        "white-space",
        "user-defined",
        SEGMENTATION,
    ),
    "bytes": ("special-tokens", "text", "pre-tokens", SEGMENTATION, IDS),
}
"""The stages of an encoding of which its ids tell something, by what is known of its inside."""


def stage_of(violation: Violation, contract: Contract) -> str:
    """The stage at which the first culprit parts from the trusted outcome.

    Only what anyone can see in the two outcomes, where the inside of those concerned is not known,
    or where a file has steps that the plain model, by which stages are told, does not have.
    """
    trusted, culprit = violation.parts[0].outcome, violation.parts[1].outcome
    if isinstance(trusted, Rejected) != isinstance(culprit, Rejected):
        return "rejection"
    one, other = ids_of(trusted), ids_of(culprit)
    vocabulary = contract.vocabulary
    if not known(vocabulary, *one, *other):
        return "unknown-id"
    inside = not vocabulary.unexpressed and stages_known(violation, contract)
    if inside and vocabulary.pieces and _merged(vocabulary, one) == _merged(vocabulary, other):
        return "unknown-merging"
    sides = (seen(contract, violation.data, ids, inside=inside) for ids in (one, other))
    stage = next((mine[0] for mine, theirs in zip(*sides, strict=True) if mine != theirs), IDS)
    by_pieces = vocabulary.pieces and inside
    if stage == "normalization" and by_pieces and vocabulary.unk_id in {*one, *other}:
        return "unknown"
    if stage != SEGMENTATION:
        return stage
    if vocabulary.algorithm != "unigram":
        return "merges"
    scores = [
        math.fsum(vocabulary.pieces[i].score for i in ids if i < len(vocabulary.pieces))
        for ids in (one, other)
    ]
    gap = abs(scores[0] - scores[1])
    return "tie" if not math.isnan(gap) and gap <= TIE * max(1.0, abs(scores[0])) else "scores"


def seen(contract: Contract, data: bytes, ids: Sequence[int], *, inside: bool = True) -> Seen:
    """What the ids of an encoding tell of each of its stages.

    inside: whether these are known; else it is what can be seen from outside: which special and
    unknown tokens it has, what its tokens spell, with and without spaces, and the rest. Byte-level
    BPE has one definition and no variants, so that ids tell all of its stages; its pre-tokens are
    those of the pattern at whose ends tokens end, too. Of WordPiece what the words are is decided
    before, and whether one is known before its cuts.
    """
    vocabulary, pieces = contract.vocabulary, contract.vocabulary.pieces
    special = _special_ids(vocabulary) - {vocabulary.unk_id}
    words = _words(vocabulary, ids) if vocabulary.wordpiece else []
    spelled = [word.encode() for word in words] or [vocabulary.spelling(i) for i in ids]
    text = b"".join(spelled)
    types = {pieces[i].type for i in set(ids) if i < len(pieces)}

    def told(stage: str) -> object:
        match stage:
            case "byte-fallback":
                return PieceType.BYTE in types
            case "user-defined":
                return PieceType.USER_DEFINED in types
            case "special-tokens":
                return [i for i in ids if i in special]
            case "unknown":
                return [i for i in ids if i == vocabulary.unk_id]
            case "text" | "normalization":
                return text.replace(SPACE, b"").replace(b" ", b"") if pieces else text
            case "white-space":
                return text
            case "words":
                return words
            case "pre-tokens":
                ends = piece_ends(vocabulary, data).intersection(accumulate(map(len, spelled)))
                return [text[a:b] for a, b in pairwise([0, *sorted(ends)])]
            case "segmentation":
                return spelled if not pieces else [*ids]
            case _:
                return [*ids]

    kind = "words" if vocabulary.wordpiece else "pieces" if pieces else "bytes"
    for stage in STAGES[kind if inside else "outside"]:
        if stage != "pre-tokens" or (contract.mode.pretokenize and text == data):
            yield stage, told(stage)


@lru_cache(maxsize=8)  # the vocabularies of a run that are open at a time
def _special_ids(vocabulary: Vocabulary) -> frozenset[int | None]:
    """The ids of special tokens and of control pieces."""
    control = (i for i, piece in enumerate(vocabulary.pieces) if piece.type is PieceType.CONTROL)
    return frozenset({*vocabulary.special_tokens.values(), *control})


def known(vocabulary: Vocabulary, *ids: int) -> bool:
    """Whether the vocabulary has all of these ids."""
    try:
        for one in {*ids}:
            vocabulary.spelling(one)
    except KeyError:
        return False
    return True


def _words(vocabulary: Vocabulary, ids: Sequence[int]) -> list[str]:
    """The words that WordPiece's ids spell, continuations joined on."""
    prefix = vocabulary.wordpiece.prefix if vocabulary.wordpiece is not None else ""
    found: list[str] = []
    for token_id in ids:
        text = vocabulary.spelling(token_id).decode(errors="replace")
        if found and text.startswith(prefix):
            found[-1] += text.removeprefix(prefix)
        else:
            found.append(text)
    return found


def _merged(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int | None]:
    """The ids with each run of the unknown token as one."""
    unknown = vocabulary.unk_id
    return [i for before, i in pairwise([None, *ids]) if not before == i == unknown]
