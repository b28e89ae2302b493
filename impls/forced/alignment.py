"""SentencePiece's normalizer on a text that goes on: what is settled, and where it comes from.

The normalizer takes prefixes of the text, each by the longest user-defined symbol or rule of the
charsmap that begins there, so that a prefix is settled once nothing longer can begin there. White
space at the end is settled by what follows: at the end of a text it goes, where the vocabulary
removes spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from impls.forced.characters import whole_characters
from impls.forced.futures import INSIDE
from impls.forced.states import Anything, Within
from impls.interface import Unsupported
from impls.unigram.charsmap import LABEL, LEAF, offset
from impls.unigram.normalizer import (
    BLANK,
    MALFORMED,
    PASSES,
    REPLACED,
    REPLACEMENT,
    make_rules,
    prefix,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.context import GrammarState

SPACE_SYMBOL = "\u2581".encode()

REPLACED_BYTE = bytes(REPLACEMENT)
"""A byte that begins no character becomes this."""

ASCII = 0x80


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text, normalized.

    text: its normalization. ends: for each number of bytes of ``text``, how many bytes of the
    input they come from, or INSIDE where they end inside what one prefix became. owed: what comes
    next in ``text`` if the input goes on with anything but white space. rest: the bytes at the
    input's end that are not settled, and have no part in ``text`` and ``owed``.
    """

    text: bytes
    ends: list[int]
    owed: bytes = b""
    rest: bytes = b""


@dataclass(frozen=True, slots=True)
class Run:
    """How far the prefixes of an input are taken.

    out, ends: as in ``Aligned``, with the spaces at the end. place: what is taken of the input.
    spaced: whether a space at this place is removed. begun: whether something was put out.
    """

    out: bytearray
    ends: list[int]
    place: int
    spaced: bool
    begun: bool


ANYTHING = Anything()


class Aligner:
    """The normalizer of a vocabulary. Raises Unsupported for what no prefix of a text settles."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        spec = vocabulary.normalizer
        if spec.form is not None:
            raise Unsupported(f"forced tokens of {vocabulary.id}: a Unicode normalization form")
        if spec.treat_whitespace_as_suffix:
            raise Unsupported(f"forced tokens of {vocabulary.id}: white space as suffix")
        self._rules = make_rules(vocabulary)
        self._begun = self._rules.begun.tobytes()
        self._settled = b"", Run(bytearray(), [0], 0, spaced=False, begun=False)
        # Those that stay as they are: others pass as spaces, which may be left out.
        kinds = self._rules.passes[:ASCII]
        passing = bytes(np.flatnonzero((kinds & (PASSES | BLANK)) == PASSES).tolist())
        runs = b"[" + re.escape(passing) + rb"]+(?=[\x00-\x7f])" if passing else b"(?!)"
        self._passing = re.compile(runs)
        self._units: list[int] = self._rules.units.view(np.uint32).tolist()
        self._replacements = self._rules.replacements.tobytes()
        self._symbols = sorted(
            piece.text.encode() for piece in vocabulary.pieces if piece.type.name == "USER_DEFINED"
        )
        self._longest = max(map(len, self._symbols), default=0)
        self._tidy = spec.remove_extra_whitespaces
        self._space = SPACE_SYMBOL if spec.escape_whitespaces else b" "
        self._dummy = spec.add_dummy_prefix
        self._plain = not (spec.charsmap or self._tidy)
        self._single = [self._prefix(bytes((byte,)), 0) for byte in range(ASCII)]
        self.ascii = [text.replace(b" ", self._space) for _, text, _ in self._single]
        """The text that each byte of ASCII becomes where no longer rule or symbol begins with
        it."""
        self.becoming: dict[int, list[tuple[bytes, bytes]]] = {}
        """The bytes of ASCII but the space, and what each becomes there, by the first byte of
        that."""
        for byte, becomes in enumerate(self.ascii):
            if byte != 0x20 and becomes:
                self.becoming.setdefault(becomes[0], []).append((bytes((byte,)), becomes))
        self._seconds = [self._after_first(byte) for byte in range(ASCII)]

    def closed(self, data: bytes, *, start: bool = True) -> Aligned:
        """The whole input, or all of it from where ``start`` is false: see :meth:`opened`."""
        run = self._run(data, None, start=start)
        size = self._trimmed(run.out)
        return Aligned(bytes(run.out[:size]), run.ends[: size + 1])

    def inner(self, data: bytes) -> Aligned:
        """Bytes from inside an input, after something that is no space."""
        run = self._run(data, None, start=False)
        return Aligned(bytes(run.out), run.ends)

    def opened(self, data: bytes, state: GrammarState, *, start: bool = True) -> Aligned:
        """What is settled of an input that goes on. state: of the grammar after ``data``.

        start: whether ``data`` is its beginning, or comes after something that is no space.
        """
        return self._aligned(data, self._run(data, state, start=start))

    def _aligned(self, data: bytes, run: Run) -> Aligned:
        out = run.out
        size = self._trimmed(out)
        return Aligned(
            bytes(out[:size]), run.ends[: size + 1], bytes(out[size:]), data[run.place :]
        )

    def settled(self, data: bytes) -> Aligned:
        """What is settled of an input whatever follows.

        It is kept, so that inputs that go on from ``data`` are not normalized from their beginning.
        """
        run = self._run(data, ANYTHING, start=True)
        # A symbol with a space in it is taken as one, if only all of it is there.
        if not (self._plain and any(b" " in symbol for symbol in self._symbols)):
            self._settled = data, run
        return self._aligned(data, run)

    def odd(self, state: GrammarState) -> bool:
        """Whether something may come next of which :attr:`ascii` does not tell what it becomes."""
        if self._plain:
            return False
        for byte in state.next_bytes():
            if byte >= ASCII or not self.ascii[byte]:
                return True
            if any(state.viable(bytes((byte, second))) for second in self._seconds[byte]):
                return True
        return False

    def symbol(self, rest: bytes) -> bytes:
        """The longest user-defined symbol with which bytes that are not settled begin; or nothing.

        It is put out, or a longer one that begins with it, as symbols come before rules. One with a
        space is none here, since that becomes something else.
        """
        found = (one for one in self._symbols if rest.startswith(one) and b" " not in one)
        return max(found, key=len, default=b"")

    @property
    def tidy(self) -> bool:
        """Whether doubled spaces, and those at either end, are removed."""
        return self._tidy

    @property
    def plain(self) -> bool:
        """Whether all characters but the space stand for themselves."""
        return self._plain

    @property
    def space(self) -> bytes:
        """What a space becomes."""
        return self._space

    def _after_first(self, first: int) -> list[int]:
        """The second bytes of what is taken as one prefix and begins with ``first``."""
        found = {symbol[1] for symbol in self._symbols if len(symbol) > 1 and symbol[0] == first}
        if self._units and first:
            node = self._child(offset(self._units[0]), first)
            if node is not None:
                found.update(b for b in range(1, 256) if self._child(node[0], b) is not None)
        return sorted(found)

    def _child(self, node: int, byte: int) -> tuple[int, bool] | None:
        """The node of the charsmap below another, and whether a rule ends there."""
        unit = self._units[node ^ byte]
        if not byte or unit & LABEL != byte:
            return None
        return node ^ byte ^ int(offset(unit)), bool(unit & LEAF)

    def _goes_on(self, data: bytes, place: int, state: GrammarState) -> bool:
        """Whether a longer prefix than the input has may come to begin at a place."""
        if self._plain:
            return False
        if place + 1 < len(data) and not self._begun[data[place] << 8 | data[place + 1]]:
            return False
        return (
            len(data) - place < self._longest and self._symbol_goes_on(data[place:], state)
        ) or self._rule_goes_on(data, place, state)

    def _symbol_goes_on(self, begun: bytes, state: GrammarState) -> bool:
        at = bisect_right(self._symbols, begun)
        while at < len(self._symbols) and self._symbols[at].startswith(begun):
            if state.viable(self._symbols[at][len(begun) :]):
                return True
            at += 1
        return False

    def _rule_goes_on(self, data: bytes, place: int, state: GrammarState) -> bool:
        if not self._units:
            return False
        node = offset(self._units[0])
        for at in range(place, len(data)):
            below = self._child(node, data[at])
            if below is None:
                return False
            node = below[0]
        return self._rule_below(node, state)

    def _rule_below(self, node: int, state: GrammarState) -> bool:
        for byte in state.next_bytes():
            below = self._child(node, byte)
            if below is not None and (
                below[1] or self._rule_below(below[0], state.after(bytes((byte,))))
            ):
                return True
        return False

    def _trimmed(self, out: bytearray) -> int:
        """The size without the spaces at the end, where they are removed."""
        size = len(out)
        while self._tidy and size and out.endswith(self._space, 0, size):
            size -= len(self._space)
        return size

    def _run(self, data: bytes, state: GrammarState | None, *, start: bool) -> Run:
        """Take prefixes, up to the first that ``state`` may make longer."""
        before, known = self._settled
        if start and before and data.startswith(before):
            run = Run(known.out.copy(), known.ends.copy(), known.place, known.spaced, known.begun)
        else:
            run = Run(bytearray(), [0], 0, self._tidy and start, not start)
        out, ends, place = run.out, run.ends, run.place
        after_space, begun = run.spaced, run.begun
        whole = len(data) if state is None else whole_characters(data)

        def put(text: bytes, end: int) -> None:
            out.extend(text)
            ends.extend([INSIDE] * (len(text) - 1))
            ends.append(end)

        while place < len(data):
            if state is not None and (place >= whole or self._goes_on(data, place, state)):
                break
            taken, text, verbatim = self._take(data, place)
            place += taken
            if after_space:
                kept = text.lstrip(b" ")
                verbatim = verbatim and kept == text
                text = kept
            if not begun and (text or not self._tidy):
                begun = True
                if self._dummy:
                    put(self._space, 0)
            if not text:
                continue
            after_space = self._tidy and text.endswith(b" ")
            if verbatim and b" " not in text:
                out += text
                ends.extend(range(place - taken + 1, place + 1))
            else:
                put(text.replace(b" ", self._space), place)
        return Run(out, ends, place, after_space, begun)

    def _take(self, data: bytes, place: int) -> tuple[int, bytes, bool]:
        """A prefix: its bytes, what becomes of it, and whether that is itself.

        Or many prefixes at once, if all of them are themselves, whatever follows.
        """
        passing = self._passing.match(data, place)
        if passing is not None:
            return passing.end() - place, passing[0], True
        first = data[place]
        if first < ASCII:
            if place + 1 == len(data):
                return self._single[first]
            if not self._begun[first << 8 | data[place + 1]]:
                return 1, data[place : place + 1], True
        return self._prefix(data, place)

    def _prefix(self, data: bytes, place: int) -> tuple[int, bytes, bool]:
        """One prefix, as :meth:`_take` gives it."""
        raw = np.frombuffer(data, dtype=np.uint8)
        rules = self._rules
        taken, kind, at = prefix(rules.units, rules.symbols, raw, place, len(data), False)
        if kind == MALFORMED:
            return taken, REPLACED_BYTE, False
        if kind == REPLACED:
            return taken, self._replacements[at : self._replacements.index(0, at)], False
        return taken, data[place : place + taken], True


class Continuations:
    """How a normalized text may go on, under a grammar: what may be, or maybe may.

    state: of the grammar after the input.
    """

    def __init__(self, aligner: Aligner, aligned: Aligned, state: GrammarState) -> None:
        self._aligner = aligner
        self._owed = aligned.owed
        self._skipped = len(aligned.rest)
        self._state = Within(aligned.rest, state) if aligned.rest else state
        self._odd: dict[bytes, bool] = {}
        self._found: dict[bytes, tuple[bool, bytes | None]] = {}

    def viable(self, extension: bytes) -> bool:
        """Whether the text may go on with these bytes; true where it is not known."""
        return self._look(extension)[0]

    def input(self, extension: bytes) -> bytes | None:
        """Bytes with which the input goes on so that the text does; None where none are known."""
        found = self._look(extension)[1]
        return None if found is None else found[self._skipped :]

    def _look(self, extension: bytes) -> tuple[bool, bytes | None]:
        if extension not in self._found:
            self._found[extension] = self._search(extension)
        return self._found[extension]

    def _search(self, extension: bytes) -> tuple[bool, bytes | None]:
        owed = self._owed
        if not extension.startswith(owed):
            # Spaces become something only when something follows them.
            return owed.startswith(extension) and bool(self._state.next_bytes()), None
        for found in self._inputs(b"", extension[len(owed) :], bool(owed)):
            return True, found
        return False, None

    def _inputs(self, before: bytes, left: bytes, spaced: bool) -> Iterator[bytes | None]:
        """Inputs that go on with ``before`` and become ``left``; None for those not known.

        spaced: whether a space came before, so that another one may be removed.
        """
        if not left:
            yield before
            return
        for step, size in self._steps(left):
            if self._state.viable(before + step):
                yield from self._inputs(before + step, left[size:], step == b" ")
        if self._is_odd(before) or REPLACED_BYTE.startswith(left[:3]):
            yield None
        elif spaced and self._aligner.tidy:
            blank = (
                bytes((byte,))
                for byte, text in enumerate(self._aligner.ascii)
                if text == self._aligner.space
            )
            if any(self._state.viable(before + one) for one in blank):
                yield None

    def _steps(self, left: bytes) -> Iterator[tuple[bytes, int]]:
        """Characters that become the beginning of ``left``, and how much of it."""
        aligner = self._aligner
        if aligner.space.startswith(left[: len(aligner.space)]):
            yield b" ", len(aligner.space)
        if not aligner.plain:
            for byte, text in aligner.becoming.get(left[0], ()):
                if text.startswith(left[: len(text)]):
                    yield byte, len(text)
            if left[0] < ASCII:
                return
        yield left[: _character(left)], _character(left)

    def _is_odd(self, before: bytes) -> bool:
        if before not in self._odd:
            state = self._state
            self._odd[before] = not self._aligner.plain and self._aligner.odd(
                state.after(before) if before else state
            )
        return self._odd[before]


def _character(data: bytes) -> int:
    """Bytes of the first character."""
    lead = data[0]
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
