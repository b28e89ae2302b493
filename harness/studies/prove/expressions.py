r"""A pre-tokenizer's pattern as a program over classes of characters.

Python's own parser reads the pattern, after one letter was put in the place of each part that
stands for a single character (``\p{L}``, ``[^\s']``, ``x``). What such a part matches is asked of
the `regex` package, for all of Unicode. The program's steps are those of Pike's machine (Cox,
"Regular Expression Matching: the Virtual Machine Approach", 2009): a character, a choice in which
the first way is preferred, an assertion, and the match.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.unicode_ages import RECLASSED, ages
from impls.pretokenize.unicode_version import UNICODE_VERSION, all_code_points_as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

CHARACTER, CHOICE, ASSERTION, MATCH = range(4)
"""Kinds of steps."""

STEPS = 4000
"""Steps of a program, at most: a repetition of many times makes many."""

HOLDER = 0x100000
"""Letters of private use from here on stand for what matches a single character."""

_SINGLE = re.compile(
    r"\\[pP](?:\{[^{}]*\}|[A-Za-z])|\\[sSdDwWvVhH]|\\[^A-Za-z0-9]|\\[nrtfae]"
    r"|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\\[])*\]|\."
)
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([^{}]*)\}|([A-Za-z]))|\\([sSdDwW])")
_REPEAT = re.compile(r"\{(?:\d+,?\d*|,\d+)\}")


class Undecidable(ValueError):
    """A pattern has something that no proof covers; says what."""


@dataclass(frozen=True)
class Step:
    """A step of a program. first, second: the next steps, by preference; of an assertion the step
    after it, and the program that is to match here. part: what matches a character."""

    kind: int
    first: int = 0
    second: int = 0
    part: str = ""
    negative: bool = False


@dataclass
class Program:
    """The steps of one or several patterns, which share the parts."""

    steps: list[Step] = field(default_factory=list)
    parts: dict[str, None] = field(default_factory=dict)

    def add(self, step: Step) -> int:
        """The number of a new step."""
        if len(self.steps) >= STEPS:
            raise Undecidable(f"a pattern of more than {STEPS:,} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def character(self, part: str, after: int) -> int:
        """A step that matches a character, and goes on with another step."""
        self.parts.setdefault(part)
        return self.add(Step(CHARACTER, after, part=part))

    def choice(self, ways: Sequence[int]) -> int:
        """A step that prefers the first ways."""
        at = ways[-1]
        for way in reversed(ways[:-1]):
            at = self.add(Step(CHOICE, way, at))
        return at


ANY = r"[\s\S]"


def pieces(program: Program, pattern: str) -> int:
    """Compile what makes the first piece of a text, which is never empty: a match, or the gap
    before one. Returns the first step.

    A gap goes on as long as the pattern does not match. Raises Undecidable.
    """
    expression = _parsed(pattern)
    match = program.add(Step(MATCH))
    found = _Compiler(program, expression).sequence(expression.parsed, match, expression.flags)
    gap = program.add(Step(CHOICE))
    way = program.character(ANY, gap)
    looked = program.add(Step(ASSERTION, way, found, negative=True))
    program.steps[gap] = Step(CHOICE, looked, match)
    return program.choice([found, looked])


@dataclass(frozen=True)
class _Expression:
    parsed: Any
    flags: int
    parts: dict[int, str]


def _parsed(pattern: str) -> _Expression:
    spelled, parts = [], dict[int, str]()
    pattern = plain_spelling(pattern)
    at = 0
    while at < len(pattern):
        single = _SINGLE.match(pattern, at)
        if single is not None:
            letter = HOLDER + len(parts)
            parts[letter] = single.group()
            spelled.append(chr(letter))
            at = single.end()
            continue
        if pattern[at] == "[" or ord(pattern[at]) >= HOLDER:
            raise Undecidable(f"a class that it does not read, at {pattern[at : at + 20]!r}")
        if pattern[at] == "{" and not _REPEAT.match(pattern, at):
            raise Undecidable(f"a brace that is no repetition, at {pattern[at : at + 20]!r}")
        spelled.append(pattern[at])
        at += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parsed = _parser.parse("".join(spelled))
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as error:
        raise Undecidable(f"a pattern that Python's parser does not read ({error})") from None
    flags = parsed.state.flags
    if flags & ~(re.IGNORECASE | re.UNICODE):
        raise Undecidable("flags for the whole pattern")
    if parsed.getwidth()[0] == 0:
        raise Undecidable("a pattern that matches nothing at all somewhere")
    return _Expression(parsed, flags, parts)


class _Compiler:
    """Compiles parsed patterns from the end to the beginning: each node before its next step."""

    def __init__(self, program: Program, expression: _Expression) -> None:
        self._program, self._parts = program, expression.parts

    def sequence(self, nodes: Iterable[Any], after: int, flags: int) -> int:
        """The first step of nodes one after another."""
        for name, value in reversed([*nodes]):
            after = self._node(str(name), value, after, flags)
        return after

    def _node(self, name: str, value: Any, after: int, flags: int) -> int:
        program = self._program
        match name:
            case "LITERAL" | "IN":
                return program.character(self._part(name, value, flags), after)
            case "BRANCH":
                return program.choice([self.sequence(one, after, flags) for one in value[1]])
            case "SUBPATTERN":
                _, added, removed, nodes = value
                if (added | removed) & ~re.IGNORECASE:
                    raise Undecidable("flags within the pattern")
                return self.sequence(nodes, after, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(value, after, flags, lazy=name == "MIN_REPEAT")
            case "POSSESSIVE_REPEAT" | "ATOMIC_GROUP":
                return self._possessive(name, value, after, flags)
            case "ASSERT" | "ASSERT_NOT" if value[0] == 1:
                looked = self.sequence(value[1], program.add(Step(MATCH)), flags)
                return program.add(Step(ASSERTION, after, looked, negative=name == "ASSERT_NOT"))
            case "AT" if value in (_constants.AT_END, _constants.AT_END_STRING):
                return self._end(after, last_line=value is _constants.AT_END)
        known = {"GROUPREF": "a back-reference", "AT": "an anchor or a boundary of words",
                 "ASSERT": "look-behind", "ASSERT_NOT": "look-behind"}  # fmt: skip
        raise Undecidable(known.get(name, f"{name.lower()} in the pattern"))

    def _end(self, after: int, *, last_line: bool) -> int:
        """The end of the text, or a line end there."""
        program = self._program
        match = program.add(Step(MATCH))
        more = program.character(ANY, match)
        ended = program.add(Step(ASSERTION, match, more, negative=True))
        ways = program.choice([ended, program.character(r"\n", ended)]) if last_line else ended
        return program.add(Step(ASSERTION, after, ways))

    def _repeat(self, value: Any, after: int, flags: int, *, lazy: bool) -> int:
        least, most, body = value
        if body.getwidth()[0] == 0:
            raise Undecidable("a repetition of what may match nothing")
        program = self._program
        if most is _constants.MAXREPEAT:
            again = program.add(Step(CHOICE))
            once = self.sequence(body, again, flags)
            program.steps[again] = Step(CHOICE, *((after, once) if lazy else (once, after)))
            at = again
        else:
            at = after
            for _ in range(most - least):
                once = self.sequence(body, at, flags)
                at = program.choice([after, once] if lazy else [once, after])
        for _ in range(least):
            at = self.sequence(body, at, flags)
        return at

    def _possessive(self, name: str, value: Any, after: int, flags: int) -> int:
        """Of single characters: as many as there are, up to the most, with no way back."""
        nodes = value if name == "ATOMIC_GROUP" else [(_constants.MAX_REPEAT, value)]
        [*only] = nodes
        if len(only) != 1 or str(only[0][0]) != "MAX_REPEAT":
            raise Undecidable("an atomic group")
        least, most, body = only[0][1]
        [*inside] = body
        if len(inside) != 1 or str(inside[0][0]) not in ("LITERAL", "IN"):
            raise Undecidable("a possessive repetition of more than single characters")
        program = self._program
        part = self._part(str(inside[0][0]), inside[0][1], flags)
        more = program.character(part, program.add(Step(MATCH)))
        stop = program.add(Step(ASSERTION, after, more, negative=True))
        if most is _constants.MAXREPEAT:
            again = program.add(Step(CHOICE))
            program.steps[again] = Step(CHOICE, program.character(part, again), stop)
            at = again
        else:
            at = after
            for _ in range(most - least):
                at = program.choice([program.character(part, at), stop])
        for _ in range(least):
            at = program.character(part, at)
        return at

    def _part(self, name: str, value: Any, flags: int) -> str:
        """What matches a character, as the `regex` package reads it."""
        if name == "LITERAL":
            found = self._spelled(value)
        else:
            if any(str(kind) != "LITERAL" for kind, _ in value):
                raise Undecidable("a class that it does not read")
            found = f"(?:{'|'.join(self._spelled(one) for _, one in value)})"
        return f"(?i:{found})" if flags & re.IGNORECASE else found

    def _spelled(self, letter: int) -> str:
        return self._parts.get(letter) or regex.escape(chr(letter), special_only=False)


@dataclass(frozen=True)
class Alphabet:
    """The classes of characters that parts tell apart. members: the first character of each class,
    in ASCII if it can be. holds: by part, whether it matches the class.
    classes: the number of each class, by whether each part matches it. sets: of each part
    and each code point, whether it matches.
    """

    members: Sequence[str]
    holds: Mapping[str, Sequence[bool]]
    classes: Mapping[bytes, int]
    sets: NDArray[np.bool_]

    def of(self, codes: Iterable[int]) -> frozenset[int]:
        """The classes of these characters."""
        some = [code for code in codes if not 0xD800 <= code < 0xE000]
        rows = np.unique(self.sets[:, some], axis=1).T
        return frozenset(self.classes[row.tobytes()] for row in rows)


def alphabet(parts: Iterable[str]) -> Alphabet:
    """The classes of all scalar values."""
    names = [*parts]
    sets = np.array([_matched(part) for part in names])
    firsts = np.any(sets[:, 1:] != sets[:, :-1], axis=0).nonzero()[0] + 1
    ranges = {*range(0x80), *firsts.tolist(), 0xE000} - {*range(0xD800, 0xE000)}
    classes: dict[bytes, int] = {}
    for code in sorted(ranges, key=_oddity):
        classes.setdefault(sets[:, code].tobytes(), code)
    codes = [*classes.values()]
    holds = {part: row[codes].tolist() for part, row in zip(names, sets, strict=True)}
    numbers = {key: number for number, key in enumerate(classes)}
    return Alphabet([*map(chr, codes)], holds, numbers, sets)


def changed(letters: Alphabet, version: float) -> dict[bytes, list[int]]:
    """The characters that another version of Unicode classes as no character is by Unicode 16, by
    whether each part matches them. Characters are assigned in one version and not in the other."""
    newer = version > UNICODE_VERSION
    low, high = sorted((version, UNICODE_VERSION))
    some = "".join(
        one for one, since in ages().items()
        if low < float(since) <= high and (newer or one not in RECLASSED)
    )  # fmt: skip
    sets = np.array([_runs(part if newer else unassigned(part), some) for part in letters.holds])
    found: dict[bytes, list[int]] = {}
    for at, one in enumerate(some):
        if (key := sets[:, at].tobytes()) not in letters.classes:
            found.setdefault(key, []).append(ord(one))
    return found


def unassigned(part: str) -> str:
    r"""What matches the unassigned characters that a part does: each property is one that none of
    them has (U+10FFFF) or that all have, and other characters and ranges stay."""

    def known(match: re.Match[str]) -> str:
        sign, negated, name, letter, short = match.groups()
        has = (name or letter or "").lower() in ("c", "cn", "other", "unassigned", "any")
        turned = (short or sign).isupper() != bool(negated)
        return r"\p{Any}" if has != turned else chr(0x10FFFF)

    return _PROPERTY.sub(known, part)


def _oddity(code: int) -> tuple[bool, bool, int]:
    """Letters come first, then signs and digits, then controls, then all others."""
    return not 0x20 <= code < 0x7F, code < ord("a"), code


@lru_cache(maxsize=256)
def _matched(part: str) -> NDArray[np.bool_]:
    """Of each code point whether the part matches it."""
    found = _runs(part, all_code_points_as_of_unicode_16())
    # A range of a pattern has newer characters in it, but not what stands for them.
    newer = _newer()
    found[[*map(ord, newer)]] = _runs(unassigned(part), newer)
    return found


@lru_cache(maxsize=1)
def _newer() -> str:
    """The characters that are assigned since Unicode 16."""
    known = ages().items()
    return "".join(
        one for one, since in known if float(since) > UNICODE_VERSION and one not in RECLASSED
    )


def _runs(part: str, text: str) -> NDArray[np.bool_]:
    """Of each character of a text whether the part matches it."""
    found = np.zeros(len(text), dtype=np.bool_)
    for run in regex.finditer(f"(?:{part})++", text):
        found[slice(*run.span())] = True
    return found
