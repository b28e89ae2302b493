"""``tokgate adversary`` on the terminal: its plan from names, its bar, its tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from rich.table import Table
from rich.text import Text

from corpora.generators.material import is_text
from corpora.vocabularies import sources
from harness.cli.display import Display
from harness.cli.forced import LOG_WIDTH
from harness.cli.progress.steps import StepProgress
from harness.core import exit_statuses
from harness.core.countdown import Countdown, seconds_text
from harness.core.interruption import exit_status
from harness.engine.selection import SelectionError
from harness.engine.suites import parse_budget
from harness.engine.trust import fetched
from harness.studies.forced import counterexamples
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.hunt import COUNTEREXAMPLES, RECORD, Hunt, HuntRecord, hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, named
from harness.studies.forced.pool import WorkersFailed, results
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from harness.studies.forced.hunt import Bag
    from harness.studies.forced.policies import Policies

USUAL = ("healed:tokens=4", EXACT)
"""The documented heuristic, and the policy that nothing is to be found against."""

SHOWN = 32
"""Characters of a text in the table."""


def search(
    vocab: str,
    policies: Sequence[str],
    budget: str,
    jobs: int,
    seed: int,
    seconds: float,
    memory: int,
    out: Path,
) -> int:
    """Search, show what there is, and give the exit status.

    Raises SelectionError, VocabularyError, OutputError, ImplementationError: one line each.
    """
    try:
        amount = parse_budget(budget)
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    task = Task(sources.resolve(vocab), named(policies or USUAL), "flexible", seed, seconds, memory)
    plan = Hunt(task, amount, jobs)
    record = HuntRecord(out, plan)
    console = Display(stderr=True)
    what = f"searching {task.vocabulary.id} for grammars against {', '.join(task.policies)}"
    how_long = seconds_text(amount.seconds)
    if amount.cases is not None:
        how_long = f"for {amount.cases:,} grammars"
    console.print(Text(f"{what} {how_long}, seed {seed}"), soft_wrap=True)
    progress = StepProgress(console)

    def prepared(spent: float) -> None:
        console.print(Text(f"prepared in {spent:.0f} s", style="dim"))

    try:
        cut_off = hunt(plan, record, progress.watch, Countdown(amount.seconds), prepared)
    except WorkersFailed as error:
        raise _line(error) from error
    finally:
        progress.stop()
    console = Display()
    if not console.is_terminal:
        console = Display(width=LOG_WIDTH)
    own = [one for one in record.bag.best.values() if one.vocabulary == task.vocabulary.id]
    console.print(caught(own, task.policies, record.bag.tried))
    for line in remarks(record.bag, task.policies):
        console.print(Text(line, style="dim"), soft_wrap=True)
    last = Display(stderr=True)
    last.print(Text(f"  {out / COUNTEREXAMPLES}; {RECORD}: run again to go on", style="dim"))
    if cut_off is not None:
        return exit_status(cut_off)
    erred = any(one.policy == EXACT for one in own) and EXACT in task.policies
    return exit_statuses.FAILS if erred else exit_statuses.HOLDS


def _line(error: WorkersFailed) -> SelectionError | ImplementationError:
    if error.supported:
        return ImplementationError(f"adversary: {error}")
    return SelectionError(str(error))


def caught(
    found: Sequence[Counterexample], policies: Sequence[str], tried: Mapping[str, int]
) -> Table:
    """The counterexamples, by policy. tried: by policy, how many grammars were."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in ("policy", "kind", "depth", "forced", "and then", "or"):
        made.add_column(heading, header_style="dim", no_wrap=True)
    for policy in policies:
        own = sorted((one for one in found if one.policy == policy), key=lambda one: one.worth)
        if not own:
            count = tried.get(policy, 0)
            nowhere = Text(f"errs in none of {count:,} grammars", style="green")
            made.add_row(policy, nowhere if count else Text("no grammar was tried"))
        for one in reversed(own):
            first, second = one.sentences[:2]
            made.add_row(
                policy, one.kind, Text(str(one.depth), style="red"),
                shown(one.context + one.forced), shown(first), shown(second),
            )  # fmt: skip
    return made


def shown(data: bytes) -> Text:
    """A text as Python would write it, its middle left out where it is long."""
    text = repr(data.decode()) if is_text(data) else repr(data)[1:]
    if len(text) > SHOWN:
        text = f"{text[: SHOWN // 2]}…{text[-SHOWN // 2 :]}"
    return Text(text)


def remarks(bag: Bag, policies: Sequence[str]) -> list[str]:
    """How much was tried, and what broke off."""
    tried = ", ".join(f"{bag.tried.get(policy, 0):,} against {policy}" for policy in policies)
    lines = [f"grammars tried, with those of earlier runs: {tried}"]
    lines += [f"broke off: {where}: {how}" for where, how in list(bag.broke.items())[:8]]
    return lines + [f"a worker {line}" for line in bag.left]


@dataclass(frozen=True, slots=True)
class Replay:
    """A job for a worker:

    one counterexample's grammar against policies; their depths, None: no error.
    """

    counterexample: Counterexample
    policies: tuple[str, ...]
    answer: ClassVar[Any] = tuple[Counterexample, dict[str, int | None]]

    def fits(self, answer: tuple[Counterexample, dict[str, int | None]]) -> bool:
        """See :class:`harness.studies.forced.jobs.Job`."""
        return answer[0] == self.counterexample and list(answer[1]) == list(self.policies)

    def run(
        self, policies: Policies, task: Task, beat: Callable[[], None]
    ) -> tuple[Counterexample, dict[str, int | None]]:
        """See :class:`harness.studies.forced.jobs.Job`."""
        found: dict[str, int | None] = {}
        for name in self.policies:
            beat()
            again = counterexamples.again(
                counterexamples.Opponent(policies, name), self.counterexample
            )
            found[name] = None if again is None else again.depth
        return self.counterexample, found

    def broken(self, how: str) -> tuple[Counterexample, dict[str, int | None]]:
        """See :class:`harness.studies.forced.jobs.Job`."""
        raise ImplementationError(f"adversary: {self.counterexample.vocabulary}: {how}")


def replay(
    source: str | Path, vocab: str | None, policies: Sequence[str], seconds: float, memory: int
) -> int:
    """Ask policies about counterexamples again: those named, or each counterexample's own and
    exact.

    Exit status 1 where exact errs. Raises as :func:`search`.
    """
    found = counterexamples.read(source)
    known = None if vocab is None else sources.resolve(vocab)
    if known is not None:
        found = [one for one in found if one.vocabulary == known.id]
        if not found:
            raise SelectionError(f"counterexamples {source}: none is of {known.id}")
    if known is None and any(fetched(one.vocabulary) for one in found):
        raise SelectionError(
            f"counterexamples {source}: name vocabularies to be fetched; give --vocab"
        )
    asked = named(policies) if policies else None
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in ("vocabulary", "kind", "policy", "then", "now"):
        made.add_column(heading, header_style="dim")
    status = exit_statuses.HOLDS
    for _, group in groupby(sorted(found, key=lambda one: one.place), lambda one: one.vocabulary):
        own = list(group)
        vocabulary = known or sources.resolve(own[0].vocabulary)
        names = asked or list(dict.fromkeys([*(one.policy for one in own), EXACT]))
        task = Task(vocabulary, names, "flexible", 0, seconds, memory)
        jobs = [Replay(one, tuple(asked or dict.fromkeys((one.policy, EXACT)))) for one in own]
        try:
            for counterexample, depths in results(task, jobs, 1):
                for name, depth in depths.items():
                    then = str(counterexample.depth) if name == counterexample.policy else ""
                    now = Text("errs no more" if then else "does not err", style="green")
                    if depth:
                        now = Text(f"errs {depth} deep", style="red")
                    made.add_row(counterexample.vocabulary, counterexample.kind, name, then, now)
                    if depth and name == EXACT:
                        status = exit_statuses.FAILS
        except WorkersFailed as error:
            raise _line(error) from error
    Display().print(made)
    return status
