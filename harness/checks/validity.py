"""Validity: parts of a valid encoding are valid (properties 1 and 2 of byte-pair encoding)."""

from __future__ import annotations

import zlib

from corpora.vocabularies.model import Algorithm, Alphabet
from harness.checks.base import AsksAgain, Look, Severity, Subject, is_raw, spelled, stage_of
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
    severity = Severity.IDS
    said = "gave an encoding that is not valid"
    every = 4

    def applies(self, contract: Contract) -> bool:
        """Raw byte-level byte-pair encoding of proper vocabularies."""
        vocabulary = contract.vocabulary
        pairs = vocabulary.algorithm is Algorithm.BPE and vocabulary.alphabet is Alphabet.BYTES
        return pairs and is_raw(contract) and contract.proper

    def look(self, one: Subject) -> Look:
        """The text of a part of each encoding, which must be the part itself."""
        if one.name not in one.seen.contract.exact:
            return
        rows = []
        for index in one.encoded:
            ids = one.ids(index)
            if len(ids) < 2:
                continue
            drawn = zlib.crc32(one.data(index))
            start = drawn % len(ids)
            part = ids[start : start + 1 + (drawn >> 16) % (len(ids) - start)]
            text = spelled(one.vocabulary, part)
            if text is not None:  # an id that does not exist is for the equivalence check
                rows.append((index, text, Encoded(part)))
        (answer,) = yield [one.encode([text for _, text, _ in rows])]
        for (index, text, wanted), outcome in zip(rows, answer, strict=True):
            # A rejection is lawful, as parts cut characters.
            right = isinstance(outcome, Rejected) or outcome == wanted
            known = one.says(wanted, "as part of the input")
            fault = stage_of(outcome, "part"), known, one.says(outcome, f"by itself: {text!r}")
            one.judge(index, outcome, None if right else fault)
