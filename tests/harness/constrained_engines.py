"""Engines of constrained decoding with one mistake each, made of llguidance's matcher."""

from __future__ import annotations

import json

import numpy as np

from corpora.grammars.json_schema import llguidance_grammar
from impls.adapters.llguidance import LIBRARY, tokenizer_of
from impls.interface import About, Capability


class Matcher:
    """llguidance's matcher as an engine."""

    def __init__(self, engine, grammar, size):
        self._matcher = LIBRARY.load().LLMatcher(engine, grammar, log_level=0)
        self._size = size

    def allowed(self):
        bits = np.unpackbits(
            np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8), bitorder="little"
        )
        return bits[: self._size].astype(np.bool_)

    def consume(self, token_id):
        return bool(self._matcher.consume_tokens([token_id]))

    def forced(self):
        return list(self._matcher.compute_ff_tokens())


class Right:
    """Loads the matcher as it is."""

    name = "right"
    matcher: type[Matcher] = Matcher

    @property
    def about(self):
        return About(self.name, "1", capabilities=frozenset({Capability.CONSTRAIN}))

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        engine, size, matcher = tokenizer_of(vocabulary), len(vocabulary.tokens), self.matcher

        class Engine:
            def encode(self, data, mode):
                return []

            def start(self, schema, whitespace):
                grammar = llguidance_grammar(json.loads(schema), whitespace)
                made = matcher(engine, grammar, size)
                made.vocabulary = vocabulary
                return made

        return Engine()


class _Lacking(Matcher):
    def allowed(self):
        mask = super().allowed()
        for text in (b'":', b'": '):
            token = self.vocabulary.ids.get(text)
            if token is not None:
                mask[token] = False
        return mask


class Lacking(Right):
    """Its masks lack the tokens between a key and its value."""

    name = "lacking"
    matcher = _Lacking


class _ByteWise(Matcher):
    def allowed(self):
        return np.ones(self._size, dtype=np.bool_)

    def forced(self):
        vocabulary = self.vocabulary
        text = vocabulary.spell(super().forced())
        return [vocabulary.ids[bytes([byte])] for byte in text]


class ByteWise(Right):
    """It forces bytes where the tokenizer has longer tokens."""

    name = "byte-wise"
    matcher = _ByteWise


class _Outside(Matcher):
    def forced(self):
        return [int(np.flatnonzero(~self.allowed())[300])] if super().forced() else []


class Outside(Right):
    """It forces tokens that its own mask does not admit."""

    name = "outside"
    matcher = _Outside
