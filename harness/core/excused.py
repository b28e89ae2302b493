"""Failures that did not come back, or came in company alone: what is kept and said of them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.core.outcomes import Status

LEAKING = "(over many inputs; none of them takes so much alone: a leak)"
"""This is said of a lack of memory that no single input brings about."""

TOGETHER = "(once, in a batch; not when asked again alone)"
"""This is said of a failure that a batch brings about and none of its inputs alone."""


@dataclass(frozen=True)
class Excused:
    """A failure that did not come back when its input was asked again, alone and unhurried.

    It is counted in a note and is never a finding. data: the input; empty for a request that was
    no encoding. message: what the failure was.
    """

    implementation: str
    status: Status
    message: str
    data: bytes = b""
