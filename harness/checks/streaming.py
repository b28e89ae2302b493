"""Streaming: what is decoded in two parts is what is decoded whole."""

from __future__ import annotations

from corpora.generators.material import is_text
from harness.checks.base import (
    AsksAgain,
    Look,
    Severity,
    Subject,
    character_ends,
    decoding_stage,
    draw,
)
from harness.checks.round_trip import rewrites
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from impls.interface import Capability


class Streaming(AsksAgain):
    """For ids t = encode(x) and k such that t[:k] spells whole characters:
    decode(t[:k]) decode(t[k:]) = decode(t).

    That is what a program relies on that shows a text while it is made. Of texts in UTF-8 and
    vocabularies that do not normalize, as others treat the beginning of a text apart. The cut is
    drawn from the input's own checksum.
    """

    name = "streaming"
    summary = "ids decoded in two parts, cut between characters, give the text of the whole"
    severity = Severity.TEXT
    said = "decoded differently token by token"
    every = 6
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """With a decoder."""
        return not rewrites(contract) and super().applies(contract)

    def look(self, one: Subject) -> Look:
        """The whole, then both parts, of each input that has a place to cut."""
        cuts = {}
        for index in one.encoded:
            data = one.data(index)
            places = character_ends(one.vocabulary, one.ids(index), data) if is_text(data) else []
            if places:
                cuts[index] = draw(data).choice(places)
        ids = {index: one.ids(index) for index in cuts}
        whole, first, rest = yield [
            one.decode([*ids.values()]),
            one.decode([ids[index][:at] for index, at in cuts.items()]),
            one.decode([ids[index][at:] for index, at in cuts.items()]),
        ]
        for (index, at), once, left, right in zip(cuts.items(), whole, first, rest, strict=True):
            if not isinstance(once, Encoded):
                continue  # a decoder that fails on the whole is the round trip's
            parted = right if isinstance(left, Encoded) else left
            if isinstance(parted, Encoded) and isinstance(left, Encoded):
                parted = Encoded(once.ids, (left.text or b"") + (parted.text or b""))
            stage, whole_text = decoding_stage(parted), one.says(once, "whole")
            one.expect(index, stage, whole_text, parted, f"cut after {at} ids")
