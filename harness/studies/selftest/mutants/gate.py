"""Whole plug-ins that the gate must not pass: each has a fault that a gate may overlook.

They are run by ``tokgate run`` beside the references (:mod:`harness.studies.selftest.gate`): what
matters is the verdict, whatever the checks found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.mutants import gate_plugins
from harness.studies.selftest.mutants.processes import PROGRAM

FILE = Path(gate_plugins.__file__).resolve()

plug_in = Mutant("gate", "toy_bytes", f"{FILE}:Right")
program = Mutant("gate", "toy_bytes", f"{PROGRAM} right")
# As ``tokgate expect`` used to write it: all kinds of input, one example.
masked = Mutant(
    "gate", "toy_bytes", f"{FILE}:UnmergedOdd", expect="""
[[expected]]
bucket = "equivalence/bpe/*/ids/*/gate.*"
vocabulary = "toy_bytes"
examples = ["\u2581"]
implementations = {}
reason = "encodes this character byte by byte"
""",
)  # fmt: skip

ROWS = (
    (plug_in, "AnswersNothing", "Raises Unsupported for every input: nothing was compared."),
    (
        plug_in, "WrongOnce",
        "Sixty answers are wrong, and Unsupported when asked again: they were wrong.",
    ),
    (plug_in, "LacksServices", "Claims services that its encoder lacks: users will call them."),
    (
        plug_in, "DeclinesServices",
        "Claims services, and raises Unsupported for each: users will call them.",
    ),
    (masked, "MasksContractions", "Wrong on contractions, beside a difference that is expected."),
    (masked, "MasksSwappedMerges", "Swaps two merges, beside a difference that is expected."),
    (
        plug_in, "CubicOnRuns",
        "Slow on runs of one byte, where growth is measured on prose alone.",
    ),
    (plug_in, "StreamsWrong", 'Takes text only, and streams "WRONG" for each id.'),
    (
        program, "every-fourth",
        "Leaves out a result of every fourth batch: a breach of the protocol.",
    ),
    (
        program, "whole-batch",
        "Rejects a whole batch because of one invalid input: the others are valid.",
    ),
    (
        replace(program, base=f"{PROGRAM} true-times"), "false-times",
        "Says of each input that it took a microsecond: its growth is seen by it.",
    ),
    (
        program, "claims-all",
        "Claims operations, and answers unsupported to each: users will call them.",
    ),
)  # fmt: skip
"""What each is like, its class in :mod:`.gate_plugins` or its kind of program, what is wrong."""

MUTANTS = tuple(
    replace(
        like, summary=summary,
        wrong=f"{FILE}:{kind}" if kind[0].isupper() else f"{PROGRAM} {kind}",
        called=getattr(gate_plugins, kind).name if kind[0].isupper() else f"gate.{kind}",
    )
    for like, kind, summary in ROWS
)  # fmt: skip
