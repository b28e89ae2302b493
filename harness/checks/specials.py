"""Special tokens: off, they are ordinary text; on, they change nothing where none stands."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.tokenizer_json_native import made_by_model
from harness.checks.base import AsksAgain, Look, Severity, Subject
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from harness.core.partition import Part
from impls.interface import Mode

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Specials(AsksAgain):
    """With S the special tokens but the unknown one: off, encode(x) has no id of S, for all x. On,
    encode(x) is what it is with them off, for all x in which no text of S stands.

    The second is asked of those who read special tokens, by the contract in which they do. It holds
    of each implementation by itself: what an injected text can make a tokenizer say must not depend
    on whom it is compared with.
    """

    name = "specials"
    summary = "special tokens: none while they are off; while on, nothing changes where none stands"
    severity = Severity.IDS
    said = "treated ordinary text differently with special tokens on"
    every = 2

    def applies(self, contract: Contract) -> bool:
        """To vocabularies that have any."""
        return bool(special_ids(contract.vocabulary))

    def look(self, one: Subject) -> Look:
        """Look at every id; or where special tokens are on, ask with them off."""
        if one.mode.special == "none":
            special = never_in_texts(one.vocabulary)
            for index in one.encoded:
                ids = one.ids(index)
                lawful = Encoded(tuple(i for i in ids if i not in special))
                right = Part(("without special tokens",), lawful)
                one.expect(index, "off", right, Encoded(ids))
            return
        made = (token.special and token.normalized for token in one.vocabulary.added_tokens)
        if one.vocabulary.normalizes and any(made):
            return  # other texts may make one by their normalization
        special_texts = [text.encode() for text in one.vocabulary.special_tokens]
        free = (not any(text in data for text in special_texts) for data in one.texts(one.encoded))
        rows = [*compress(one.encoded, free)]
        off_mode = Mode(pretokenize=one.mode.pretokenize)
        (answer,) = yield [one.encode(one.texts(rows), off_mode)]
        for index, off in zip(rows, answer, strict=True):
            if isinstance(off, Encoded):
                right = one.says(off, "special tokens off")
                one.expect(index, "on", right, one.outcome(index), "on")


def special_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids that only a policy of special tokens yields; not the unknown token's."""
    tokens, unknown = vocabulary.tokens, vocabulary.unk_id
    return frozenset(
        one
        for one in vocabulary.special_tokens.values()
        if one != unknown and (one >= len(tokens) or tokens[one] is None)
    )


def never_in_texts(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids that no text yields while special tokens are off.

    The model of a ``tokenizer.json`` knows no types of tokens, so that a special token that it has
    among its own is found in a text as any other is.
    """
    if vocabulary.format == "tokenizer.json" and vocabulary.native is None:
        unigram = vocabulary.algorithm is Algorithm.UNIGRAM
        return frozenset() if unigram else special_ids(vocabulary)
    own, specials = made_by_model(vocabulary), vocabulary.special_tokens
    return special_ids(vocabulary) - {specials[text] for text in own if text in specials}
