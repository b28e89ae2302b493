"""Stream decoders: what a library gives out id by id is what it decodes at once."""

from corpora.generators.material import is_text
from harness.checks.another_way import Decodes, Look, Subject
from harness.checks.base import REPLACEMENT
from harness.core.outcomes import Encoded, Outcome


class StreamDecoder(Decodes):
    """For ids t = encode(x) of x in UTF-8: the texts that decode_stream gives for t, id by
    id, together are decode(t), except for U+FFFD at its end.

    Of those whose library has a decoder for text as it is made (``DecodesStreams``). Where that
    gives text, it holds bytes back until they are characters, so that nothing is missing after the
    last id of a whole text; but it cannot tell U+FFFD from bytes that are not whole yet, and holds
    it back for as long as nothing follows.
    """

    name = "stream-decoder"
    summary = "decoding id by id with a library's own decoder gives the text of decoding at once"
    said = "decoded id by id differently than at once"
    every = 6

    def look(self, one: Subject) -> Look:
        """The ids of a text at once, and id by id."""
        if not is_text(one.data):
            return
        once, pieces = yield [one.decode(one.ids), one.decode(one.ids, stream=True)]
        if isinstance(once, Encoded):  # a decoder that fails on the whole is the round trip's
            lawful = settled(pieces) == settled(once)
            one.expect("decode", one.says(once, "at once"), pieces, "id by id", lawful)


def settled(outcome: Outcome) -> bytes | None:
    """What was decoded, without U+FFFD at its end; None if nothing was."""
    if not isinstance(outcome, Encoded):
        return None
    text = outcome.text or b""
    while text.endswith(REPLACEMENT):
        text = text.removesuffix(REPLACEMENT)
    return text
