"""Where two outcomes part: the stage, the kind of the input, the bucket that they make, and why.

The stage and the kind make a finding's bucket, so they must come out alike for like causes,
whatever the input's length.

An encoding tells something of each stage that it went through, and the first stage of which two
encodings tell different things is where they part. What their ids alone tell (:func:`seen`) makes
the signature of a violation. What the pipelines say (``steps`` of
:class:`impls.interface.Explains`) makes its explanation (:func:`explain`): an engine is explained
by the one of ours that is exact to it, and that it gave the very ids of the engine on this input is
part of the explanation, so that a model that is wrong explains nothing. Stages are named only of
those whose inside is known: who explains itself, or has a model of ours. Of all others only what
they answer can be seen, and to name a stage of theirs ("merges", "pre-tokens") would be a guess.
"""

from __future__ import annotations

import contextlib
import math
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType
from harness.checks.base import Violation, ids_of, spellings
from harness.core.comparisons import algorithm_of
from harness.core.outcomes import Answered, Encoded, Rejected
from harness.core.partition import NEITHER
from harness.core.pretokens import piece_ends
from harness.core.standing import Standing
from impls import registry
from impls.explaining import IDS, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import Explains, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.core.partition import Part
    from harness.events.running import Explained

    Side = tuple[str, str, Mapping[str, str]]
    """An implementation, whose stages were run for it, and what these say, in order."""

LONGEST = 1024
"""Bytes of an input that is explained: stages run interpreted, and nobody reads more."""

FEW_BYTES = "ab  c\u2581\u00e9".encode()
"""A text on which models do most of what they do."""

SHOWN_ONLY = frozenset({"user-defined"})
"""Engines that cut symbols out do so in every text that has them, whether it matters or not: where
it does, the diagnosis of the segmentation says so."""

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
    outcomes = [part.outcome for part in violation.parts[:2]]
    encodings = [one.ids for one in outcomes if isinstance(one, Encoded)]
    if len(encodings) < 2 or any(spellings(contract.vocabulary, i) is None for i in encodings):
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
    outcomes = [part.outcome for part in violation.parts[:2]]
    if len({isinstance(one, Rejected) for one in outcomes}) == 2:
        return "rejection"
    one, other = map(ids_of, outcomes)
    vocabulary = contract.vocabulary
    if spellings(vocabulary, one) is None or spellings(vocabulary, other) is None:
        return "unknown-id"
    inside = not vocabulary.unexpressed and stages_known(violation, contract)
    by_pieces = vocabulary.pieces and inside
    if by_pieces and _merged(vocabulary, one) == _merged(vocabulary, other):
        return "unknown-merging"
    mine, theirs = (seen(contract, violation.data, ids, inside=inside) for ids in (one, other))
    stage = next((name for name, value in mine.items() if value != theirs.get(name)), IDS)
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


def seen(
    contract: Contract, data: bytes, ids: Sequence[int], *, inside: bool = True
) -> dict[str, object]:
    """What the ids of an encoding tell of each of its stages, in order.

    inside: whether these are known; else it is what can be seen from outside: which special and
    unknown tokens it has, what its tokens spell, with and without spaces, and the rest. Byte-level
    BPE has one definition and no variants, so that ids tell all of its stages; its pre-tokens are
    those of the pattern at whose ends tokens end, too. Of WordPiece what the words are is decided
    before, and whether one is known before its cuts.
    """
    vocabulary, pieces = contract.vocabulary, contract.vocabulary.pieces
    kind = "words" if vocabulary.wordpiece else "pieces" if pieces else "bytes"
    special = _special_ids(vocabulary) - {vocabulary.unk_id}
    words = _words(vocabulary, ids) if vocabulary.wordpiece else []
    spelled = [word.encode() for word in words] or [vocabulary.spelling(i) for i in ids]
    text = b"".join(spelled)
    types = {pieces[i].type for i in set(ids) if i < len(pieces)}
    bare = text.replace(SPACE, b"").replace(b" ", b"") if pieces else text
    told: dict[str, object] = {
        "byte-fallback": PieceType.BYTE in types,
        "user-defined": PieceType.USER_DEFINED in types,
        "special-tokens": [i for i in ids if i in special],
        "unknown": [i for i in ids if i == vocabulary.unk_id],
        "text": bare,
        "normalization": bare,
        "white-space": text,
        "words": words,
        SEGMENTATION: [*ids] if pieces else spelled,
    }
    if kind == "bytes" and inside and contract.mode.pretokenize and text == data:
        ends = piece_ends(vocabulary, data).intersection(accumulate(map(len, spelled)))
        told["pre-tokens"] = [text[a:b] for a, b in pairwise([0, *sorted(ends)])]
    return {
        name: told.get(name, [*ids])
        for name in STAGES[kind if inside else "outside"]
        if name != "pre-tokens" or name in told
    }


def explain(violation: Violation, contract: Contract) -> Explained | None:
    """Where the trusted outcome and the first culprit's part; None where nobody can tell.

    A stage that has no counterpart on the other side (byte fallback, where an engine has none)
    shows in a later one, and is left out.
    """
    if violation.check != "equivalence" or len(violation.parts) < 2:
        return None
    if len(violation.data) > LONGEST:
        return None
    bytes_ = contract.algorithm == "bpe"
    if bytes_ and not stages_known(violation, contract):
        return None
    side = _observed if bytes_ else _modelled
    left, right = (side(part, violation.data, contract) for part in violation.parts[:2])
    if left is None or right is None:
        return None
    both = {name: (value, right[2][name]) for name, value in left[2].items() if name in right[2]}
    apart = (name for name, (one, other) in both.items() if one != other)
    first = next((name for name in apart if name not in SHOWN_ONLY), None)
    if first is None:
        return None
    return {
        "left": left[0],
        "right": right[0],
        "left_model": left[1],
        "right_model": right[1],
        "stages": [{"name": n, "left": one, "right": other} for n, (one, other) in both.items()],
        "parted": first,
    }


def modelled(vocabulary: Vocabulary) -> str:
    """Return the algorithm whose models explain findings on a vocabulary.

    It is empty where a file says more than the plain model, since models know that one alone.
    """
    return "" if vocabulary.unexpressed else algorithm_of(vocabulary)


def compile_models(vocabulary: Vocabulary, stopped: Callable[[], bool]) -> None:
    """Run each model of a vocabulary's algorithm on a few bytes, until ``stopped``.

    Models run in the harness itself, and before a first run they have no compiled code yet. What is
    compiled is kept on disk, so that no judge waits for it.
    """
    algorithm = modelled(vocabulary)
    for name in sorted({one[algorithm] for one in MODELS.values() if algorithm in one}):
        model = registry.resolve(name)
        if isinstance(model, Explains) and not stopped() and not model.supports(vocabulary, Mode()):
            with contextlib.suppress(Exception):  # then nothing is explained, either
                model.steps(vocabulary, FEW_BYTES, Mode())


def _modelled(part: Part, data: bytes, contract: Contract) -> Side | None:
    """The stages of the first of a part's implementations that a model explains."""
    for own in (one for one in contract.participants if one.name in part.names):
        engine = MODELS.get(own.spec, {}) if registry.built_in(own.spec) else {}
        model = engine.get(modelled(contract.vocabulary))
        try:
            implementation = registry.resolve(model) if model else own.implementation
            if not isinstance(implementation, Explains):
                continue
            steps = implementation.steps(contract.vocabulary, data, contract.mode)
        except Exception:  # an explanation never fails a run
            continue
        told = {step.name: step.value for step in steps}
        if isinstance(part.outcome, Encoded) and told.get(IDS) == shown_ids(part.outcome.ids):
            return own.name, model or own.name, told
    return None


def _observed(part: Part, data: bytes, contract: Contract) -> Side | None:
    """What the ids of a part of byte-level BPE say of its stages."""
    ids = ids_of(part.outcome)
    if not isinstance(part.outcome, Encoded) or spellings(contract.vocabulary, ids) is None:
        return None
    told = {name: _shown(value) for name, value in seen(contract, data, ids).items()}
    return part.names[0], part.names[0], told


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return literal(value)
    assert isinstance(value, list)
    return shown_parts(value) if value and isinstance(value[0], bytes) else shown_ids(value)


@lru_cache(maxsize=8)  # the vocabularies of a run that are open at a time
def _special_ids(vocabulary: Vocabulary) -> frozenset[int | None]:
    """The ids of special tokens and of control pieces."""
    control = (i for i, piece in enumerate(vocabulary.pieces) if piece.type is PieceType.CONTROL)
    return frozenset({*vocabulary.special_tokens.values(), *control})


def _words(vocabulary: Vocabulary, ids: Sequence[int]) -> list[str]:
    """The words that WordPiece's ids spell, continuations joined on."""
    prefix = vocabulary.wordpiece.prefix if vocabulary.wordpiece is not None else ""
    texts = [vocabulary.spelling(i).decode(errors="replace") for i in ids]
    return " ".join(texts).replace(f" {prefix}", "").split(" ") if texts else []


def _merged(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int | None]:
    """The ids with each run of the unknown token as one."""
    unknown = vocabulary.unk_id
    return [i for before, i in pairwise([None, *ids]) if not before == i == unknown]
