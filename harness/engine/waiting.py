"""How long an answer is waited for that may never come."""

from __future__ import annotations

LONGEST_WAIT = 30.0
"""A run waits so many times the limit of a request for an answer that may be a hang. On a quiet
machine it takes three times that limit to ask again alone, in a new process; the limit is CPU time,
so that it takes longer where others have the processor. Only a hang makes a run go on so long."""

SUSPECT_SECONDS = 0.5
"""Seconds of its own, of CPU time or of sitting, after which who is at a single input may hang; who
was kept from the processor may not."""
