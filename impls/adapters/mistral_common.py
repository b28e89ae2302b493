"""``mistral-common``: Mistral's tekken (byte-level BPE) and its use of SentencePiece BPE."""

from __future__ import annotations

import base64
import json
import re
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies import scratch
from corpora.vocabularies.model import Algorithm
from impls import interface
from impls.adapters.common import SENTENCEPIECE_FILES, Library, text_of
from impls.adapters.recipes import Adapter, Way
from impls.adapters.sentencepiece import model_proto, model_trouble
from impls.interface import Capability, Rejected, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Json, Mode

LIBRARY = Library(
    name="mistral-common",
    homepage="https://github.com/mistralai/mistral-common",
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
    language="python",
    extra="engines",
    helpers=SENTENCEPIECE_FILES,
)

VERSION = "v3"
"""The file format's version: it decides on chat templates only, not on the encoding of text."""

VERSIONED = re.compile(r"\.model(\.v\d+)\w*$")
"""The version in the name of a SentencePiece file, which decides on its template."""

INSTRUCTED = {"<s>", "</s>", "[INST]", "[/INST]"}
"""The special tokens of a conversation without tools."""

TEKKEN_RECIPE = """\
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

tokenizer = Tekkenizer.from_file(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), bos=False, eos=False)


def decode(ids):
    return tokenizer.decode(ids, special_token_policy=SpecialTokenPolicy.KEEP).encode()
"""

SENTENCEPIECE_RECIPE = """\
from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer

tokenizer = SentencePieceTokenizer(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), bos=False, eos=False)
"""


class _Encoder:
    def __init__(self, tokenizer: Any, policy: Any, instruct: Any = None) -> None:
        self._tokenizer = tokenizer
        self._instruct = instruct
        self._policy = policy

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        return self.encode_str(text_of(data), mode)

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        return cast("list[int]", self._tokenizer.encode(text, bos=False, eos=False))

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """With the tokens of the beginning and the end; it knows no pairs."""
        if pair is not None:
            raise Unsupported("has no pairs")
        return cast("list[int]", self._tokenizer.encode(text_of(data), bos=True, eos=True))

    def encode_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> list[int]:
        """By its own requests and code, which define the templates of Mistral's versions."""
        if self._instruct is None:
            raise Unsupported("has no template of conversations here")
        request = LIBRARY.load("protocol.instruct.request").ChatCompletionRequest
        normalize = LIBRARY.load("protocol.instruct.normalize").get_normalizer
        try:
            asked = request.from_openai([*messages], [*tools] or None)
            normalized = normalize(self._instruct.tokenizer.version)
            tokenized = self._instruct.encode_instruct(
                normalized.from_chat_completion_request(asked)
            )
        except LIBRARY.load("exceptions").MistralCommonException as error:
            raise Rejected(str(error)) from error  # an empty message of the assistant is none
        return cast("list[int]", tokenized.tokens)

    def render_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> str:
        """What the ids spell, special tokens included: it encodes without a text of the whole."""
        if self._policy is not type(self._policy).KEEP:
            raise Unsupported("spells pieces, not a text")
        return self.decode(self.encode_chat(messages, tools, mode)).decode()

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Text to a list."""
        text, encode = text_of(data), self._tokenizer.encode
        return lambda: encode(text, bos=False, eos=False)

    def decode(self, ids: Sequence[int]) -> bytes:
        """As its users get it: text, with U+FFFD where the bytes are not."""
        text = self._tokenizer.decode(list(ids), special_token_policy=self._policy)
        return cast("str", text).encode()

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """By the policy that ignores them."""
        ignored = type(self._policy).IGNORE
        text = self._tokenizer.decode(list(ids), special_token_policy=ignored)
        return cast("str", text).encode()


def _tekken_trouble(vocabulary: Vocabulary) -> str | None:
    """Why a vocabulary is no tekken: special tokens first, then the bytes in order, no holes."""
    if vocabulary.pattern is None:
        return "tekken takes one pre-tokenizer pattern"
    if vocabulary.normalizes:
        return "tekken has no normalizer"
    shift = _special_count(vocabulary)
    if vocabulary.tokens[shift : shift + 256] != tuple(bytes([byte]) for byte in range(256)):
        return "tekken wants the 256 bytes in order after the special tokens"
    if None in vocabulary.tokens[shift:]:
        return "tekken has no holes among its ids"
    if any(token_id >= shift for token_id in vocabulary.special_tokens.values()):
        return "tekken's special tokens come first"
    return None


def _special_count(vocabulary: Vocabulary) -> int:
    """Number of ids before the first ordinary token."""
    ordinary = (i for i, token in enumerate(vocabulary.tokens) if token is not None)
    return next(ordinary, len(vocabulary.tokens))


@lru_cache(maxsize=2)
def tekken_json(vocabulary: Vocabulary) -> bytes:
    """The vocabulary as a ``tekken.json`` file."""
    shift = _special_count(vocabulary)
    names = {token_id: text for text, token_id in vocabulary.special_tokens.items()}
    tokens = cast("tuple[bytes, ...]", vocabulary.tokens[shift:])
    content = {
        "config": {
            "pattern": vocabulary.pattern,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(vocabulary.tokens),
            "default_num_special_tokens": shift,
            "version": VERSION,
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": i, "token_str": names.get(i, f"<SPECIAL_{i}>"), "is_control": True}
            for i in range(shift)
        ],
    }
    return json.dumps(content).encode()


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Tekken, and SentencePiece BPE; never special tokens from text."""
    if mode.special == "all":
        return "never reads special tokens from text"
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if vocabulary.algorithm is Algorithm.BPE and vocabulary.pieces:
        file, code = "tokenizer.model", SENTENCEPIECE_RECIPE
        content = partial(model_proto, vocabulary)
        return model_trouble(vocabulary) or Way(file, content, code, ("sentencepiece",))
    if vocabulary.format != "tekken":
        return "tekken and SentencePiece BPE only"
    content = partial(tekken_json, vocabulary)
    return _tekken_trouble(vocabulary) or Way("tekken.json", content, TEKKEN_RECIPE)


class Implementation(Adapter):
    """``Tekkenizer`` or ``SentencePieceTokenizer``, by the kind of vocabulary."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build the tokenizer by way of a temporary file, which is all that it reads."""
        base = LIBRARY.load("tokens.tokenizers.base")
        with scratch.temporary("mistral-common-") as folder:
            instruct = None
            if vocabulary.pieces:
                version = VERSIONED.search(vocabulary.source_path or "")
                path = Path(folder, "tokenizer.model" + (version[1] if version else ""))
                path.write_bytes(model_proto(vocabulary))
                if version:
                    whole = LIBRARY.load("tokens.tokenizers.mistral").MistralTokenizer
                    instruct = whole.from_file(path).instruct_tokenizer
                module = LIBRARY.load("tokens.tokenizers.sentencepiece")
                # Its KEEP policy gives pieces, not text.
                pieces = module.SentencePieceTokenizer(path)
                return _Encoder(pieces, base.SpecialTokenPolicy.IGNORE, instruct)
            path = Path(folder, "tekken.json")
            path.write_bytes(tekken_json(vocabulary))
            module = LIBRARY.load("tokens.tokenizers.tekken")
            tekken = module.Tekkenizer.from_file(path)
            if vocabulary.special_tokens.keys() >= INSTRUCTED:
                instruct = LIBRARY.load("tokens.tokenizers.instruct").InstructTokenizerV3(tekken)
            return _Encoder(tekken, base.SpecialTokenPolicy.KEEP, instruct)


IMPLEMENTATION = Implementation(LIBRARY, _way)
