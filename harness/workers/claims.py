"""Claims of capabilities: which requests ask for one, and which of them are false.

An implementation may answer to some inputs that it does not do this. One that claims a capability
and answers so to everything that it is asked has made a false claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from harness.core.messages import Decode, Encode, Serve
from harness.core.outcomes import Status
from harness.workers.reasons import kept_from_answering
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.core.outcomes import Results
    from harness.workers.requests import Asking

LEAST = 100
"""After so many requests a capability that was never shown is a false claim."""

LONGEST_REASON = 120

RAW_ONLY = frozenset((Capability.APPEND, Capability.PREPEND, Capability.INTERVAL, Capability.HEAL))
"""Nobody need do these with pre-tokenization."""


class Claim(NamedTuple):
    """What became of a claim on one vocabulary.

    declined: requests that were answered as unsupported. kept: whether any other was answered
    otherwise. reason: the first one given for declining.
    """

    name: str
    capability: str
    declined: int
    kept: bool
    reason: str


def noted(name: str, request: Asking, answer: Results) -> list[Claim]:
    """What an answer says of a claim, if the request asks for one.

    What the harness itself has not asked says nothing.
    """
    capability = asked_for(request)
    if capability is None:
        return []
    unsupported = answer.status == Status.UNSUPPORTED
    said = [answer.messages.get(row, "") for row in unsupported.nonzero()[0].tolist()]
    said = [one for one in said if not kept_from_answering(one)]
    reason = said[0][:LONGEST_REASON] if said else ""
    return [Claim(name, str(capability), len(said), not unsupported.all(), reason)]


def asked_for(request: Asking) -> Capability | None:
    """The capability that a request asks for, where who claims it has to have it."""
    if isinstance(request, Serve):
        optional = request.service in RAW_ONLY and request.mode.pretokenize
        return None if optional else request.service
    if isinstance(request, Decode) and not (request.stream or request.skip or request.clean):
        return Capability.DECODE
    return Capability.OFFSETS if isinstance(request, Encode) and request.offsets else None


def summed(claims: Iterable[Claim]) -> list[Claim]:
    """One for each implementation and capability, of several claims."""
    total: dict[tuple[str, str], Claim] = {}
    for one in claims:
        former = total.get(one[:2], Claim(*one[:2], 0, False, ""))
        total[one[:2]] = Claim(
            *one[:2],
            former.declined + one.declined,
            former.kept or one.kept,
            former.reason or one.reason,
        )
    return list(total.values())


def false_claims(claims: Iterable[Claim]) -> dict[str, str]:
    """A line for each implementation with false claims, of the claims on all vocabularies."""
    lines: dict[str, list[str]] = {}
    for name, capability, declined, kept, reason in summed(claims):
        if not kept and declined >= LEAST:
            why = f" ({reason})" if reason else ""
            line = f"claims {capability!r} and answered none of {declined:,} requests{why}"
            lines.setdefault(name, []).append(line)
    return {name: "; ".join(sorted(of)) for name, of in lines.items()}
