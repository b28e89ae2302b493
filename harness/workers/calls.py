"""What is timed: the fastest call of an encoder for an input, for counting, for many texts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from impls.external_times import Timed
from impls.interface import Counts, EncodesBatches, Unsupported
from impls.prepared import Prepares, PreparesBatch, PreparesCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from impls.interface import Encoder, Mode


def without_pipe(encoder: Timed, spent: int) -> int:
    """What calls took, given what the encoder says of the last of them, without the pipe's part.

    Where it says nothing itself, what an echo of the same length takes is left out: at most half,
    as what is left of a difference of two times that are alike is noise.
    """
    if encoder.told:
        return spent
    return max(spent - (encoder.echo() or 0), spent // 2)


def encoding_call(encoder: Encoder, data: bytes, mode: Mode) -> Callable[[], object]:
    """The fastest way to the ids of ``data``."""
    if isinstance(encoder, Prepares):
        return encoder.prepare(data, mode)
    if isinstance(encoder, EncodesBatches):
        batches, ends = encoder, np.array([len(data)], dtype=np.int64)
        return lambda: batches.encode_batch(data, ends, mode)[0]
    return lambda: encoder.encode(data, mode)


def counting_call(encoder: Encoder, data: bytes, mode: Mode) -> Callable[[], object]:
    """The fastest way to the number of ids of ``data``. Raises Unsupported where there is none."""
    if isinstance(encoder, PreparesCount):
        return encoder.prepare_count(data, mode)
    if isinstance(encoder, Counts):
        counts = encoder
        return lambda: counts.count(data, mode)
    raise Unsupported("does not count")


def batch_call(
    encoder: Encoder,
    texts: Sequence[bytes],
    mode: Mode,
    threads: int = 1,
    executor: Executor | None = None,
) -> Callable[[], Sequence[object]]:
    """One call for the ids of all texts, which are the parts of its answer, one behind another.

    The library's own call for many where it has one; else one text after another. Where that call
    knows no threads, the thread that makes the call and each one of ``executor`` encode a share of
    the texts that lie together.

    threads: how many may work. executor: has one less; None for one, and for an encoder that
    several threads must not call. Raises Unsupported where several threads have no way to share the
    work: a program behind the stdio protocol is asked one thing at a time.
    """
    if isinstance(encoder, PreparesBatch):
        try:
            return encoder.prepare_batch(texts, mode, threads)
        except Unsupported:
            pass
    if threads == 1:
        return _one_thread(encoder, texts, mode)
    if isinstance(encoder, Timed):
        raise Unsupported("is a program of its own, which is asked one thing at a time")
    if executor is None:
        raise Unsupported("must not be called from several threads, and has none of its own")
    shares = [_one_thread(encoder, share, mode) for share in shared_out(texts, threads)]
    submit = executor.submit

    def call() -> list[object]:
        # The first share is done here: to wake one more thread takes as long as many texts do.
        others = [submit(share) for share in shares[1:]]
        parts = [share() for share in shares[:1]] + [other.result() for other in others]
        return [ids for part in parts for ids in part]

    return call


def _one_thread(
    encoder: Encoder, texts: Sequence[bytes], mode: Mode
) -> Callable[[], Sequence[object]]:
    if isinstance(encoder, EncodesBatches):
        batches = encoder

        def together() -> Sequence[object]:
            # Whoever has texts has to join them first, so that this counts.
            ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
            return (batches.encode_batch(b"".join(texts), ends, mode)[0],)

        return together
    calls = [encoding_call(encoder, text, mode) for text in texts]
    return lambda: [call() for call in calls]


def shared_out(texts: Sequence[bytes], shares: int) -> list[Sequence[bytes]]:
    """Texts that lie together, in shares of about the same number; none is empty."""
    bounds = [len(texts) * place // shares for place in range(shares + 1)]
    return [texts[a:b] for a, b in pairwise(bounds) if a < b]


def characters_apart(text: bytes, size: int) -> Iterator[bytes]:
    """A text in parts of ``size`` bytes, or up to three less, cut between characters."""
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end -= 1
        yield text[at:end]
        at = end


def as_ids(answer: object) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """An answer as an array; the number that is a count's is an array of one.

    Raises TypeError for what is no sequence of integers that fit 32 bits.
    """
    found = np.atleast_1d(np.asarray(answer))
    if len(found) == 0:
        return np.empty(0, dtype=np.int32)
    if found.ndim != 1 or found.dtype.kind not in "iu" or int(found.max()) >= 2**31:
        message = f"gave {found.dtype} of {found.ndim} dimensions, not token ids"
        raise TypeError(message)
    return found.astype(np.int32)


def is_batch(ids: object, ends: object, count: int) -> bool:
    """Whether an encoder's batch is what it promised: the harness reads it without a look."""
    if not isinstance(ids, np.ndarray) or not isinstance(ends, np.ndarray):
        return False
    if ids.dtype != np.int32 or ends.dtype != np.int64 or ids.ndim != 1 or ends.shape != (count,):
        return False
    return bool(np.all(np.diff(ends, prepend=0, append=len(ids)) >= 0)) and (
        len(ids) == (ends[-1] if count else 0)
    )
