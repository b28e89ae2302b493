"""``bpe.backtracking.fast``, and ``bpe.cached``, which remembers the pieces that it has encoded.

Loops that tell implementations apart by speed want the former, whose time does not depend on what
it saw before; the latter shows what a cache adds, and that it changes no id.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from impls.bpe.encoder import BpeImplementation
from impls.bpe.out_of_order import in_order
from impls.fast.kernels.intrinsics import lacking

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.pieces import EncodePieces
    from impls.interface import Mode
    from impls.kernels.layout import Bytes, Ints, Longs
    from impls.pretokenize.pieces import Cutter


class FastImplementation(BpeImplementation):
    """Byte-pair encoding with all that is there for its speed."""

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """As the others, where the kernel can be compiled."""
        reason = super().supports(vocabulary, mode)
        if reason is None and (missing := lacking()) is not None:
            reason = f"its kernel cannot be compiled here: {missing}"
        return reason

    def cutter(self, vocabulary: Vocabulary) -> Cutter:
        """What cuts inputs into pieces, by a compiled scanner where there is one."""
        from impls.fast.scanner.cutter import FastCutter  # noqa: PLC0415 - `regex` is not needed to list names

        return FastCutter(vocabulary)


def encoder_of(vocabulary: Vocabulary) -> EncodePieces:
    """The kernel with its tables, which are kept on disk."""
    from impls.fast.bpe.backtracking_kernel import encode_pieces, kept_block  # noqa: PLC0415 - Numba

    return partial(encode_pieces, kept_block(vocabulary))


def caching_encoder_of(vocabulary: Vocabulary) -> EncodePieces:
    """The kernel with a cache of pieces for each encoder and thread."""
    from impls.fast.bpe.backtracking_kernel import encode_remembering, kept_block  # noqa: PLC0415 - Numba
    from impls.fast.bpe.growing_cache import fitting  # noqa: PLC0415 - likewise

    local, block = threading.local(), kept_block(vocabulary)

    def encode_pieces(data: Bytes, ends: Longs, given: Longs, ids: Ints, id_ends: Longs) -> int:
        cache = local.cache = fitting(getattr(local, "cache", None), len(ends))
        return encode_remembering(block, cache, data, ends, given, ids, id_ends)

    return encode_pieces


IMPLEMENTATION = FastImplementation("bpe.backtracking.fast", in_order(encoder_of), linear=True)
CACHED = FastImplementation("bpe.cached", in_order(caching_encoder_of), linear=True)
