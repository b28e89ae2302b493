"""Streaming: what is decoded in two parts is what is decoded whole."""

from corpora.generators.material import is_text
from harness.checks.another_way import Decodes, Look, Subject
from harness.checks.base import character_ends, draw, verbatim
from harness.core.outcomes import Encoded


class Streaming(Decodes):
    """For ids t = encode(x) and k such that t[:k] spells whole characters:
    decode(t[:k]) decode(t[k:]) = decode(t).

    That is what a program relies on that shows a text while it is made. Of texts in UTF-8 and
    vocabularies that do not normalize, as others treat the beginning of a text apart. The cut is
    drawn from the input's own checksum.
    """

    name = "streaming"
    summary = "ids decoded in two parts, cut between characters, give the same text as together"
    said = "decoded differently token by token"
    every = 6
    where = (verbatim,)

    def look(self, one: Subject) -> Look:
        """The whole, then both parts, of a text that has a place to cut."""
        ids, data = one.ids, one.data
        places = character_ends(one.vocabulary, ids, data) if is_text(data) else []
        if not places:
            return
        at = draw(data).choice(places)
        whole, left, parted = yield [one.decode(part) for part in (ids, ids[:at], ids[at:])]
        if not isinstance(whole, Encoded):
            return  # a decoder that fails on the whole is the round trip's
        if not isinstance(left, Encoded):
            parted = left
        elif isinstance(parted, Encoded):
            parted = Encoded(ids, (left.text or b"") + (parted.text or b""))
        one.expect("decode", one.says(whole, "whole"), parted, f"cut after {at} ids")
