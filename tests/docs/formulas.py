"""``python -m tests.docs.formulas`` writes what docs say of each check and of costs anew.

docs/formulas.md is made of the docstrings of the checks and of the constants of growth, the table
in docs/checks.md of the checks' declarations.
"""

import inspect

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

What each check holds, as its source says it; `python -m tests.docs.formulas` writes this page.
What the checks are for is told in [what is checked](checks.md), and how to add one in
[its page](contributing/check.md). x is any input as bytes, ids are token ids, |x| is a length.

| check | formula | asked of |
|---|---|---|
"""


PROOFS = ", ".join(
    f"{strength:g} after {rounds} rounds, of which the last {agreeing} agree"
    for strength, rounds, agreeing in growth.PROOFS
)

GROWTH = """
## Growth of costs

`harness/verdict/exponents.py` judges the cost c(n) of a call on n bytes, in one cell: one
implementation on one family. c(n) is the least of all rounds, in time of the processor, less what a
call costs by itself; each call gets a text that its process has not had.
d(m, n) = (c(n) / n) / (c(m) / m) * log m / log n is how many times dearer a byte gets from m to n
bytes than under n log n.

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
        f"The largest sizes, a range of {exponents.RANGE}, all sizes, and each range of "
        f"{exponents.WIDE} and more that ends at the largest size and of which every two doublings "
        f"have an exponent above {exponents.STEADY:g}. Left out are sizes at "
        "which a call's own cost is half and more, and first sizes whose doubling is steeper than "
        f"all later ones by more than {exponents.APART:g}.",
        "",
    ),
    (
        "linear",
        f"The interval of the largest sizes is below {exponents.THRESHOLD}; or the costs have "
        f"steps only, as between caches: d <= {exponents.HIERARCHY:g}. Not where the medians of "
        "the calls are superlinear: then it keeps answers.",
        "",
    ),
    (
        "strength",
        f"d / ({exponents.ACCUSED} noise) in a window whose whole interval is above "
        f"{exponents.THRESHOLD}; or d / ({exponents.SOARING:g} noise) where the last two doublings "
        f"have exponents above {exponents.STILL}. Of steps, which are counted and not "
        f"timed, {exponents.ACCUSED_EXACTLY} stands for {exponents.ACCUSED}, and noise is 1.",
        "",
    ),
    (
        "noise",
        "How many times dearer a byte gets of a reference on inputs of the same sizes in the same "
        "rounds, over the largest sizes or all, from 1 to "
        f"{exponents.MOST_NOISE:g}.",
        "",
    ),
    (
        "superlinear",
        f"A strength of {PROOFS}.",
        "simulated: `python -m tests.doubles.growth_cells`",
    ),
    (
        "next size",
        f"2 n; but n + log {sizes.STEP_FACTOR:g} / r, with r = log(c(n) / c(m)) / (n - m), where "
        f"the last doubling multiplied the cost by more than {sizes.STEEP:g}.",
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

What is held of costs other than time for a byte, by the functions that judge it; the page on the
gate says [who is held to it](gate.md#costs-besides-time).

| cost | formula | how it is decided |
|---|---|---|
"""


def cell(text):
    """One line of a table; bars that are lengths are escaped."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")


def page():
    """The whole page: a row a check, in the order in which they judge."""
    rows = []
    for name, check in CHECKS.items():
        formula, _, rest = (inspect.getdoc(check) or "").partition("\n\n")
        rows.append(f"| `{name}` | {cell(formula)} | {cell(rest)} |\n")
    growing = [f"| {what} | {formula} | {source} |\n" for what, formula, source in ROWS]
    costs = []
    for name, judged in COSTS.items():
        formula, _, rest = (inspect.getdoc(judged) or "").partition("\n\n")
        rest = rest.partition("\n\nParameters")[0]
        costs.append(f"| {name} | {cell(formula)} | {cell(rest)} |\n")
    return BEGINNING + "".join(rows) + GROWTH + "".join(growing) + BETWEEN + "".join(costs)


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
