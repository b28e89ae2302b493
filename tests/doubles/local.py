"""Implementations in this process, asked as workers are, and held by a check."""

import random

from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Load, packed
from harness.core.outcomes import Inputs
from harness.core.participants import Participant
from harness.workers.server import Server
from impls import registry
from impls.interface import Mode

RAW, TEXT, SPECIAL = Mode(pretokenize=False), Mode(), Mode(special="all")


OF_ANSWERS = {"equivalence", "survival", "round-trip", "offsets", "validity", "determinism"}
"""Checks with mistakes and tests of their own."""


class NoProgress:
    def compile(self, compiling, before=0):
        pass

    def set(self, index):
        pass


class Local:
    """A pool without processes."""

    def __init__(self, vocabulary, specs, mode=RAW):
        participants = []
        self.servers = {}
        for spec in specs:
            implementation = registry.resolve(spec)
            name = implementation.about.name
            participants.append(Participant(name, spec, implementation.about, implementation))
            self.servers[name] = Server(NoProgress())
            loaded = self.servers[name].answer(Load(spec, packed(vocabulary)))
            assert loaded.error is None
        self.contract = Contract(
            vocabulary, mode, tuple(participants), frozenset(), {}, proper=True
        )

    def examine(self, check, inputs):
        batch = Inputs.of(inputs)
        request = Encode(batch, self.contract.mode)
        results = {name: server.answer(request) for name, server in self.servers.items()}
        seen = Observation(self.contract, batch, results)

        def ask(probes):
            return [self.servers[p.implementation].answer(p.request) for p in probes]

        return check.judge(seen, ask)


def texts():
    rng = random.Random(3)
    words = [
        "the",
        " the",
        " tokens",
        "é",
        " ",
        "  ",
        "\n",
        "日本",
        "ing",
        "'t",
        "🙂",
        "a",
        "b",
        "1",
    ]
    words += ["12", "123", "!", "<s>"]
    made = ["".join(rng.choices(words, k=rng.randrange(9))) for _ in range(70)]
    long = [" ".join(rng.choices(words, k=60)), "".join(rng.choices(words, k=300))]
    return [text.encode() for text in ["", "a", " ", "é", *made, *long]]


OTHERS = [name for name in CHECKS if name not in OF_ANSWERS]


def found(local, inputs, checks=OTHERS):
    """By check the stages at which somebody is wrong."""
    shown = {}
    for name in checks:
        if CHECKS[name].applies(local.contract):
            for one in local.examine(CHECKS[name], inputs).violations:
                shown.setdefault(name, set()).add(one.stage)
    return shown
