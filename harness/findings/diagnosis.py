"""Where two outcomes part: the stage, the kind of the input, and a sentence for a reader.

Pure functions of a violation and its vocabulary. The stage and the kind make a finding's bucket,
so they must come out alike for like causes, whatever the input's length.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType
from harness.checks.base import Violation, ids_of
from harness.core.outcomes import Answered, Encoded, Outcome, Rejected
from harness.core.partition import NEITHER
from harness.core.pretokens import piece_ends
from harness.findings.insides import stages_known
from impls.explaining import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract

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

SEGMENTATION = frozenset({"tie", "scores", "merges", "unknown-merging", "pieces", "part"})
"""Stages at which the text is the same and only its cuts differ."""

Difference = tuple[int | None, str]
"""The token index of the first difference (None: not of tokens), and a sentence."""


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
    return Signature(violation.check, stage, about(violation))


def about(violation: Violation) -> str:
    """The names of those whom a violation is about, as they stand in its bucket."""
    named = set(violation.culprits)
    parts = violation.parts if violation.undecided else violation.parts[1:]
    groups = [[name for name in part.names if name in named] for part in parts]
    if violation.undecided:
        equals = sorted("=".join(sorted(group)) for group in groups if group)
        return NEITHER.join(equals)
    together = "|".join("=".join(group) for group in groups if group)
    return together or "|".join(violation.culprits)


def bucket(sign: Signature, contract: Contract, kind: str) -> str:
    """The bucket of a finding, stable from run to run: ``kind`` is that of its minimal input."""
    return "/".join(
        (
            sign.check,
            contract.algorithm,
            contract.mode.label,
            sign.stage,
            kind,
            sign.culprits,
        )
    )


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
        if stage in SEGMENTATION:
            return (
                "more" if len(other) > len(one) else "fewer" if len(other) < len(one) else "as-many"
            )
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
    if not all(known(vocabulary, i) for i in {*one, *other}):
        return "unknown-id"
    if vocabulary.unexpressed or not stages_known(violation, contract):
        return seen_in(vocabulary, one, other)
    if vocabulary.wordpiece is not None:
        return _word_stage(vocabulary, vocabulary.wordpiece.prefix, one, other)
    if vocabulary.pieces:
        return _piece_stage(vocabulary, one, other)
    return _byte_stage(contract, violation.data, one, other)


@lru_cache(maxsize=8)  # the vocabularies of a run that are open at a time
def _special_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids of special tokens and of control pieces, but for the unknown one."""
    control = (i for i, piece in enumerate(vocabulary.pieces) if piece.type is PieceType.CONTROL)
    found: set[int | None] = {*vocabulary.special_tokens.values(), *control}
    return frozenset(one for one in found - {vocabulary.unk_id} if one is not None)


def seen_in(vocabulary: Vocabulary, one: Sequence[int], other: Sequence[int]) -> str:
    """What two encodings differ in that can be seen from outside.

    ``special-tokens`` or ``unknown``: only one of them has such a token, or they have others;
    ``white-space``: the tokens spell texts that differ in spaces alone; ``text``: they spell other
    texts; ``ids``: none of these.
    """
    special = _special_ids(vocabulary)
    if [i for i in one if i in special] != [i for i in other if i in special]:
        return "special-tokens"
    unknown = vocabulary.unk_id
    if [i for i in one if i == unknown] != [i for i in other if i == unknown]:
        return "unknown"
    one_text, other_text = (spelled(vocabulary, ids) for ids in (one, other))
    if one_text == other_text:
        return "ids"
    marks = (SPACE, b" ")
    if vocabulary.pieces and _without(one_text, marks) == _without(other_text, marks):
        return "white-space"
    return "text"


def spelled(vocabulary: Vocabulary, ids: Sequence[int]) -> bytes:
    """The text that ids spell; of WordPiece without the marks of continuations."""
    if vocabulary.wordpiece is not None:
        return "".join(words(vocabulary, vocabulary.wordpiece.prefix, ids)).encode()
    return vocabulary.spell(list(ids))


def _without(text: bytes, marks: Sequence[bytes]) -> bytes:
    for mark in marks:
        text = text.replace(mark, b"")
    return text


def known(vocabulary: Vocabulary, token_id: int) -> bool:
    """Whether the vocabulary has this id."""
    try:
        vocabulary.spelling(token_id)
    except KeyError:
        return False
    return True


def _byte_stage(contract: Contract, data: bytes, one: Sequence[int], other: Sequence[int]) -> str:
    vocabulary = contract.vocabulary
    specials = set(vocabulary.special_tokens.values())
    if [i for i in one if i in specials] != [i for i in other if i in specials]:
        return "special-tokens"
    if vocabulary.spell(list(one)) != vocabulary.spell(list(other)):
        return "text"
    one_ends, other_ends = boundaries(vocabulary, one), boundaries(vocabulary, other)
    if one_ends == other_ends:
        return "ids"
    if contract.mode.pretokenize:
        cuts = piece_ends(vocabulary, data)
        if not cuts <= set(one_ends) or not cuts <= set(other_ends):
            return "pre-tokens"
    return "merges"


def _piece_stage(vocabulary: Vocabulary, one: Sequence[int], other: Sequence[int]) -> str:
    if without_unknown_runs(vocabulary, one) == without_unknown_runs(vocabulary, other):
        return "unknown-merging"
    one_types, other_types = piece_types(vocabulary, one), piece_types(vocabulary, other)
    if (PieceType.BYTE in one_types) != (PieceType.BYTE in other_types):
        return "byte-fallback"
    if (PieceType.CONTROL in one_types) != (PieceType.CONTROL in other_types):
        return "special-tokens"
    one_text, other_text = vocabulary.spell(list(one)), vocabulary.spell(list(other))
    unknown = PieceType.UNKNOWN in one_types or PieceType.UNKNOWN in other_types
    if one_text.replace(SPACE, b"") == other_text.replace(SPACE, b"") and one_text != other_text:
        return "white-space"
    if one_text != other_text:
        return "unknown" if unknown else "normalization"
    if (PieceType.USER_DEFINED in one_types) != (PieceType.USER_DEFINED in other_types):
        return "user-defined"
    gap = abs(score(vocabulary, one) - score(vocabulary, other))
    if vocabulary.algorithm == "unigram":
        size = max(1.0, abs(score(vocabulary, one)))
        return "tie" if not math.isnan(gap) and gap <= TIE * size else "scores"
    return "merges"


def _word_stage(
    vocabulary: Vocabulary, prefix: str, one: Sequence[int], other: Sequence[int]
) -> str:
    """WordPiece: what the words are is decided before, and whether one is known before its cuts."""
    specials = set(vocabulary.special_tokens.values()) - {vocabulary.unk_id}
    if [i for i in one if i in specials] != [i for i in other if i in specials]:
        return "special-tokens"
    unknown_id = vocabulary.unk_id
    if [i for i in one if i == unknown_id] != [i for i in other if i == unknown_id]:
        return "unknown"
    one_words, other_words = words(vocabulary, prefix, one), words(vocabulary, prefix, other)
    if one_words == other_words:
        return "pieces"
    return "words" if "".join(one_words) == "".join(other_words) else "normalization"


def words(vocabulary: Vocabulary, prefix: str, ids: Sequence[int]) -> list[str]:
    """The words that WordPiece's ids spell, continuations joined on."""
    found: list[str] = []
    for token_id in ids:
        text = vocabulary.spelling(token_id).decode(errors="replace")
        if found and text.startswith(prefix):
            found[-1] += text.removeprefix(prefix)
        else:
            found.append(text)
    return found


def piece_types(vocabulary: Vocabulary, ids: Sequence[int]) -> set[PieceType]:
    """The types of the pieces in an encoding."""
    pieces = vocabulary.pieces
    return {pieces[i].type for i in set(ids) if i < len(pieces)}


def without_unknown_runs(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int]:
    """The ids with each run of the unknown token as one."""
    merged: list[int] = []
    for token_id in ids:
        if merged and token_id == merged[-1] == vocabulary.unk_id:
            continue
        merged.append(token_id)
    return merged


def score(vocabulary: Vocabulary, ids: Sequence[int]) -> float:
    """The sum of scores of pieces."""
    pieces = vocabulary.pieces
    return math.fsum(pieces[i].score for i in ids if i < len(pieces))


def boundaries(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int]:
    """Where each token ends, in bytes of the spelled text."""
    return list(accumulate(len(vocabulary.spelling(token_id)) for token_id in ids))


def difference(violation: Violation, vocabulary: Vocabulary) -> Difference:
    """The first difference between the trusted outcome and the first culprit's."""
    if not violation.parts:
        return None, "no outcome to compare with"
    if len(violation.parts) == 1:
        (alone,) = violation.parts
        return None, f"{' = '.join(alone.names)}: {_described(alone.outcome)}"
    trusted, *others = violation.parts
    blamed = set(violation.culprits)
    # Where one has died, others may differ from the trusted one, too.
    culprit = next((part for part in others if blamed & set(part.names)), others[0])
    one, other = trusted.outcome, culprit.outcome
    ours, theirs = " = ".join(trusted.names), " = ".join(culprit.names)
    if not isinstance(one, Encoded) or not isinstance(other, Encoded):
        left = _described(one)
        right = _described(other)
        return None, f"{ours}: {left}; {theirs}: {right}"
    if one.ids == other.ids:
        if one.text != other.text:
            left, right = literal(one.text or b""), literal(other.text or b"")
            return None, f"{theirs} decodes {right} where {ours} has {left}"
        if violation.check == "release-offsets":
            spans = zip(one.offsets or (), other.offsets or (), strict=False)
            place, (here, there) = next(
                (i, pair) for i, pair in enumerate(spans) if len(set(pair)) > 1
            )
            return place, f"token {place}: at {here} in {ours}, at {there} in {theirs}"
        return None, f"{theirs}: offsets {list(other.offsets or ())[:8]} do not fit the text"
    place = next(
        (i for i, (a, b) in enumerate(zip(one.ids, other.ids, strict=False)) if a != b),
        min(len(one.ids), len(other.ids)),
    )
    return place, (
        f"token {place}: {_token(vocabulary, one.ids, place)} in {ours}, "
        f"{_token(vocabulary, other.ids, place)} in {theirs}"
    )


def _described(outcome: Outcome) -> str:
    if isinstance(outcome, Encoded):
        return f"{len(outcome.ids)} token{'' if len(outcome.ids) == 1 else 's'}"
    message = outcome.message.split("\n", 1)[0]
    label = outcome.status.label
    return f"{label} ({message})" if message else label


def _token(vocabulary: Vocabulary, ids: Sequence[int], place: int) -> str:
    if place >= len(ids):
        return "the end"
    try:
        spelled = literal(vocabulary.spelling(ids[place]))
    except KeyError:
        spelled = "not in the vocabulary"
    return f"{ids[place]} ({spelled})"
