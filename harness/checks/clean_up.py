"""Cleaned spaces: decoded for a person, a text loses the spaces that English has not, no others."""

from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary
from harness.checks.another_way import Decodes, Look, Subject
from harness.core.outcomes import Encoded, Unsupported

REPLACED = (
    (b" .", b"."),
    (b" ?", b"?"),
    (b" !", b"!"),
    (b" ,", b","),
    (b" ' ", b"'"),
    (b" n't", b"n't"),
    (b" 'm", b"'m"),
    (b" 's", b"'s"),
    (b" 've", b"'ve"),
    (b" 're", b"'re"),
)
"""What becomes of what, in this order, from left to right each."""


class CleanUp(Decodes):
    """For ids t = encode(x) and y = decode(t): decode_cleaned(t) = clean(y), where clean takes the
    space away before each of . ? ! , n't 'm 's 've 're, and both around ', in this order; for
    byte-pair encoding of pieces that or y itself, and of bytes y alone.

    Of decoders that clean spaces up (``CleansSpaces``), as the option
    ``clean_up_tokenization_spaces`` of transformers does: it was made for WordPiece, and newer
    releases leave a text of byte-pair encoding alone, since that loses spaces of its own by it
    (``x != y`` becomes ``x!= y``).
    """

    name = "clean-up"
    summary = "decoding with clean-up of spaces removes only the spaces before punctuation"
    said = "removed the wrong spaces in clean-up"
    every = 12

    def look(self, one: Subject) -> Look:
        """The text with its spaces cleaned up, and of those who do that, as it is."""
        (outcome,) = yield [one.decode(one.ids, clean=True)]
        if isinstance(outcome, Unsupported):
            return
        (decoded,) = yield [one.decode(one.ids)]
        if isinstance(decoded, Encoded):  # a decoder that fails by itself is the round trip's
            texts = texts_of(one.vocabulary, decoded.text or b"")
            wanted = one.says(Encoded(decoded.ids, text=texts[0]), "cleaned up by the rule")
            lawful = isinstance(outcome, Encoded) and outcome.text in texts
            one.expect("decode", wanted, outcome, "cleaning up", lawful)


def cleaned(text: bytes) -> bytes:
    """A text with its spaces cleaned up."""
    for spaced, clean in REPLACED:
        text = text.replace(spaced, clean)
    return text


def texts_of(vocabulary: Vocabulary, text: bytes) -> list[bytes]:
    """What a text may be once it is cleaned up, what is right by the rule first."""
    if vocabulary.algorithm is not Algorithm.BPE:
        return [cleaned(text)]
    return [text, *([cleaned(text)] if vocabulary.alphabet is not Alphabet.BYTES else [])]
