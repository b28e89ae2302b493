"""Hypothesis strategies of the same inputs, for tests of your own::

    from hypothesis import given
    from corpora.generators import strategies

    @given(strategies.inputs(vocabulary))
    def test_round_trip(data): ...

Each gives bytes, shares its tables with the generator of the same name (:data:`STRATEGIES`), and
shrinks towards few, short and printable parts. They are made for tests that look for the smallest
failing input; the generators are faster by two orders of magnitude, but do not shrink.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from corpora.generators.boundaries import BETWEEN
from corpora.generators.characters import (
    CLASS_BYTES,
    CLASS_CHARACTERS,
    CODEPOINT_TEMPLATES,
    WORDS,
)
from corpora.generators.json_text import KEYS, SCALARS, STYLES, container, spelt_string
from corpora.generators.locales import LOCALES, letters
from corpora.generators.material import material
from corpora.generators.mutations import KINDS, mutated
from corpora.generators.raw import FRAGMENTS
from corpora.generators.repeats import MORPHISMS, fixed_point, spell
from corpora.generators.runs import LADDER, RUN_CHARACTERS
from corpora.generators.scripts import EVERY_UNIT, PLAIN
from corpora.generators.source import read_source, source_files
from corpora.generators.special import DAMAGES, SURROUNDINGS, broken, special_texts
from corpora.generators.whitespace import PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from hypothesis.strategies import DrawFn, SearchStrategy

    from corpora.vocabularies.model import Vocabulary


def _simplest_first(texts: Iterable[str]) -> list[str]:
    """Distinct texts, short and printable first: ``sampled_from`` shrinks towards the first."""
    return sorted(set(texts), key=lambda t: (len(t.encode()), not t.isprintable(), t))


def _of(texts: Iterable[str]) -> SearchStrategy[str]:
    return st.sampled_from(_simplest_first(texts))


def _joined(parts: SearchStrategy[str], most: int) -> SearchStrategy[bytes]:
    return st.lists(parts, max_size=most).map("".join).map(str.encode)


def tokens(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """One token of the vocabulary as text spells it."""
    return st.sampled_from(material(vocabulary).ordered)


def concatenations(vocabulary: Vocabulary, *, most: int = 20) -> SearchStrategy[bytes]:
    """Two to ``most`` tokens in a row, all of them text or of any bytes."""
    found = material(vocabulary)
    pools = (st.sampled_from(found.ordered_text), st.sampled_from(found.ordered))
    return st.one_of(*(st.lists(pool, min_size=2, max_size=most) for pool in pools)).map(b"".join)


@st.composite
def overlaps(draw: DrawFn, vocabulary: Vocabulary, *, most: int = 12) -> bytes:
    """Tokens of which each begins with the last byte or two of the one before."""
    found = material(vocabulary)
    last = draw(st.sampled_from(found.ordered_text))
    parts = [last]
    for shared in draw(st.lists(st.sampled_from((1, 2)), min_size=1, max_size=most)):
        index = found.by_first_byte if shared == 1 else found.by_first_two
        following = index.get(last[-shared:])
        if following is None:
            break
        last = draw(st.sampled_from(following))
        parts.append(last[shared:])
    return b"".join(parts)


@st.composite
def repeats(draw: DrawFn, vocabulary: Vocabulary, *, longest: int = 512) -> bytes:
    """Periodic, nearly periodic, self-similar and random words over one to three letters.

    longest: in letters.
    """
    units = draw(st.sampled_from(material(vocabulary).alphabets))
    letter = st.integers(0, len(units) - 1)
    shape = draw(st.sampled_from(("random", "periodic", *MORPHISMS)))
    if shape == "random":
        return spell(draw(st.lists(letter, max_size=min(longest, 64))), units)
    if shape == "periodic":
        block = draw(st.lists(letter, min_size=1, max_size=12))
        rest = draw(st.lists(letter, max_size=4))
        times = draw(st.integers(1, max(longest // len(block), 1)))
        return spell(block * times + rest, units)
    stretch = fixed_point(shape)
    at = draw(st.integers(0, len(stretch) - longest))
    word = stretch[at : at + draw(st.integers(1, longest))]
    return spell([index % len(units) for index in word], units)


def codepoint_templates() -> SearchStrategy[bytes]:
    """Any Unicode scalar value in a template that shows its class."""
    return st.builds(
        lambda template, character: template.replace("{}", character).encode(),
        st.sampled_from(CODEPOINT_TEMPLATES),
        st.characters(exclude_categories=["Cs"]),
    )


def whitespace(*, most: int = 20) -> SearchStrategy[bytes]:
    """White space of all kinds around words, digits, contractions and line ends."""
    return _joined(_of(PARTS), most)


def boundaries(vocabulary: Vocabulary, *, most: int = 6) -> SearchStrategy[bytes]:
    """Tokens of the vocabulary with what a split pattern tells apart between them."""
    found = material(vocabulary)
    odd = st.sampled_from([*found.by_shape.values()]).flatmap(st.sampled_from)
    token = st.one_of(st.sampled_from(found.ordered_text), odd)
    between = _of(BETWEEN).map(str.encode)
    return st.lists(st.one_of(between, token), max_size=most).map(b"".join)


def special_text(vocabulary: Vocabulary, *, most: int = 8) -> SearchStrategy[bytes]:
    """Special-token text, whole and damaged, among words and white space."""
    special = _of(special_texts(vocabulary))
    damaged = st.builds(
        lambda text, other, at, kind: broken(text, other, at % (len(text) + 1), kind),
        special,
        special,
        st.integers(0, 64),
        st.integers(0, DAMAGES - 1),
    )
    return _joined(st.one_of(_of((*WORDS, *SURROUNDINGS)), special, damaged), most)


def scripts(*, most: int = 16) -> SearchStrategy[bytes]:
    """Marks, jamo, widths, ligatures, emoji, bidi, zero width, expansions, casing oddities."""
    return _joined(_of((*EVERY_UNIT, *PLAIN)), most)


def raw_bytes(alphabet: bytes | None = None) -> SearchStrategy[bytes]:
    """Random bytes and mixtures of ill-formed and well-formed UTF-8.

    alphabet: the only bytes to use (:attr:`Vocabulary.byte_alphabet`), or None for all.
    """
    if alphabet is not None:
        return st.lists(st.sampled_from(alphabet)).map(bytes) if alphabet else st.just(b"")
    fragments = sorted(set(FRAGMENTS), key=lambda fragment: (len(fragment), fragment))
    return st.one_of(st.binary(), st.lists(st.sampled_from(fragments)).map(b"".join))


@st.composite
def mutations(draw: DrawFn, base: SearchStrategy[bytes], *, most: int = 4) -> bytes:
    """Inputs of ``base`` with up to ``most`` insertions, deletions, swaps, .. and splices.

    By characters where the text is valid UTF-8 and a coin says so, else by bytes.
    """
    data = draw(base)
    kinds = draw(st.lists(st.integers(0, KINDS - 1), min_size=1, max_size=most))
    by_bytes = draw(st.booleans())
    text = data.decode(errors="replace")
    for kind in kinds:
        at = draw(st.integers(0, len(data if by_bytes else text)))
        span = draw(st.integers(1, 16))
        spliced = kind == KINDS - 1
        if by_bytes:
            byte = st.sampled_from(CLASS_BYTES).map(lambda b: bytes([b]))
            data = mutated(data, kind, at, span, draw(base if spliced else byte))
        else:
            character = _of(CLASS_CHARACTERS)
            texts = base.map(lambda b: b.decode(errors="replace"))
            text = mutated(text, kind, at, span, draw(texts if spliced else character))
    return data if by_bytes else text.encode()


@st.composite
def prose(draw: DrawFn, *, most: int = 12) -> bytes:
    """Made-up words of one of some thirty scripts with its joints, stops and quotes."""
    locale = draw(st.sampled_from(LOCALES))
    word = st.lists(st.sampled_from(letters(locale)), min_size=1, max_size=8).map("".join)
    if locale.casing:
        word = st.one_of(word, word.map(str.capitalize))
    text = locale.joiner.join(draw(st.lists(word, min_size=1, max_size=most)))
    opening, closing = draw(st.sampled_from((("", ""), locale.quotes)))
    return f"{opening}{text}{closing}{draw(st.sampled_from(('', *locale.stops)))}".encode()


_read = lru_cache(maxsize=64)(read_source)


@st.composite
def source_code(draw: DrawFn, *, longest: int = 400) -> bytes:
    """At most ``longest`` characters of a file of the installed standard library."""
    path: Path = draw(st.sampled_from(source_files()))
    text = _read(path)
    at = draw(st.integers(0, max(len(text) - 1, 0)))
    return text[at : at + draw(st.integers(0, longest))].encode()


def json_text(*, leaves: int = 12) -> SearchStrategy[bytes]:
    """JSON documents of up to about ``leaves`` scalars, compact, spaced and indented."""
    style = st.sampled_from(STYLES)
    strings = st.builds(spelt_string, st.text(max_size=12), st.booleans())
    keys = st.builds(spelt_string, st.one_of(_of(KEYS), st.text(max_size=8)), st.booleans())

    def containers(inner: SearchStrategy[str]) -> SearchStrategy[str]:
        arrays = st.lists(st.tuples(st.none(), inner), max_size=4)
        objects = st.lists(st.tuples(keys, inner), max_size=4)
        return st.one_of(st.builds(container, arrays, style), st.builds(container, objects, style))

    scalars = st.one_of(st.sampled_from(SCALARS), strings)
    return st.recursive(scalars, containers, max_leaves=leaves).map(str.encode)


def runs(alphabet: bytes | None = None, *, longest: int = 10_000) -> SearchStrategy[bytes]:
    """Runs of one character, lengths up to ``longest`` with the ladder's rungs and neighbours.

    alphabet: the only bytes to use (:attr:`Vocabulary.byte_alphabet`), or None for all.
    """
    rungs = [n for rung in LADDER for n in (rung - 1, rung, rung + 1) if n <= longest]
    units = [c.encode() for c in _simplest_first(RUN_CHARACTERS)]
    if alphabet is not None:
        units = [bytes([byte]) for byte in alphabet]
    if not units:
        return st.just(b"")
    lengths = [st.integers(1, min(longest, 72)), st.integers(1, longest)]
    if rungs:
        lengths.append(st.sampled_from(rungs))
    return st.builds(lambda unit, n: unit * n, st.sampled_from(units), st.one_of(lengths))


def edge_cases(alphabet: bytes | None = None) -> SearchStrategy[bytes]:
    """Empty input, single bytes, and up to three bytes or characters of telling classes.

    alphabet: the only bytes to use (:attr:`Vocabulary.byte_alphabet`), or None for all.
    """
    if alphabet is not None:
        return st.lists(st.sampled_from(alphabet or b"a"), max_size=3 * bool(alphabet)).map(bytes)
    return st.one_of(
        st.binary(max_size=1),
        _joined(_of(CLASS_CHARACTERS), 3),
        st.lists(st.sampled_from(CLASS_BYTES), max_size=3).map(bytes),
    )


def _mutations(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    texts = [concatenations(vocabulary), repeats(vocabulary, longest=64)]
    if vocabulary.byte_alphabet is None:
        texts += [whitespace(), scripts(), special_text(vocabulary), prose(), source_code()]
        return mutations(st.one_of(texts))
    return mutations(st.one_of(texts)).filter(vocabulary.can_encode)


STRATEGIES: dict[str, Callable[[Vocabulary], SearchStrategy[bytes]]] = {
    "edge": lambda vocabulary: edge_cases(vocabulary.byte_alphabet),
    "tokens": tokens,
    "concatenations": concatenations,
    "overlaps": overlaps,
    "repeats": repeats,
    "codepoints": lambda _: codepoint_templates(),
    "whitespace": lambda _: whitespace(),
    "boundaries": boundaries,
    "special": special_text,
    "scripts": lambda _: scripts(),
    "raw": lambda vocabulary: raw_bytes(vocabulary.byte_alphabet),
    "mutations": _mutations,
    "prose": lambda _: prose(),
    "source": lambda _: source_code(),
    "json": lambda _: json_text(),
    "runs": lambda vocabulary: runs(vocabulary.byte_alphabet),
}
"""The strategy that belongs to each generator of :func:`corpora.generators.catalog.generators`."""

# Those that keep to the vocabulary's own bytes; the others make text of any characters.
_OF_ITS_OWN_BYTES = ("edge", "tokens", "concatenations", "overlaps", "repeats", "raw", "runs")


def inputs(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Any of these; only what the vocabulary can spell where its byte alphabet is restricted."""
    restricted = vocabulary.byte_alphabet is not None
    names = _OF_ITS_OWN_BYTES if restricted else tuple(STRATEGIES)
    return st.one_of([STRATEGIES[name](vocabulary) for name in names])
