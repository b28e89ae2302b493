"""Special tokens: off, they are ordinary text; on, they change nothing where none stands."""

import re
from functools import lru_cache

from corpora.vocabularies.model import Algorithm, Vocabulary
from corpora.vocabularies.tokenizer_json import made_by_model
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from harness.core.partition import Part
from impls.interface import Mode


def has_specials(contract: Contract) -> bool:
    """Whether the vocabulary has special tokens."""
    return bool(special_ids(contract.vocabulary))


class Specials(AsksAgain):
    """With S the special tokens but the unknown one: off, encode(x) has no id of S, for all x. On,
    encode(x) is what it is with them off, for all x in which no text of S stands.

    The second is asked of those who read special tokens, by the contract in which they do. It holds
    of each implementation by itself: what an injected text can make a tokenizer say must not depend
    on whom it is compared with.
    """

    name = "specials"
    summary = "special tokens appear only if they are on, and change nothing in texts without them"
    said = "treated ordinary text differently with special tokens on"
    every = 2
    where = (has_specials,)

    def look(self, one: Subject) -> Look:
        """Look at every id; or where special tokens are on, ask with them off."""
        vocabulary, mode = one.vocabulary, one.contract.mode
        if mode.special == "none":
            special = never_in_texts(vocabulary)
            lawful = Encoded(tuple(i for i in one.ids if i not in special))
            one.expect("off", Part(("without special tokens",), lawful), one.outcome)
            return
        made = any(token.special and token.normalized for token in vocabulary.added_tokens)
        if vocabulary.normalizes and made:
            return  # other texts may make one by their normalization
        if special_texts(vocabulary).search(one.data):
            return
        (off,) = yield [one.encode(one.data, mode=Mode(pretokenize=mode.pretokenize))]
        if isinstance(off, Encoded):
            one.expect("on", one.says(off, "special tokens off"), one.outcome, "on")


@lru_cache(maxsize=4)
def special_texts(vocabulary: Vocabulary) -> re.Pattern[bytes]:
    """Finds any special token in a text, of which a vocabulary may have a thousand."""
    return re.compile(b"|".join(re.escape(text.encode()) for text in vocabulary.special_tokens))


@lru_cache(maxsize=4)
def special_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids that only a policy of special tokens yields; not the unknown token's."""
    tokens, unknown = vocabulary.tokens, vocabulary.unk_id
    return frozenset(
        one
        for one in vocabulary.special_tokens.values()
        if one != unknown and (one >= len(tokens) or tokens[one] is None)
    )


@lru_cache(maxsize=4)
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
