"""Libraries that carry OpenAI's vocabularies, and run no others: which one a vocabulary is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.vocabularies.patterns import PATTERNS
from impls.adapters.recipes import Way
from impls.adapters.rs_bpe import built_in_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

SPECIALS = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}
"""The special tokens that each is published with."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """name: of the encoding, as the library calls it. trouble: why it cannot run in the mode."""

    name: str = ""
    trouble: str | None = None


def openai_name(vocabulary: Vocabulary, mode: Mode, *, pretokenizes: bool = True) -> BuiltIn:
    """Which of the two encodings that all such libraries carry a vocabulary is.

    pretokenizes: the library always does.
    """
    name = built_in_name(vocabulary)
    if name is None or vocabulary.normalizes:
        return BuiltIn(trouble="has only its own o200k_base and cl100k_base")
    if mode.pretokenize and vocabulary.splits != PATTERNS[name]:
        return BuiltIn(trouble=f"pre-tokenizes only as {name} does")
    if pretokenizes and not mode.pretokenize:
        return BuiltIn(trouble="always pre-tokenizes")
    if mode.special == "all" and dict(vocabulary.special_tokens) != SPECIALS[name]:
        return BuiltIn(trouble=f"knows the special tokens of {name} alone")
    return BuiltIn(name)


LIKE_TIKTOKEN = """\
import {module}

tokenizer = {module}.get_encoding({name!r})


def encode(data):
    return tokenizer.{call}


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""


def like_tiktoken(module: str) -> Callable[[Vocabulary, Mode], Way | str]:
    """The ways of a library that has tiktoken's calls, and OpenAI's vocabularies built in."""

    def way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
        found = openai_name(vocabulary, mode)
        if found.trouble is not None:
            return found.trouble
        call = "encode_ordinary(data.decode())"
        if mode.special == "all":
            call = 'encode(data.decode(), allowed_special="all")'
        return Way("none", bytes, LIKE_TIKTOKEN.format(module=module, name=found.name, call=call))

    return way
