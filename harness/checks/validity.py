"""Validity: parts of a valid encoding are valid (properties 1 and 2 of byte-pair encoding)."""

import zlib

from corpora.vocabularies.model import Algorithm, Alphabet
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import is_raw, spelled
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Rejected


class Validity(AsksAgain):
    """For e = encode(x) and all i < j: encode(decode(e[i:j])) = e[i:j].

    Holds for byte-pair encoding of a piece over a vocabulary in which every token encodes to
    itself, so it is checked without pre-tokenization and where no pre-token is looked up whole.
    The ranges are drawn from the input's own checksum: the same input is cut the same way.
    """

    name = "validity"
    summary = "any contiguous part of an encoding is the encoding of its own text"
    said = "gave an encoding that is not valid"
    every = 4

    def applies(self, contract: Contract) -> bool:
        """Raw byte-level byte-pair encoding of proper vocabularies."""
        vocabulary = contract.vocabulary
        pairs = vocabulary.algorithm is Algorithm.BPE and vocabulary.alphabet is Alphabet.BYTES
        return pairs and is_raw(contract) and contract.proper

    def look(self, one: Subject) -> Look:
        """The text of a part of the encoding, which must be the part itself."""
        ids, drawn = one.ids, zlib.crc32(one.data)
        if one.name not in one.contract.exact or len(ids) < 2:
            return
        start = drawn % len(ids)
        part = ids[start : start + 1 + (drawn >> 16) % (len(ids) - start)]
        text = spelled(one.vocabulary, part)
        if text is None:
            return  # an id that does not exist is for the equivalence check
        (outcome,) = yield [one.encode(text)]
        # A rejection is lawful, as parts cut characters.
        wanted = one.says(Encoded(part), "as part of the input")
        lawful = isinstance(outcome, Rejected) or outcome == wanted.outcome
        one.expect("part", wanted, outcome, f"by itself: {text!r}", lawful)
