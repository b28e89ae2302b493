"""An adapter made of its recipe: what the reproducer runs is what is tested.

A library of the field is described by a :class:`Way` for each vocabulary that it can be given: the
file that it reads, and a few lines of Python that load the file and define ``encode``, ``decode``
and, where the library has them, ``encode_with_offsets``. The adapter runs these very lines in the
worker, and a finding's ``repro.py`` has them word for word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies import scratch
from impls import interface
from impls.adapters.common import in_bytes, refusing_specials, text_of, unknown_excused, unwritable
from impls.interface import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.adapters.peers import Peer
    from impls.interface import About, Json, Mode


@dataclass(frozen=True, slots=True)
class Way:
    """How a library is given a vocabulary in a mode.

    name: of the file. content: makes it, when it is needed. code: as of :class:`Recipe`; ``encode``
    takes UTF-8 alone, and offsets count characters. Where it sets ``always_special``, special
    tokens cannot be switched off, and a text that has one is not asked while they are.
    """

    name: str
    content: Callable[[], bytes]
    code: str


Ways = Callable[["Vocabulary", "Mode"], "Way | str"]
"""The way for a vocabulary in a mode, or a line on why there is none."""


def why_not(way: Way | str, vocabulary: Vocabulary) -> str | None:
    """Why a library does not run a vocabulary: it has no way, or its file cannot be written."""
    if isinstance(way, str):
        return way
    return unwritable(vocabulary) if way.name == "tokenizer.json" else None


class Encoder:
    """The recipes of the modes in use, each run once."""

    def __init__(self, ways: Ways, vocabulary: Vocabulary) -> None:
        self._ways = ways
        self._vocabulary = vocabulary
        self._refuse = refusing_specials(vocabulary)
        self._running: dict[Mode, dict[str, Any]] = {}

    def start(self) -> None:
        """Run the recipe of the first mode that there is a way for."""
        for mode in (interface.Mode(), interface.Mode(special="all")):
            if not isinstance(self._ways(self._vocabulary, mode), str):
                self._run(mode)
                return

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids; Unsupported for what is not UTF-8."""
        text_of(data)
        running = self._run(mode)
        self._check(running, data, mode)
        with unknown_excused(self._vocabulary):
            ids: Sequence[int] = running["encode"](data)
        return ids

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> Sequence[int]:
        """With special tokens, where the recipe says how; Unsupported elsewhere."""
        if pair is not None:
            text_of(pair)
        text_of(data)
        running = self._run(mode)
        adding = running.get("encode_with_added")
        if adding is None:
            raise interface.Unsupported("adds no special tokens here")
        self._check(running, data + (pair or b""), mode)
        ids: Sequence[int] = adding(data, pair)
        return ids

    def encode_chat(
        self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode
    ) -> Sequence[int]:
        """By the template, where the recipe has one; its special tokens are read from text."""
        return cast("Sequence[int]", self._chat(messages, tools, mode, tokenize=True))

    def render_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> str:
        """The text alone."""
        return cast("str", self._chat(messages, tools, mode, tokenize=False))

    def _chat(
        self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode, *, tokenize: bool
    ) -> object:
        chatting = self._run(mode).get("chat") if mode.special == "all" else None
        if chatting is None:
            raise interface.Unsupported("has no template of conversations here")
        try:
            return chatting(messages, tools, tokenize)
        except Exception as error:
            # The template refuses it, or does not know the role or tools, and fails at them.
            new = bool(tools) or messages[0]["role"] == "system"
            if new or "TemplateError" in {kind.__name__ for kind in type(error).__mro__}:
                raise interface.Rejected(str(error)) from error
            raise

    def token_strings(self, data: bytes, mode: Mode) -> Sequence[str]:
        """The strings of tokens, where the recipe says how; Unsupported elsewhere."""
        text_of(data)
        running = self._run(mode)
        if "token_strings" not in running:
            raise interface.Unsupported("names no tokens here")
        self._check(running, data, mode)
        names: Sequence[str] = running["token_strings"](data)
        return names

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> Sequence[Sequence[int]]:
        """The windows from the left, where the recipe says how; Unsupported elsewhere."""
        text_of(data)
        running = self._run(mode)
        if left or "truncated" not in running:
            raise interface.Unsupported("does not cut so here")
        self._check(running, data, mode)
        windows: Sequence[Sequence[int]] = running["truncated"](data, length, overlap)
        return windows

    def decode(self, ids: Sequence[int]) -> bytes:
        """As its users get it."""
        running = self._decoder()
        text: bytes = running["decode"](list(ids))
        return text

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """With its spaces cleaned up, where the recipe says how; Unsupported elsewhere."""
        cleaning = self._decoder().get("decode_cleaned")
        if cleaning is None:
            raise interface.Unsupported("cleans no spaces up")
        text: bytes = cleaning(list(ids))
        return text

    def _decoder(self) -> dict[str, Any]:
        """The mode that knows the special tokens, where there is one: they may be among the ids."""
        special = interface.Mode(special="all")
        if not isinstance(self._ways(self._vocabulary, special), str):
            return self._run(special)
        return next(iter(self._running.values()))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids and their ranges of bytes."""
        text = text_of(data)
        running = self._run(mode)
        self._check(running, data, mode)
        with unknown_excused(self._vocabulary):
            ids, offsets = running["encode_with_offsets"](data)
        return ids, in_bytes(text, offsets)

    def _check(self, running: dict[str, Any], data: bytes, mode: Mode) -> None:
        """Raise Unsupported where the library would find a special token that is to be none."""
        if mode.special == "none" and running.get("always_special"):
            self._refuse(data)

    def _run(self, mode: Mode) -> dict[str, Any]:
        if mode not in self._running:
            way = self._ways(self._vocabulary, mode)
            assert not isinstance(way, str)
            with scratch.temporary("field-") as folder:
                path = Path(folder, way.name)
                path.write_bytes(way.content())
                names: dict[str, Any] = {"VOCABULARY": str(path)}
                exec(compile(way.code, "<recipe>", "exec"), names)
            self._running[mode] = names
        return self._running[mode]


class FieldImplementation:
    """A library of the field by its ways; ``about`` raises ImportError if it is not installed."""

    def __init__(
        self, library: Peer, ways: Ways, native_formats: frozenset[str] = frozenset()
    ) -> None:
        self._library = library
        self._ways = ways
        self.native_formats = native_formats
        self.astray = library.astray

    @property
    def about(self) -> About:
        """Who it is."""
        return self._library.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Whether there is a way, and its file can be written."""
        return why_not(self._ways(vocabulary, mode), vocabulary)

    def reads(self, vocabulary: Vocabulary, mode: Mode) -> str:
        """The name of the file that it is given, or nothing if it does not run the vocabulary."""
        way = self._ways(vocabulary, mode)
        return "" if isinstance(way, str) else way.name

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Run the recipe of the first mode that there is a way for; others on their first use."""
        self._library.load()
        encoder = Encoder(self._ways, vocabulary)
        if vocabulary.native is not None and vocabulary.format in self.native_formats:
            return refusing_itself(encoder, self._library.name)
        encoder.start()
        return encoder

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """The very lines that the adapter runs."""
        way = self._ways(vocabulary, mode)
        assert not isinstance(way, str)
        return Recipe((self._library.requirement,), way.code, way.name, way.content())


def refusing_itself(encoder: Encoder, name: str) -> Encoder:
    """Start it on a file that only its library knows whether it can read. Raises Unsupported."""
    try:
        encoder.start()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of Rust are no Exception
        line = str(error).split("\n", 1)[0][:200]
        raise interface.Unsupported(f"{name} does not read the file: {line}") from error
    return encoder


READS_JSON = frozenset({"tokenizer.json"})
