"""Engines of constrained decoding with one mistake each, made of llguidance's matcher."""

import copy
import json

import numpy as np

from corpora.grammars.json_schema import llguidance_grammar
from impls.adapters.llguidance import LIBRARY, tokenizer_of
from impls.interface import About, Capability


class Right:
    """The matcher as it is: what is loaded, and a copy of it in a grammar."""

    @property
    def about(self):
        return About(type(self).__name__, "1", capabilities=frozenset({Capability.CONSTRAIN}))

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        self.vocabulary, self.engine = vocabulary, tokenizer_of(vocabulary)
        return self

    def encode(self, data, mode):
        return []

    def start(self, schema, whitespace):
        made = copy.copy(self)
        grammar = llguidance_grammar(json.loads(schema), whitespace)
        made.matcher = LIBRARY.load().LLMatcher(self.engine, grammar, log_level=0)
        return made

    def allowed(self):
        mask = np.frombuffer(self.matcher.compute_bitmask(), dtype=np.uint8)
        bits = np.unpackbits(mask, bitorder="little")
        return bits[: len(self.vocabulary.tokens)].astype(np.bool_)

    def consume(self, token_id):
        return bool(self.matcher.consume_tokens([token_id]))

    def forced(self):
        return list(self.matcher.compute_ff_tokens())


class Lacking(Right):
    """Its masks lack the tokens between a key and its value."""

    def allowed(self):
        mask, ids = super().allowed(), self.vocabulary.ids
        mask[[ids[text] for text in (b'":', b'": ') if text in ids]] = False
        return mask


class ByteWise(Right):
    """It forces bytes where the tokenizer has longer tokens."""

    def allowed(self):
        return np.ones(len(self.vocabulary.tokens), dtype=np.bool_)

    def forced(self):
        return [self.vocabulary.ids[bytes([b])] for b in self.vocabulary.spell(super().forced())]


class Outside(Right):
    """It forces tokens that its own mask does not admit."""

    def forced(self):
        return [int(np.flatnonzero(~self.allowed())[300])] if super().forced() else []
