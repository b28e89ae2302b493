"""Reachability: what encodes with merges left out still gives what merges can make of the text."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.model import Algorithm, Alphabet, PieceType, RankOrder, Vocabulary
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import added_ids, first_past, ids_of, spelled, spellings
from harness.checks.round_trip import trusted
from harness.core.comparisons import Contract
from harness.core.messages import Dropout, sequences_in
from harness.core.outcomes import Encoded, Outcome
from harness.core.partition import Part
from harness.core.pretokens import piece_ends
from impls.interface import Law

DRAWS = 8
"""Encodings of each input with dropout: what goes wrong once in many times is to come back."""

LONGEST = 4096
"""Bytes of an input that is looked at: it is encoded so many times."""


class Reachability(AsksAgain):
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
        "with merges left out, as by the dropout of a tokenizer.json, all tokens can be made "
        "from the text by merges"
    )
    said = "gave tokens that merges cannot make from the text"
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

    def look(self, one: Subject) -> Look:
        """Its encoding, if it leaves merges out always, and several with dropout."""
        if reachable(one.vocabulary) is None or len(one.data) > LONGEST:
            return
        if one.participant.about.law is Law.REACHABLE:
            hold(one, one.outcome, trusted(one.seen).outcome(one.index))
        if one.vocabulary.dropout:
            (outcome,) = yield [one.encode(one.data, shape=Dropout(DRAWS))]
            hold(one, outcome, one.outcome, [*map(Encoded, sequences_in(ids_of(outcome)))])


def hold(one: Subject, outcome: Outcome, right: Outcome, drawn: Sequence[Outcome] = ()) -> None:
    """Judge an answer by the first of its encodings that is none. drawn: those, if it has many."""
    cuts = cuts_of(one.contract, one.data)
    wanted = Part(("without dropout",), right)
    stages = ((stage_of(one.vocabulary, cuts, x, right), x) for x in drawn or [outcome])
    one.judge(outcome, ((stage, wanted, one.says(each)) for stage, each in stages if stage))


def stage_of(
    vocabulary: Vocabulary, cuts: Sequence[int] | None, outcome: Outcome, right: Outcome
) -> str:
    """The stage at which an encoding is none that merges make of a text; empty for one that is.

    cuts: where pre-tokens begin and end, None where that is not known for sure.
    """
    known, ids = reachable(vocabulary), ids_of(outcome)
    if not isinstance(outcome, Encoded):
        return outcome.status.label
    parts = spellings(vocabulary, ids)
    if parts is None or known is None:
        return "unknown-id"
    if isinstance(right, Encoded) and spelled(vocabulary, right.ids) not in {None, b"".join(parts)}:
        return "text"
    if not added_ids(vocabulary).isdisjoint(ids):
        cuts = None
    ends = pairwise([0, *accumulate(map(len, parts))])
    for token_id, (start, end) in zip(ids, ends, strict=True):
        # It may be a pre-token that was looked up.
        whole = vocabulary.ignore_merges and (cuts is None or (start in cuts and end in cuts))
        if not known[token_id] and not whole:
            return "unreachable"
        if cuts is not None and bisect_right(cuts, start) < bisect_left(cuts, end):
            return "pre-tokens"
    return ""


def cuts_of(contract: Contract, data: bytes) -> list[int] | None:
    """Where pre-tokens begin and end, in order; None where that is not known for sure."""
    if contract.vocabulary.normalizes or not data.isascii():
        return None
    inside = piece_ends(contract.vocabulary, data) if contract.mode.pretokenize else ()
    return sorted({0, len(data), *inside})


@lru_cache(maxsize=4)
def reachable(vocabulary: Vocabulary) -> NDArray[np.bool_] | None:
    """Of each id whether merges reach it; None where merges change what is spelled."""
    tokens, ids = [token or b"" for token in vocabulary.tokens], vocabulary.ids
    table = vocabulary.merges
    left, right, merged = table.left, table.right, table.merged
    for one, other, both in zip(left.tolist(), right.tolist(), merged.tolist(), strict=True):
        if tokens[one] + tokens[other] != tokens[both]:
            return None
    known = np.zeros(first_past(vocabulary), dtype=np.bool_)
    known[: len(tokens)] = [is_symbol(vocabulary, token_id) for token_id in range(len(tokens))]
    known[[*added_ids(vocabulary)]] = True
    before = -1
    while before != (before := int(known.sum())):
        known[merged[known[left] & known[right]]] = True
        if known.sum() == before and vocabulary.rank_order is RankOrder.IDS:
            # With ranks, any two that make a token may merge. Few are left that no merge has made.
            for token_id in np.flatnonzero(~known[: len(tokens)]).tolist():
                token = tokens[token_id]
                parted = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
                known[token_id] = any(
                    all(part in ids and known[ids[part]] for part in parts) for parts in parted
                )
    return known


def is_symbol(vocabulary: Vocabulary, token_id: int) -> bool:
    """Whether a token is what merging begins with."""
    if vocabulary.pieces:
        piece = vocabulary.pieces[token_id]
        return len(piece.text) == 1 or piece.type in (PieceType.BYTE, PieceType.UNKNOWN)
    token = vocabulary.tokens[token_id] or b""
    of_bytes = vocabulary.alphabet is Alphabet.BYTES
    return len(token if of_bytes else token.decode(errors="replace")) == 1
