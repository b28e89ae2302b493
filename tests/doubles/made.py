"""Events made by hand, for tests of what is made of records, and records of them."""

from harness.events import (
    BatchDone,
    ContractOpened,
    Finished,
    Found,
    Group,
    Measured,
    Started,
    VocabularyLoaded,
)

CHECKS = ["survival", "equivalence"]
WHOLE = (1000, 0, 0)
"""A thousand cases, all of them answered."""


def started(*, suite="smoke", specs=None, **named):
    """A run begins in which these were named."""
    return Started("t", 1, suite, "1m", "tokgate run", {}, "m", specs=specs or {}, named=named)


def finished(*, complete=True):
    """It failed in the end."""
    return Finished(complete, "fail", ["1 unexpected finding"], 3.5, 10, 20, 1)


def loaded(name="toy", **more):
    """A vocabulary that was given by its name."""
    made = {"format": "gguf", "source": name, **more}
    return VocabularyLoaded(
        id=name, algorithm="bpe", tokens=9, fingerprint="", path=None, problems=[], **made
    )


def opened(*names, on="toy", mode="raw", exact=None, **more):
    """These are compared with ``right``; all of them mean to give the vocabulary's ids."""
    given = {"references": ["right"], "excluded": {}, "checks": CHECKS, **more}
    exact = list(names) if exact is None else exact
    return ContractOpened(f"{on}/{mode}", "bpe", on, mode, list(names), **given, exact=exact)


def batch(on="toy", mode="raw", why="", **answers):
    """A batch in which each answered, failed on and declined so many cases, the same ones."""

    def compared(name):
        return min(answers[name][0], max(n[0] for one, n in answers.items() if one != name))

    judged = {name: compared(name) for name in answers} if len(answers) > 1 else {}
    pairs = sum(judged.values()) - max(judged.values(), default=0)
    survived = {name: a + b for name, (a, b, _) in answers.items()}
    died = {name: failed for name, (_, failed, _) in answers.items() if failed}
    return BatchDone(
        f"{on}/{mode}", "edge", 1, 9, pairs, {"survival": survived, "equivalence": judged},
        {"survival": died}, answers={name: list(one) for name, one in answers.items()},
        declined={name: why for name, (_, _, declined) in answers.items() if declined},
    )  # fmt: skip


def found(bucket="x", vocabulary="toy", **changes):
    """A difference between ``right`` and the one that is blamed: ``mine`` if nobody is named."""
    made = {
        "id": f"f-{bucket}-{vocabulary}", "check": "equivalence", "stage": "ids", "bucket": bucket,
        "contract": f"{vocabulary}/raw", "vocabulary": vocabulary, "mode": "raw",
        "culprits": ["mine"], "input_b64": "YQ==", "difference": "", "first_difference": None,
        "partition": [Group([name], "encoded") for name in ("right", "mine")], "generator": "edge",
        "seed": 1, "index": 0, "original_bytes": 1, "minimal": True, "expected": None, "link": None,
        "reproducer": None,
    }  # fmt: skip
    return Found(**{**made, **changes})


def grown(verdict="linear", exponent=1.0, **changes):
    """Growth of ``mine`` on the family ``runs``."""
    made = {
        "implementation": "mine", "vocabulary": "toy", "family": "runs", "points": [],
        "low": exponent and exponent - 0.1, "high": exponent and exponent + 0.1,
    }  # fmt: skip
    return Measured(exponent=exponent, verdict=verdict, **{**made, **changes})


def write_record(path, *events):
    """Write a record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{event.to_json()}\n" for event in events), "utf-8")
