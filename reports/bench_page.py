"""``bench.html``, and what the terminal shows of it: speeds in tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.events.timing import THREADS
from reports.bench import (
    KINDS,
    MEANINGS,
    tables,
)
from reports.bench_openings import opening_sections
from reports.bench_ratio import LEAST_ROUNDS
from reports.blocks import (
    COLOURS,
    SIZES,
    Axis,
    Banner,
    Cell,
    Code,
    Column,
    Facts,
    Figure,
    Group,
    Items,
    Page,
    Paragraph,
    Plot,
    Row,
    Section,
    Series,
    Span,
    Table,
    numbers,
)
from reports.blocks.html import render
from reports.blocks.units import rate, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.bench import BenchRecord, BenchTable, Field, Line
    from reports.blocks import Block, Inline

MOST_SIZES = 4
"""Sizes that a terminal has room for, the largest; a page has all."""

TONES = {"fresh": 0, "warm": 1, "cold": 4}
"""The colour of each kind of call."""

HOW = (
    "Each implementation in a process of its own, with one thread where nothing else is said; "
    "rounds take all of them in turn. The clock is the CPU time of the process, and that on the "
    "wall for several threads; it is read inside the process around the encoding calls and nothing "
    "else."
)


def files(record: BenchRecord) -> list[tuple[str, str]]:
    """``bench.json`` and ``bench.html``, by their names."""
    return [("bench.json", record.to_json()), ("bench.html", render(page(record)))]


def page(record: BenchRecord) -> Page:
    """``bench.html``."""
    made = tables(record)
    names = sorted({line.name for table in made for line in table.lines})
    colours = {name: place for place, name in enumerate(names)}  # the same in each plot
    blocks: list[Block] = [
        Banner(
            "How fast tokenizers encode",
            "≡" if record.complete else "!",
            "neutral" if record.complete else "incomplete",
            leader(made) if made or not record.openings else None,
            "" if record.complete else "Interrupted: what had been measured by then.",
        ),
        Paragraph(HOW, "intro", page=True),
        Facts(list(MEANINGS.items()), "kinds"),
        *(_section(number, table, colours) for number, table in enumerate(made)),
        *opening_sections(record.openings),
        _measurement(record),
    ]
    return Page("tokgate: speed", "speed", blocks, skip="tables")


def _section(number: int, table: BenchTable, colours: dict[str, int]) -> Section:
    return Section(
        table.text,
        [
            Paragraph(_caption(table), "quiet"),
            Group(list(_figures(table, colours)), "figures"),
            _grid(table),
            Items(table.notes, "remarks"),
        ],
        f"table-{number}",
        tags=(table.tag, table.vocabulary),
        nav=f"{table.text}, {table.mode}",
    )


def leader(made: Sequence[BenchTable]) -> str:
    """Who is the fastest in the first table, of those whose answers are right, in a sentence."""
    for table in made:
        for line in table.lines:
            speed = line.fields[-1].speeds.get("fresh") if line.fields else None
            if speed is None or line.answer != "equal":
                continue
            times = ""
            if table.base not in {"", line.name} and speed.ratio is not None:
                times = f", {rate(speed.ratio)} times {table.base}"
            where = f"{table.text} ({size(line.fields[-1].size)}, {table.vocabulary})"
            return f"Fastest on {where}: {line.name} with {rate(speed.best)} MiB/s{times}."
    return "No implementation with the right answers was measured."


def _caption(table: BenchTable) -> str:
    """What was timed, in a few sentences."""
    clock = "by the clock on the wall" if table.mode == THREADS else "of CPU time, one thread"
    way = "as one piece, without pre-tokenization" if table.mode == "raw" else "pre-tokenized"
    call = "fastest documented way from its own kind of input to ids,"
    if table.batches:
        way = f"pre-tokenized, in batches of texts of {size(table.document)}"
        way += table.batches.removeprefix("batches").replace(" on", ", on", 1)
        call = "own call for many texts, or one text after another where it has none,"
    return (
        f"MiB of input a second {clock}, {way}, on {table.about}: each library's {call} the "
        f"best of all rounds. Ratios are to {table.base or 'nothing, as no base was measured'}: "
        "the median of the rounds' ratios, with its interval of 95 %, or of the best rounds where "
        f"there were fewer than {LEAST_ROUNDS}."
    )


def _grid(table: BenchTable) -> Table:
    """Speeds with their ratios. A terminal shows those of fresh text, of the largest sizes."""
    largest = table.sizes[-1:]
    places = [(bytes_, kind) for bytes_ in table.sizes for kind in KINDS[: 2 + (bytes_ in largest)]]
    columns = [Column("Implementation")]
    for bytes_, kind in places:
        other = kind != "fresh"
        # A terminal is too narrow for what threads gain beside other kinds.
        page = bytes_ not in table.sizes[-MOST_SIZES:]
        page |= other and (bytes_ not in largest or table.gains)
        columns += numbers(kind, group=size(bytes_), page=page)
        columns += numbers("×", group=size(bytes_), page=page or other)
    if table.gains:
        columns += numbers("× one thread")
    rows = []
    for line in table.lines:
        fields = {one.size: one for one in line.fields}
        cells: list[Inline | Cell] = [_name(line)]
        for bytes_, kind in places:
            cells += _speed(fields.get(bytes_), kind, page=bytes_ not in largest)
        if table.gains:
            cells.append(rate(line.gain))
        rows.append(Row(cells, "base-row" if line.name == table.base else ""))
    base = table.base or "nothing"
    caption = f"MiB/s, best of all rounds (median of them), and times as fast as {base}"
    return Table(f"Speed on {table.title}", columns, rows, caption, "speeds")


def _name(line: Line) -> Inline:
    look = "bad" if line.answer == "different" else "quiet"
    return (Span(line.name, href=line.homepage), Span(f" {line.mark}", look) if line.mark else None)


def _speed(one: Field | None, kind: str, *, page: bool) -> tuple[Cell, Cell]:
    """A speed and its ratio. page: the interval of the ratio is for a page alone."""
    speed = None if one is None else one.speeds.get(kind)
    if speed is None:
        status = one.status if one is not None and kind == "fresh" else "skipped"
        word = "–" if status in {"skipped", "measured"} else status
        return Cell(word, "quiet", hint="" if one is None else one.note), Cell()
    shown: Inline = Span(rate(speed.best), "strong")
    if kind != "cold":
        shown = (shown, Span(f" ({rate(speed.median)})", "quiet", page=True))
    ratio: Inline = rate(speed.ratio)
    sure = speed.sure
    if sure is not None and sure.low is not None and sure.high is not None:
        interval = f" {rate(sure.low)} to {rate(sure.high)}, {sure.verdict}"
        hint = f"ahead in {round(100 * sure.won)} % of {sure.rounds} rounds"
        ratio = (ratio, Span(interval, "count", hint=hint, page=page))
    return Cell(shown), Cell(ratio, "by" if (speed.ratio or 0) > 1 else "under")


def _figures(table: BenchTable, colours: dict[str, int]) -> Iterator[Figure]:
    base = f"; the thick line is {table.base}" if table.base else ""
    sizes, compared = by_size(table, colours), ratios(table)
    if sizes is not None:
        caption = f"MiB/s of fresh text by size: the best round, and down to the slowest{base}"
        yield Figure(caption, [sizes])
    if compared is not None:
        yield Figure(
            f"Times as fast as {table.base} at {size(table.sizes[-1])}: fresh, warm, cold; "
            "the line through a dot is the interval of 95 %, or goes from the slowest round to the "
            "best where there were few rounds",
            [compared],
        )


def by_size(table: BenchTable, colours: dict[str, int]) -> Plot | None:
    """MiB/s of fresh text by size, both logarithmic; None where there is nothing.

    A line goes through the best rounds; below each point it is drawn down to the slowest one.
    """
    series = []
    for line in table.lines:
        found = [(float(one.size), one.leading) for one in line.fields]
        known = [(x, speed) for x, speed in found if speed is not None and speed.best > 0]
        place = colours.get(line.name, 0)
        if known:
            series.append(
                Series(
                    line.marked,
                    [(x, speed.best) for x, speed in known],
                    place % COLOURS,
                    dash=line.answer == "different" or place >= COLOURS,
                    wide=line.name == table.base,
                    spread=[(x, speed.slowest, speed.best) for x, speed in known],
                )
            )
    if not series or len(table.sizes) < 2:  # one size is one column of dots: ratios say more
        return None
    return Plot(f"Speed by size on {table.title}", SIZES, Axis("speed", "", 10), series, height=340)


def ratios(table: BenchTable) -> Plot | None:
    """Ratios to the base at the largest size, fresh, warm and cold, with what is sure of each."""
    rows = [(line, line.fields[-1]) for line in table.lines if line.fields]
    rows = [(line, one) for line, one in rows if any(s.ratio for s in one.speeds.values())]
    if not rows:
        return None
    series = []
    for kind in KINDS:
        points, spread = [], []
        for place, (_, one) in enumerate(rows):
            speed = one.speeds.get(kind)
            if speed is None or not speed.ratio:
                continue
            points.append((float(place), speed.ratio))
            low, high = speed.ratio * speed.slowest / speed.best, speed.ratio
            if speed.sure is not None:
                low, high = speed.sure.low or low, speed.sure.high or high
            if low > 0:
                spread.append((float(place), low, high))
        if points:
            series.append(Series(kind, points, TONES[kind], "dots", spread=spread))
    places = Axis("place", names=[line.marked for line, _ in rows])
    label = f"Ratios to {table.base} on {table.title}"
    return Plot(label, places, Axis("ratio", "", 10), series, rule=1.0, height=340)


def _measurement(record: BenchRecord) -> Section:
    """What decided it, and the command that repeats it."""
    blocks: list[Block] = [
        Paragraph(f"{one.implementation} cannot run {one.vocabulary}: {one.message}", "bad")
        for one in record.failures
    ]
    if (started := record.started) is not None:
        facts: list[tuple[str, Inline]] = [
            ("CPU", started.cpu),
            ("Machine", started.machine),
            *([("Confinement", started.confinement)] if started.confinement else []),
            ("Started", started.time),
            ("Seed", str(started.seed)),
        ]
        facts += [
            ("Vocabulary", (f"{v.id}, {v.tokens:,} ids, ", Span(v.fingerprint[:12], "code")))
            for v in record.vocabularies
        ]
        if record.finished is not None:
            facts.append(("Took", f"{record.finished.seconds:.0f} s"))
        blocks += [
            Code(started.command, "the command that repeats this measurement"),
            Facts(facts),
            Table(
                "Versions", ("What", "Version"), list(started.versions.items()), "Versions",
                "versions",
            ),
        ]  # fmt: skip
    return Section("This measurement", blocks, "run", page=True)
