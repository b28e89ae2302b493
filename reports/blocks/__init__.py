"""What reports are made of. A study gives sections of blocks, and three renderers show them.

Blocks say what is shown, and nothing of how: :mod:`reports.html` makes a page of them,
:mod:`reports.markdown` Markdown, :mod:`reports.terminal` what is printed. None of the three knows
of any study. A page has room for everything; Markdown and a terminal show what stands open: they
leave out plots, closed :class:`Details`, and whatever is marked ``page``.

Text is put in as it came, from whomever: each renderer makes it visible and harmless. A style is a
word of the style sheet (``templates/report.css``), of which the other renderers know a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, dataclass_transform

Unit = Literal["size", "time", "count", "speed", "ratio", "number", "place"]
"""What numbers of an axis mean, and so how they are written; a place has a name instead."""

Tone = int | Literal["accent", "text", "quiet"]
"""The colour of a line: one of the style sheet's numbered ones, of which those come again, dashed,
that are beyond them; or by its part."""

ICONS = {"pass": "✓", "fail": "✗", "neutral": "≡", "incomplete": "!", "not-examined": "?"}
"""What is shown for each tone of a banner."""

MOST_ROWS = 300
"""Rows of a table; the files of data have all."""

MOST_ENTRIES = 50
"""Entries of a list."""

Point = tuple[float, float]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Block:
    """What a report is made of, and its parts: each class below is frozen data."""

    def __init_subclass__(cls) -> None:
        """Make the class what :func:`dataclasses.dataclass` makes of one."""
        dataclass(frozen=True)(cls)


class Span(Block):
    """A piece of text that looks otherwise than what is around it.

    style: ``code``, ``quiet``, ``strong``, ``bad``, ``badge expected``, ``tally linear``, and so
    on. href: where it leads. hint: what is told to whoever points at it. page: on a page alone.
    """

    text: Inline
    style: str = ""
    href: str = ""
    hint: str = ""
    page: bool = False


Inline = str | int | Span | tuple["Inline", ...] | None
"""Text. A number is written with its thousands apart; a tuple is one piece behind the other."""


class Code(Block):
    """What is to be copied: a command, an input, an entry of a file.

    what: it, in words, for the button that copies it; none where that is empty. style: ``command``,
    ``literal`` (an input), ``expect`` (several lines as they are), ``issue`` (the same, folded on a
    page) or ``log`` (a long text).
    """

    text: str
    what: str = ""
    style: str = "command"


class Paragraph(Block):
    """A sentence or some; nothing is shown of one without text.

    style: ``quiet``, ``empty`` (instead of a table), ``bad``, ``legend``.
    """

    text: Inline
    style: str = ""
    page: bool = False


class Heading(Block):
    """A heading within a section; level 3 or 4. tone: of the banner that it is of, if any."""

    text: Inline
    level: int = 3
    tone: str = ""


class Items(Block):
    """A list. style: ``plain`` (without dots), ``quiet``, ``remarks``."""

    entries: Sequence[Inline]
    style: str = "plain"

    @property
    def shown(self) -> list[Inline]:
        """The first :data:`MOST_ENTRIES`, and how many more there are."""
        left = len(self.entries) - MOST_ENTRIES
        return [*self.entries[:MOST_ENTRIES], *[f"and {left:,} more"] * (left > 0)]


class Facts(Block):
    """Names with their values. style: ``facts``, ``numbers`` (large), ``kinds`` (one a line)."""

    pairs: Sequence[tuple[str, Inline]]
    style: str = "facts"


class Column(Block):
    """A column of a table. numeric: to the right. group: what stands above it and its like.

    upright: written upwards on a page, where columns are narrow. page: on a page alone.
    """

    name: Inline
    numeric: bool = False
    group: str = ""
    upright: bool = False
    page: bool = False


def heads(line: str) -> list[Column]:
    """Columns as the head of a table in Markdown has them: ``Library | Cases: | Cost / Time:``.

    A colon at its end makes a column one of numbers, ``Cost /`` stands above it and its like, and
    what is in brackets is on a page alone.
    """
    made = []
    for told in line.split(" | "):
        group, _, name = told.strip("():").rpartition(" / ")
        made.append(Column(name, ":" in told, group, page=told.startswith("(")))
    return made


class Cell(Block):
    """A cell that is more than its text. sort: by which its column is sorted, if not by the text.

    blocks: behind the text. span: columns that it takes.
    """

    text: Inline = None
    style: str = ""
    sort: float | str | None = None
    blocks: Sequence[Block] = ()
    span: int = 1
    hint: str = ""


Cells = list[Inline | Cell]
"""The cells of a row."""


class Row(Block):
    """A row that looks otherwise, or belongs to the element with the id ``of``."""

    cells: Sequence[Inline | Cell]
    style: str = ""
    of: str = ""


class Table(Block):
    """A table, which a page lets readers sort. columns: a line is read by :func:`heads`.

    label: what it is, for who cannot see it. caption: the same in more words, above it. header: the
    place of the column that names a row. style: ``dense``, ``matrix`` and so on. empty: what is
    said where there is no row; without it, nothing is shown. most: rows that are shown.
    """

    label: str
    columns: str | Sequence[Column]
    rows: Sequence[Sequence[Inline | Cell] | Row]
    caption: Inline = None
    style: str = ""
    header: int = 0
    empty: Inline = None
    most: int = MOST_ROWS

    @property
    def heads(self) -> Sequence[Column]:
        """The columns."""
        return heads(self.columns) if isinstance(self.columns, str) else self.columns

    @property
    def lines(self) -> Iterator[tuple[Row, list[Cell]]]:
        """The rows that are shown, each with cells alone."""
        for one in self.rows[: self.most]:
            row = one if isinstance(one, Row) else Row(one)
            yield row, [cell if isinstance(cell, Cell) else Cell(cell) for cell in row.cells]

    @property
    def more(self) -> str:
        """How many rows are not shown; nothing where all are."""
        left = len(self.rows) - self.most
        return f"{left:,} more are not shown here." if left > 0 else ""


class Token(Block):
    """A token, or another short thing among its like. notes: below it, such as its id.

    state: ``first`` (of the differences), ``other``, ``gap``, ``rest`` (what is left out),
    ``invalid`` or nothing. span: columns of an alignment that it takes.
    """

    surface: str
    notes: Sequence[str] = ()
    state: str = ""
    span: int = 1


class Tokens(Block):
    """Tokens side by side. style: ``chips``, or ``points`` for characters with their names."""

    tokens: Sequence[Token]
    label: str = ""
    style: str = "chips"


class Aligned(Block):
    """Rows of tokens, each over the bytes that it spells. rows: names and tokens."""

    rows: Sequence[tuple[str, Sequence[Token]]]
    label: str


class Axis(Block):
    """One axis. log: its base, or 0 for an even axis. names: of the places 0, 1, 2 and so on."""

    unit: Unit
    label: str = ""
    log: int = 0
    names: Sequence[str] = ()


SIZES = Axis("size", "input", 2)
"""The axis of sizes of inputs."""


class Series(Block):
    """A line, or dots. spread: (x, least, greatest) of points whose range is known."""

    name: str
    points: Sequence[Point]
    tone: Tone = "accent"
    style: Literal["line", "dots", "steps", "thin"] = "line"
    dash: bool = False
    wide: bool = False
    spread: Sequence[tuple[float, float, float]] = ()


class Plot(Block):
    """What is drawn. label: for who cannot see it, and above the table of its values.

    marks: (x, class of the style sheet), lines from bottom to top. rule: a value that a line across
    stands for.
    """

    label: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    marks: Sequence[tuple[float, str]] = ()
    rule: float | None = None
    height: int = 280


class Group(Block):
    """Blocks that belong together. style: ``plots``, ``beside``, ``figure`` and so on."""

    blocks: Sequence[Block]
    style: str = ""
    page: bool = False


class Figure(Block):
    """A plot with a caption above it, and what else belongs to it."""

    caption: Inline
    blocks: Sequence[Block]
    anchor: str = ""


class Details(Block):
    """Blocks that are folded until they are asked for.

    style: ``inner``, or ``card`` with a state, whose title is a heading. meta: a line below the
    title. preview: what is seen of it while it is folded. data: what filters go by.
    """

    title: Inline
    blocks: Sequence[Block]
    style: str = "inner"
    open: bool = False
    anchor: str = ""
    meta: Sequence[Inline] = ()
    preview: Inline = None
    data: Mapping[str, str] = field(default_factory=dict)


class Filters(Block):
    """What narrows the cards of a page: a text, and choices as (key, label, values)."""

    choices: Sequence[tuple[str, str, Sequence[str]]] = ()


class Section(Block):
    """A part of a report with a heading. anchor: its id; tags: small words beside the heading.

    beside: to the right of the heading. nav: its name among the links at the top of the page, the
    title where it is None, and no link where it is empty. page: on a page alone.
    """

    title: Inline
    blocks: Sequence[Block]
    anchor: str
    tags: Sequence[str] = ()
    beside: Sequence[Block] = ()
    nav: str | None = None
    style: str = ""
    level: int = 2
    page: bool = False


class Banner(Block):
    """What a page says first. tone: a key of :data:`ICONS`.

    because: the sentence below the title. stamp: a warning about the whole, which is incomplete.
    """

    title: str
    because: Inline = None
    tone: str = "neutral"
    blocks: Sequence[Block] = ()
    stamp: str = ""

    @property
    def look(self) -> str:
        """The tone in which it is shown."""
        return "incomplete" if self.stamp else self.tone

    @property
    def icon(self) -> str:
        """The sign before the title."""
        return ICONS[self.look]


class Page(Block):
    """A page by itself. title: of the window. brand: what is beside the name of the program."""

    title: str
    brand: str
    blocks: Sequence[Block]
    skip: str = "report"


def walk(blocks: Sequence[Block]) -> Iterator[Block]:
    """All blocks, each before what is inside of it."""
    for one in blocks:
        yield one
        yield from walk(getattr(one, "blocks", ()))


def standing(
    blocks: Iterable[Block], most: int = MOST_ROWS
) -> Iterator[Code | Facts | Heading | Items | Paragraph | Table]:
    """What Markdown and a terminal show of blocks, in order, each with something in it.

    Banners, sections and groups are laid out flat; what is folded or for a page alone is left out.
    most: rows of a table.
    """
    for one in blocks:
        if getattr(one, "page", False):
            continue
        match one:
            case Banner():
                yield Heading(one.title, 1, one.look)
                said = (Paragraph(one.because), Paragraph(one.stamp, "stamp"))
                yield from standing([*said, *one.blocks], most)
            case Section():
                tags = (Span(f"  {tag}", "quiet") for tag in one.tags)
                yield Heading((one.title, *tags), one.level)
                yield from standing(one.blocks, most)
            case Group() | Details(open=True):
                yield from standing(one.blocks, most)
            case Table():
                shown = replace(one, most=min(one.most, most))
                yield from [shown] if one.rows else []
                yield from standing([Paragraph(shown.more if one.rows else one.empty)])
            case Paragraph(text=None | "") | Items(entries=[]):
                pass
            case Code() | Facts() | Heading() | Items() | Paragraph():
                yield one
