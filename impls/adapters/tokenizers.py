"""``tokenizers``: Hugging Face's tokenizers, BPE and unigram."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies.tokenizer_json_out import given, with_dropout
from impls import interface
from impls.adapters.common import (
    Library,
    in_bytes,
    misread,
    refuse_misread,
    refusing_specials,
    text_of,
    unknown_excused,
)
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.interface import Capability, Mode, Recipe, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About

LIBRARY = Library(
    name="tokenizers",
    homepage="https://github.com/huggingface/tokenizers",
    capabilities=frozenset({Capability.DECODE, Capability.OFFSETS, Capability.THREADS}),
)


class _Encoder:
    """One ``Tokenizer`` a mode, since the policies are the object's state; built when asked for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokenizers: dict[Mode, Any] = {}
        self._others: dict[tuple[str, Mode], Any] = {}
        self._shapes = Lock()
        self._unsaid = misread(vocabulary)
        self._refuse = refusing_specials(vocabulary)
        # Up to 0.18 special tokens are found in any text, and there is nothing to say so.
        self._switches = hasattr(LIBRARY.load().Tokenizer, "encode_special_tokens")

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        return self.encode_str(self._text(data, mode), mode)

    def _text(self, data: bytes, mode: Mode) -> str:
        """The text; Unsupported where the library would find a special token that is none."""
        if mode.special == "none" and not self._switches:
            self._refuse(data)
        return text_of(data)

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        return cast("list[int]", self._encoding(self.tokenizer(mode), text).ids)

    def _encoding(self, tokenizer: Any, text: str) -> Any:
        with unknown_excused(self._vocabulary):
            return tokenizer.encode(text, add_special_tokens=False)

    def token_strings(self, data: bytes, mode: Mode) -> list[str]:
        """As an ``Encoding`` has them."""
        encoding = self._encoding(self.tokenizer(mode), self._text(data, mode))
        return cast("list[str]", encoding.tokens)

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """Its batches, which it encodes in threads of its own."""
        texts = [self._text(data, mode) for data in inputs]
        with unknown_excused(self._vocabulary):
            found = self.tokenizer(mode).encode_batch(texts, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def reloaded(self) -> _Encoder:
        """From the tokenizer.json that it writes of each mode that was asked for.

        Of two tokens that have one id it writes either. Unsupported then.
        """
        if self._vocabulary.native is not None and self._vocabulary.native.shared:
            raise Unsupported("two tokens of the file have one id")
        again = _Encoder(self._vocabulary)
        for mode, tokenizer in self._tokenizers.items():
            loaded = LIBRARY.load().Tokenizer.from_str(tokenizer.to_str())
            loaded.encode_special_tokens = mode.special == "none"  # no part of the file
            again._tokenizers[mode] = loaded
        return again

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """A batch of one text, as only batches come in a form that leaves the offsets out."""
        texts, encode = [text_of(data)], self.tokenizer(mode).encode_batch_fast
        return lambda: encode(texts, add_special_tokens=False)[0].ids

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], list[object]]:
        """Its batches without offsets; the environment says on how many threads."""
        given, encode = [text_of(data) for data in texts], self.tokenizer(mode).encode_batch_fast
        return lambda: [found.ids for found in encode(given, add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> bytes:
        """As its users get it: text, with U+FFFD where the bytes are not."""
        return self._decoded(ids, skip=False)

    def _decoded(self, ids: Sequence[int], *, skip: bool) -> bytes:
        tokenizer = self._decoder(ids)
        return cast("str", tokenizer.decode(list(ids), skip_special_tokens=skip)).encode()

    def _decoder(self, ids: Sequence[int]) -> Any:
        """A tokenizer to decode these ids with: the modes decode alike, so any will do."""
        refuse_misread(ids, self._unsaid)
        return next(iter(self._tokenizers.values()), None) or self.tokenizer(Mode())

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """As most of its users decode, with ``skip_special_tokens``."""
        return self._decoded(ids, skip=True)

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """By its ``DecodeStream``, which gives text only where characters are whole."""
        return self._streamed(LIBRARY.load().decoders.DecodeStream(skip_special_tokens=False), ids)

    def decode_stream_after(self, prompt: Sequence[int], ids: Sequence[int]) -> list[bytes]:
        """By a ``DecodeStream`` that has the prompt's ids, which it takes from 0.22 on."""
        made = LIBRARY.load().decoders.DecodeStream
        try:
            stream = made(ids=[*prompt], skip_special_tokens=False)
        except TypeError as error:
            raise Unsupported("its streams begin without a prompt") from error
        return self._streamed(stream, ids)

    def _streamed(self, stream: Any, ids: Sequence[int]) -> list[bytes]:
        tokenizer = self._decoder(ids)
        given = (stream.step(tokenizer, token_id) for token_id in ids)
        return [text.encode() for text in given if text is not None]

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """By its post-processor, which is the user's own file's; others have none."""
        second = None if pair is None else text_of(pair)
        encoding = self.tokenizer(mode).encode(text_of(data), second)
        return cast("list[int]", encoding.ids)

    def encode_with_dropout(self, data: bytes, mode: Mode) -> list[int]:
        """By the user's own file as it is, with the dropout that it says."""
        dropout = self._vocabulary.dropout
        if not (dropout and mode.pretokenize):
            raise Unsupported("the file has no dropout, or is not the one that is run")
        dropping = self._other("dropping", mode, lambda own: with_dropout(given(own), dropout))
        encoding = dropping.encode(text_of(data), add_special_tokens=False)
        return cast("list[int]", encoding.ids)

    def _other(self, use: str, mode: Mode, content: Callable[[Vocabulary], bytes]) -> Any:
        """A tokenizer for a use of its own, made of a file when it is asked for."""
        if (use, mode) not in self._others:
            self._others[use, mode] = _made(content(self._vocabulary).decode(), mode)
        return self._others[use, mode]

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> list[list[int]]:
        """The window that it keeps, and the overflowing ones.

        It keeps room in a window for the tokens that the file's post-processor adds, even where
        none are added, and refuses an overlap that is larger than what is left. Unsupported then.
        """
        side = "left" if left else "right"
        with self._shaped(mode) as tokenizer:
            if overlap and overlap >= length - tokenizer.num_special_tokens_to_add(is_pair=False):
                raise Unsupported("the overlap leaves no room for the tokens that are added")
            tokenizer.enable_truncation(length, stride=overlap, direction=side)
            encoding = tokenizer.encode(text_of(data), add_special_tokens=False)
        return [encoding.ids, *(window.ids for window in encoding.overflowing)]

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> list[tuple[list[int], list[int]]]:
        """Its batches, padded to the longest."""
        texts, side = [text_of(data) for data in inputs], "left" if left else "right"
        with self._shaped(mode) as tokenizer:
            tokenizer.enable_padding(direction=side, pad_to_multiple_of=multiple)
            found = tokenizer.encode_batch(texts, add_special_tokens=False)
        return [(encoding.ids, encoding.attention_mask) for encoding in found]

    @contextlib.contextmanager
    def _shaped(self, mode: Mode) -> Iterator[Any]:
        """A tokenizer of a mode to truncate or pad with, which is its state, for one thread."""
        with self._shapes:
            tokenizer = self._other("shaping", mode, lambda own: tokenizer_json(own, mode).encode())
            try:
                yield tokenizer
            finally:
                tokenizer.no_truncation()
                tokenizer.no_padding()

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Its offsets, which count characters, in bytes."""
        text = self._text(data, mode)
        encoding = self._encoding(self._untrimmed(mode), text)
        return encoding.ids, in_bytes(text, encoding.offsets)

    def _untrimmed(self, mode: Mode) -> Any:
        """A tokenizer whose offsets are of whole tokens: a post-processor may cut spaces off."""
        if not (native_json(self._vocabulary) and mode.pretokenize):
            return self.tokenizer(mode)
        return self._other("whole", mode, lambda own: given(own, post_processor=False))

    def respelled(self) -> _Encoder | None:
        """From a tokenizer.json that is written from the plain model, if the user's own says it."""
        if not native_json(self._vocabulary) or self._vocabulary.unexpressed:
            return None
        return _Encoder(replace(self._vocabulary, native=None))

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Build the tokenizers of these modes, a second each for 200,000 tokens."""
        for mode in modes:
            with contextlib.suppress(Exception):  # it will say so when it is asked
                self.tokenizer(mode)

    def tokenizer(self, mode: Mode) -> Any:
        """The library's own object."""
        tokenizer = self._tokenizers.get(mode)
        if tokenizer is None:
            tokenizer = _made(tokenizer_json(self._vocabulary, mode), mode)
            self._tokenizers[mode] = tokenizer
        return tokenizer


def _made(content: str, mode: Mode) -> Any:
    tokenizer = LIBRARY.load().Tokenizer.from_str(content)
    tokenizer.encode_special_tokens = mode.special == "none"
    return tokenizer


def native_json(vocabulary: Vocabulary) -> bool:
    """Whether the vocabulary is of a tokenizer.json of the user's."""
    return vocabulary.native is not None and vocabulary.format == "tokenizer.json"


def tokenizer_json(vocabulary: Vocabulary, mode: Mode) -> str:
    """The user's own file, where the vocabulary is of one and is pre-tokenized, else a new one."""
    if native_json(vocabulary) and mode.pretokenize:
        return given(vocabulary).decode()
    return written_json(vocabulary, mode)


def written_json(vocabulary: Vocabulary, mode: Mode) -> str:
    """The vocabulary as a ``tokenizer.json`` file, with its pre-tokenizer or without.

    That of a large one is kept on disk.
    """
    # Only needed to load: keeps `tokgate list` from importing the writers.
    from corpora.vocabularies.tables_on_disk import kept_bytes  # noqa: PLC0415
    from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json  # noqa: PLC0415

    def make() -> bytes:
        return to_tokenizer_json(vocabulary, mode.pretokenize).encode("utf-8", "surrogatepass")

    content = kept_bytes(vocabulary, f"tokenizer-json-{mode.pretokenize:d}", make)
    return content.decode("utf-8", "surrogatepass")


CODE = """\
import json
from tokenizers import Tokenizer, decoders

tokenizer = Tokenizer.from_file(VOCABULARY)
tokenizer.encode_special_tokens = {ordinary}


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False).ids


def encode_with_offsets(data):
    content = json.loads(open(VOCABULARY, encoding="utf-8").read())
    whole = Tokenizer.from_str(json.dumps({{**content, "post_processor": None}}))  # it may trim
    whole.encode_special_tokens = {ordinary}
    encoding = whole.encode(data.decode(), add_special_tokens=False)
    return encoding.ids, encoding.offsets  # in characters


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False).encode()


def decode_stream_after(prompt, ids):
    stream = decoders.DecodeStream(ids=prompt, skip_special_tokens=False)
    return "".join(filter(None, [stream.step(tokenizer, one) for one in ids])).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Everything that a tokenizer.json can say."""
    if vocabulary.unexpressed and not mode.pretokenize:
        return "the steps of the file cannot be left out"
    code = CODE.format(ordinary=mode.special == "none")
    return Way("tokenizer.json", lambda: tokenizer_json(vocabulary, mode).encode(), code)


class Implementation(Adapter):
    """``tokenizers.Tokenizer``, of the user's own file or one written from the vocabulary."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Tokenizers are built on the first use of a mode: about a second for 200,000 tokens.

        That of a user's file at once. Raises Unsupported where the library does not read it.
        """
        LIBRARY.load()
        encoder = _Encoder(vocabulary)
        if native_json(vocabulary):
            try:
                encoder.tokenizer(Mode())
            except Exception as error:
                raise Unsupported(f"tokenizers does not read the file: {error}") from error
        return encoder


WINDOW, OVERLAP = 8, 2
"""Tokens of a window, and of the one before that it repeats."""

WINDOWS_RECIPE = f"""
tokenizer.enable_truncation({WINDOW}, stride={OVERLAP})


def encode(data):
    encoding = tokenizer.encode(data.decode(), add_special_tokens=False)
    ids = list(encoding.ids)
    for window in encoding.overflowing:
        ids += [END, *window.ids]
    return ids
"""


class _WindowsEncoder:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._end = len(vocabulary)
        self._whole = _Encoder(vocabulary)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        tokenizer = self._whole.tokenizer(mode)
        tokenizer.enable_truncation(WINDOW, stride=OVERLAP)
        encoding = tokenizer.encode(text_of(data), add_special_tokens=False)
        ids = list(encoding.ids)
        for window in encoding.overflowing:
            ids += [self._end, *window.ids]
        return ids


class Windows(Implementation):
    """Its truncation: the windows into which it cuts a text (``Encoding.overflowing``).

    The ids are those of all windows, with an id beyond the vocabulary between two of them; so this
    is compared with other releases of itself alone, by ``--check equivalence``.
    """

    @property
    def about(self) -> About:
        """Who it is."""
        return replace(LIBRARY.about, name="tokenizers#WINDOWS", capabilities=frozenset())

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """As without windows."""
        LIBRARY.load()
        return _WindowsEncoder(vocabulary)

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """A tokenizer.json, with truncation."""
        recipe = super().recipe(vocabulary, mode)
        end = f"\n\nEND = {len(vocabulary)}"
        return replace(recipe, code=recipe.code + end + WINDOWS_RECIPE)


IMPLEMENTATION = Implementation(LIBRARY, _way, READS_JSON)
WINDOWS = Windows(LIBRARY, _way, READS_JSON)
