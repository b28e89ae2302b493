"""Reachability: what encodes with merges left out still gives what merges can make of the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Algorithm, Alphabet, PieceType, RankOrder, Vocabulary
from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.checks.round_trip import trusted
from harness.core.comparisons import Contract
from harness.core.messages import Dropout, Encode
from harness.core.outcomes import Encoded, Inputs, Outcome, Results, Status, Unsupported
from harness.core.partition import Part
from harness.core.pretokens import piece_ends
from impls.interface import Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 8
"""Encodings of each input with dropout: what goes wrong once in many times is to come back."""

LONGEST = 4096
"""Bytes of an input that is looked at: it is encoded so many times."""


class Reachability(Check):
    """Of a symbol, and of t with a merge l r -> t, l and r being reachable: t is reachable. For A
    with ``Law.REACHABLE``, or with dropout, and all x: each token of A(x) is reachable, an added
    token or a pre-token looked up whole; none crosses the end of a pre-token; spell(A(x)) =
    spell(encode(x)).

    Symbols are bytes, or characters, and what stands for a byte or the unknown. Of those who encode
    with dropout (``DropsMerges``) each input is asked several times; encode is their own without,
    for others the trusted one's. Ends of pre-tokens are looked at in ASCII, which is the same in
    every version of Unicode, where nothing is normalized and no added token stands. Asked where the
    plain model has all merges of a byte-pair encoding, and each spells what its parts spell.
    """

    name = "reachability"
    summary = (
        "with merges left out, as by the dropout of a tokenizer.json, tokens are those that "
        "merges can make of the text"
    )
    severity = Severity.IDS
    said = "gave tokens that no merges make of the text"
    every = 4
    by_chance = True

    def applies(self, contract: Contract) -> bool:
        """Where somebody leaves merges out, and it is known which there are."""
        vocabulary = contract.vocabulary
        claims = any(c.about.law is Law.REACHABLE for c in contract.participants)
        return (
            (claims or vocabulary.dropout > 0)
            and vocabulary.algorithm is Algorithm.BPE
            and not vocabulary.unexpressed
        )

    def probes(self, seen: Observation) -> list[Probe]:
        """Several encodings with dropout of each input."""
        if not seen.contract.vocabulary.dropout:
            return []
        mode, shape = seen.contract.mode, Dropout(DRAWS)
        return [
            Probe(name, Encode(Inputs.of([seen.inputs[i] for i in rows]), mode, shape=shape))
            for name, rows in _asked(seen)
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Of each input the first encoding that is none."""
        judgement = Judgement()
        if _reachable(seen.contract.vocabulary) is None:
            return judgement
        common = trusted(seen)
        for participant in seen.contract.participants:
            name = participant.name
            if participant.about.law is not Law.REACHABLE or name not in seen.results:
                continue
            for index in _rows(seen, name):
                judgement.exercised[name] += 1
                outcome, right = seen.results[name].outcome(index), common.outcome(index)
                self._hold(seen, judgement, name, index, [outcome], right)
        for (name, rows), answer in zip(_asked(seen), answers, strict=False):
            for row, index in enumerate(rows):
                outcome = answer.outcome(row)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                drawn = _draws(outcome) if isinstance(outcome, Encoded) else [outcome]
                self._hold(seen, judgement, name, index, drawn, seen.results[name].outcome(index))
        return judgement

    def _hold(
        self,
        seen: Observation,
        judgement: Judgement,
        name: str,
        index: int,
        drawn: Sequence[Outcome],
        right: Outcome,
    ) -> None:
        data = seen.inputs[index]
        cuts = _cuts(seen.contract, data)
        for outcome in drawn:
            stage = fault(seen.contract.vocabulary, cuts, outcome, right)
            if stage is not None:
                parts = (Part(("without dropout",), right), Part((name,), outcome))
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), stage)
                )
                return


def fault(
    vocabulary: Vocabulary, cuts: Sequence[int] | None, outcome: Outcome, right: Outcome
) -> str | None:
    """The stage at which an encoding is none that merges make of a text; None for one that is.

    cuts: where pre-tokens begin and end, None where that is not known for sure.
    """
    if not isinstance(outcome, Encoded):
        return Status(outcome.status).label
    ids = outcome.ids
    known = _reachable(vocabulary)
    assert known is not None
    try:
        spelled = [vocabulary.spelling(token_id) for token_id in ids]
    except KeyError:
        return "unknown-id"
    text = _spelled(vocabulary, right) if isinstance(right, Encoded) else None
    if text is not None and b"".join(spelled) != text:
        return "text"
    ends = [0, *accumulate(map(len, spelled))]
    if _added(vocabulary) & {*ids}:
        cuts = None
    for token_id, start, end in zip(ids, ends, ends[1:], strict=False):
        if not known[token_id] and not _whole(vocabulary, cuts, start, end):
            return "unreachable"
        if cuts is not None and bisect_right(cuts, start) < bisect_left(cuts, end):
            return "pre-tokens"
    return None


def _spelled(vocabulary: Vocabulary, right: Encoded) -> bytes | None:
    """The text of an encoding without dropout; None where it has an id that is none."""
    try:
        return vocabulary.spell(list(right.ids))
    except KeyError:
        return None


def _whole(vocabulary: Vocabulary, cuts: Sequence[int] | None, start: int, end: int) -> bool:
    """Whether a token may be a pre-token that was looked up."""
    if not vocabulary.ignore_merges:
        return False
    return cuts is None or (start in cuts and end in cuts)


def _cuts(contract: Contract, data: bytes) -> list[int] | None:
    """Where pre-tokens begin and end, in order; None where that is not known for sure."""
    vocabulary = contract.vocabulary
    if vocabulary.normalizes or not data.isascii():
        return None
    if not contract.mode.pretokenize:
        return [0, len(data)]
    return sorted({0, *piece_ends(vocabulary, data)})


def _added(vocabulary: Vocabulary) -> set[int]:
    return {one.id for one in vocabulary.added_tokens} | {*vocabulary.special_tokens.values()}


@lru_cache(maxsize=4)
def _reachable(vocabulary: Vocabulary) -> NDArray[np.bool_] | None:
    """Of each id whether merges reach it; None where merges change what is spelled."""
    merges, tokens = vocabulary.merges, vocabulary.tokens
    left, right, merged = merges.left, merges.right, merges.merged
    for one, other, both in zip(left.tolist(), right.tolist(), merged.tolist(), strict=True):
        if (tokens[one] or b"") + (tokens[other] or b"") != tokens[both]:
            return None
    given = _added(vocabulary)
    known = np.zeros(max([len(tokens), *(token_id + 1 for token_id in given)]), dtype=np.bool_)
    known[: len(tokens)] = [_symbol(vocabulary, token_id) for token_id in range(len(tokens))]
    known[[*given]] = True
    count = -1
    while count != (count := int(known.sum())):
        known[merged[known[left] & known[right]]] = True
        if vocabulary.rank_order is RankOrder.IDS:
            for token_id in np.nonzero(~known)[0].tolist():
                known[token_id] = _parted(vocabulary, known, token_id)
    return known


def _parted(vocabulary: Vocabulary, known: NDArray[np.bool_], token_id: int) -> bool:
    """Whether a token is two reachable ones: with ranks, any two that make a token may merge."""
    token, ids = vocabulary.tokens[token_id] or b"", vocabulary.ids
    pairs = ((ids.get(token[:cut]), ids.get(token[cut:])) for cut in range(1, len(token)))
    return any(
        left is not None and right is not None and known[left] and known[right]
        for left, right in pairs
    )


def _symbol(vocabulary: Vocabulary, token_id: int) -> bool:
    """Whether a token is what merging begins with."""
    if vocabulary.pieces:
        piece = vocabulary.pieces[token_id]
        return len(piece.text) == 1 or piece.type in (PieceType.BYTE, PieceType.UNKNOWN)
    token = vocabulary.tokens[token_id]
    if token is None:
        return False
    if vocabulary.alphabet is Alphabet.BYTES:
        return len(token) == 1
    return len(token.decode(errors="replace")) == 1


def _asked(seen: Observation) -> list[tuple[str, list[int]]]:
    """By implementation the inputs that it is asked to encode with dropout."""
    rows = {name: _rows(seen, name) for name in seen.results}
    return [(name, some) for name, some in rows.items() if some]


def _rows(seen: Observation, name: str) -> list[int]:
    """The inputs that an implementation encodes and that are not too long."""
    return [i for i in encoded_indices(seen.results[name]) if len(seen.inputs[i]) <= LONGEST]


def _draws(outcome: Encoded) -> list[Encoded]:
    """The encodings of one answer, each after its length."""
    found, place, ids = [], 0, outcome.ids
    while place < len(ids):
        end = place + 1 + ids[place]
        found.append(Encoded(ids[place + 1 : end]))
        place = end
    return found
