"""``bpe.naive``: the definition of byte-pair encoding, compiled as it stands."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation

IMPLEMENTATION = BpeImplementation(
    name="bpe.naive",
    kernel="impls.bpe.definition.naive_kernel",
    # 4096^2 pair look-ups take about 0.1 s: the longest that a campaign can afford by the way.
    max_input=4096,
)
