"""An adapter made of its recipe: what the reproducer runs is what is tested.

A library is described by a :class:`Way` for each vocabulary that it can be given: the file that it
reads, and a few lines of Python that load the file and define ``encode``, ``decode`` and, where the
library has them, ``encode_with_offsets``. The adapter runs these very lines in the worker, unless
it has a quicker entry, and a finding's ``repro.py`` has them word for word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from corpora.vocabularies import scratch
from impls import interface
from impls.adapters.common import in_bytes, refusing_specials, text_of, unknown_excused, unwritable
from impls.interface import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.adapters.common import Library
    from impls.interface import About, Json, Mode


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Way:
    """How a library is given a vocabulary in a mode.

    name: of the file. content: makes it, when it is needed. code: as of :class:`Recipe`; ``encode``
    takes UTF-8 alone, and offsets count characters. Where it sets ``always_special``, special
    tokens cannot be switched off, and a text that has one is not asked while they are. besides:
    what the code needs besides the library, as pip takes it.
    """

    name: str
    content: Callable[[], bytes]
    code: str
    besides: tuple[str, ...] = ()


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
        with unknown_excused(self._vocabulary):
            return self._function("encode", mode, data)(data)

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> Sequence[int]:
        """With special tokens."""
        return self._function("encode_with_added", mode, data, pair or b"")(data, pair)

    def encode_chat(
        self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode
    ) -> Sequence[int]:
        """By the template, where the recipe has one; its special tokens are read from text."""
        ids: Sequence[int] = self._chat(messages, tools, mode, tokenize=True)
        return ids

    def render_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> str:
        """The text alone."""
        text: str = self._chat(messages, tools, mode, tokenize=False)
        return text

    def _chat(
        self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode, *, tokenize: bool
    ) -> Any:
        if mode.special == "none":
            raise interface.Unsupported("has no template of conversations here")
        chat: Callable[..., Any] = self._function("chat", mode)
        try:
            return chat(messages, tools, tokenize)
        except Exception as error:
            # The template refuses it, or does not know the role or tools, and fails at them.
            new = bool(tools) or messages[0]["role"] == "system"
            if new or "TemplateError" in {kind.__name__ for kind in type(error).__mro__}:
                raise interface.Rejected(str(error)) from error
            raise

    def token_strings(self, data: bytes, mode: Mode) -> Sequence[str]:
        """The strings of tokens."""
        return self._function("token_strings", mode, data)(data)

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> Sequence[Sequence[int]]:
        """The windows from the left."""
        if left:
            raise interface.Unsupported("keeps the beginning of a text, not its end")
        return self._function("truncated", mode, data)(data, length, overlap)

    def decode(self, ids: Sequence[int]) -> bytes:
        """As its users get it."""
        return self._function("decode", self._decoding)(list(ids))

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """With its spaces cleaned up."""
        return self._function("decode_cleaned", self._decoding)(list(ids))

    @property
    def _decoding(self) -> Mode:
        """The mode that knows the special tokens, where there is one: they may be among the ids."""
        special = interface.Mode(special="all")
        known = not isinstance(self._ways(self._vocabulary, special), str)
        return special if known else next(iter(self._running))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids and their ranges of bytes."""
        call: Callable[..., Any] = self._function("encode_with_offsets", mode, data)
        with unknown_excused(self._vocabulary):
            ids, offsets = call(data)
        return ids, in_bytes(data.decode(), offsets)

    def _function(self, name: str, mode: Mode, *texts: bytes) -> Callable[..., T]:
        """A function of the recipe, which is to be given these texts.

        Raises Unsupported where the recipe has none, where a text is not UTF-8, and where the
        library would find a special token in one that is to be none.
        """
        for text in texts:
            text_of(text)
        running = self._run(mode)
        if name not in running:
            raise interface.Unsupported(f"has no {name} here")
        if mode.special == "none" and running.get("always_special"):
            self._refuse(b"".join(texts))
        function: Callable[..., T] = running[name]
        return function

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


class Adapter:
    """A library by its ways; ``about`` raises ImportError if it is not installed.

    One that has a quicker entry than its recipe, or can do more, has a ``load`` of its own.
    """

    def __init__(
        self, library: Library, ways: Ways, native_formats: frozenset[str] = frozenset()
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
        needed = (self._library.requirement, *way.besides)
        return Recipe(needed, way.code, way.name, way.content())


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
