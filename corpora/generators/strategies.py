"""Hypothesis strategies of the same inputs, for tests of your own::

    from hypothesis import given
    from corpora.generators import strategies

    @given(strategies.inputs(vocabulary))
    def test_round_trip(data): ...

Each gives bytes for a vocabulary, shares its tables with the generator of the same name
(:data:`STRATEGIES`), and shrinks towards few, short and printable parts. They are made for tests
that look for the smallest failing input; the generators are faster by two orders of magnitude, but
do not shrink.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

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

    Strategy = Callable[[Vocabulary], SearchStrategy[bytes]]

LONGEST_WORD, LONGEST_RUN, LONGEST_SOURCE = 512, 10_000, 400
"""Letters of a repetition, of a run, and characters of a slice of source code."""


def _of(texts: Iterable[str]) -> SearchStrategy[bytes]:
    """One of the texts, short and printable first: ``sampled_from`` shrinks towards the first."""
    ordered = sorted(set(texts), key=lambda t: (len(t.encode()), not t.isprintable(), t))
    return st.sampled_from([text.encode() for text in ordered])


def _joined(parts: SearchStrategy[bytes], most: int, least: int = 0) -> SearchStrategy[bytes]:
    return st.lists(parts, min_size=least, max_size=most).map(b"".join)


def _byte(among: bytes) -> SearchStrategy[bytes]:
    return st.sampled_from([bytes([byte]) for byte in among]) if among else st.just(b"")


def tokens(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """One token of the vocabulary as text spells it."""
    return st.sampled_from(material(vocabulary).ordered)


def concatenations(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Two and more tokens in a row, all of them text or of any bytes."""
    found = material(vocabulary)
    pools = (found.ordered_text, found.ordered)
    return st.one_of(*(_joined(st.sampled_from(pool), 20, 2) for pool in pools))


@st.composite
def overlaps(draw: DrawFn, vocabulary: Vocabulary) -> bytes:
    """Tokens of which each begins with the last byte or two of the one before."""
    found = material(vocabulary)
    last = draw(st.sampled_from(found.ordered_text))
    parts = [last]
    for shared in draw(st.lists(st.sampled_from((1, 2)), min_size=1, max_size=12)):
        index = found.by_first_byte if shared == 1 else found.by_first_two
        following = index.get(last[-shared:])
        if following is None:
            break
        last = draw(st.sampled_from(following))
        parts.append(last[shared:])
    return b"".join(parts)


@st.composite
def repeats(draw: DrawFn, vocabulary: Vocabulary) -> bytes:
    """Periodic, nearly periodic, self-similar and random words over one to three letters."""
    units = draw(st.sampled_from(material(vocabulary).alphabets))
    letter = st.integers(0, len(units) - 1)
    shape = draw(st.sampled_from(("random", "periodic", *MORPHISMS)))
    if shape == "random":
        return spell(draw(st.lists(letter, max_size=64)), units)
    if shape == "periodic":
        block = draw(st.lists(letter, min_size=1, max_size=12))
        rest = draw(st.lists(letter, max_size=4))
        times = draw(st.integers(1, LONGEST_WORD // len(block)))
        return spell(block * times + rest, units)
    stretch = fixed_point(shape)
    at = draw(st.integers(0, len(stretch) - LONGEST_WORD))
    word = stretch[at : at + draw(st.integers(1, LONGEST_WORD))]
    return spell([index % len(units) for index in word], units)


def codepoints(_vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Any Unicode scalar value in a template that shows its class."""
    return st.builds(
        lambda template, character: template.replace("{}", character).encode(),
        st.sampled_from(CODEPOINT_TEMPLATES),
        st.characters(exclude_categories=["Cs"]),
    )


def whitespace(_vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """White space of all kinds around words, digits, contractions and line ends."""
    return _joined(_of(PARTS), 20)


def boundaries(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Tokens of the vocabulary with what a split pattern tells apart between them."""
    found = material(vocabulary)
    odd = st.sampled_from([*found.by_shape.values()]).flatmap(st.sampled_from)
    return _joined(st.one_of(_of(BETWEEN), st.sampled_from(found.ordered_text), odd), 6)


def special(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Special-token text, whole and damaged, among words and white space."""
    text = _of(special_texts(vocabulary)).map(bytes.decode)
    damaged = st.builds(
        lambda text, other, at, kind: broken(text, other, at % (len(text) + 1), kind).encode(),
        text,
        text,
        st.integers(0, 64),
        st.integers(0, DAMAGES - 1),
    )
    return _joined(st.one_of(_of((*WORDS, *SURROUNDINGS)), text.map(str.encode), damaged), 8)


def scripts(_vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Marks, jamo, widths, ligatures, emoji, bidi, zero width, expansions, casing oddities."""
    return _joined(_of((*EVERY_UNIT, *PLAIN)), 16)


def raw(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Random bytes and mixtures of ill-formed and well-formed UTF-8."""
    alphabet = vocabulary.byte_alphabet
    if alphabet is not None:
        return st.lists(_byte(alphabet)).map(b"".join)
    fragments = sorted(set(FRAGMENTS), key=lambda fragment: (len(fragment), fragment))
    return st.one_of(st.binary(), st.lists(st.sampled_from(fragments)).map(b"".join))


@st.composite
def mutants(draw: DrawFn, base: SearchStrategy[bytes]) -> bytes:
    """Inputs of ``base`` with a few insertions, deletions, swaps, .. and splices.

    By characters where a coin says so, else by bytes.
    """
    by_bytes = draw(st.booleans())
    text: Any = draw(base)
    texts: SearchStrategy[Any] = base
    unit: SearchStrategy[Any] = _byte(CLASS_BYTES)
    if not by_bytes:
        text = text.decode(errors="replace")
        texts = base.map(lambda data: data.decode(errors="replace"))
        unit = _of(CLASS_CHARACTERS).map(bytes.decode)
    for kind in draw(st.lists(st.integers(0, KINDS - 1), min_size=1, max_size=4)):
        at, span = draw(st.integers(0, len(text))), draw(st.integers(1, 16))
        text = mutated(text, kind, at, span, draw(texts if kind == KINDS - 1 else unit))
    made: bytes = text if by_bytes else text.encode()
    return made


def mutations(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Inputs of several other kinds, mutated."""
    makers: list[Strategy] = [concatenations, repeats]
    if vocabulary.byte_alphabet is None:
        makers += [whitespace, scripts, special, prose, source]
    found = mutants(st.one_of([make(vocabulary) for make in makers]))
    return found if vocabulary.byte_alphabet is None else found.filter(vocabulary.can_encode)


@st.composite
def prose(draw: DrawFn, _vocabulary: Vocabulary) -> bytes:
    """Made-up words of one of some thirty scripts with its joints, stops and quotes."""
    locale = draw(st.sampled_from(LOCALES))
    word = st.lists(st.sampled_from(letters(locale)), min_size=1, max_size=8).map("".join)
    if locale.casing:
        word = st.one_of(word, word.map(str.capitalize))
    text = locale.joiner.join(draw(st.lists(word, min_size=1, max_size=12)))
    opening, closing = draw(st.sampled_from((("", ""), locale.quotes)))
    return f"{opening}{text}{closing}{draw(st.sampled_from(('', *locale.stops)))}".encode()


_read = lru_cache(maxsize=64)(read_source)


@st.composite
def source(draw: DrawFn, _vocabulary: Vocabulary) -> bytes:
    """A slice of a file of the installed standard library."""
    path: Path = draw(st.sampled_from(source_files()))
    text = _read(path)
    at = draw(st.integers(0, max(len(text) - 1, 0)))
    return text[at : at + draw(st.integers(0, LONGEST_SOURCE))].encode()


def json(_vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """JSON documents of up to about a dozen scalars, compact, spaced and indented."""
    style = st.sampled_from(STYLES)
    strings = st.builds(spelt_string, st.text(max_size=12), st.booleans())
    names = st.one_of(st.sampled_from(KEYS), st.text(max_size=8))
    keys = st.builds(spelt_string, names, st.booleans())

    def containers(inner: SearchStrategy[str]) -> SearchStrategy[str]:
        arrays = st.lists(st.tuples(st.none(), inner), max_size=4)
        objects = st.lists(st.tuples(keys, inner), max_size=4)
        return st.one_of(st.builds(container, arrays, style), st.builds(container, objects, style))

    scalars = st.one_of(st.sampled_from(SCALARS), strings)
    return st.recursive(scalars, containers, max_leaves=12).map(str.encode)


def runs(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Runs of one character, with the lengths of the ladder's rungs and their neighbours."""
    alphabet = vocabulary.byte_alphabet
    units = _of(RUN_CHARACTERS) if alphabet is None else _byte(alphabet)
    rungs = [n for rung in LADDER for n in (rung - 1, rung, rung + 1) if n <= LONGEST_RUN]
    lengths = (st.integers(1, 72), st.integers(1, LONGEST_RUN), st.sampled_from(rungs))
    return st.builds(lambda unit, n: unit * n, units, st.one_of(lengths))


def edge(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Empty input, single bytes, and up to three bytes or characters of telling classes."""
    alphabet = vocabulary.byte_alphabet
    if alphabet is not None:
        return _joined(_byte(alphabet), 3)
    parts = (_of(CLASS_CHARACTERS), _byte(CLASS_BYTES))
    return st.one_of(st.binary(max_size=1), *(_joined(part, 3) for part in parts))


OF_ITS_OWN_BYTES: tuple[Strategy, ...] = (
    *(edge, tokens, concatenations, overlaps, repeats, raw, runs),
)
"""Those that keep to the vocabulary's own bytes; the others make text of any characters."""

STRATEGIES: dict[str, Strategy] = {
    make.__name__: make
    for make in (
        *(edge, tokens, concatenations, overlaps, repeats, codepoints, whitespace, boundaries),
        *(special, scripts, raw, mutations, prose, source, json, runs),
    )
}
"""The strategy that belongs to each generator of :func:`corpora.generators.catalog.generators`."""


def inputs(vocabulary: Vocabulary) -> SearchStrategy[bytes]:
    """Any of these; only what the vocabulary can spell where its byte alphabet is restricted."""
    restricted = vocabulary.byte_alphabet is not None
    makers = OF_ITS_OWN_BYTES if restricted else tuple(STRATEGIES.values())
    return st.one_of([make(vocabulary) for make in makers])
