"""The measurement itself.

Each kind of text in one mode on one vocabulary is a block. First every cell of it, one
implementation at one size, is tried once: who gives which ids, and whom larger sizes would take too
long. Then its encoders are loaded afresh, so that none knows anything of it, and the first call on
the largest text is timed (``cold``). The rounds follow, in which all implementations take their
turns, so that a disturbance falls on all alike: the same text again (``warm``), and another text of
the kind (``fresh``).
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core.comparisons import SupportsFailed, answer_of
from harness.core.messages import Measure
from harness.core.outcomes import Inputs, Results, Spent, Status
from harness.events import Benched, Timing
from harness.studies.bench.plan import TRUSTED, WAYS
from harness.workers import Limits
from harness.workers.calls import characters_apart
from harness.workers.pool import WorkerPool
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from corpora.texts.benchmarks import Text
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
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

MOST_GROWTH, LEAST_GROWTH = 2.2, 1.0
"""Bounds of the exponent by which a larger size's time is foretold: of the quadratic algorithms
and a little, and of the linear ones."""

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


@dataclass(frozen=True, slots=True)
class Row:
    """An implementation, or its counting of ids."""

    participant: Participant
    counting: bool = False

    @property
    def name(self) -> str:
        """As it stands in tables."""
        return f"{self.participant.name} count" if self.counting else self.participant.name


@dataclass(slots=True)
class Cell:
    """What is known of a row at a size. status, note, tokens, timings: of the event.

    digest: of its ids. seconds: of a call when it was tried.
    """

    row: Row
    size: int
    bytes: int = 0
    status: str = "skipped"
    note: str = ""
    digest: str = ""
    tokens: int | None = None
    seconds: float = 0.0
    timings: list[Timing] = field(default_factory=list)

    def take(self, results: Results) -> Spent | None:
        """What an answer took; None if it is none, after which the cell is not asked again."""
        status = Status(int(results.status[0]))
        if status is Status.ENCODED and results.timed is not None:
            return results.timed
        line = results.messages.get(0, "").split("\n", 1)[0] or "no times"
        refused = status in (Status.UNSUPPORTED, Status.REJECTED)
        self.status = "unsupported" if refused else "failed"
        self.note = line if refused else f"{status.label}: {line}"
        return None

    def time(self, kind: str, number: int, size: int, results: Results) -> None:
        """Add a measurement over ``size`` bytes."""
        spent = self.take(results)
        if spent is not None:
            cpu, wall = spent.cpu / 1e9, spent.wall / 1e9
            self.timings.append(
                Timing(kind=kind, round=number, bytes=size, passes=spent.passes, cpu=cpu, wall=wall)
            )

    def answer(self, right: Cell | None) -> str:
        """How its ids compare with the right ones; see :class:`harness.events.Benched`."""
        if self.tokens is None or right is None or right.tokens is None:
            return "unchecked"
        same = self.tokens == right.tokens if self.row.counting else self.digest == right.digest
        if same:
            return "equal"
        return "different" if self.row.participant.about.defined else "by-law"


@dataclass(slots=True)
class Block:
    """One kind of text in one mode: its cells, each row's from the smallest size up.

    right: by size, the cell that has the right ids.
    """

    mode: str
    text: Text
    cells: list[Cell] = field(default_factory=list)
    right: dict[int, Cell] = field(default_factory=dict)


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
        self._plan, self._watch = plan, watch
        self._judges = {judge.name for judge in plan.judges}
        self._taking = {mode: list(self._supporting(mode)) for mode in modes}
        self._chosen = {one.name: one for some in self._taking.values() for one in some}
        self._pool = WorkerPool([*self._chosen.values()], LIMITS, environment(threads))

    def _supporting(self, mode: str) -> Iterator[Participant]:
        """Those that run the vocabulary in a mode; of the trusted ones beside, the first."""
        judged = False
        for one in (*self._plan.participants, *self._plan.judges):
            try:
                reason = answer_of(one, self.vocabulary, WAYS[mode].mode)
            except SupportsFailed as error:
                self.failed[one.name] = str(error)
                continue
            if reason is None and not (judged and one.name in self._judges):
                judged = judged or one.name in TRUSTED
                yield one

    def load(self) -> None:
        """Load the vocabulary into all that run it; ``failed`` has those that cannot."""
        self._watch(0.0, f"loading {self.vocabulary.id} into {len(self._chosen)} implementations")
        for name, loaded in self._pool.load(self.vocabulary, [*self._chosen]).items():
            if not loaded.unsupported:
                self.failed[name] = (loaded.error or "").split("\n", 1)[0]

    def measure(self, block: Block, seconds: float) -> None:
        """Try every cell of a block, then measure it: about so many seconds in all.

        What is known is in the block whatever happens, KeyboardInterrupt included.
        """
        until = time.monotonic() + seconds
        self._try(block)
        same = {size: self._text(block, size) for size in self._plan.sizes}
        self._cold(block, same)
        planned, number = self._plan.rounds or LEAST_ROUNDS, 0
        while number < planned or (
            self._plan.rounds is None and number < MOST_ROUNDS and time.monotonic() < until
        ):
            self._round(block, same, number, planned)
            number += 1

    def kill(self) -> None:
        """End the workers at once, whatever they are doing."""
        self._pool.kill()

    def close(self) -> None:
        """End the workers."""
        self._pool.close()

    def events(self, block: Block) -> Iterator[Benched]:
        """All that is known of a block: every cell, in the order of the implementations."""
        order = [one.name for one in self._plan.participants]
        cells = [cell for cell in block.cells if cell.row.participant.name in order]
        for cell in sorted(cells, key=lambda cell: order.index(cell.row.participant.name)):
            right = block.right.get(cell.size)
            yield Benched(
                vocabulary=self.vocabulary.id,
                text=block.text.name,
                mode=block.mode,
                row=cell.row.name,
                implementation=cell.row.participant.name,
                size=cell.size,
                bytes=cell.bytes,
                status=cell.status,
                note=cell.note,
                answer=cell.answer(right),
                trusted=right.row.name if right is not None else "",
                tokens=cell.tokens,
                timings=cell.timings,
            )

    def _text(self, block: Block, size: int, other: int = 0) -> bytes:
        return block.text.of(self.vocabulary, size, self._plan.seed + other)

    def _try(self, block: Block) -> None:
        """Ask every cell once. The trusted one comes first: what is broken off has its ids."""
        mine = [one for one in self._taking[block.mode] if one.name not in self.failed]
        mine.sort(key=lambda one: (*TRUSTED, one.name).index(one.name))
        rows = [Row(one) for one in mine]
        if block.mode == "raw":
            rows += [Row(one, counting=True) for one in mine if one.name not in self._judges]
        inputs = {size: self._text(block, size) for size in ladder(self._plan.sizes)}
        for number, row in enumerate(rows):
            done = TRYING * number / len(rows)
            self._watch(done, f"trying {row.name} on {block.text.name}, {block.mode}")
            cells = self._tried(block, row, inputs)
            if not (row.counting and all(cell.status == "unsupported" for cell in cells)):
                block.cells += cells

    def _tried(self, block: Block, row: Row, inputs: Mapping[int, bytes]) -> list[Cell]:
        """The cells of a row, tried from the smallest size up, as far as they take no time."""
        plan, most = self._plan, row.participant.about.max_input
        cells, times, settled = list[Cell](), list[tuple[int, float]](), ("", "")
        for size, data in inputs.items():
            cell, expected = Cell(row, size, len(data)), foretold(times, size)
            cells += [cell] if size in plan.sizes else []
            if settled[0]:
                cell.status, cell.note = settled
            elif len(data) + 4 < size:
                cell.note = f"the text has {len(data):,} bytes only"
            elif most is not None and most < (plan.document if WAYS[block.mode].batched else size):
                cell.note = f"it is asked for {most:,} bytes at most"
            elif expected > plan.call_seconds:
                cell.note = (
                    f"a call would take about {expected:.3g} s, over {plan.call_seconds:g} s"
                )
                settled = (cell.status, cell.note)
            else:
                # What is put off till the first call would be foretold for all larger sizes.
                first = 1 if expected < CHEAP else 0
                results = self._ask(row, [data], block.mode, ids=True, warm_up=first)
                spent = cell.take(results)
                if spent is None:
                    settled = (cell.status, f"{cell.note} (at {size:,} bytes)")
                    continue
                cell.status, cell.seconds = "measured", spent.cpu / 1e9
                cell.digest = hashlib.sha256(results.ids.tobytes()).hexdigest()
                cell.tokens = int(results.ids[0]) if row.counting else len(results.ids)
                times.append((len(data), cell.seconds))
                if row.name in TRUSTED:
                    block.right.setdefault(size, cell)
        return cells

    def _ask(self, row: Row, data: Sequence[bytes], mode: str, **rest: Any) -> Results:
        """One measurement. rest: of the request."""
        way = WAYS[mode]
        request = Measure(
            Inputs.of(data),
            way.mode,
            counting=row.counting,
            document=self._plan.document if way.batched else 0,
            threads=self._plan.threads if way.threaded else 1,
            shared=Capability.THREADS in row.participant.about.capabilities,
            **rest,
        )
        return self._pool.answer(row.participant.name, request)

    def _turns(self, block: Block, number: int) -> list[Cell]:
        """The cells that are measured, those of another row first in each round."""
        cells = [
            cell
            for cell in block.cells
            if cell.status == "measured" and cell.row.participant.name not in self._judges
        ]
        rows = list(dict.fromkeys(cell.row.name for cell in cells))
        turn = number % len(rows) if rows else 0
        order = rows[turn:] + rows[:turn]
        return sorted(cells, key=lambda cell: order.index(cell.row.name))

    def _cold(self, block: Block, same: Mapping[int, bytes]) -> None:
        """The first calls in encoders that are loaded afresh."""
        for number in range(self._plan.cold):
            for size in self._plan.sizes if self._plan.cold_sizes else self._plan.sizes[-1:]:
                every = self._turns(block, number)
                cells = [cell for cell in every if cell.size == size and not cell.row.counting]
                self._watch(TRYING, f"{block.text.name}, {block.mode}: loading afresh")
                names = list(dict.fromkeys(cell.row.participant.name for cell in every))
                late = self._pool.load(self.vocabulary, names)
                for cell in cells:
                    if cell.row.participant.name not in late:
                        results = self._ask(cell.row, [same[size]], block.mode)
                        cell.time("cold", number, len(same[size]), results)

    def _round(self, block: Block, same: Mapping[int, bytes], number: int, planned: int) -> None:
        """Every cell once more: a text that it knows, and one that no encoder has seen before."""
        mode, fresh = block.mode, dict[int, list[bytes]]()
        for size in self._plan.sizes:
            whole = self._text(block, size * max(1, FRESH_BYTES // size), number + 1)
            fresh[size] = list(characters_apart(whole, size))
        cells = self._turns(block, number)
        for place, cell in enumerate(cells):
            of = f" of {planned}" if self._plan.rounds else ""
            done = min(number + place / len(cells), planned - 0.1) / planned
            what = f"{block.text.name}, {mode}: round {number + 1}{of}, {cell.row.name}"
            self._watch(TRYING + (1 - TRYING) * done, what)
            known = same[cell.size]
            # Only a text that was seen before may be encoded besides: the others are to be new.
            before = known if WAYS[mode].threaded else b""
            results = self._ask(
                cell.row,
                [known],
                mode,
                warm_up=0 if number else 1,
                least=WARM_NANOSECONDS,
                before=before,
            )
            cell.time("warm", number, len(known), results)
            if cell.status == "measured":
                new = fresh[cell.size][: max(1, int(FRESH_SECONDS / max(cell.seconds, 1e-9)))]
                results = self._ask(cell.row, new, mode, before=before)
                cell.time("fresh", number, sum(map(len, new)), results)


def foretold(times: Sequence[tuple[int, float]], size: int) -> float:
    """Seconds that ``size`` bytes will take, from (bytes, seconds) of smaller ones, rising.

    By the exponent between the last two, at least that of a linear cost; linear from a single one.
    """
    if not times:
        return 0.0
    (before, less), (last, spent) = times[-2:] if len(times) > 1 else ((0, 0.0), times[-1])
    growth = LEAST_GROWTH
    if before:
        growth = math.log(max(spent, 1e-9) / max(less, 1e-9)) / math.log(last / before)
    return float(spent * (size / last) ** min(max(growth, LEAST_GROWTH), MOST_GROWTH))


def ladder(sizes: Sequence[int], step: int = 8) -> list[int]:
    """The sizes, and others between any two that are more than ``step`` times apart."""
    found: list[int] = []
    for size in sizes:
        while found and size > found[-1] * step:
            found.append(found[-1] * step)
        found.append(size)
    return found
