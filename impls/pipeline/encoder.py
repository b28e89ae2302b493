"""``pipeline.huggingface``: a tokenizer.json as its own library runs it, by plain definitions."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

from corpora.vocabularies.model import AddedToken, Unexpressed, VocabularyError
from corpora.vocabularies.tokenizer_json_added import check_added
from corpora.vocabularies.tokenizer_json_out import given
from impls.explanations import IDS, NORMALIZATION, literal, shown_ids, shown_parts
from impls.interface import About, Capability, Mode, Step, Unsupported
from impls.pipeline.added_tokens import COLLIDING, AddedTokens
from impls.pipeline.decoders import decoded, decoders_of
from impls.pipeline.errors import Undefined
from impls.pipeline.models import model_of
from impls.pipeline.normalizers import normalizers_of
from impls.pipeline.post_processors import Template
from impls.pipeline.pretokenizers import marks_beginning, split, splitters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.pipeline.decoders import Decoder
    from impls.pipeline.models import Model
    from impls.pipeline.normalizers import Step as Normalizing
    from impls.pipeline.pretokenizers import Splitter

Json = dict[str, Any]
_T = TypeVar("_T")

DAMAGED = (
    VocabularyError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a file raises that is not as the library writes it."""

NAME = "pipeline.huggingface"

MAX_INPUT = 1 << 14
"""Bytes that it is asked to encode: a second of Python."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file says, each part by its definition.

    decoders, template: what decodes, and what is added, has a definition of its own or none; ids
    have theirs.
    """

    added: list[AddedToken]
    model: Model
    normalizers: list[Normalizing]
    splitters: list[Splitter]
    marks_beginning: bool
    decoders: list[Decoder] | Undefined
    template: Template | Undefined


def parts_of(document: Json) -> Parts:
    """The parts of a file. Raises Undefined for one that has steps without a definition."""
    return Parts(
        [_added(entry) for entry in document.get("added_tokens") or []],
        model_of(document["model"]),
        normalizers_of(document.get("normalizer")),
        splitters_of(document.get("pre_tokenizer")),
        marks_beginning(document.get("pre_tokenizer")),
        _or_undefined(decoders_of, document.get("decoder")),
        _or_undefined(Template, document.get("post_processor")),
    )


class Encoder:
    """The steps of a file. Raises Undefined for one that has others.

    made: how its parts are made, in which a planted mistake differs.
    """

    def __init__(self, content: bytes, made: Callable[[Json], Parts] = parts_of) -> None:
        parts = made(json.loads(content, parse_float=_number))
        self._model = parts.model
        self._normalizers = parts.normalizers
        self._splitters = parts.splitters
        self._marks_beginning = parts.marks_beginning
        if len({token.id for token in parts.added}) < len(parts.added):
            raise Undefined("added tokens of one id")
        check_added(self._model.vocab, parts.added, "")
        verbatim = [token for token in parts.added if not token.normalized]
        self._verbatim = AddedTokens(verbatim, lambda text: text)
        normalized = [token for token in parts.added if token.normalized]
        if normalized and self._normalizers and self._marks_beginning:
            raise Undefined("a beginning of the text before a normalized token")
        self._normalized = AddedTokens(normalized, self._normalize)
        shared = Counter(self._model.vocab.values())
        self._shared = {token_id for token_id, many in shared.items() if many > 1}
        self._tokens = {token_id: text for text, token_id in self._model.vocab.items()}
        # What was found in the normalized text comes back as it was found.
        self._tokens.update({token.id: token.text for token in verbatim})
        self._tokens.update({token.id: self._normalize(token.text) for token in normalized})
        self._decoders, self._template = parts.decoders, parts.template

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Unsupported for what is not UTF-8."""
        ids: list[int] = []
        for _, pieces, added in self.parts(data, mode):
            ids += [one for piece in pieces for one in self._model.ids(piece)]
            ids += [] if added is None else [added]
        return ids

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of tokens, special ones as theirs; ids that are no token's have none."""
        if isinstance(self._decoders, Undefined):
            raise Unsupported(f"has no definition of {self._decoders}")
        if not self._shared.isdisjoint(ids):
            raise Unsupported("two tokens have this id")
        tokens = [self._tokens[one] for one in ids if one in self._tokens]
        return decoded(self._decoders, tokens).encode()

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """The ids of a text or a pair, with those that the post-processor adds."""
        if isinstance(self._template, Undefined):
            raise Unsupported(f"has no definition of {self._template}")
        second = None if pair is None else self.encode(pair, mode)
        return self._template.framed(self.encode(data, mode), second)

    def parts(self, data: bytes, mode: Mode) -> list[tuple[str, list[str], int | None]]:
        """Each part of a text between added tokens: normalized, its pieces; or a token's id."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unsupported("takes text only, and this is not UTF-8") from None
        specials = mode.special == "all"
        found: list[tuple[str, list[str], int | None]] = []
        for start, part, token in self._verbatim.parts(text, specials):
            if token is not None:
                found.append((part, [], token))
                continue
            normalized = self._normalize(part)
            at_beginning = start == 0 and self._keeps_beginning(part)
            for within, piece, added in self._normalized.parts(normalized, specials):
                if added is None:
                    at_start = at_beginning and within == 0
                    found.append((piece, split(self._splitters, piece, at_start), None))
                else:
                    found.append((piece, [], added))
        return found

    def _normalize(self, text: str) -> str:
        for step in self._normalizers:
            text = step.normalize(text)
        return text

    def _keeps_beginning(self, text: str) -> bool:
        """Whether normalization leaves the text's beginning there, if anybody wants to know."""
        if not self._marks_beginning:
            return True
        before = text
        for step in self._normalizers:
            if not before:
                return True  # nothing is left to put a mark before
            if not step.keeps(before):
                if before != text:
                    raise Unsupported("what stood at the beginning may have been put there")
                return False
            before = step.normalize(before)
        return True


def _or_undefined(make: Callable[[object], _T], part: object) -> _T | Undefined:
    try:
        return make(part)
    except Undefined as error:
        return error
    except DAMAGED:
        return Undefined("a step that is damaged, or of an older form")


MAX_DIGITS = 19
"""Digits of a number that serde_json reads without leaving any out."""


def _number(digits: str) -> float:
    """A number as the library reads it, which is not always the nearest one: ties hang on that."""
    from impls.unigram.lexicon import parsed  # noqa: PLC0415 - Numba takes a second

    mantissa = digits.lower().partition("e")[0].replace(".", "")
    if len(mantissa.lstrip("-0")) > MAX_DIGITS:
        raise Undefined("a number of so many digits")
    return parsed(digits.lower())


def _added(entry: dict[str, Any]) -> AddedToken:
    return AddedToken(
        entry["content"],
        entry["id"],
        special=bool(entry.get("special")),
        single_word=bool(entry.get("single_word")),
        lstrip=bool(entry.get("lstrip")),
        rstrip=bool(entry.get("rstrip")),
        normalized=bool(entry.get("normalized")),
    )


@lru_cache(maxsize=1)
def read(content: bytes) -> Encoder | str:
    """The encoder of a file, or what has no definition in it."""
    try:
        return Encoder(content)
    except Undefined as error:
        return f"has no definition of {error}"
    except Unexpressed as error:
        return f"has no definition of {error.steps[0]}"
    except Unsupported as error:
        return f"an added token: {error}"
    except DAMAGED:
        return "the file is damaged, or of an older form"


@lru_cache(maxsize=4)
def collide(vocabulary: Vocabulary) -> bool:
    """Whether a tokenizer.json has added tokens that are one text once it is normalized."""
    if sum(token.normalized for token in vocabulary.added_tokens) < 2:
        return False
    found = read(given(vocabulary))
    return isinstance(found, str) and COLLIDING in found


def _with_flags(token: AddedToken) -> bool:
    """Whether our other implementations leave a vocabulary with such a token to this one."""
    return token.single_word or token.lstrip or token.rstrip


class Implementation:
    """The steps of a tokenizer.json by plain definitions: where the plain model cannot express
    them all, or an added token takes white space with it or is a whole word."""

    native_formats = frozenset({"tokenizer.json"})

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name=NAME,
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.DECODE}),
            max_input=MAX_INPUT,
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Files of steps that are defined here, where the plain definitions do not run them."""
        if vocabulary.format != "tokenizer.json" or vocabulary.native is None:
            return "reads a tokenizer.json"
        if not vocabulary.unexpressed and not any(map(_with_flags, vocabulary.added_tokens)):
            return "the plain model says all of the file"
        if not mode.pretokenize:
            return "the steps of the file cannot be left out"
        found = read(given(vocabulary))
        return found if isinstance(found, str) else None

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """Read the file: a fraction of a second for 32,000 tokens. Raises VocabularyError."""
        found = read(given(vocabulary))
        if isinstance(found, str):
            raise VocabularyError(vocabulary.id, found, "give another file")
        # Compile, and make tables, where a caller expects to wait, and not inside the first call.
        with contextlib.suppress(Unsupported):
            found.encode("aé".encode(), Mode())
        return found

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Step]:
        """The stages of one input; see :class:`impls.interface.Explains`."""
        encoder = self.load(vocabulary)
        parts = encoder.parts(data, mode)
        pieces = [piece.encode() for _, found, _ in parts for piece in found]
        return [
            Step(NORMALIZATION, literal("".join(text for text, _, _ in parts).encode())),
            Step("pre-tokens", shown_parts(pieces)),
            Step(IDS, shown_ids(encoder.encode(data, mode))),
        ]


IMPLEMENTATION = Implementation()
