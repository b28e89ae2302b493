"""Contracts and violations made by hand, for tests of what becomes of them."""

from corpora.vocabularies import sources
from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.participants import Participant
from harness.core.partition import Part
from impls import registry
from impls.interface import Mode, Rejected, Unsupported


def participant(name):
    """A registered implementation as a run has it."""
    implementation = registry.resolve(name)
    return Participant(name, name, implementation.about, implementation)


def contract(vocabulary, *names, mode=None):
    """These implementations on an embedded vocabulary; the first is trusted."""
    return Contract(
        vocabulary=sources.resolve(vocabulary),
        mode=mode or Mode(pretokenize=False),
        participants=tuple(participant(name) for name in names),
        references=frozenset(names[:1]),
        excluded={},
        proper=True,
    )


def given(*answers):
    """Answers made by hand, to the first questions of a check."""
    return lambda probes: answers[: len(probes)]


def encoded(terms, name, data):
    """What an implementation really does, asked in this process."""
    (one,) = [c for c in terms.participants if c.name == name]
    try:
        return Encoded(tuple(one.implementation.load(terms.vocabulary).encode(data, terms.mode)))
    except (Rejected, Unsupported):
        raise
    except BaseException as error:
        return Failed(Status.CRASHED, f"{type(error).__name__}: {error}")


def violation(check, data, *parts, stage=None):
    """Of these parts, each of one name; all but the first are to blame."""
    made = tuple(Part((name,), outcome) for name, outcome in parts)
    blamed = tuple(name for name, _ in parts[1:]) or (parts[0][0],)
    return Violation(check, 0, data, made, blamed, stage)
