"""Libraries that carry OpenAI's vocabularies, and run no others: which one a vocabulary is."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from corpora.vocabularies.patterns import PATTERNS, special_tokens_of
from impls.adapters.recipes import Way, Ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

# By SHA-256 of the ordinary tokens, a line "id:bytes in base 16" each, in order of id: what the
# wheels carry cannot be read, so a vocabulary must be known to be the same.
BUILT_IN = {
    "2f42d9ac99cced2beb3c9c7fede745880915fa54be5739f990c19656a4e7fcba": "cl100k_base",
    "a36684b621acb8cd23025abd3819b857814480b9b7480f43e68dc96f826660d2": "o200k_base",
}


@lru_cache(maxsize=16)
def built_in_name(vocabulary: Vocabulary) -> str | None:
    """Which of the encodings of OpenAI's the vocabulary's ordinary tokens are, or None."""
    digest = hashlib.sha256()
    for token_id, token in enumerate(vocabulary.tokens):
        if token is not None:
            digest.update(b"%d:%s\n" % (token_id, token.hex().encode()))
    return BUILT_IN.get(digest.hexdigest())


def openai_way(
    vocabulary: Vocabulary, mode: Mode, code: Callable[[str], str], *, pretokenizes: bool = True
) -> Way | str:
    """The way of a library for the two encodings that all such libraries carry.

    code: of the name of an encoding. pretokenizes: the library always does.
    """
    name = built_in_name(vocabulary)
    if name is None or vocabulary.normalizes:
        return "has only its own o200k_base and cl100k_base"
    if mode.pretokenize and vocabulary.splits != PATTERNS[name]:
        return f"pre-tokenizes only as {name} does"
    if pretokenizes and not mode.pretokenize:
        return "always pre-tokenizes"
    published = special_tokens_of(name, len(vocabulary.ids))
    if mode.special == "all" and dict(vocabulary.special_tokens) != published:
        return f"knows the special tokens of {name} alone"
    return Way("none", bytes, code(name))


LIKE_TIKTOKEN = """\
import {module}

tokenizer = {module}.get_encoding({name!r})


def encode(data):
    return tokenizer.{call}


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""


def like_tiktoken(module: str) -> Ways:
    """The ways of a library that has tiktoken's calls, and OpenAI's vocabularies built in."""

    def way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
        call = "encode_ordinary(data.decode())"
        if mode.special == "all":
            call = 'encode(data.decode(), allowed_special="all")'
        return openai_way(
            vocabulary,
            mode,
            lambda name: LIKE_TIKTOKEN.format(module=module, name=name, call=call),
        )

    return way


LIKE_RS_BPE = """

def encode(data):
    return {call}


def decode(ids):
    return tokenizer.bpe().decode_tokens(ids)
"""


def like_rs_bpe(code: str) -> Ways:
    """The ways of a library that has rs-bpe's calls, and encodes bytes without pre-tokenizing.

    code: makes a ``tokenizer`` of the ``{name}`` of an encoding.
    """

    def way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
        if mode.special == "all":
            return "never reads special tokens from text"
        call = "tokenizer.bpe().encode_via_backtracking(data)"
        if mode.pretokenize:
            call = "tokenizer.encode(data.decode())"
        whole = code + LIKE_RS_BPE
        return openai_way(
            vocabulary,
            mode,
            lambda name: whole.format(name=name, call=call),
            pretokenizes=False,
        )

    return way
