"""The measurement itself.

Each kind of text in one mode on one vocabulary is a block. First every cell of it is tried once:
who gives which ids, and whom larger sizes would take too long. Then its encoders are loaded afresh,
so that none knows anything of it, and the first call on the largest text is timed (``cold``). The
rounds follow,
in which all implementations take their turns, so that a disturbance falls on all alike: the same
text again (``warm``), and another text of the kind (``fresh``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.core.comparisons import SupportsFailed, answer_of
from harness.core.messages import Measure
from harness.core.outcomes import Inputs, Results
from harness.studies.bench.cells import Cell, Row, foretold, ladder
from harness.studies.bench.plan import TRUSTED, WAYS
from harness.workers import Limits
from harness.workers.calls import characters_apart
from harness.workers.pool import WorkerPool
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.texts.benchmarks import Text
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.events import Event
    from harness.studies.bench.plan import BenchPlan

THREADS = (
    "RAYON_NUM_THREADS",
    "FASTOKENS_BPE_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
"""The variables that libraries read when they are imported: how many threads they may have."""

LIMITS = Limits(seconds=8.0, seconds_per_megabyte=10.0, load_seconds=180.0, memory=6 << 30)
"""The limits of a benchmark's workers, which are there for hangs: what takes too long is foretold
and not waited for."""

WARM_NANOSECONDS = 3_000_000
"""The passes of one warm measurement take so long at the least, since the clocks tell a thousandth
of it."""

FRESH_BYTES = 64 << 10
"""Bytes of new text in one fresh measurement at the least, cut into texts of the size measured."""

FRESH_SECONDS = 0.25
"""Fresh texts are timed until they have taken so long, for implementations that need no more."""

LEAST_ROUNDS, MOST_ROUNDS = 3, 15
"""Rounds where the time decides."""

CHEAP = 0.1
"""Seconds up to which a call is made twice when it is tried."""

TRYING = 0.25
"""Share of the progress that trying every cell is counted as."""


@dataclass(slots=True)
class Block:
    """One kind of text in one mode: its cells by row, each from the smallest size up.

    right: by size, the cell that has the right ids.
    """

    mode: str
    text: Text
    cells: dict[str, list[Cell]] = field(default_factory=dict)
    right: dict[int, Cell] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """The rows of which something can be measured."""
        return [cells[0].row for cells in self.cells.values() if any(c.measurable for c in cells)]

    def of(self, row: Row) -> list[Cell]:
        """The cells of a row that can be measured."""
        return [cell for cell in self.cells[row.name] if cell.measurable]


def environment(threads: int) -> dict[str, str]:
    """What gives libraries so many threads."""
    several = {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
    return several | dict.fromkeys(THREADS, str(threads))


class Bench:
    """The measurement of one vocabulary, whose implementations are loaded once for all blocks.

    modes: of these blocks. threads: that each library may have.
    watch: told how much of a block is done, from 0 to 1, and what is being done. failed: by name,
    why an implementation cannot be measured.
    """

    def __init__(
        self,
        plan: BenchPlan,
        vocabulary: Vocabulary,
        watch: Callable[[float, str], None],
        modes: Sequence[str],
        threads: int = 1,
    ) -> None:
        self.vocabulary = vocabulary
        self.failed: dict[str, str] = {}
        self._plan = plan
        self._watch = watch
        everyone = [*plan.participants, *plan.judges]
        self._judges = {judge.name for judge in plan.judges}
        self._taking = {mode: list(self._supporting(everyone, mode)) for mode in modes}
        self._names = list(dict.fromkeys(c.name for some in self._taking.values() for c in some))
        chosen = [one for one in everyone if one.name in self._names]
        self._pool = WorkerPool(chosen, LIMITS, environment(threads))

    def _supporting(self, participants: list[Participant], mode: str) -> Iterator[Participant]:
        """Those that run the vocabulary in a mode; of the trusted ones beside, the first."""
        judged = False
        for one in participants:
            try:
                reason = answer_of(one, self.vocabulary, WAYS[mode].mode)
            except SupportsFailed as error:
                self.failed[one.name] = str(error)
                continue
            if reason is not None or (one.name in self._judges and judged):
                continue
            judged = judged or one.name in TRUSTED
            yield one

    def load(self) -> None:
        """Load the vocabulary into all that run it; ``failed`` has those that cannot."""
        self._watch(0.0, f"loading {self.vocabulary.id} into {len(self._names)} implementations")
        for name, loaded in self._pool.load(self.vocabulary, self._names).items():
            if not loaded.unsupported:
                self.failed[name] = (loaded.error or "").split("\n", 1)[0]

    def measure(self, block: Block, seconds: float) -> None:
        """Try every cell of a block, then measure it: about so many seconds in all.

        What is known is in the block whatever happens, KeyboardInterrupt included.
        """
        until = time.monotonic() + seconds
        self._try(block)
        self._measure(block, until)

    def kill(self) -> None:
        """End the workers at once, whatever they are doing."""
        self._pool.kill()

    def close(self) -> None:
        """End the workers."""
        self._pool.close()

    def events(self, block: Block) -> Iterator[Event]:
        """All that is known of a block: every cell."""
        for cells in block.cells.values():
            for cell in cells:
                if cell.row.participant.name not in self._judges:
                    right = block.right.get(cell.size)
                    yield cell.event(self.vocabulary.id, block.text.name, block.mode, right)

    # Trying every cell once.

    def _try(self, block: Block) -> None:
        participants = [c for c in self._taking[block.mode] if c.name not in self.failed]
        # The trusted one first, so that a measurement broken off has its ids.
        participants.sort(key=lambda one: (*TRUSTED, one.name).index(one.name))
        rows = [Row(one) for one in participants]
        if block.mode == "raw":
            rows += [
                Row(one, counting=True) for one in participants if one.name not in self._judges
            ]
        inputs = {
            size: block.text.of(self.vocabulary, size, self._plan.seed)
            for size in ladder(self._plan.sizes)
        }
        for number, row in enumerate(rows):
            done = TRYING * number / len(rows)
            self._watch(done, f"trying {row.name} on {block.text.name}, {block.mode}")
            self._try_row(block, row, inputs)
            if all(cell.status == "unsupported" for cell in block.cells[row.name]) and row.counting:
                del block.cells[row.name]  # counts nothing
        order = {c.name: i for i, c in enumerate(self._plan.participants)}
        block.cells = dict(
            sorted(block.cells.items(), key=lambda i: order.get(i[1][0].row.participant.name, 99))
        )

    def _try_row(self, block: Block, row: Row, inputs: dict[int, bytes]) -> None:
        cells = block.cells[row.name] = [
            Cell(row, size, len(inputs[size])) for size in self._plan.sizes
        ]
        by_size = {cell.size: cell for cell in cells}
        most = row.participant.about.max_input
        batched = WAYS[block.mode].batched
        times: list[tuple[int, float]] = []
        settled = ("", "")
        for size, data in inputs.items():
            cell = by_size.get(size) or Cell(row, size)
            expected = foretold(times, size)
            if settled[0]:
                cell.skip(*settled)
            elif len(data) + 4 < size:
                cell.skip("skipped", f"the text has {len(data):,} bytes only")
            elif most is not None and (self._plan.document if batched else size) > most:
                cell.skip("skipped", f"it is asked for {most:,} bytes at most")
            elif expected > self._plan.call_seconds:
                limit = self._plan.call_seconds
                cell.skip("skipped", f"a call would take about {expected:.3g} s, over {limit:g} s")
                settled = ("skipped", cell.note)
            else:
                # What is put off till the first call would be foretold for all larger sizes.
                first = 1 if expected < CHEAP else 0
                results = self._ask(row, [data], block.mode, ids=True, warm_up=first)
                if cell.take(results) and results.timed is not None:
                    cell.status = "measured"
                    cell.answered(results)
                    cell.seconds = results.timed.cpu / 1e9
                    times.append((len(data), cell.seconds))
                    if row.name in TRUSTED:
                        block.right.setdefault(size, cell)
                else:
                    settled = (cell.status, f"{cell.note} (at {size:,} bytes)")

    def _ask(
        self,
        row: Row,
        data: list[bytes],
        mode: str,
        *,
        ids: bool = False,
        warm_up: int = 0,
        least: int = 0,
        before: bytes = b"",
    ) -> Results:
        inputs = Inputs.of(data)
        way = WAYS[mode]
        request = Measure(
            inputs,
            way.mode,
            warm_up,
            least,
            ids=ids,
            counting=row.counting,
            document=self._plan.document if way.batched else 0,
            threads=self._plan.threads if way.threaded else 1,
            shared=Capability.THREADS in row.participant.about.capabilities,
            before=before,
        )
        return self._pool.answer(row.participant.name, request)

    # Measuring.

    def _measure(self, block: Block, until: float) -> None:
        rows = [row for row in block.rows if row.participant.name not in self._judges]
        if not rows:
            return
        where = f"{block.text.name}, {block.mode}"
        same = {
            size: block.text.of(self.vocabulary, size, self._plan.seed) for size in self._plan.sizes
        }

        def watch(done: float, what: str) -> None:
            self._watch(TRYING + (1 - TRYING) * done, f"{where}: {what}")

        self._cold(block, rows, same, watch)
        planned = self._plan.rounds or LEAST_ROUNDS
        number = 0
        while number < planned or (
            self._plan.rounds is None and number < MOST_ROUNDS and time.monotonic() < until
        ):
            fresh = self._fresh_texts(block.text, number)
            turn = number % len(rows)
            for place, row in enumerate(rows[turn:] + rows[:turn]):
                of = f" of {planned}" if self._plan.rounds else ""
                done = min(number + place / len(rows), planned - 0.1) / planned
                watch(0.1 + 0.9 * done, f"round {number + 1}{of}, {row.name}")
                for cell in block.of(row):
                    self._warm_and_fresh(block, cell, same[cell.size], fresh[cell.size], number)
            number += 1

    def _fresh_texts(self, text: Text, number: int) -> dict[int, list[bytes]]:
        """By size, texts that no encoder has seen before, another lot for each round."""
        found = {}
        for size in self._plan.sizes:
            count = max(1, FRESH_BYTES // size)
            whole = text.of(self.vocabulary, size * count, self._plan.seed + number + 1)
            found[size] = list(characters_apart(whole, size))
        return found

    def _cold(
        self,
        block: Block,
        rows: list[Row],
        same: dict[int, bytes],
        watch: Callable[[float, str], None],
    ) -> None:
        sizes = self._plan.sizes if self._plan.cold_sizes else self._plan.sizes[-1:]
        encoding = [row for row in rows if not row.counting]
        for number in range(self._plan.cold):
            for size in sizes:
                watch(0.0, "loading afresh")
                names = list(dict.fromkeys(row.participant.name for row in encoding))
                late = self._pool.load(self.vocabulary, names)
                turn = number % len(encoding) if encoding else 0
                for row in encoding[turn:] + encoding[:turn]:
                    watch(0.05, f"first call of {row.name}")
                    cell = next((c for c in block.of(row) if c.size == size), None)
                    if cell is None or row.participant.name in late:
                        continue
                    results = self._ask(row, [same[size]], block.mode)
                    if cell.take(results) and results.timed is not None:
                        cell.time("cold", number, len(same[size]), results.timed)

    def _warm_and_fresh(
        self, block: Block, cell: Cell, same: bytes, fresh: list[bytes], number: int
    ) -> None:
        mode = block.mode
        first = 0 if number else 1
        # Only a text that was seen before may be encoded besides: the others are to be new.
        before = same if WAYS[mode].threaded else b""
        results = self._ask(
            cell.row, [same], mode, warm_up=first, least=WARM_NANOSECONDS, before=before
        )
        if not cell.take(results) or results.timed is None:
            return
        cell.time("warm", number, len(same), results.timed)
        fresh = fresh[: max(1, int(FRESH_SECONDS / max(cell.seconds, 1e-9)))]
        results = self._ask(cell.row, fresh, mode, before=before)
        if cell.take(results) and results.timed is not None:
            cell.time("fresh", number, sum(map(len, fresh)), results.timed)
