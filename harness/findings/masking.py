"""What a known minimal input explains of a violation, and what is left to explain.

It explains the violation if the difference goes when it is taken out of the input, or when neutral
text stands in its place; or if the encodings differ within it and nowhere else. Whatever differs
elsewhere is another violation.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.outcomes import Encoded
from harness.findings.asking import witnesses
from harness.findings.confirming import TIMED_OUT
from harness.findings.diagnosis import BYTES, categories, known, signature
from harness.findings.looks import places
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.findings.asking import Examine
    from harness.findings.entries import Entry

    Known = Mapping[bytes, str]
    """The minimal inputs of what is known of one signature, each with its bucket."""

    Alike = Callable[[Violation], bool]

Ids = tuple[tuple[int, ...], tuple[int, ...]]

NEUTRAL = (b"", b"a", b" ")
"""What is put in place of what is known; nothing comes first. To cut alone may join two parts of a
text that mean something together."""


def unexplained(
    examine: Examine, entry: Entry, known: Known, narrow: Callable[[str, Contract, bytes], bool]
) -> str | Violation:
    """The bucket of a known finding that explains a violation, else what is left to explain.

    narrow: whether a finding, by its bucket and input, is expected and nothing else of its kind is.
    Raises Stopped and OutOfTime.
    """
    data = entry.violation.data
    inside = parts_of(data, known)
    if inside:
        rest = None if data in inside or within(entry, inside) else left(examine, entry, inside)
        if rest is None:
            return inside.get(data) or next(iter(inside.values()))
        entry = replace(entry, violation=rest)
    ill = ill_formed(known)
    well_formed = cleaned(entry.violation.data)
    if ill and well_formed != entry.violation.data:
        rest = in_place(examine, entry, [well_formed])
        if rest is not None:
            return rest
        for minimal, name in ill.items():
            if not narrow(name, entry.contract, minimal):
                return name
        if like(examine, entry, ill)(entry.violation):
            return next(iter(ill.values()))
    return entry.violation


def questions(entry: Entry, known: Known) -> list[bytes]:
    """The inputs that :func:`unexplained` asks about first, as far as can be told beforehand."""
    data = entry.violation.data
    inside = parts_of(data, known)
    if data in inside:
        return []
    if inside:
        asked = without(data, inside)
    else:
        asked = [cleaned(data)] if ill_formed(known) and cleaned(data) != data else []
    return [one for one in asked if entry.contract.vocabulary.can_encode(one)]


def parts_of(data: bytes, known: Known) -> dict[bytes, str]:
    """The known minimal inputs that are in an input, each with its bucket."""
    return {one: name for one, name in known.items() if one == data or (one and one in data)}


def ill_formed(known: Known) -> dict[bytes, str]:
    """The known minimal inputs that are no text, with their buckets.

    Nearly all input of some generators is ill-formed, each in a way of its own.
    """
    return {one: name for one, name in known.items() if categories(one) == BYTES}


def cleaned(data: bytes) -> bytes:
    """An input without what is no text."""
    return data.decode(errors="ignore").encode()


def without(data: bytes, parts: Collection[bytes]) -> list[bytes]:
    """An input from which these parts are taken out, once for each neutral text in their place."""
    any_of = b"|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return [re.sub(any_of, neutral, data) for neutral in NEUTRAL]


def within(entry: Entry, parts: Collection[bytes]) -> bool:
    """Whether all encodings of an input differ from the first within these parts of it alone.

    Each place is within one of them: what differs in two of them joined is something else.
    """
    violation, vocabulary = entry.violation, entry.contract.vocabulary
    data = violation.data
    if violation.check != "equivalence":
        return False
    for part in violation.parts:
        ids = list(part.outcome.ids) if isinstance(part.outcome, Encoded) else [-1]
        if not known(vocabulary, *ids) or vocabulary.spell(ids) != data:
            return False  # where the tokens stand in the input is not known
    spans = [
        (found.start(), found.start() + len(part))
        for part in parts
        for found in re.finditer(b"(?=%b)" % re.escape(part), data)
    ]
    return all(
        any(
            start <= place.start and place.start + len(vocabulary.spell(list(place.one))) <= end
            for start, end in spans
        )
        for other in range(1, len(violation.parts))
        for place in places(violation, entry.contract, other)
    )


def left(examine: Examine, entry: Entry, parts: Collection[bytes]) -> Violation | None:
    """What is still wrong with an input from which these parts of it are taken out, if anything.

    The violation itself where that cannot be told. Raises Stopped and OutOfTime.
    """
    violation = entry.violation
    if violation.check == "determinism" or violation.stage == TIMED_OUT:
        return None  # it does not depend on the input, or costs too much to be asked
    rests = without(violation.data, parts)
    if rests[0]:
        return in_place(examine, entry, rests)
    alike = of_a_part(examine, entry, parts)
    return None if alike is None or alike(violation) else violation


def in_place(examine: Examine, entry: Entry, rests: Sequence[bytes]) -> Violation | None:
    """What is wrong with all of these inputs, asked in place of another one, if anything is.

    It is what witnesses show of the first of them (who else is wrong there shows when it is asked
    again), or the violation itself where that cannot be told.
    Raises Stopped and OutOfTime.
    """
    contract, violation = entry.contract, entry.violation
    culprits = set(violation.culprits)
    asked = [rest for rest in dict.fromkeys(rests) if contract.vocabulary.can_encode(rest)]
    if not asked:
        return violation
    judged = examine(witnesses(violation, contract), asked)
    wrong = [one for one in judged.violations if culprits & set(one.culprits)]
    answered = all(judged.exercised[name] >= len(asked) for name in culprits)
    if answered and len({one.data for one in wrong}) < len(asked):
        return None
    first = [one for one in wrong if one.data == rests[0]]
    first.sort(key=lambda one: signature(one, contract) != entry.signature)
    return first[0] if first else violation


def of_a_part(examine: Examine, entry: Entry, parts: Collection[bytes]) -> Alike | None:
    """Whether a violation differs as these parts of an input do; None: it does not repeat any.

    A part again and again may be another token, and another mistake. Raises Stopped and OutOfTime.
    """
    data = entry.violation.data
    again = [part for part in parts if part and part * (len(data) // len(part)) == data]
    if not again or data in again or not differences(entry.violation, entry.contract):
        return None
    return like(examine, entry, again)


def known_of_a_part(examine: Examine, entry: Entry, parts: Collection[bytes]) -> Alike:
    """Whether a violation is what is known of a part that an input, wrong otherwise, repeats.

    It is no smaller case of what is wrong with the input. Raises Stopped.
    """
    alike = None
    with contextlib.suppress(OutOfTime):  # which ends minimising, too
        alike = of_a_part(examine, entry, parts)
    return alike if alike is not None and not alike(entry.violation) else lambda one: False


def like(examine: Examine, entry: Entry, inputs: Collection[bytes]) -> Alike:
    """Whether a violation differs in no other tokens than these inputs do, and in the same way.

    So it is with inputs that a known mistake shows on in another place, or without any input: what
    of an input is wrong is the same, and only what stands beside it is another. A text that is
    changed as often as it is repeated is changed in the same way. Raises Stopped and OutOfTime.
    """
    contract = entry.contract
    spell = contract.vocabulary.spell
    own = differences(entry.violation, contract)
    shown = examine(contract, sorted(inputs)).violations if own else []
    same = [one for one in shown if signature(one, contract) == entry.signature]
    shared = frozenset[Ids]().union(*(differences(one, contract) for one in same))
    spelled = [(spell(list(one)), spell(list(other))) for one, other in shared]
    changed = [(one, other) for one, other in spelled if one != other]

    def repeated(place: Ids) -> bool:
        one, other = (spell(list(ids)) for ids in place)
        times = [(a, b, (len(one) + len(other)) // len(a + b)) for a, b in changed]
        return any((a * n, b * n) == (one, other) for a, b, n in times)

    def alike(violation: Violation) -> bool:
        mine = differences(violation, contract)
        return bool(mine) and all(place in shared or repeated(place) for place in mine)

    return alike


def differences(violation: Violation, contract: Contract) -> frozenset[Ids]:
    """The tokens in which a violation's first two encodings differ, place by place."""
    return frozenset((place.one, place.other) for place in places(violation, contract))
