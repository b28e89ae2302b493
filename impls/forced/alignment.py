"""SentencePiece's normalizer on a text that goes on: what is settled, and where it comes from.

The normalizer takes prefixes of the text, each by the longest user-defined symbol or rule of the
charsmap that begins there, so that a prefix is settled once nothing longer can begin there. White
space at the end is settled by what follows: at the end of a text it goes, where the vocabulary
removes spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from impls.forced.futures import INSIDE
from impls.forced.spellings import Spellings, whole_characters
from impls.forced.states import Within
from impls.interface import Unsupported
from impls.unigram.charsmap import LABEL, LEAF, offset
from impls.unigram.normalizer import (
    MALFORMED,
    REPLACED,
    REPLACEMENT,
    make_rules,
    prefix,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.interface import GrammarState

SPACE_SYMBOL = "\u2581".encode()

REPLACED_BYTE = bytes(REPLACEMENT)
"""A byte that begins no character becomes this."""

ASCII = 0x80


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text, normalized.

    text: its normalization. owed: what comes next in ``text`` if the input goes on with anything
    but white space. ends: for each number of bytes of ``text`` and ``owed``, how many bytes of the
    input they come from, or INSIDE where they end inside what one prefix became. rest: the bytes at
    the input's end that are not settled, and have no part in ``text`` and ``owed``.
    """

    text: bytes
    ends: list[int]
    owed: bytes
    rest: bytes


class Aligner:
    """The normalizer of a vocabulary. Raises Unsupported for what no prefix of a text settles.

    plain: all characters but the space stand for themselves. tidy: doubled spaces, and those at
    either end, are removed. space: what a space becomes.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        spec = vocabulary.normalizer
        if spec.form is not None:
            raise Unsupported(f"forced tokens of {vocabulary.id}: a Unicode normalization form")
        if spec.treat_whitespace_as_suffix:
            raise Unsupported(f"forced tokens of {vocabulary.id}: white space as suffix")
        self._rules = make_rules(vocabulary)
        self._begun = self._rules.begun.tobytes()
        self._units: list[int] = self._rules.units.view(np.uint32).tolist()
        self._replacements = self._rules.replacements.tobytes()
        # Those with which no rule or symbol begins, but for the space, which may be left out.
        met = self._rules.begun.reshape(256, 256)[:ASCII, :ASCII].any(axis=1)
        passing = bytes(np.flatnonzero(~met).tolist()).replace(b" ", b"")
        runs = b"[" + re.escape(passing) + rb"]+(?=[\x00-\x7f])" if passing else b"(?!)"
        self._passing = re.compile(runs)
        pieces = enumerate(vocabulary.pieces)
        self._symbols = Spellings(
            {piece.text.encode(): at for at, piece in pieces if piece.type.name == "USER_DEFINED"}
        )
        self.tidy = spec.remove_extra_whitespaces
        self.space = SPACE_SYMBOL if spec.escape_whitespaces else b" "
        self._dummy = spec.add_dummy_prefix
        self.plain = not (spec.charsmap or self.tidy)
        alone = [self._prefix(bytes((byte,)), 0)[1] for byte in range(ASCII)]
        self.ascii = [text.replace(b" ", self.space) for text in alone]
        """The text that each byte of ASCII becomes where no longer rule or symbol begins with
        it."""
        self.becoming: dict[int, list[tuple[bytes, bytes]]] = {}
        """The bytes of ASCII and what each becomes there, by the first byte of that."""
        for byte, text in enumerate(self.ascii):
            if text:
                self.becoming.setdefault(text[0], []).append((bytes((byte,)), text))

    def aligned(
        self, data: bytes, state: GrammarState | None = None, *, start: bool = True
    ) -> Aligned:
        """The whole input, or what is settled of one that goes on.

        state: of the grammar after ``data``, where the input goes on: prefixes are taken up to the
        first that it may make longer. start: whether ``data`` is the beginning of the input, or
        comes after something that is no space.
        """
        out, ends, place = bytearray(), [0], 0
        after_space, begun = self.tidy and start, not start
        whole = len(data) if state is None else whole_characters(data)
        while place < len(data):
            if state is not None and (place >= whole or self._goes_on(data, place, state)):
                break
            taken, text = self._prefix(data, place)
            place += taken
            if after_space:
                text = text.lstrip(b" ")
            if not begun and (text or not self.tidy):
                begun = True
                if self._dummy:
                    out += self.space
                    ends += [*[INSIDE] * (len(self.space) - 1), 0]
            if not text:
                continue
            after_space = self.tidy and text.endswith(b" ")
            became = text.replace(b" ", self.space)
            out += became
            if became == data[place - taken : place]:
                ends.extend(range(place - taken + 1, place + 1))
            else:
                ends += [*[INSIDE] * (len(became) - 1), place]
        size = len(out)
        while self.tidy and size and out.endswith(self.space, 0, size):
            size -= len(self.space)
        return Aligned(bytes(out[:size]), ends, bytes(out[size:]), data[place:])

    def _prefix(self, data: bytes, place: int) -> tuple[int, bytes]:
        """A prefix: its bytes, and what becomes of it.

        Or many prefixes at once, if all of them are themselves, whatever follows.
        """
        if passing := self._passing.match(data, place):
            return len(passing[0]), passing[0]
        rules, raw = self._rules, np.frombuffer(data, dtype=np.uint8)
        taken, kind, at = prefix(rules.units, rules.symbols, raw, place, len(data), False)
        if kind == MALFORMED:
            return taken, REPLACED_BYTE
        if kind == REPLACED:
            return taken, self._replacements[at : self._replacements.index(0, at)]
        return taken, data[place : place + taken]

    def _goes_on(self, data: bytes, place: int, state: GrammarState) -> bool:
        """Whether a longer prefix than the input has may come to begin at a place."""
        pair = data[place : place + 2]
        if self.plain or (len(pair) > 1 and not self._begun[pair[0] << 8 | pair[1]]):
            return False
        if any(self._symbols.extensions(data[place:], state.viable)):
            return True
        node = offset(self._units[0]) if self._units else -1
        for byte in data[place:]:
            node = self._child(node, byte)[0]
        return self._rule_below(node, state)

    def _child(self, node: int, byte: int) -> tuple[int, bool]:
        """The node of the charsmap below another, or -1, and whether a rule ends there."""
        if node < 0 or not byte or (unit := self._units[node ^ byte]) & LABEL != byte:
            return -1, False
        return node ^ byte ^ int(offset(unit)), bool(unit & LEAF)

    def _rule_below(self, node: int, state: GrammarState) -> bool:
        """Whether the grammar admits the rest of a rule."""
        for byte in state.next_bytes() if node >= 0 else ():
            below, ends = self._child(node, byte)
            if ends or (below >= 0 and self._rule_below(below, state.after(bytes((byte,))))):
                return True
        return False

    def odd(self, state: GrammarState) -> bool:
        """Whether something may come next of which :attr:`ascii` does not tell what it becomes."""
        following = [bytes((byte,)) for byte in state.next_bytes()]
        return not self.plain and (
            any(one[0] >= ASCII or not self.ascii[one[0]] for one in following)
            or any(self._goes_on(one, 0, state.after(one)) for one in following)
        )

    def symbol(self, rest: bytes) -> bytes:
        """The longest user-defined symbol with which bytes that are not settled begin; or nothing.

        It is put out, or a longer one that begins with it, as symbols come before rules. One with a
        space is none here, since that becomes something else.
        """
        beginnings = (rest[:size] for size in range(len(rest), 0, -1))
        return next((one for one in beginnings if one in self._symbols and b" " not in one), b"")


class Continuations:
    """How a normalized text may go on, under a grammar: what may be, or maybe may.

    state: of the grammar after the input.
    """

    def __init__(self, aligner: Aligner, aligned: Aligned, state: GrammarState) -> None:
        self._aligner, self._aligned = aligner, aligned
        self._state = Within(aligned.rest, state) if aligned.rest else state
        self._odd = cache(lambda before: aligner.odd(self._state.after(before)))
        self._look = cache(self._search)

    def viable(self, extension: bytes) -> bool:
        """Whether the text may go on with these bytes; true where it is not known."""
        return self._look(extension)[0]

    def input(self, extension: bytes) -> bytes | None:
        """Bytes with which the input goes on so that the text does; None where none are known."""
        found = self._look(extension)[1]
        return None if found is None else found[len(self._aligned.rest) :]

    def _search(self, extension: bytes) -> tuple[bool, bytes | None]:
        owed = self._aligned.owed
        if not extension.startswith(owed):
            # Spaces become something only when something follows them.
            return owed.startswith(extension) and bool(self._state.next_bytes()), None
        inputs = self._inputs(b"", extension[len(owed) :], bool(owed))
        return next(((True, found) for found in inputs), (False, None))

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
        aligner = self._aligner
        if (
            self._odd(before)
            or REPLACED_BYTE.startswith(left[:3])
            or (spaced and aligner.tidy and self._space_may_follow(before))
        ):
            yield None

    def _space_may_follow(self, before: bytes) -> bool:
        space = self._aligner.space
        known = self._aligner.becoming[space[0]]
        return any(text == space and self._state.viable(before + one) for one, text in known)

    def _steps(self, left: bytes) -> Iterator[tuple[bytes, int]]:
        """Characters that become the beginning of ``left``, and how much of it."""
        aligner = self._aligner
        if aligner.space.startswith(left[: len(aligner.space)]):
            yield b" ", len(aligner.space)
        if not aligner.plain:
            for one, text in aligner.becoming.get(left[0], ()):
                if one != b" " and text.startswith(left[: len(text)]):
                    yield one, len(text)
            if left[0] < ASCII:
                return
        size = next(n for n in (1, 2, 3, 4) if left[0] < (0xC0, 0xE0, 0xF0, 0x100)[n - 1])
        yield left[:size], size
