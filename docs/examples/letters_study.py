"""A study of sessions: the tokens of a text of one letter, by implementation."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.core.outcomes import Encoded, Inputs
from harness.engine.examiner import Session, Study
from harness.engine.plan import Plan
from harness.engine.selection import participants, vocabularies
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import SUITES, Budget
from harness.events import Phase
from harness.findings.tracker import FindingTracker

TEXT = b"a" * 100


@dataclass
class LettersStudy(Study):
    """Counts the tokens of a run of one letter."""

    run: RunState
    tokens: dict[tuple[str, str], int] = field(default_factory=dict)

    def step(self, session: Session):
        """Ask all who have loaded the vocabulary, under each comparison."""
        self.run.emit(Phase(f"counting letters on {session.vocabulary.id}"))
        for contract in session.contracts():
            answers = session.pool.ask(contract, Inputs.of([TEXT])).wait()
            for name, results in answers.results.items():
                outcome = results.outcome(0)
                if isinstance(outcome, Encoded):
                    self.tokens[name, contract.mode.label] = len(outcome.ids)


present, _ = participants(["bpe.naive", "tiktoken"])
plan = Plan(
    vocabularies=vocabularies(["toy_bytes"], 0),
    participants=present,
    references=frozenset(),
    generators=[],
    checks=[],
    scaled=["toy_bytes"],
    expectations=(),
    suite=SUITES["smoke"],
    budget=Budget(),
    seed=0,
    jobs=1,
    fail_fast=False,
)
events = []
tracker = FindingTracker(events.append, lambda *_: None, (), plan.versions)
run = RunState(plan, events.append, tracker)
study = LettersStudy(run)
Sessions(run, lambda part: [study]).run(None, plan.visited)
print(study.tokens)
