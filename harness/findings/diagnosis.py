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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import PieceType, Vocabulary
from harness.checks.base import Violation, ids_of, spellings
from harness.core.comparisons import Contract, algorithm_of
from harness.core.outcomes import Answered, Encoded, Rejected
from harness.core.partition import NEITHER, Part
from harness.core.pretokens import piece_ends
from harness.core.standing import Standing
from impls import registry
from impls.explanations import IDS, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import Explains, Mode

if TYPE_CHECKING:
    from harness.events.run import Explained

LONGEST = 1024
"""Bytes of an input that is explained: stages run interpreted, and nobody reads more."""

FEW_BYTES = "ab  c\u2581\u00e9".encode()
"""A text on which models do most of what they do."""

SHOWN_ONLY = "user-defined"
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

Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens of two encodings at a place where they differ."""

Side = tuple[str, str, Mapping[str, str]]
"""An implementation, whose stages were run for it, and what these say, in order."""


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
    equals, parts = violation.undecided, violation.parts
    named = [
        "=".join(sorted(names) if equals else names)
        for part in (parts if equals else parts[1:])
        if (names := [name for name in part.names if name in violation.culprits])
    ]
    about = NEITHER.join(sorted(named)) if equals else "|".join(named or violation.culprits)
    return Signature(violation.check, violation.stage or stage_of(violation, contract), about)


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
    outcomes = [part.outcome for part in violation.parts]
    if any(isinstance(one, Answered) for one in outcomes):
        return "count"
    if len(outcomes) > 1:
        one, other = map(ids_of, outcomes[:2])
        if stage in CUTS:
            more = len(other) - len(one)
            return "more" if more > 0 else "fewer" if more else "as-many"
        if stage == "decode" and contract.vocabulary.unk_id in one:
            return "unknown"
    return categories(violation.data)


def categories(data: bytes) -> str:
    """The categories that stand out in a text; ``bytes`` for what is not UTF-8."""
    try:
        found = {*map(unicodedata.category, data.decode())}
    except UnicodeDecodeError:
        return BYTES
    odd = sorted(found - PLAIN)
    if len(odd) > KIND_LIMIT:
        return "mixed"
    return "+".join(odd or sorted({category[0] for category in found})) or "empty"


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
    shared = sorted({*ends[0]}.intersection(ends[1]))
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
    known, defining = set[str](), set[str]()
    standing = {} if violation.undecided else contract.standing
    for one in contract.participants:
        built_in = registry.built_in(one.spec)
        own = registry.our_own(one.spec) or isinstance(one.implementation, Explains)
        if own or (built_in and contract.algorithm in MODELS.get(one.spec, {})):
            known.add(one.name)
        if built_in and standing.get(one.name) is Standing.REFERENCE:
            defining.add(one.name)
    if len(violation.parts) < 2:
        return False
    trusted, other = ({*part.names} for part in violation.parts[:2])
    return bool(other & known and trusted & (known | defining))


def stage_of(violation: Violation, contract: Contract) -> str:
    """The stage at which the first culprit parts from the trusted outcome.

    Only what anyone can see in the two outcomes, where the inside of those concerned is not known,
    or where a file has steps that the plain model, by which stages are told, does not have.
    """
    outcomes = [part.outcome for part in violation.parts[:2]]
    if len({isinstance(one, Rejected) for one in outcomes}) == 2:
        return "rejection"
    both = [*map(ids_of, outcomes)]
    vocabulary = contract.vocabulary
    pieces, unknown = vocabulary.pieces, vocabulary.unk_id
    if any(spellings(vocabulary, ids) is None for ids in both):
        return "unknown-id"
    inside = not vocabulary.unexpressed and stages_known(violation, contract)
    if pieces and inside:
        # Each run of the unknown token as one.
        one, other = (
            [i for before, i in pairwise([None, *ids]) if not before == i == unknown]
            for ids in both
        )
        if one == other:
            return "unknown-merging"
    mine, theirs = (seen(contract, violation.data, ids, inside=inside) for ids in both)
    stage = next((name for name, value in mine.items() if value != theirs.get(name)), IDS)
    having = {unknown in ids for ids in both}
    # Where both spell one text, the one that has the unknown token took the text <unk> for it.
    if pieces and {"normalization": True in having, SEGMENTATION: len(having) == 2}.get(stage):
        return "unknown"
    if stage != SEGMENTATION:
        return stage
    if vocabulary.algorithm != "unigram":
        return "merges"
    sums = [math.fsum(pieces[i].score for i in ids if i < len(pieces)) for ids in both]
    # Not so of a score that is no number.
    return "tie" if abs(sums[0] - sums[1]) <= TIE * max(1.0, abs(sums[0])) else "scores"


def seen(
    contract: Contract, data: bytes, ids: Sequence[int], *, inside: bool = True
) -> dict[str, Any]:
    """What the ids of an encoding tell of each of its stages, in order.

    inside: whether these are known; else it is what can be seen from outside: which special and
    unknown tokens it has, what its tokens spell, with and without spaces, and the rest. Byte-level
    BPE has one definition and no variants, so that ids tell all of its stages; its pre-tokens are
    those of the pattern at whose ends tokens end, too. Of WordPiece what the words are is decided
    before, and whether one is known before its cuts.
    """
    vocabulary, pieces = contract.vocabulary, contract.vocabulary.pieces
    kind = "words" if vocabulary.wordpiece else "pieces" if pieces else "bytes"
    spelled = [vocabulary.spelling(i) for i in ids]
    if vocabulary.wordpiece and ids:  # continuations are joined on
        words = b" ".join(spelled).decode(errors="replace")
        spelled = words.replace(f" {vocabulary.wordpiece.prefix}", "").encode().split(b" ")
    text = b"".join(spelled)
    types = {pieces[i].type for i in ids if i < len(pieces)}
    bare = text.replace(SPACE, b"").replace(b" ", b"") if pieces else text
    special, unknown = _special_ids(vocabulary), vocabulary.unk_id
    told: dict[str, Any] = {
        "byte-fallback": PieceType.BYTE in types,
        "user-defined": PieceType.USER_DEFINED in types,
        "special-tokens": [i for i in ids if i in special],
        "unknown": [i for i in ids if i == unknown],
        "text": bare,
        "normalization": bare,
        "white-space": text,
        "words": spelled,
        SEGMENTATION: [*ids] if pieces else spelled,
        "pieces": [*ids],
        IDS: [*ids],
    }
    stages = STAGES[kind if inside else "outside"]
    if "pre-tokens" in stages and contract.mode.pretokenize and text == data:
        ends = piece_ends(vocabulary, data).intersection(accumulate(map(len, spelled)))
        told["pre-tokens"] = [text[a:b] for a, b in pairwise([0, *sorted(ends)])]
    return {name: told[name] for name in stages if name in told}


def explain(violation: Violation, contract: Contract) -> Explained | None:
    """Where the trusted outcome and the first culprit's part; None where nobody can tell.

    A stage that has no counterpart on the other side (byte fallback, where an engine has none)
    shows in a later one, and is left out.
    """
    parts, data = violation.parts[:2], violation.data
    if violation.check != "equivalence" or len(parts) < 2 or len(data) > LONGEST:
        return None
    if contract.algorithm == "bpe" and not stages_known(violation, contract):
        return None
    one, other = (_told(part, data, contract) for part in parts)
    if one is None or other is None:
        return None
    (left, left_model, mine), (right, right_model, theirs) = one, other
    both = [(name, value, theirs[name]) for name, value in mine.items() if name in theirs]
    parted = [name for name, a, b in both if a != b and name != SHOWN_ONLY]
    if not parted:
        return None
    return {
        "left": left,
        "right": right,
        "left_model": left_model,
        "right_model": right_model,
        "stages": [{"name": name, "left": a, "right": b} for name, a, b in both],
        "parted": parted[0],
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


def _told(part: Part, data: bytes, contract: Contract) -> Side | None:
    """What the stages of a part say: of byte-level BPE what its ids tell; else the stages of the
    first of its implementations that explains itself, or that a model explains.
    """
    outcome, vocabulary = part.outcome, contract.vocabulary
    if not isinstance(outcome, Encoded):
        return None
    if contract.algorithm == "bpe":
        if spellings(vocabulary, outcome.ids) is None:
            return None
        told = seen(contract, data, outcome.ids)
        return part.names[0], part.names[0], {name: _shown(value) for name, value in told.items()}
    for own in (one for one in contract.participants if one.name in part.names):
        engine = MODELS.get(own.spec, {}) if registry.built_in(own.spec) else {}
        model = engine.get(modelled(vocabulary))
        with contextlib.suppress(Exception):  # an explanation never fails a run
            implementation = registry.resolve(model) if model else own.implementation
            if isinstance(implementation, Explains):
                steps = implementation.steps(vocabulary, data, contract.mode)
                said = {step.name: step.value for step in steps}
                if said.get(IDS) == shown_ids(outcome.ids):
                    return own.name, model or own.name, said
    return None


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return literal(value)
    return shown_parts(value) if value and isinstance(value[0], bytes) else shown_ids(value)


@lru_cache(maxsize=8)  # the vocabularies of a run that are open at a time
def _special_ids(vocabulary: Vocabulary) -> frozenset[int | None]:
    """The ids of special tokens and of control pieces, without the unknown token's."""
    control = (i for i, piece in enumerate(vocabulary.pieces) if piece.type is PieceType.CONTROL)
    every = {*vocabulary.special_tokens.values(), *control}
    return frozenset(every - {vocabulary.unk_id})
