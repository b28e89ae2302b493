"""Mistakes of healers that are plugged in: what ``heal`` answers."""

from __future__ import annotations

from dataclasses import replace

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.mutants.processes import PROGRAM
from harness.studies.selftest.plain.healers import PlainHealer

toy = Mutant("heal", "toy_bytes", PlainHealer, stages=("canonical",))
program = Mutant("heal", "toy_bytes", "")

EXACT = "from impls.forced.exact import Exact"
GIVEN = "return healed.ids, healed.leftover"
BEGINNING = "context = Context("

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
        (), "frozenset(allowed)", "frozenset(allowed[:1])",
    ),
    toy(
        "heals-short",
        "Heals forced bytes up to a length, and forces all tokens of longer ones.",
        (), BEGINNING, f"allowed = allowed if len(forced) < 12 else [b'']; {BEGINNING}",
    ),
    replace(toy, stages=("spelling",))(
        "loses-the-rest", "Says that nothing is left over where something is.",
        (), GIVEN, "return healed.ids, b''",
    ),
    replace(toy, stages=("leftover",))(
        "leaves-the-beginning",
        "Leaves the beginning of the forced bytes over in place of their end.",
        (), GIVEN, "return healed.ids, forced[: len(healed.leftover)]",
    ),
    replace(toy, stages=("heal-errored",))(
        "heal-raises", "Has no answer where the grammar allows anything.",
        (), BEGINNING, f"allowed = [*allowed]; {BEGINNING}",
    ),
    *(
        replace(
            program, wrong=f"{PROGRAM} {kind}", called=kind, summary=summary, stages=(stage,)
        )
        for kind, stage, summary in (
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
            (
                "healer-no-field", "heal-errored",
                "The program has no field 'leftover' in its answer.",
            ),
        )
    ),
)  # fmt: skip
