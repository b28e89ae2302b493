"""Whole plug-ins that the gate must not pass: each has a fault that a gate may overlook.

They are run by ``tokgate run`` beside the references (:mod:`harness.studies.selftest.gate`): what
matters is the verdict, whatever the checks found.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.studies.selftest.mutant import REGISTERED, Mutant, kebab
from harness.studies.selftest.mutants import gate_plugins

ON = "toy_bytes"
CHECK = "gate"
"""The name under which these are caught: the verdict itself."""

FILE = Path(gate_plugins.__file__).resolve()
PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.gate_programs --kind"

PLUG_INS = {
    "AnswersNothing": "Raises Unsupported for every input: nothing was compared.",
    "WrongOnce": "Sixty answers are wrong, and Unsupported when asked again: they were wrong.",
    "LacksServices": "Claims services that its encoder lacks: users will call them.",
    "DeclinesServices": "Claims services, and raises Unsupported for each: users will call them.",
    "MasksContractions": "Wrong on contractions, beside a difference that is expected.",
    "MasksSwappedMerges": "Swaps two merges, beside a difference that is expected.",
    "CubicOnRuns": "Slow on runs of one byte, where growth is measured on prose alone.",
    "StreamsWrong": 'Takes text only, and streams "WRONG" for each id.',
}
"""Classes of :mod:`.gate_plugins`: what is wrong, and why it matters."""

PROGRAMS = {
    "every-fourth": "Leaves out a result of every fourth batch: a breach of the protocol.",
    "whole-batch": "Rejects a whole batch because of one invalid input: the others are valid.",
    "false-times": "Says of each input that it took a microsecond: its growth is seen by it.",
    "claims-all": "Claims operations, and answers unsupported to each: users will call them.",
}
"""Kinds of :mod:`harness.studies.selftest.gate_programs`, likewise."""

EXPECTED = """
[[expected]]
bucket = "equivalence/bpe/*/ids/*/gate.*"
vocabulary = "toy_bytes"
examples = ["\u2581"]
implementations = {}
reason = "encodes this character byte by byte"
"""
"""As ``tokgate expect`` used to write it: all kinds of input, one example."""


def plant(name: str, summary: str, spec: str, control: str, expect: str = "") -> None:
    """Declare a plug-in a mutant of the gate."""
    REGISTERED[name] = Mutant(
        name=name,
        family="gate",
        summary=summary,
        spec=spec,
        vocabulary=ON,
        mode="raw",
        check=CHECK,
        control=control,
        expect=expect,
    )


for _class, _summary in PLUG_INS.items():
    _name, _spec = f"gate.{kebab(_class)}", f"{FILE}:{_class}"
    if _class.startswith("Masks"):
        plant(_name, _summary, _spec, f"{FILE}:UnmergedOdd", EXPECTED)
    else:
        plant(_name, _summary, _spec, f"{FILE}:Right")
for _kind, _summary in PROGRAMS.items():
    _right = "true-times" if _kind == "false-times" else "right"
    plant(f"gate.{_kind}", _summary, f"{PROGRAM} {_kind}", f"{PROGRAM} {_right}")
