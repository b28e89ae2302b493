"""Mistakes of healers that are plugged in: what ``heal`` answers."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.ways import PlainHealer
from harness.studies.selftest.program import PROGRAM

EXACT = "from impls.forced.exact import Exact"
GIVEN = "return healed.ids, healed.leftover"

toy = Mutant("heal", "toy_bytes", PlainHealer, stage="canonical", at="context = Context(")
program = Mutant("heal", "toy_bytes")

PROGRAMS = (
    (
        "healer-forces-all", "canonical",
        "The program forces all that the forced bytes encode to.",
    ),
    (
        "healer-first-sentence", "canonical",
        "The program looks at the first sentence that the grammar allows alone.",
    ),
    (
        "healer-no-leftover", "spelling",
        "The program says that nothing is left over where something is.",
    ),
    ("healer-no-field", "heal-errored", "The program has no field 'leftover' in its answer."),
)  # fmt: skip
"""Of each its name, the stage of its finding, and what is wrong."""

MUTANTS = (
    toy(
        "heals-nothing", "Forces all that the forced bytes encode to.",
        (), EXACT, "from impls.forced.heuristics import NoHealing as Exact",
    ),
    toy(
        "looks-back-one-token", "Looks back at the last token alone, where merges reach further.",
        (), EXACT, "from impls.forced.heuristics import HealedBack",
        "Exact(Tokenizer(self.vocabulary, pretokenize=mode.pretokenize))",
        "HealedBack(Tokenizer(self.vocabulary, pretokenize=mode.pretokenize), 1)",
    ),
    toy(
        "takes-one-sentence",
        "Knows the first sentence that the grammar allows, and none of the others.",
        (), "allowed = allowed and allowed[:1]; @",
    ),
    toy(
        "heals-short",
        "Heals forced bytes up to a length, and forces all tokens of longer ones.",
        (), "allowed = allowed if len(forced) < 12 else [b'']; @",
    ),
    toy(
        "loses-the-rest", "Says that nothing is left over where something is.",
        (), GIVEN, "return healed.ids, b''", stage="spelling",
    ),
    toy(
        "leaves-the-beginning",
        "Leaves the beginning of the forced bytes over in place of their end.",
        (), GIVEN, "return healed.ids, forced[: len(healed.leftover)]", stage="leftover",
    ),
    toy(
        "heal-raises", "Has no answer where the grammar allows anything.",
        (), "allowed = [*allowed]; @", stage="heal-errored",
    ),
    *(
        program("", summary, wrong=f"{PROGRAM} {kind}", called=kind, stage=stage)
        for kind, stage, summary in PROGRAMS
    ),
)  # fmt: skip
