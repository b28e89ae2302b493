"""Every Unicode code point in templates that make its class visible in the ids."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import CODEPOINT_TEMPLATES
from corpora.generators.drawing import encodable, scattered
from corpora.vocabularies.unicode_ages import ages

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

_FIRST_SURROGATE, _SURROGATES = 0xD800, 0x800

SCALARS = sys.maxunicode + 1 - _SURROGATES
"""The number of Unicode scalar values: all code points but the surrogates."""

# Large ranges of one class each: sampled with all the rest, not among the telling ones.
_UNIFORM = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xAC00, 0xD7A4),
    range(0x17000, 0x18D00),
    range(0x20000, 0x32400),
)


RECENT = 12.0
"""The version of Unicode, of 2019, from which on characters are recent."""


class Scalars(Sequence[str]):
    """All scalar values in order, without a table."""

    def __len__(self) -> int:
        return SCALARS

    def __getitem__(self, index: Any) -> Any:
        return chr(index if index < _FIRST_SURROGATE else index + _SURROGATES)


@lru_cache(maxsize=1)
def telling() -> str:
    """The assigned characters outside the large uniform ranges: about 70,000."""
    uniform = {code for codes in _UNIFORM for code in codes}
    return "".join(
        character
        for code, character in enumerate(map(chr, range(sys.maxunicode + 1)))
        if (unicodedata.category(character) not in ("Cn", "Co", "Cs") or character in ages())
        and code not in uniform
    )


@lru_cache(maxsize=1)
def recent() -> str:
    """Those of :func:`telling` on which engines of today may differ: tables of theirs are older."""
    return "".join(one for one in telling() if float(ages().get(one, 0)) >= RECENT)


def everywhere(characters: Sequence[str], rng: random.Random) -> Iterator[bytes]:
    """Each of ``characters`` in every template; each pass gives each character another one."""
    templates, count = CODEPOINT_TEMPLATES, len(CODEPOINT_TEMPLATES)
    for turn in range(count):
        for index in scattered(len(characters), rng):
            template = templates[(index + turn) % count]
            yield template.replace("{}", characters[index]).encode()


def _codepoints(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    """All scalar values, the telling ones and, first, the recent ones: all to the end."""
    everything, newer = everywhere(Scalars(), rng), everywhere(recent(), rng)
    for case in everywhere(telling(), rng):
        yield case
        yield next(everything)
        yield from islice(newer, 1)
    yield from everything


GENERATOR = FunctionGenerator(
    "codepoints",
    "every code point beside letters, digits, spaces, apostrophes: character class tables",
    encodable(_codepoints),
)
