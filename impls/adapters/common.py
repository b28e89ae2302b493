"""What the adapters share: finding the library, reading text, telling where ids decide alone."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies.model import Alphabet, RankOrder
from impls.interface import About, Capability, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from corpora.vocabularies.model import Vocabulary

ABSENT = "not installed"

DECODES = frozenset({Capability.DECODE})
"""What most libraries of the field can do besides encoding."""

SENTENCEPIECE_FILES = ("protobuf", "sentencepiece")
"""These write .model files, as ``Library.helpers``."""


@dataclass(frozen=True)
class Library:
    """A library under test.

    name: of the implementation. distribution, module: as pip and Python call it, if not by the
    name. extra: the extra of tokgate that brings it, empty for what every installation has.
    helpers: what the adapter needs in an environment of its own, besides the library and what all
    adapters need. astray: it encodes plain text otherwise than any other, and joins no run by
    itself, not even where files are read by hardly anybody else.
    """

    name: str
    homepage: str
    distribution: str = ""
    module: str = ""
    capabilities: frozenset[Capability] = DECODES
    language: str = "rust"
    extra: str = ""
    linear: bool = False
    helpers: tuple[str, ...] = ()
    astray: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "distribution", self.distribution or self.name)
        module = self.module or self.distribution.replace("-", "_")
        object.__setattr__(self, "module", module)

    @cached_property
    def version(self) -> str:
        """The installed version, read from the metadata without importing the library."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return ABSENT

    @cached_property
    def about(self) -> About:
        """Who it is."""
        return About(
            name=self.name,
            version=self.version,
            language=self.language,
            homepage=self.homepage,
            issues=f"{self.homepage}/issues",
            capabilities=self.capabilities,
            linear=self.linear,
            library=self.distribution,
        )

    @property
    def requirement(self) -> str:
        """What to install to have this very version."""
        return f"{self.distribution}=={self.version}"

    @property
    def installed(self) -> About:
        """Who it is. Raises ImportError if it is not installed: it has no part in a run then."""
        if self.version == ABSENT:
            raise self.missing()
        return self.about

    def missing(self, why: object = ABSENT) -> ImportError:
        """The error that says what to install. why: what went wrong, where it is installed."""
        what = f"tokgate[{self.extra}]" if self.extra else self.distribution
        return ImportError(f"{self.name}: {why}; pip install '{what}'", name=self.module)

    def load(self, submodule: str = "") -> Any:
        """The library's module. Raises ImportError that says what to install."""
        try:
            return import_module(f"{self.module}.{submodule}" if submodule else self.module)
        except ImportError as error:
            raise self.missing(error) from error


def text_of(data: bytes) -> str:
    """The text of ``data`` for a library that takes only that; else Unsupported."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unsupported("takes text only, and this is not UTF-8") from None


_NO_UNKNOWN = re.compile(
    r"`?unk_id`? is missing|missing \[UNK\] token|unk token .* not (found )?in the vocabulary",
    re.IGNORECASE,
)
"""How libraries say it, of Unigram, of words and of byte-pair encoding."""


@contextmanager
def unknown_excused(vocabulary: Vocabulary) -> Iterator[None]:
    """Raise Unsupported where a library says that the file has no unknown token, and it has none.

    Then the file has no ids for a text with other characters than its own, and nobody is at fault.
    """
    try:
        yield
    except Exception as error:
        if vocabulary.unk_id is None and _NO_UNKNOWN.search(str(error)):
            raise Unsupported(f"the file has no unknown token: {error}") from None
        raise


def in_bytes(text: str, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of ``text`` that count characters, in bytes of its UTF-8."""
    if text.isascii():
        return offsets
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    return [(at[start], at[end]) for start, end in offsets]


@lru_cache(maxsize=16)
def rank_trouble(vocabulary: Vocabulary) -> str | None:
    """Why encoding by ids alone would differ from encoding by merges; None if it is the same.

    An engine that knows ids only merges any two neighbours whose concatenation is a token, by the
    token's id. That is the same as a list of merges if ids rise along the list (so each token has
    one merge) and each token encodes to itself: a pair (x, y) that spells a token without being
    its merge is then never adjacent, since the encoding of the token alone, a part of which any
    text with that pair would repeat, does not come by it.
    """
    if vocabulary.rank_order is RankOrder.IDS:
        return None
    if vocabulary.rank_order is not RankOrder.MERGES:
        return "ranks by scores, not by ids"
    merged = vocabulary.merges.merged
    if np.any(merged[1:] <= merged[:-1]):
        return "merges are not in the order of ids"
    # Only here: where fuzzing is guided by coverage, algorithms are imported instrumented.
    from impls.bpe.tokens import improper_tokens  # noqa: PLC0415

    improper = improper_tokens(vocabulary)
    if improper:
        return f"{len(improper)} tokens do not encode to themselves, so ids do not decide alone"
    return None


@lru_cache(maxsize=2)
def rank_file(vocabulary: Vocabulary) -> bytes:
    """A ``.tiktoken`` rank file: a line with base64 bytes and id for each token."""
    return vocabulary.as_tiktoken()


def misread(vocabulary: Vocabulary) -> frozenset[int]:
    """Ids whose tokens a tokenizer.json cannot say, so far as decoding goes.

    Its byte-level decoder reads each token's text in the byte alphabet, an added token's, too: one
    that is ``ú`` becomes the byte FA. A file of the user's may say so, and means it then; in one
    that is written from another format it is the conversion that is at fault, and nobody else.
    Of two tokens that have one id in a user's file, the library takes either.
    """
    from corpora.vocabularies.byte_alphabet import unspell  # noqa: PLC0415 (only needed here)

    if vocabulary.native is not None and vocabulary.format == "tokenizer.json":
        return vocabulary.native.shared
    if vocabulary.alphabet is not Alphabet.BYTES:
        return frozenset()
    return frozenset(
        token.id
        for token in vocabulary.added_tokens
        if not token.text.isascii() and unspell(token.text) is not None
    )


@lru_cache(maxsize=16)
def unwritable(vocabulary: Vocabulary) -> str | None:
    """Why no tokenizer.json can be written; None if one can, or the user's own is one.

    Such as an added token that has the spelling of another token: both are looked up by their text
    in that format, so that the one would get the id of the other.
    """
    from corpora.vocabularies.byte_alphabet import unspell  # noqa: PLC0415 (only needed here)
    from corpora.vocabularies.tokenizer_json_out import trouble  # noqa: PLC0415 (likewise)

    if vocabulary.native is not None and vocabulary.format == "tokenizer.json":
        return None
    if vocabulary.alphabet is not Alphabet.BYTES:
        return trouble(vocabulary)
    for token in vocabulary.added_tokens:
        spelled = unspell(token.text)
        other = None if spelled is None else vocabulary.ids.get(spelled)
        if other is not None and other != token.id:
            return f"the added token {token.text!r} is spelled as token {other} in a tokenizer.json"
    return None


def refusing_specials(vocabulary: Vocabulary) -> Callable[[bytes], None]:
    """A function that raises Unsupported for texts that have a special token.

    For libraries that find special tokens in any text, where these are to be ordinary text. Where
    one is looked for after normalization, any text may have it.
    """
    texts = [text.encode() for text in vocabulary.special_tokens]
    hidden = vocabulary.normalizes and any(
        token.special and token.normalized for token in vocabulary.added_tokens
    )

    def refuse(data: bytes) -> None:
        if hidden or any(text in data for text in texts):
            raise Unsupported("finds special tokens in any text")

    return refuse


def refuse_misread(ids: Iterable[int], unsaid: frozenset[int]) -> None:
    """Raise Unsupported if any of the ids is of :func:`misread`."""
    if unsaid and not unsaid.isdisjoint(ids):
        read = "an added token that a tokenizer.json's decoder reads as bytes"
        raise Unsupported(f"{read}, or an id that two tokens have")
