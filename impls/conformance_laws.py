"""What each capability promises, as functions from an answer to what is wrong with it.

Each law asks an encoder about one input whose ids are known, and gives a line or None. Whatever
the encoder raises is for the caller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from impls.conformance_inputs import is_text
from impls.interface import (
    Appends,
    Capability,
    Counts,
    CountsIntervals,
    CountsTillLimit,
    Decodes,
    GivesOffsets,
    Mode,
    Prepends,
    Splits,
)

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


@dataclass(frozen=True, slots=True)
class Known:
    """An input whose ids are known, and how it was encoded."""

    vocabulary: Vocabulary
    mode: Mode
    data: bytes
    ids: tuple[int, ...]
    size: Callable[[bytes], int]
    """The number of ids of any other text, by ``encode``."""

    @property
    def verbatim(self) -> bool:
        """Whether the tokens spell the input itself."""
        return not self.vocabulary.normalizes and not self.vocabulary.pieces


Law = Callable[[Any, Known], str | None]


def decodes(encoder: Decodes, known: Known) -> str | None:
    """decode(encode(x)) = x, where nothing is normalized."""
    text = encoder.decode(list(known.ids))
    if not isinstance(text, bytes):
        return f"decode({list(known.ids)}) is a {type(text).__name__}, not bytes"
    if known.verbatim and text != known.data:
        return f"decode(encode(x)) is {text!r}"
    return None


def gives_offsets(encoder: GivesOffsets, known: Known) -> str | None:
    """The same ids; ranges within the text, in order, containing the tokens' bytes."""
    ids, spans = encoder.encode_with_offsets(known.data, known.mode)
    if tuple(ids) != known.ids:
        return f"encode_with_offsets gives the ids {list(ids)}, encode {list(known.ids)}"
    if len(spans) != len(known.ids):
        return f"{len(spans)} offsets for {len(known.ids)} ids"
    if any(not 0 <= start <= end <= len(known.data) for start, end in spans):
        return f"offsets {list(spans)} leave the text"
    for side in (0, 1):
        places = [span[side] for span in spans]
        if places != sorted(places):
            return f"offsets {list(spans)} go backwards"
    if known.verbatim:
        for token_id, (start, end) in zip(known.ids, spans, strict=True):
            if known.vocabulary.spelling(token_id) not in known.data[start:end]:
                return f"token {token_id} is not in its range [{start}, {end})"
    return None


def counts(encoder: Counts, known: Known) -> str | None:
    """count(x) = |encode(x)|."""
    number = encoder.count(known.data, known.mode)
    return None if number == len(known.ids) else f"count is {number} for {len(known.ids)} ids"


def counts_till_limit(encoder: CountsTillLimit, known: Known) -> str | None:
    """The number of ids, or None exactly if it is greater than the limit."""
    size = len(known.ids)
    for limit in {max(0, size - 1), size, size + 1, 0}:
        number = encoder.count_till_limit(known.data, limit, known.mode)
        if number != (size if size <= limit else None):
            return f"count_till_limit({limit}) is {number} for {size} ids"
    return None


def splits(encoder: Splits, known: Known) -> str | None:
    """Chunks of at most ``limit`` ids that end where characters do, and are never empty."""
    for limit in (1, 2, 5):
        ends = list(encoder.split(known.data, limit, known.mode))
        if ends != sorted(set(ends)) or (ends[-1:] or [0])[0] != len(known.data):
            return f"split({limit}) ends at {ends}, of {len(known.data)} bytes"
        for start, end in zip([0, *ends], ends, strict=False):
            chunk = known.data[start:end]
            if not is_text(chunk):
                return f"split({limit}) cuts a character at {end}"
            if len(chunk.decode()) > 1 and known.size(chunk) > limit:
                return f"split({limit}): the chunk {chunk!r} has {known.size(chunk)} ids"
    return None


def appends(encoder: Appends, known: Known) -> str | None:
    """After each chunk, the number of ids of all bytes so far."""
    chunks = cut(known.data)
    given = list(encoder.append(chunks, known.mode))
    wanted = [known.size(b"".join(chunks[: i + 1])) for i in range(len(chunks))]
    return None if given == wanted else f"append({chunks}) counts {given}, encode {wanted}"


def prepends(encoder: Prepends, known: Known) -> str | None:
    """Likewise, each chunk placed before those already there."""
    chunks = cut(known.data)[::-1]
    given = list(encoder.prepend(chunks, known.mode))
    wanted = [known.size(b"".join(chunks[i::-1])) for i in range(len(chunks))]
    return None if given == wanted else f"prepend({chunks}) counts {given}, encode {wanted}"


def counts_intervals(encoder: CountsIntervals, known: Known) -> str | None:
    """The number of ids of each part encoded by itself."""
    draw = random.Random(known.data)
    places = [sorted(draw.choices(range(len(known.data) + 1), k=2)) for _ in range(4)]
    ranges = [(start, end) for start, end in places]
    given = list(encoder.interval(known.data, ranges, known.mode))
    wanted = [known.size(known.data[start:end]) for start, end in ranges]
    return None if given == wanted else f"interval({ranges}) counts {given}, encode {wanted}"


def cut(data: bytes) -> list[bytes]:
    """An input in up to five chunks, cut anywhere."""
    draw = random.Random(data)
    places = sorted(draw.choices(range(len(data) + 1), k=4))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


LAWS: dict[Capability, tuple[type, Law]] = {
    Capability.DECODE: (Decodes, decodes),
    Capability.OFFSETS: (GivesOffsets, gives_offsets),
    Capability.COUNT: (Counts, counts),
    Capability.COUNT_TILL_LIMIT: (CountsTillLimit, counts_till_limit),
    Capability.SPLIT: (Splits, splits),
    Capability.APPEND: (Appends, appends),
    Capability.PREPEND: (Prepends, prepends),
    Capability.INTERVAL: (CountsIntervals, counts_intervals),
}
"""The Protocol, by capability, whose method a claim promises, and the law of its answers."""

RAW_ONLY = frozenset({Capability.APPEND, Capability.PREPEND, Capability.INTERVAL})
"""Asked without pre-tokenization only."""

TEXT_ONLY = frozenset({Capability.SPLIT})
"""Asked about valid UTF-8 only."""

METHODS: dict[Capability, Sequence[str]] = {
    capability: [name for name in vars(protocol) if not name.startswith("_")]
    for capability, (protocol, _) in LAWS.items()
}
"""The names of those methods, for messages."""
