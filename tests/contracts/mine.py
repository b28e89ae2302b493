"""A plug-in with mistakes, as a user would write it: it uses the public interface alone."""

from impls.interface import About, Capability
from impls.registry import resolve


class Mine:
    """Right up to two bytes; what is longer comes backwards, and decodes without its end."""

    about = About(name="mine", version="1.0", capabilities=frozenset({Capability.DECODE}))

    def supports(self, vocabulary, mode):
        return "not pre-tokenized" if mode.pretokenize else None

    def load(self, vocabulary):
        return Encoder(resolve("bpe.backtracking").load(vocabulary), vocabulary)


class Encoder:
    """Answers of ``bpe.backtracking``, spoilt."""

    def __init__(self, right, vocabulary):
        self.right, self.vocabulary = right, vocabulary

    def encode(self, data, mode):
        ids = list(self.right.encode(data, mode))
        return ids if len(ids) < 3 else ids[::-1]

    def decode(self, ids):
        text = self.vocabulary.spell(list(ids))
        return text if len(ids) < 3 else text[:-1]
