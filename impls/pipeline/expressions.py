r"""Regular expressions that Oniguruma and the `regex` package read alike.

A file's expressions are for Oniguruma. Of its syntax only that is taken here which means the same
to both, so that no difference of engines passes for one of tokenizers: literals, classes, ``\s``,
``\d``, ``\w``, ``\p{..}`` of general categories, alternatives, look-ahead, look-behind for a single
character, English contractions without case, and greedy or lazy repetition of single characters.
The expressions that are known by name are taken whatever is in them.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import regex

from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS
from impls.interface import Unsupported
from impls.pipeline.errors import Undefined
from impls.pretokenize.unicode_version import as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Callable

_ESCAPE = (
    r"\\(?:[sSdDwWnrt]|[pP]\{(?:L|N|P|S|M|Z|C|Lu|Ll|Lt|Lm|Lo|Mn|Nd|Han)\}|u[0-9A-Fa-f]{4}"
    r"|[^\sA-Za-z0-9<>`'])"
)
_CLASS = rf"\[\^?(?:{_ESCAPE}|(?!&&|--|\|\||~~)[^\[\]\\^])+\]"
_ATOM = rf"(?:{_ESCAPE}|{_CLASS}|[^\\\[\](){{}}|*+?^$])"
_COUNT = r"\{\d{1,3}(?:,\d{0,3})?\}"
_REPETITION = rf"(?:[*+?]\??(?![*+?{{])|{_COUNT}(?![*+?{{]))"
_PART = re.compile(rf"(?:{_ATOM}{_REPETITION}?|\|)")
_OPENING = re.compile(r"\((?:\?[:=!])?")
_WHOLE = re.compile(rf"\(\?<[=!]{_ATOM}\)|\(\?i:'s\|'t\|'re\|'ve\|'m\|'ll\|'d\)\??(?![*+?{{])")
"""Groups that are taken as they are."""
_KINDS = re.compile(r"\\\\|\\([sSdDwWpP])")
_AFTER_GROUP = re.compile(r"[*+?{]")


def _alike(pattern: str) -> bool:
    at = depth = 0
    while at < len(pattern):
        whole = _WHOLE.match(pattern, at)
        if whole is not None:
            at = whole.end()
            if _complements(whole.group()) or _AFTER_GROUP.match(pattern, at):
                return False
            continue
        opening = _OPENING.match(pattern, at)
        if opening is not None:
            depth, at = depth + 1, opening.end()
            if pattern.startswith("?", at):
                return False
        elif pattern[at] == ")":
            depth, at = depth - 1, at + 1
            if depth < 0 or _AFTER_GROUP.match(pattern, at):
                return False
        else:
            part = _PART.match(pattern, at)
            if part is None or (pattern[at] == "[" and _complements(part.group())):
                return False
            at = part.end()
    return depth == 0


def _complements(group: str) -> bool:
    r"""Whether a class has a kind of characters and all that are not of some kind.

    The `regex` package finds ``[^\s\S]`` in any text.
    """
    kinds = [found for found in _KINDS.findall(group) if found]
    return len(kinds) > 1 and any(kind.isupper() for kind in kinds)


_WORD = re.compile(r"\\[wW]")
_WORDS_TO_ONE = frozenset("²³¹¼½¾\u200c\u200d")
"""To one engine alone these are characters of words."""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> regex.Pattern[str]:
    """An expression that both engines read alike. Raises Undefined for any other."""
    known = {plain_spelling(one): one for steps in PATTERNS.values() for one in steps}
    spelled = known.get(plain_spelling(pattern))
    if spelled is None and not _alike(pattern):
        raise Undefined("a regular expression that engines may read in two ways")
    try:
        return regex.compile(spelled or pattern)
    except (regex.error, ValueError, OverflowError, RecursionError):
        raise Undefined("an expression that is none to the `regex` package") from None


def matches(pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Where the matches are. Unsupported where one is of no characters."""
    if _WORD.search(pattern.pattern) and not _WORDS_TO_ONE.isdisjoint(text):
        raise Unsupported("engines disagree on which characters of this text words have")
    found = [match.span() for match in pattern.finditer(as_of_unicode_16(text))]
    if any(start == end for start, end in found):
        raise Unsupported("the expression matches nothing at all somewhere in this text")
    return found


def occurrences(needle: str, text: str) -> list[tuple[int, int]]:
    """Where a text occurs, from the left, without overlaps."""
    return [match.span() for match in re.finditer(re.escape(needle), text)]


def spans_of(step: dict[str, Any]) -> Callable[[str], list[tuple[int, int]]]:
    """Where a step finds its pattern: a text or an expression. Raises Undefined without one."""
    pattern = step.get("pattern") or {}
    needle, expression = pattern.get("String"), pattern.get("Regex")
    if needle:
        return partial(occurrences, needle)
    if not expression:
        raise Undefined(f"a {step['type']} without its pattern")
    return partial(matches, compiled(expression))
