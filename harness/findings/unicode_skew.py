"""Whether two implementations differ by their versions of Unicode alone, and by which.

An engine classes and normalizes characters by tables of some version. What came later is unassigned
to it: no letter, no mark, no digit, and without a normal form. So whoever follows version v treats
all characters like the one at fault, in the same place, in one way if they are of v or older, and
in another way if they are newer. That is asked: the input again with characters of each version in
place of the one at fault. Two that differ only in where the older ones end follow two versions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import regex

from corpora.vocabularies.unicode_ages import FIRST, RECLASSED, ages, assigned, oldest
from harness.checks.base import Violation, spellings
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Inputs, Outcome
from harness.workers.pool import OutOfTime, WorkerPool

FOLLOWS = "follows Unicode "
"""This is in what is told."""

LONGEST = 64
"""Characters of an input that is asked about: what is minimal is shorter."""

EACH = 3
"""Characters of a version that stand for all of them that are alike: of several planes."""

ENOUGH = 4
"""Versions of which it must be known how their characters are treated."""

KEPT = "kept"
"""Stands in a shape for a character that is in the text that the tokens spell."""

CLASSES = {"L": "letter", "M": "mark", "N": "number", "P": "punctuation", "S": "symbol"}
CATEGORIES = regex.findall("..", "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsCf")

HAN = regex.compile(r"\p{Han}")

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFKC", "NFKD", "NFC", "NFD")

ALIKE: tuple[Callable[[str], bool], ...] = (
    lambda one: True,
    str.isupper,
    *(lambda one, form=form: unicodedata.normalize(form, one) != one for form in FORMS),
)
"""Which characters of one category are treated alike: all of them, or those that have a small
letter, or a normal form. Python's own tables know these, of characters up to its version."""

Shape = frozenset[object]
"""What the ids of a text tell of how its characters are classed: after which of them a token ends,
or, where the tokens spell another text, the ids."""


def named(pool: WorkerPool, contract: Contract, violation: Violation) -> str:
    """The versions of Unicode by which the first two outcomes of a violation differ, in a sentence.

    Empty where they differ in something else, or nobody can tell, or there is no time to ask.
    Raises Stopped.
    """
    text = violation.data.decode(errors="ignore")
    dated = [one for one in text if one in ages()]
    if violation.check != "equivalence" or not dated or not 0 < len(text) <= LONGEST:
        return ""
    versions = [FIRST, *assigned()]
    newest = max(dated, key=lambda one: versions.index(ages()[one]))
    sides = [
        next((name for name in part.names if at == 0 or name in violation.culprits), "")
        for at, part in enumerate(violation.parts[:2])
    ]
    if len(sides) < 2 or not all(sides):
        return ""
    sort = category(newest), place_of(newest)
    kinds = [
        {one: v for v in versions for one in like(*sort, v, alike)} | {newest: ages()[newest]}
        for alike in ALIKE
    ]
    inputs = {one: text.replace(newest, one).encode() for those in kinds for one in those}
    if not all(map(contract.vocabulary.can_encode, inputs.values())):
        return ""
    try:
        asked = pool.again(contract.among({*sides}), Inputs.of([*inputs.values()])).results
    except OutOfTime:
        return ""
    shapes = [
        {
            one: shape(contract, inputs[one].decode(), one, answer)
            for one, answer in zip(inputs, asked[name], strict=True)
        }
        for name in sides
    ]
    here = [both[newest] for both in shapes]
    if None in here or here[0] == here[1]:
        return ""
    differ = (here[0] or frozenset()) ^ (here[1] or frozenset())
    changed = KEPT in differ
    differ = frozenset({KEPT}) if changed else differ
    for those in kinds if changed else kinds[:1]:
        ways = [ways_of(those, both, differ) for both in shapes]
        limits = [known(versions, told, ways[0].get(FIRST, set())) for told in ways]
        if all(limits):
            kind = CLASSES.get(category(newest)[0], "character")
            does = "is normalized" if changed else f"is classed as a {kind}"
            since = f"U+{ord(newest):04X} {does} since {ages()[newest]}"
            # Where one of them is blamed, a headline begins with its name.
            who = f"{sides[1]} " if violation.undecided else ""
            return f"{who}{FOLLOWS}{limits[1]}, {sides[0]} {limits[0]}: {since}"
    return ""


@lru_cache(maxsize=1024)  # the sorts of characters at fault in a run, by version
def like(
    now: str, place: tuple[bool, bool], version: str, alike: Callable[[str], bool]
) -> Sequence[str]:
    """Some characters that a version has first, and that are treated like a character in one way.

    now, place: its category and :func:`place_of`.
    """
    those = oldest() if version == FIRST else assigned()[version]
    if alike in ALIKE[:2]:  # else of whatever category
        former = unicodedata.ucd_3_2_0.category
        those = "".join(
            one
            for one in regex.findall(rf"\p{{{now}}}", those)
            if one not in RECLASSED
            and (version != FIRST or former(one) == now)
            and place_of(one) == place
        )
    some = [*filter(alike, those)]
    return some[:: max(1, (len(some) - 1) // (EACH - 1))][:EACH]


def category(character: str) -> str:
    """The general category of a character in the newest version that is known."""
    return next((one for one in CATEGORIES if regex.match(rf"\p{{{one}}}", character)), "Cn")


def place_of(character: str) -> tuple[bool, bool]:
    """Whether it is in the range that some patterns take for Chinese, and whether it is one of
    the ideographs, which patterns tell apart by themselves."""
    return "\u0800" <= character <= "\u4e00", bool(HAN.match(character))


def shape(contract: Contract, text: str, character: str, outcome: Outcome) -> Shape | None:
    """The shape of an answer; None of what is none. character: is left out of it."""
    if not isinstance(outcome, Encoded):
        return None
    parts = spellings(contract.vocabulary, outcome.ids)
    if parts is None:
        return None
    spelled, ends, at = b"".join(parts), set[int](), 0
    if spelled == text.encode():
        for part in parts:
            at += len(part)
            ends.add(at)
        places = [len(text[:i].encode()) for i in range(len(text) + 1)]
        return frozenset({KEPT, *(i for i, place in enumerate(places) if place in ends)})
    unknown, own = contract.vocabulary.unk_id, character.encode()
    ids = [
        None if one == unknown or own in part else one
        for one, part in zip(outcome.ids, parts, strict=True)
    ]
    return frozenset({*enumerate(ids), *([KEPT] if own in spelled else [])})


def ways_of(
    probes: Mapping[str, str], shapes: Mapping[str, Shape | None], differ: Shape
) -> dict[str, set[Shape]]:
    """How characters of each version are treated, where two differ on one of them."""
    told: dict[str, set[Shape]] = {}
    for probe, version in probes.items():
        if (outline := shapes[probe]) is not None:
            told.setdefault(version, set()).add(outline & differ)
    return told


def known(versions: Sequence[str], told: Mapping[str, set[Shape]], knows: set[Shape]) -> str:
    """The version that somebody follows: ``15.0 to 15.1`` where it may be either one, as some have
    no character like the one at fault.

    knows: how it treats characters that it knows. Empty where it treats characters of one version
    in several ways, or newer ones as older ones; or where too little is known.
    """
    said = [one for one in versions if one in told]
    old = [one for one in said if told[one] == knows]
    if len(knows) != 1 or any(len(told[one]) != 1 for one in said) or said[: len(old)] != old:
        return ""
    if not old or len(said) < ENOUGH:
        return ""
    last = versions.index(old[-1])
    if old == said:
        return versions[last] + (" or later" if last + 1 < len(versions) else "")
    end = versions.index(said[len(old)]) - 1
    return versions[last] + (f" to {versions[end]}" if end > last else "")
