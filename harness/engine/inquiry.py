"""Looking into violations one after another, beside the judges, who never wait for it.

Asking about one violation again, and making its input minimal, takes up to seconds. A judge that
did so itself would keep its batch, and with it the run, waiting.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.engine.judging import Suspicion

MOST_WAITING = 500
"""Violations that wait to be looked into, at the most. A judge that has another one waits then:
where everything is wrong, the time is better spent on what is known to be wrong."""

LOOK_SECONDS = 0.05
"""Seconds between two looks at whether the run was stopped, or its time for findings is over."""

Kind = tuple[str, str, str | None, tuple[str, ...]]


class Inquiry:
    """Looks into violations in a thread of its own, those of the rarest kind first.

    look_into: called with one violation after another. stopped: whether the run was ended. over:
    whether no more time is left for findings; what comes or waits then is not looked into.
    """

    def __init__(
        self,
        look_into: Callable[[Suspicion], None],
        stopped: Callable[[], bool],
        over: Callable[[], bool],
    ) -> None:
        self._look_into = look_into
        self._stopped = stopped
        self._over = over
        self._waiting: dict[Kind, deque[Suspicion]] = {}
        self._taken: Counter[Kind] = Counter()
        self._changed = threading.Condition()
        self._closing = False
        self._hurried = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inquiry")
        self._ended = self._thread.submit(self._run)

    def take(self, suspicion: Suspicion) -> None:
        """Keep a violation until it is its turn; wait where too many are kept already."""
        kind = kind_of(suspicion)
        with self._changed:
            while self._number() >= MOST_WAITING and not (self._hurried or self._idle()):
                self._changed.wait(LOOK_SECONDS)
            self._waiting.setdefault(kind, deque()).append(suspicion)
            self._changed.notify_all()

    def hurry(self) -> None:
        """Let no judge wait any more: no new case is asked, so that little more is to come."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()

    def look(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._ended.done():
            self._ended.result()

    def finish(self) -> list[Suspicion]:
        """Look into what is left, while there is time for it; gives what was not looked into.

        Raises what the thread raised.
        """
        self._close()
        self._ended.result()
        return [one for ones in self._waiting.values() for one in ones]

    def close(self) -> None:
        """End after the violation that is being looked into; what is left is dropped."""
        with self._changed:
            self._waiting.clear()
        self._close()
        self._thread.shutdown(wait=True)

    def _close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _idle(self) -> bool:
        """Whether nothing more is looked into."""
        return self._stopped() or self._over() or self._ended.done()

    def _number(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _next(self) -> Suspicion | None:
        """The violation to look into next, as soon as there is one; None at the end."""
        with self._changed:
            while not self._stopped() and not (self._closing and self._over()):
                if self._waiting and not self._over():
                    kind = min(self._waiting, key=self._taken.__getitem__)
                    self._taken[kind] += 1
                    suspicion = self._waiting[kind].popleft()
                    if not self._waiting[kind]:
                        del self._waiting[kind]
                    self._changed.notify_all()
                    return suspicion
                if self._closing and not self._waiting:
                    return None
                self._changed.wait(LOOK_SECONDS)
        return None

    def _run(self) -> None:
        while (suspicion := self._next()) is not None:
            self._look_into(suspicion)


def kind_of(suspicion: Suspicion) -> Kind:
    """What a violation seems to be before anything is asked about it."""
    violation = suspicion.entry.violation
    return suspicion.entry.contract.id, violation.check, violation.stage, tuple(violation.culprits)
