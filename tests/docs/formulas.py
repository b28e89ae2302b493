"""``python -m tests.docs.formulas`` writes what docs say of each check and of costs anew.

docs/formulas.md is made of the docstrings of the checks and of the constants of growth, the table
in docs/checks.md of the checks' declarations.
"""

import inspect
from pathlib import Path

from harness.checks import CHECKS, MEASURES
from harness.studies.costs.axes import measure_axis
from harness.studies.growth import cell as growth
from harness.studies.growth import sizes
from harness.verdict import exponents
from harness.verdict.leaks import judge_left
from harness.verdict.memory import judge_memory
from harness.verdict.told import judge_told
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "formulas.md"

LIST = ROOT / "docs" / "checks.md"
"""The page whose first table is that of the checks."""

BEGINNING = """# The checks as formulas

This page is made from the source by `python -m tests.docs.formulas`. The docstring of each check
in [harness/checks](../harness/checks) also says which inputs and implementations it is asked of. x
is any input as bytes, ids are token ids, |x| is a length.

| check | formula |
|---|---|
"""


PROOFS = ", ".join(
    f"{strength:g} after {rounds} rounds, of which the last {agreeing} agree"
    for strength, rounds, agreeing in growth.PROOFS
)

GROWTH = """
## Growth of costs

`harness/verdict/exponents.py` judges the cost c(n) of a call on n bytes, for one implementation on
one family. c(n) is the least CPU time of all rounds, without the cost of an empty call; each call
gets a new text. d(m, n) = (c(n) / n) / (c(m) / m) * log m / log n compares the growth of the cost
per byte from m to n bytes with that of n log n.

| what | formula | source |
|---|---|---|
"""

SOURCE = (
    "Theil (1950); Sen, JASA 63 (1968); Sievers, JASA 73 (1978); Scholz, Annals of Statistics 6 "
    "(1978)"
)

ROWS = (
    (
        "exponent",
        "The weighted median of the slopes log(c(n) / c(m)) / log(n / m) of all pairs of sizes, "
        f"each weighted by log(n / m). Its interval leaves out {exponents.TAIL:.0%} of the weight "
        "at either end.",
        SOURCE,
    ),
    (
        "windows",
        f"The largest sizes, a range of {exponents.RANGE}; all sizes; and each range of "
        f"{exponents.WIDE} or more that ends at the largest size, if every two doublings in it "
        f"have an exponent above {exponents.STEADY:g}.",
        "",
    ),
    (
        "linear",
        f"The interval of the largest sizes is below {exponents.THRESHOLD}; or the costs only have "
        f"steps, as between caches: d <= {exponents.HIERARCHY:g}. Not if the medians of the "
        "calls are superlinear, because then the implementation caches answers.",
        "",
    ),
    (
        "strength",
        f"d / ({exponents.ACCUSED} noise) in a window whose whole interval is above "
        f"{exponents.THRESHOLD}; or d / ({exponents.SOARING:g} noise) where the last two doublings "
        f"have exponents above {exponents.STILL}. For counted steps, {exponents.ACCUSED_EXACTLY} "
        f"replaces {exponents.ACCUSED}, and noise is 1.",
        "",
    ),
    (
        "noise",
        "The growth of the cost per byte of a reference on inputs of the same sizes in the same "
        f"rounds, over the largest sizes or all, between 1 and {exponents.MOST_NOISE:g}.",
        "",
    ),
    (
        "superlinear",
        f"A strength of {PROOFS}.",
        "simulated: `python -m tests.doubles.growth_cells`",
    ),
    (
        "next size",
        f"2 n; or n + log {sizes.STEP_FACTOR:g} / r, with r = log(c(n) / c(m)) / (n - m), if the "
        f"last doubling multiplied the cost by more than {sizes.STEEP:g}.",
        "",
    ),
)

COSTS = {
    "memory": judge_memory,
    "what is left behind": judge_left,
    "a program's own times": judge_told,
    "other axes": measure_axis,
}
"""Costs by the functions that judge them, whose docstrings begin with the formula."""

BETWEEN = """
## Costs besides time

| cost | formula |
|---|---|
"""


def cell(text):
    """One line of a table; bars that are lengths are escaped."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")


def formula(judged):
    """The formula that begins the docstring of what judges."""
    return cell((inspect.getdoc(judged) or "").partition("\n\n")[0])


def row(name, judged):
    """A name, with a link to the source, and the formula."""
    source = inspect.getsourcefile(inspect.unwrap(judged))
    return f"| [{name}](../{Path(source).relative_to(ROOT)}) | {formula(judged)} |\n"


def page():
    """The whole page: a row a check, in the order in which they judge."""
    checks = "".join(f"| `{name}` | {formula(type(check))} |\n" for name, check in CHECKS.items())
    growing = "".join(f"| {what} | {formula} | {source} |\n" for what, formula, source in ROWS)
    costs = "".join(row(name, judged) for name, judged in COSTS.items())
    return BEGINNING + checks + GROWTH + growing + BETWEEN + costs


def listed():
    """The page of the checks with its table as they declare it; the rest stays as it is."""
    before, head, rest = LIST.read_text("utf-8").partition("|---|---|---|\n")
    after = rest.partition("\n\n")[2]
    rows = [
        f"| `{name}` | {cell(one.summary)} | {one.severity} |\n" for name, one in CHECKS.items()
    ]
    rows += [f"| `{name}` | {cell(summary)} | |\n" for name, summary in MEASURES.items()]
    return f"{before}{head}{''.join(rows)}\n{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    LIST.write_text(listed(), "utf-8")
