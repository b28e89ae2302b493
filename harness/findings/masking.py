"""What a known minimal input explains of a violation, and what is left to explain.

It explains the violation if the difference goes when it is taken out of the input, or when neutral
text stands in its place; or if the encodings differ within it and nowhere else. Whatever differs
elsewhere is another violation.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.checks.base import ids_of
from harness.core.outcomes import Encoded
from harness.findings import diagnosis
from harness.findings.confirming import TIMED_OUT
from harness.findings.diagnosis import BYTES, categories, signature
from harness.findings.looks import differences, regions
from harness.findings.witnesses import witnesses
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry, KnownInputs
    from harness.findings.looks import Ids, Region
    from harness.findings.together import Examines

NEUTRAL = (b"", b"a", b" ")
"""What is put in place of what is known; nothing comes first. To cut alone may join two parts of a
text that mean something together."""


def unexplained(
    pool: Examines,
    entry: Entry,
    known: KnownInputs,
    narrow: Callable[[str, Contract, bytes], bool],
) -> str | Violation:
    """The bucket of a known finding that explains a violation, else what is left to explain.

    narrow: whether a finding, by its bucket and input, is expected and nothing else of its kind is.
    Raises Stopped and OutOfTime.
    """
    violation, data = entry.violation, entry.violation.data
    inside = parts_of(data, known)
    if data in inside:
        return inside[data]
    if inside:
        if within(entry, inside):
            return next(iter(inside.values()))
        rest = left(pool, entry, inside)
        if rest is None:
            return next(iter(inside.values()))
        violation = rest
    ill = ill_formed(known)
    well_formed = cleaned(violation.data)
    if ill and well_formed != violation.data:
        asked = replace(entry, violation=violation)
        rest = in_place(pool, asked, [well_formed])
        if rest is not None:
            return rest
        wide = next(
            (name for minimal, name in ill if not narrow(name, entry.contract, minimal)), None
        )
        if wide is not None:
            return wide
        if in_same_tokens(pool, asked, [minimal for minimal, _ in ill]):
            return ill[0][1]
    return violation


def questions(entry: Entry, known: KnownInputs) -> list[bytes]:
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


def parts_of(data: bytes, known: KnownInputs) -> dict[bytes, str]:
    """The known minimal inputs that are in an input, each with its bucket."""
    return {
        minimal: name
        for minimal, name in known.minimal
        if minimal == data or (minimal and minimal in data)
    }


def ill_formed(known: KnownInputs) -> list[tuple[bytes, str]]:
    """The known minimal inputs that are no text, with their buckets.

    Nearly all input of some generators is ill-formed, each in a way of its own.
    """
    return [one for one in known.minimal if categories(one[0]) == BYTES]


def cleaned(data: bytes) -> bytes:
    """An input without what is no text."""
    return data.decode(errors="ignore").encode()


def without(data: bytes, parts: Collection[bytes]) -> list[bytes]:
    """An input from which these parts are taken out, once for each neutral text in their place."""
    rests = []
    for neutral in NEUTRAL:
        rest = data
        for part in sorted(parts, key=len, reverse=True):
            rest = rest.replace(part, neutral)
        rests.append(rest)
    return rests


def within(entry: Entry, parts: Collection[bytes]) -> bool:
    """Whether all encodings of an input differ from the first within these parts of it alone.

    Each place is within one of them: what differs in two of them joined is something else.
    """
    violation, vocabulary = entry.violation, entry.contract.vocabulary
    if violation.check != "equivalence":
        return False
    outcomes = [part.outcome for part in violation.parts]
    encodings = [ids_of(outcome) for outcome in outcomes]
    if not all(isinstance(outcome, Encoded) for outcome in outcomes) or not all(
        diagnosis.known(vocabulary, *ids) for ids in encodings
    ):
        return False
    if any(vocabulary.spell(list(ids)) != violation.data for ids in encodings):
        return False  # where the tokens stand in the input is not known
    spans = []
    for part in parts:
        start = violation.data.find(part)
        while start >= 0:
            spans.append((start, start + len(part)))
            start = violation.data.find(part, start + 1)

    def inside(place: Region) -> bool:
        end = place.start + len(vocabulary.spell(list(place.one)))
        return any(start <= place.start and end <= stop for start, stop in spans)

    return all(
        inside(place)
        for other in encodings[1:]
        for place in regions(vocabulary, encodings[0], other)
    )


def left(pool: Examines, entry: Entry, parts: Collection[bytes]) -> Violation | None:
    """What is still wrong with an input from which these parts of it are taken out, if anything.

    The violation itself where that cannot be told. Raises Stopped and OutOfTime.
    """
    violation = entry.violation
    if violation.check == "determinism" or violation.stage == TIMED_OUT:
        return None  # it does not depend on the input, or costs too much to be asked
    rests = without(violation.data, parts)
    if not rests[0]:  # there is nothing else in it
        alike = repeats(pool, entry, parts)
        return None if alike is None or alike(violation) else violation
    return in_place(pool, entry, rests)


def in_place(pool: Examines, entry: Entry, rests: Sequence[bytes]) -> Violation | None:
    """What is wrong with all of these inputs, asked in place of another one, if anything is.

    It is what is wrong with the first of them, or the violation itself where that cannot be told.
    Raises Stopped and OutOfTime.
    """
    contract, violation = entry.contract, entry.violation
    asked = [rest for rest in dict.fromkeys(rests) if contract.vocabulary.can_encode(rest)]
    if not asked:
        return violation
    check, culprits = CHECKS[violation.check], set(violation.culprits)
    judged = pool.examine(witnesses(violation, contract), check, asked)
    wrong = [one for one in judged.violations if culprits & set(one.culprits)]
    answered = all(judged.exercised[name] >= len(asked) for name in culprits)
    if answered and len({one.data for one in wrong}) < len(asked):
        return None
    if rests[0] not in {one.data for one in wrong}:
        return violation
    sign = signature(violation, contract)
    whole = pool.examine(contract, check, rests[:1])
    first = [one for one in whole.violations if culprits & set(one.culprits)]
    first.sort(key=lambda one: signature(one, contract) != sign)
    return first[0] if first else violation


def repeats(
    pool: Examines, entry: Entry, parts: Collection[bytes]
) -> Callable[[Violation], bool] | None:
    """Whether a violation differs as these parts of an input do; None: it does not repeat any.

    So it is where the same tokens differ, or where the text is changed as often as it is repeated.
    A part again and again may be another token, and another mistake. Raises Stopped and OutOfTime.
    """
    data, vocabulary = entry.violation.data, entry.contract.vocabulary
    again = [part for part in parts if part and part * (len(data) // len(part)) == data]
    if not again or data in again or not differences(entry.violation, entry.contract):
        return None
    known = differences_on(pool, entry, again)
    spelled = [tuple(vocabulary.spell(list(ids)) for ids in place) for place in known]
    changed = [(one, other) for one, other in spelled if one != other]

    def alike(violation: Violation) -> bool:
        for place in differences(violation, entry.contract) - known:
            mine = tuple(vocabulary.spell(list(ids)) for ids in place)
            times = range(1, len(data) + 1)
            if not any((a * n, b * n) == mine for a, b in changed for n in times):
                return False
        return True

    return alike


def known_of_a_part(
    pool: Examines, entry: Entry, parts: Collection[bytes]
) -> Callable[[Violation], bool]:
    """Whether a violation is what is known of a part that an input, wrong otherwise, repeats.

    It is no smaller case of what is wrong with the input. Raises Stopped.
    """
    alike = None
    with contextlib.suppress(OutOfTime):  # which ends minimising, too
        alike = repeats(pool, entry, parts)
    return alike if alike is not None and not alike(entry.violation) else lambda one: False


def in_same_tokens(pool: Examines, entry: Entry, inputs: Collection[bytes]) -> bool:
    """Whether an input differs in no other tokens than these inputs do, and in the same way.

    So it is with inputs that a known mistake shows on in another place, or without any input: what
    of an input is wrong is the same, and only what stands beside it is another. Raises Stopped and
    OutOfTime.
    """
    mine = differences(entry.violation, entry.contract)
    return bool(mine) and mine <= differences_on(pool, entry, inputs)


def differences_on(pool: Examines, entry: Entry, inputs: Collection[bytes]) -> frozenset[Ids]:
    """The tokens in which these inputs differ in the way of a violation. Raises as above."""
    check = CHECKS[entry.violation.check]
    shown = pool.examine(entry.contract, check, sorted(inputs)).violations
    known = [replace(entry, violation=one, explanation=None) for one in shown]
    same = [
        differences(one.violation, one.contract)
        for one in known
        if one.signature == entry.signature
    ]
    return frozenset().union(*same)
