"""Skipping special tokens: decoded without them, ids with special tokens give the text alone."""

from harness.checks.another_way import Decodes, Look, Subject
from harness.checks.base import character_ends, draw, verbatim
from harness.checks.specials import has_specials, special_ids
from harness.core.outcomes import Encoded


class SkipSpecials(Decodes):
    """For ids t = encode(x) without special or unknown tokens, and t' = t with special tokens put
    before, after, and between whole characters: decode_without_specials(t') = decode(t).

    Of decoders that leave special tokens out (``SkipsSpecials``), as what a model says begins and
    ends with them. Where decoding rewrites the text, they stand before and after only: white space
    in the middle may be treated apart there. Tokens and places are drawn from the input's checksum.
    """

    name = "skip-specials"
    summary = "decoding without special tokens gives the text without them"
    said = "did not remove special tokens from a text"
    every = 10
    where = (has_specials,)

    def look(self, one: Subject) -> Look:
        """The ids alone, and with special tokens among them."""
        special, ids = special_ids(one.vocabulary), one.ids
        if not ids or one.vocabulary.unk_id in ids or not special.isdisjoint(ids):
            return
        inside = verbatim(one.contract)
        places = character_ends(one.vocabulary, ids, one.data) if inside else []
        dice = draw(one.data)
        middle = dice.choice(places) if places else len(ids)
        drawn = sorted(special)
        between = [dice.choice(drawn)] if places else []
        before, after = dice.choice(drawn), dice.choice(drawn)
        among = (before, *ids[:middle], *between, *ids[middle:], after)
        once, without = yield [one.decode(ids), one.decode(among, skip=True)]
        if isinstance(once, Encoded):  # a decoder that fails by itself is the round trip's
            right = one.says(Encoded(among, once.text), "without special tokens")
            one.expect("decode", right, without, "skipping them")
