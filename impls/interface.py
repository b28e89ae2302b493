"""What an implementation is. The one file that the author of a plug-in reads.

An :class:`Implementation` says what it is (:class:`About`), which vocabularies it can run in
which :class:`Mode`, and loads one, giving an :class:`Encoder`. The encoder turns bytes into token
ids, and may do more: each :class:`Capability` that ``about`` claims is a method of the encoder,
named as in the Protocols below. The smallest plug-in is therefore::

    class Mine:
        about = About(name="mine", version="1.0")

        def supports(self, vocabulary, mode):
            return None if vocabulary.algorithm == "bpe" else "byte-pair encoding only"

        def load(self, vocabulary):
            return MyEncoder(vocabulary)      # has .encode(data: bytes, mode: Mode) -> list[int]

``tokgate run --impl path/to/file.py:Mine`` runs it, and
:func:`harness.testing.assert_conforms` tells what is wrong with it.

``load`` and the encoder run in a worker process with limits: if they hang, abort or use too much
memory, only the encoder's own cases are lost. The worker has no network and may write to its folder
for temporary files only, unless ``About.needs`` says that it needs more. The import, ``about`` and
``supports`` also run in the harness itself: keep them quick and free of risk, and leave heavy
imports to ``load``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

    Ids = Sequence[int]
    Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a text is to be encoded; part of the contract under which outputs are compared.

    pretokenize: whether the text is first split by the vocabulary's own pre-tokenizer, and by
        nothing else. If not, the whole text is one piece.
    special: "none" treats the text of special tokens as ordinary text, "all" as the tokens.
    """

    pretokenize: bool = True
    special: Literal["none", "all"] = "none"

    @property
    def label(self) -> str:
        """``text``, ``raw`` (one piece) or ``special``, as it stands in reports and buckets."""
        if self.special == "all":
            return "special" if self.pretokenize else "raw-special"
        return "text" if self.pretokenize else "raw"


class Capability(StrEnum):
    """What an encoder can do beyond ``encode``."""

    DECODE = "decode"
    OFFSETS = "offsets"
    THREADS = "threads"
    """The encoder may be called from several threads at once."""
    COUNT = "count"
    COUNT_TILL_LIMIT = "count_till_limit"
    SPLIT = "split"
    APPEND = "append"
    PREPEND = "prepend"
    INTERVAL = "interval"
    HEAL = "heal"
    CONSTRAIN = "constrain"
    """A whole engine of constrained decoding (:mod:`impls.constrained`)."""


class Law(StrEnum):
    """The property that the ids of an implementation must have."""

    EXACT = "exact"
    """The ids are those that the vocabulary defines."""
    FEWEST = "fewest"
    """The ids are as few as can spell the text."""
    REACHABLE = "reachable"
    """The ids are any ids that merges of the vocabulary can make of the text, as with dropout."""
    SPELLING = "spelling"
    """The ids are any ids that spell the text."""


class Rejected(Exception):
    """Raised by an encoder if the input is invalid for this tokenizer. This is a correct answer."""


class Unsupported(Exception):
    """Raised by an encoder that does not handle this input. It is no failure, and not compared."""


class Died(Exception):
    """Raised by an encoder that runs a program, if the program has ended.

    kind: ``crashed``, ``timed-out``, ``out-of-memory``, ``protocol`` for a breach of the stdio
        protocol, or ``errored`` if the program reports that it cannot start. log: the end of the
        program's standard error.
    """

    def __init__(self, kind: str, message: str, log: str = "") -> None:
        self.kind = kind
        self.log = log
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class About:
    """The description of an implementation.

    name: the name that users type after ``--impl``. version: of the code that does the work.
    max_input: of quadratic algorithms, the longest input in bytes that they are given, or None.
    linear: whether the author claims linear cost; then the limit on growth is linear.
    law: the property of its ids; only exact implementations are compared with each other.
    engine: for a variant, the name of the implementation that it reproduces exactly, and that
        differs from the others by design. The variant is compared with this one only.
    library: the distribution of which this is a release, so that all answers of two releases can
        be compared; empty if there is none.
    needs: the rights that a worker does not have by default: ``"network"``, ``"write:PATH"``
        (:mod:`impls.needs`).
    """

    name: str
    version: str
    language: str = "python"
    homepage: str = ""
    issues: str = ""
    capabilities: frozenset[Capability] = frozenset()
    max_input: int | None = None
    linear: bool = False
    law: Law = Law.EXACT
    engine: str = ""
    library: str = ""
    needs: tuple[str, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether its ids must be those that the vocabulary defines: it is exact and no variant."""
        return self.law is Law.EXACT and not self.engine


@runtime_checkable
class Encoder(Protocol):
    """An implementation loaded with a vocabulary."""

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """Return the token ids of ``data``. Raises Rejected or Unsupported if there are none."""


@runtime_checkable
class Decodes(Protocol):
    """Claimed by ``Capability.DECODE``."""

    def decode(self, ids: Sequence[int]) -> bytes:
        """Return the text of ``ids``, as this implementation's users get it."""


@runtime_checkable
class DecodesStreams(Protocol):
    """An encoder whose library can decode ids one by one; recognised by its method.

    Only the check ``stream-decoder`` uses it, and compares the result with that of ``decode``.
    """

    def decode_stream(self, ids: Sequence[int]) -> Sequence[bytes]:
        """Return the text that appears after each id, in order; it is empty if none appears yet."""


@runtime_checkable
class ContinuesStreams(Protocol):
    """An encoder whose streams may begin after a prompt; ``stream-decoder`` uses it, too."""

    def decode_stream_after(self, prompt: Sequence[int], ids: Sequence[int]) -> Sequence[bytes]:
        """Return the text that appears after each id, with the character that the prompt began."""


@runtime_checkable
class SkipsSpecials(Protocol):
    """An encoder whose library can decode without special tokens; recognised by its method.

    Only the check ``skip-specials`` uses it, and compares the result with that of ``decode``.
    """

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """Return the text of ``ids`` without the texts of special tokens."""


@runtime_checkable
class CleansSpaces(Protocol):
    """An encoder whose library can clean up spaces as it decodes; only ``clean-up`` uses it."""

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """Return the text of ``ids`` without spaces before punctuation and in contractions."""


@runtime_checkable
class NamesTokens(Protocol):
    """An encoder whose library gives tokens as strings; only ``token-strings`` uses it."""

    def token_strings(self, data: bytes, mode: Mode) -> Sequence[str]:
        """Return the string of each token that ``encode`` gives, as ``tokenize`` does elsewhere."""


@runtime_checkable
class EncodesUnstable(Protocol):
    """An encoder that knows which ids later text cannot change; only ``unstable`` uses it."""

    def encode_with_unstable(self, data: bytes, mode: Mode) -> tuple[Ids, Sequence[Ids]]:
        """Return the ids that no later text can change, and the sequences that may follow them."""


@runtime_checkable
class Truncates(Protocol):
    """An encoder whose library can truncate long texts; recognised by its method.

    Only the check ``truncation`` uses it, and compares the windows with the ids of ``encode``.
    """

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> Sequence[Sequence[int]]:
        """Return the windows: first the one that is kept, then the others, the nearest first.

        length: the maximum number of ids of a window. overlap: the number of ids that a window
        repeats of the one before. left: whether the end of the text is kept, not its beginning. No
        special tokens are added. Raises Unsupported if the library cannot truncate in this way.
        """


@runtime_checkable
class AddsSpecials(Protocol):
    """An encoder whose library adds special tokens to a text or a pair; recognised by its method.

    The tokens are those of the vocabulary's post-processor: the beginning and the end of a text,
    and separators. Only the check ``template`` uses it, and compares the rest with ``encode``.
    """

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> Sequence[int]:
        """Return the ids of a text, or of a pair of texts, with those tokens added."""


@runtime_checkable
class EncodesChats(Protocol):
    """An encoder whose library encodes conversations by a template; only ``chat`` uses it."""

    def encode_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> Ids:
        """Return the ids; messages and tools are OpenAI's, but arguments of calls dictionaries.

        Raises Rejected where the template refuses. Those that have ``render_chat``, which returns
        the text of the vocabulary's own template, are compared with one another.
        """


@runtime_checkable
class DropsMerges(Protocol):
    """An encoder whose library leaves merges out at random, if its vocabulary's file says so.

    Only the check ``reachability`` uses it. Raises Unsupported if the file has no dropout.
    """

    def encode_with_dropout(self, data: bytes, mode: Mode) -> Sequence[int]:
        """Return the ids of one random draw."""


@runtime_checkable
class Pads(Protocol):
    """An encoder whose library pads texts to one length; recognised by its method.

    Only the check ``padding`` uses it, and compares the rows with the ids of ``encode``.
    """

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
        """Return the ids and the mask of each input: 1 for ids of the text and 0 for padding.

        Each row is as long as the longest, rounded up to a multiple. left: padding comes first.
        """


@runtime_checkable
class GivesOffsets(Protocol):
    """Claimed by ``Capability.OFFSETS``."""

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """Return the ids, and for each id the byte range [start, end) of ``data`` that it covers.

        A token that is a part of a character may have the range of the whole character.
        """


@runtime_checkable
class Counts(Protocol):
    """Claimed by ``Capability.COUNT``."""

    def count(self, data: bytes, mode: Mode) -> int:
        """Return the number of ids that ``encode`` gives."""


@runtime_checkable
class CountsTillLimit(Protocol):
    """Claimed by ``Capability.COUNT_TILL_LIMIT``."""

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """Return the number of ids, or None exactly if it is greater than ``limit``.

        It may stop reading then, and so miss that ``encode`` would reject the rest.
        """


@runtime_checkable
class Splits(Protocol):
    """Claimed by ``Capability.SPLIT``."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        """Return the ends of the chunks of ``data`` in bytes; the empty text has no chunk.

        Each chunk is non-empty, ends at the end of a UTF-8 character, and has at most ``limit``
        ids if it is encoded by itself, unless it is a single character that has more.
        """


@runtime_checkable
class Appends(Protocol):
    """Claimed by ``Capability.APPEND``."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Return the number of ids after each chunk, of all bytes so far as one text.

        Chunks may be empty, and may end inside a character. ``append``, ``prepend`` and
        ``interval`` are called without pre-tokenization.
        """


@runtime_checkable
class Prepends(Protocol):
    """Claimed by ``Capability.PREPEND``."""

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Do the same as ``append``, but put each chunk before the bytes that are already there."""


@runtime_checkable
class CountsIntervals(Protocol):
    """Claimed by ``Capability.INTERVAL``."""

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """Return the number of ids of ``text[start:end]`` encoded by itself, for each range."""


@runtime_checkable
class Heals(Protocol):
    """Claimed by ``Capability.HEAL``."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """Return the tokens that may be forced now, and the bytes of ``forced`` that are left over.

        recent: the ids of the context. allowed: the texts that the grammar admits after
        ``forced``, each cut at the length of the longest token, after which anything may follow;
        None if any text may follow. The ids must be those that ``encode`` gives for the whole
        text, for each text that may follow. It is allowed to leave more bytes than necessary.
        """


@runtime_checkable
class EncodesBatches(Protocol):
    """An encoder for which many inputs in one call are cheaper; recognised by its method."""

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Encode all inputs at once.

        data: the concatenated inputs; input i is ``data[ends[i-1]:ends[i]]``, where the first
        input begins at 0. Returns the concatenated ids (int32), and for each input the place where
        its ids end (int64). After an exception the harness asks again input by input, to see which
        one failed. If all of them are encoded then, the exception is a finding.
        """


@runtime_checkable
class EncodesStr(Protocol):
    """An encoder whose library takes ``str``; recognised by its method.

    Only the check ``surrogates`` uses it: a ``str`` may have surrogates, which UTF-8 has not.
    """

    def encode_str(self, text: str, mode: Mode) -> Sequence[int]:
        """Return the ids of a text, which is given to the library with its lone surrogates."""


@runtime_checkable
class EncodesMany(Protocol):
    """An encoder whose library has a separate call for many inputs; recognised by its method.

    Only the check ``batch`` uses it, and compares the result with that of ``encode``.
    """

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> Sequence[Sequence[int]]:
        """Return the ids of each input. Raises as ``encode`` does, for all inputs together."""


@runtime_checkable
class Reloads(Protocol):
    """An encoder that can be saved in its library's own file format; recognised by its method."""

    def reloaded(self) -> Encoder:
        """Save the encoder and return what is loaded from the file, for the check ``reload``."""


@runtime_checkable
class Respells(Protocol):
    """An encoder that can also be built from a rewritten file; recognised by its method."""

    def respelled(self) -> Encoder | None:
        """Return the same tokenizer, built from a file that is written differently.

        It is None if there is no other way to write the file. The check ``reload`` uses it.
        """


@runtime_checkable
class WarmsUp(Protocol):
    """An encoder that compiles code or builds tables on first use; recognised by its method.

    ``warm_up`` is called once after ``load``, and its time is not counted.
    """

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Prepare everything that requests in these modes need. Must not raise."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to run an implementation without tokgate, for ``repro.py``.

    requirements: what to install. code: Python source that, with ``VOCABULARY`` bound to the
    path of the artifact, defines ``encode(data: bytes) -> list[int]`` and, for findings of a
    decoder, ``decode(ids: list[int]) -> bytes``. artifact: file name and content of the vocabulary
    in the library's own format.
    """

    requirements: tuple[str, ...]
    code: str
    artifact_name: str
    artifact: bytes


@dataclass(frozen=True, slots=True)
class Step:
    """The state of a text after one stage of a pipeline.

    name: ``normalization``, ``user-defined``, ``pre-tokens``, ``segmentation``, ``byte-fallback``,
    ``unknown-merging``, ``ids``: as in the buckets of findings. value: the result as text for
    readers; two values are equal exactly if the results are.
    """

    name: str
    value: str


@runtime_checkable
class Explains(Protocol):
    """An implementation that can show its stages; recognised by its method."""

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> Sequence[Step]:
        """Return the stages of encoding ``data``, in order; the last one is ``ids``.

        This runs in the harness itself, on short inputs, when a finding is written.
        """


class Implementation(Protocol):
    """One way of running vocabularies: an algorithm, a library, or an external program."""

    @property
    def about(self) -> About:
        """Return the description. It must be cheap: every ``tokgate list`` reads it."""

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Return None if it can run this vocabulary in this mode, else a line that says why not."""

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """Return an encoder for a vocabulary that it supports in at least one mode."""


@runtime_checkable
class ReadsFiles(Protocol):
    """An implementation that can read the user's own file; recognised by its attribute.

    If a file has steps that a :class:`Vocabulary` cannot express (``vocabulary.unexpressed``),
    only implementations that read ``vocabulary.native.content`` take part.
    """

    @property
    def native_formats(self) -> frozenset[str]:
        """The formats that it reads, as ``Vocabulary.format``: ``tokenizer.json``, ``gguf``, .."""


@runtime_checkable
class Reproducible(Protocol):
    """An implementation that can be run without tokgate; recognised by its method."""

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """Return how to run it on this vocabulary in this mode."""
