"""What forced tokens ought to be, by the definition; grammars that keep their sentences back."""

from corpora.grammars.finite import FiniteLanguage, Unrestricted
from impls.forced.futures import INSIDE, Window
from impls.forced.interface import Context
from impls.forced.piece_tokenizer import PieceTokenizer


class Unlisted:
    """A grammar that does not list its sentences, so that they are not simply all encoded."""

    def __init__(self, grammar):
        self._grammar = grammar

    @property
    def complete(self):
        return self._grammar.complete

    def forced(self):
        return self._grammar.forced()

    def viable(self, data):
        return self._grammar.viable(data)

    def after(self, data):
        return Unlisted(self._grammar.after(data))

    def next_bytes(self):
        return self._grammar.next_bytes()

    def sentences(self, most):
        return None


class Letters(Unlisted):
    """All texts over a few letters."""

    def __init__(self, letters):
        super().__init__(Unrestricted())
        self._letters = letters

    def viable(self, data):
        return all(byte in self._letters for byte in data)

    def after(self, data):
        return self

    def next_bytes(self):
        return sorted(self._letters)


def defined(tokenizer, context, forced, continuations):
    """The longest safely canonical tokens, by the definition: all continuations, encoded."""
    whole = context.text + forced
    encoded = tokenizer.encode_many([whole + more for more in continuations])
    if isinstance(tokenizer, PieceTokenizer):
        placed = tokenizer.encoded(Window(whole, 0, 0), continuations)
    else:
        placed = [
            [token for token in tokenizer.placed(ids) if token.end <= len(whole)] for ids in encoded
        ]
    for ids, tokens in zip(encoded, placed, strict=True):
        assert ids[: len(tokens)] == tuple(token.id for token in tokens)
    common = []
    for column in zip(*placed, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    own, new = common[: len(context.ids)], common[len(context.ids) :]
    if tuple(token.id for token in own) != context.ids:
        return ()
    if own and own[-1].end != len(context.text):
        return ()
    unknown = tokenizer.vocabulary.unk_id
    ids = []
    for count, token in enumerate(new, 1):
        if token.id == unknown:
            break
        if token.end != INSIDE:
            ids = [token.id for token in new[:count]]
    return tuple(ids)


def assert_defined(exact, tokenizer, text, forced, sentences):
    """The exact policy is the definition, whether a grammar lists its sentences or not.

    Gives the context and the ids.
    """
    context = Context(text, tokenizer.encode(text))
    expected = defined(tokenizer, context, forced, sentences) if forced else ()
    for grammar in (FiniteLanguage(sentences), Unlisted(FiniteLanguage(sentences))):
        assert exact.heal(context, forced, grammar).ids == expected, (context, forced, sentences)
    return context, expected
