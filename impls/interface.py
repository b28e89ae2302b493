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

``load`` and the encoder run in a worker process with limits: they may hang, abort or eat memory,
and only the encoder's own cases are lost. There it has no network and may write to its folder for
temporary files only, unless ``About.needs`` says that it needs more. The import, ``about`` and
``supports`` run in the harness itself, too: keep them quick and free of risk, and leave heavy
imports to ``load``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

    Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a text is to be encoded; part of the contract under which outputs are compared.

    pretokenize: the vocabulary's own splitting (and nothing else) comes first. Without it the
        whole text is one piece.
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
    """Calls from several threads at once are allowed."""
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
    """What the ids of an implementation must be."""

    EXACT = "exact"
    """The ids are those that the vocabulary defines."""
    FEWEST = "fewest"
    """The ids are as few as can spell the text."""
    REACHABLE = "reachable"
    """The ids are any that merges of the vocabulary make of the text, as with dropout."""
    SPELLING = "spelling"
    """The ids are any that spell the text."""


class Rejected(Exception):
    """Raised by an encoder: the input is invalid for this tokenizer. A legitimate answer."""


class Unsupported(Exception):
    """Raised by an encoder: it does not do this. Never a failure, never compared."""


class Died(Exception):
    """Raised by an encoder that runs a program of its own: the program is gone.

    kind: ``crashed``, ``timed-out``, ``out-of-memory``, ``protocol`` for a breach of the stdio
        protocol, or ``errored`` if it says itself that it cannot start. log: the end of the
        program's standard error.
    """

    def __init__(self, kind: str, message: str, log: str = "") -> None:
        self.kind = kind
        self.log = log
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class About:
    """Who an implementation is.

    name: as users type it after ``--impl``. version: of the code that does the work.
    max_input: longest input in bytes that it is asked to encode (quadratic algorithms), or None.
    linear: its author claims linear cost, so the scaling gate holds it to that.
    law: what its ids must be; only exact ones are compared with one another.
    engine: the implementation whose very ids these are, where that one differs from the others by
        design (a variant): then it is compared with that one alone, and with none in its absence.
    library: the distribution of which it is a release, so that releases of one library can be
        compared in all that they answer; empty for what has none.
    needs: what it does besides reading and computing, which a worker may not do else:
        ``"network"``, ``"write:PATH"`` (:mod:`impls.needs`).
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
        """Whether its ids are to be those that the vocabulary defines: no other law, no variant."""
        return self.law is Law.EXACT and not self.engine


@runtime_checkable
class Encoder(Protocol):
    """An implementation loaded with a vocabulary."""

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The token ids of ``data``. Raises Rejected or Unsupported where it must."""


@runtime_checkable
class Decodes(Protocol):
    """Claimed by ``Capability.DECODE``."""

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids``, as this implementation's users get it."""


@runtime_checkable
class DecodesStreams(Protocol):
    """An encoder whose library decodes a text while it is made; found by its method.

    Asked by the check ``stream-decoder`` alone, which holds it to what ``decode`` gives.
    """

    def decode_stream(self, ids: Sequence[int]) -> Sequence[bytes]:
        """What is given out after each of the ids, in order; nothing for ids that are held back."""


@runtime_checkable
class ContinuesStreams(Protocol):
    """An encoder whose streams may begin after a prompt; asked by ``stream-decoder``, too."""

    def decode_stream_after(self, prompt: Sequence[int], ids: Sequence[int]) -> Sequence[bytes]:
        """What is given out after each of the ids; of the prompt, a character that it has begun."""


@runtime_checkable
class SkipsSpecials(Protocol):
    """An encoder whose library can leave special tokens out as it decodes; found by its method.

    Asked by the check ``skip-specials`` alone, which holds it to what ``decode`` gives.
    """

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids``, in which special tokens have none."""


@runtime_checkable
class CleansSpaces(Protocol):
    """An encoder whose library can clean spaces up as it decodes; asked by ``clean-up`` alone."""

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids`` without spaces before punctuation and in English contractions."""


@runtime_checkable
class NamesTokens(Protocol):
    """An encoder whose library gives tokens as strings; asked by ``token-strings`` alone."""

    def token_strings(self, data: bytes, mode: Mode) -> Sequence[str]:
        """The string of each token that ``encode`` gives, as ``tokenize`` does elsewhere."""


@runtime_checkable
class EncodesUnstable(Protocol):
    """An encoder that says what is sure while a text goes on; asked by ``unstable`` alone."""

    def encode_with_unstable(self, data: bytes, mode: Mode) -> tuple[Ids, Sequence[Ids]]:
        """The ids that stay, whatever follows; what may come after them, from the rest on."""


@runtime_checkable
class Truncates(Protocol):
    """An encoder whose library cuts what is too long; found by its method.

    Asked by the check ``truncation`` alone, which holds it to what ``encode`` gives.
    """

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> Sequence[Sequence[int]]:
        """The windows: the one that is kept, then the others, going away from it.

        length: ids of a window at the most. overlap: ids that it repeats of the one before. left:
        the end of the text is kept, else its beginning. No special tokens are added. Raises
        Unsupported where the library does not cut so.
        """


@runtime_checkable
class AddsSpecials(Protocol):
    """An encoder whose library adds special tokens to a text or a pair; found by its method.

    Those of the vocabulary's post-processor: the beginning and the end of a text, separators.
    Asked by the check ``template`` alone, which holds it to what ``encode`` gives.
    """

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> Sequence[int]:
        """The ids of a text, or of a text and a second one, with those tokens added."""


@runtime_checkable
class DropsMerges(Protocol):
    """An encoder whose library leaves merges out at random, as its vocabulary's file says.

    Asked by the check ``reachability`` alone. Raises Unsupported where the file has no dropout.
    """

    def encode_with_dropout(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids of one draw."""


@runtime_checkable
class Pads(Protocol):
    """An encoder whose library pads texts to one length; found by its method.

    Asked by the check ``padding`` alone, which holds it to what ``encode`` gives.
    """

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
        """Of each input its ids and its mask, 1 for ids of the text and 0 for padding.

        As long as the longest of them, rounded up to a multiple. left: padding comes first.
        """


@runtime_checkable
class GivesOffsets(Protocol):
    """Claimed by ``Capability.OFFSETS``."""

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids, and for each the byte range [start, end) of ``data`` that it stands for.

        Of a token that is part of a character it may be the range of the whole character.
        """


@runtime_checkable
class Counts(Protocol):
    """Claimed by ``Capability.COUNT``."""

    def count(self, data: bytes, mode: Mode) -> int:
        """The number of ids that ``encode`` gives."""


@runtime_checkable
class CountsTillLimit(Protocol):
    """Claimed by ``Capability.COUNT_TILL_LIMIT``."""

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """The number of ids, or None exactly if it is greater than ``limit``.

        May stop reading once that is certain, and so overlook what ``encode`` would reject.
        """


@runtime_checkable
class Splits(Protocol):
    """Claimed by ``Capability.SPLIT``."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        """Where the chunks of ``data`` end, in bytes; none for the empty text.

        Each chunk is non-empty, ends where a UTF-8 character does, and has at most ``limit`` ids
        if encoded by itself, unless it is a single character that has more.
        """


@runtime_checkable
class Appends(Protocol):
    """Claimed by ``Capability.APPEND``."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """The number of ids after each chunk, of all bytes so far as one text.

        Chunks may be empty, and may end inside a character. Asked without pre-tokenization, as
        are ``prepend`` and ``interval``.
        """


@runtime_checkable
class Prepends(Protocol):
    """Claimed by ``Capability.PREPEND``."""

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Likewise, each chunk placed before those already there: the text's last one first."""


@runtime_checkable
class CountsIntervals(Protocol):
    """Claimed by ``Capability.INTERVAL``."""

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """The number of ids of ``text[start:end]`` encoded by itself, for each (start, end)."""


@runtime_checkable
class Heals(Protocol):
    """Claimed by ``Capability.HEAL``."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """The tokens that may be forced now, and the bytes at the end of ``forced`` left over.

        recent: the ids of the context before. allowed: what the grammar admits after ``forced``,
        each cut at the longest token's length, so that one of that length may go on with
        anything; None for any text. Whatever follows, the ids must be those that ``encode`` gives
        there. Leaving more over than need be is allowed.
        """


@runtime_checkable
class EncodesBatches(Protocol):
    """An encoder for which many inputs in one call are cheaper; found by its method."""

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs at once.

        data: the concatenated inputs; input i is ``data[ends[i-1]:ends[i]]`` (``ends[-1]`` as 0).
        Returns the concatenated ids (int32) and where each input's ids end (int64, one an input).
        Any exception makes the harness ask again input by input, so that it can tell which failed.
        Where all of them are encoded then, the exception is a finding.
        """


@runtime_checkable
class EncodesStr(Protocol):
    """An encoder whose library takes ``str``; found by its method.

    Asked by the check ``surrogates`` alone: a ``str`` may have what no UTF-8 can say.
    """

    def encode_str(self, text: str, mode: Mode) -> Sequence[int]:
        """The ids of a text as the library is given it, lone surrogates and all."""


@runtime_checkable
class EncodesMany(Protocol):
    """An encoder whose library has a call of its own for many inputs; found by its method.

    Asked by the check ``batch`` alone, which holds it to what ``encode`` gives.
    """

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> Sequence[Sequence[int]]:
        """The ids of each input. Raises as ``encode`` does, for all of them together."""


@runtime_checkable
class Reloads(Protocol):
    """An encoder that can be saved in its library's own file format; found by its method."""

    def reloaded(self) -> Encoder:
        """What is loaded from what was saved, for the check ``reload``."""


@runtime_checkable
class Respells(Protocol):
    """An encoder of the user's own file that can be built of another one; found by its method."""

    def respelled(self) -> Encoder | None:
        """The same tokenizer, of a file written anew; None where there is no other.

        For the check ``reload``: the two say the same in other words.
        """


@runtime_checkable
class WarmsUp(Protocol):
    """An encoder that makes some things on first use, compiled code above all; found by its method.

    It is called once after ``load``, where nobody counts the time, so that no request has to pay.
    """

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Make whatever requests in these modes will need. Raises nothing."""


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
    """What a pipeline has after one of its stages.

    name: ``normalization``, ``user-defined``, ``pre-tokens``, ``segmentation``, ``byte-fallback``,
    ``unknown-merging``, ``ids``: as in the buckets of findings. value: for readers, and alike
    exactly where the stage came out alike.
    """

    name: str
    value: str


@runtime_checkable
class Explains(Protocol):
    """An implementation that can say what happens inside; found by its method."""

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> Sequence[Step]:
        """The stages of encoding ``data``, in order; the last one is ``ids``, spaced.

        Runs in the harness itself, on short inputs, when a finding is written.
        """


class Implementation(Protocol):
    """One way of running vocabularies: an algorithm, a library, or an external program."""

    @property
    def about(self) -> About:
        """Who it is. Must be cheap: it is read for every ``tokgate list``."""

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """None if it can run this vocabulary in this mode, else a line saying why not."""

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """An encoder for a vocabulary that some mode of ``supports`` admitted."""


@runtime_checkable
class ReadsFiles(Protocol):
    """An implementation that can be given the user's own file; found by its attribute.

    Where a file has steps that a :class:`Vocabulary` cannot express (``vocabulary.unexpressed``),
    only those take part who read ``vocabulary.native.content``.
    """

    @property
    def native_formats(self) -> frozenset[str]:
        """The formats that it reads, as ``Vocabulary.format``: ``tokenizer.json``, ``gguf``, .."""


@runtime_checkable
class Reproducible(Protocol):
    """An implementation that can be run without tokgate; found by its method."""

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """How to run it on this vocabulary in this mode."""
