"""Skipping special tokens: decoded without them, ids with special tokens give the text alone."""

from functools import lru_cache

from corpora.vocabularies.model import Vocabulary
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import Severity, character_ends, draw, verbatim
from harness.checks.specials import has_specials, special_ids
from harness.core.outcomes import Encoded
from impls.interface import Capability


class SkipSpecials(AsksAgain):
    """For ids t = encode(x) without special or unknown tokens, and t' = t with special tokens put
    before, after, and between whole characters: decode_without_specials(t') = decode(t).

    Of decoders that leave special tokens out (``SkipsSpecials``), as what a model says begins and
    ends with them. Where decoding rewrites the text, they stand before and after only: white space
    in the middle may be treated apart there. Tokens and places are drawn from the input's checksum.
    """

    name = "skip-specials"
    summary = "decoded without special tokens, ids with some give the text without them"
    severity = Severity.TEXT
    said = "did not leave special tokens out of a text"
    every = 10
    needs = (Capability.DECODE,)
    where = (has_specials,)

    def look(self, one: Subject) -> Look:
        """The ids alone, and with special tokens among them."""
        special, ids = in_order(one.vocabulary), one.ids
        unknown, never = one.vocabulary.unk_id, special_ids(one.vocabulary)
        if not ids or unknown in ids or not never.isdisjoint(ids):
            return
        inside = verbatim(one.contract)
        places = character_ends(one.vocabulary, ids, one.data) if inside else []
        dice = draw(one.data)
        middle = dice.choice(places) if places else len(ids)
        between = [dice.choice(special)] if places else []
        before, after = dice.choice(special), dice.choice(special)
        among = (before, *ids[:middle], *between, *ids[middle:], after)
        once, without = yield [one.decode(ids), one.decode(among, skip=True)]
        if isinstance(once, Encoded):  # a decoder that fails by itself is the round trip's
            right = one.says(Encoded(among, once.text), "without special tokens")
            one.expect("decode", right, without, "skipping them")


@lru_cache(maxsize=4)
def in_order(vocabulary: Vocabulary) -> tuple[int, ...]:
    """The ids of special tokens, of which a vocabulary may have a thousand, to draw from."""
    return tuple(sorted(special_ids(vocabulary)))
