"""Blocks: each renderer shows all of them, and nothing of what is put in breaks out."""

import io
import re

from harness.checks.base import Severity
from harness.cli.display import Display
from reports.blocks import (
    Aligned,
    Axis,
    Banner,
    Cell,
    Code,
    Details,
    Facts,
    Figure,
    Filters,
    Group,
    Heading,
    Items,
    Page,
    Paragraph,
    Plot,
    Row,
    Section,
    Series,
    Span,
    Table,
    Token,
    Tokens,
    html,
    markdown,
)
from tests.properties.reports.test_html import Page as Parsed

NASTY = "<b>|`*\u202e\x1b[31m</script>"
VISIBLE = r"<b>|`*\u202e\x1b[31m</script>"
PLOT = Plot("of a plot", Axis("size"), Axis("time"), [Series(NASTY, [(1.0, 2.0)])])
TABLE = Table(
    "a table",
    "Name | Speed / Fast: | Speed / Slow: | (Wide)",
    [
        [NASTY, 1234, Cell(5, "bad", sort=-1), "on the page"],
        Row([("a", Span("b", "quiet")), None, 7, Span("c", href="https://c.example")], "base"),
    ],
    caption="What it says",
)
BLOCKS = [
    Banner("All is well", "because", "pass", [Items(["one", NASTY])], "a stamp"),
    Section(
        "A section", anchor="a", tags=["tag"],
        blocks=[
            Heading("A heading"), Paragraph(("Said of ", Span(NASTY, "strong"), " so.")),
            Paragraph("where to click", page=True), TABLE,
            Facts([("Seed", 7)]), Code("tokgate run", "the command"), Code(NASTY, style="log"),
            Tokens([Token("ab", ["17"], "first"), Token("… 3 more", state="rest")]),
            Aligned([("forced", [Token("ab", ["1"], "first", 2)])], "aligned"),
            Figure("a caption", [PLOT], "plot-1"), Group([Paragraph("inside")], "plots"),
            Details("folded", [Paragraph("in the fold")]),
            Details(NASTY, [Paragraph("a body")], "card fail", anchor="f-1", meta=["seen once"],
                    preview="before", data={"state": NASTY}),
            Paragraph(Span("opens", "cell", "#a")), PLOT,
        ],
    ),
    Section("More", [Filters([("state", "State", ["a", "b"])])], "more", nav=""),
]  # fmt: skip


def shown(*blocks):
    """The same blocks on a page, in Markdown and on a terminal."""
    printed = io.StringIO()
    Display(width=100, file=printed).show(blocks)
    page = html.render(Page("title", "brand", blocks))
    return page, markdown.render(blocks), printed.getvalue()


def test_nothing_breaks_out_of_any_block():
    """What each renderer says of them is in the golden files."""
    page, text, printed = shown(*BLOCKS)
    parsed = Parsed(page)
    said = "".join(parsed.text)
    assert not {"\u202e", "\x1b"} & {*said, *text, *printed}
    assert (parsed.unbalanced, parsed.stack, "<b>|" in page) == ([], [], False)
    assert said.count(VISIBLE) == 7
    links = [one["href"] for one in parsed.every("a")][1:]
    assert links == ["#a", "https://c.example", "#a"]
    assert parsed.every("td")[1]["data-sort"] == "-1"
    assert ("uPlot" in page, "uPlot" in shown(*BLOCKS[2:])[0]) == (True, False)
    assert {row.count("|") for row in text.splitlines() if row.startswith("|")} == {4}
    assert "<" not in re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)  # spans, and fenced lines


def test_a_link_is_clickable_only_where_it_is_harmless():
    for good in ("findings/f-1/repro.py#a:b", "HTTPS://a.example"):
        assert html.link(good) == good
    for bad in ("javascript:alert(1)", "data:x", "//x", "a\u202eb", ""):
        assert html.link(bad) == ""
        assert markdown.inline(Span("a", href=bad)) == "a"
    assert markdown.inline(("see ", Span("a", href="b.html"))) == "see [a](b.html)"


def test_what_is_left_out_is_said_by_every_renderer():
    table = Table("t", "Head | (Other)", [["first", "second"], ["third", "x"], ["x", "x"]], most=1)
    numbers = Items([f"item {number}." for number in range(60)])
    for one in shown(table, numbers, Table("t", "Head", [], empty="nobody came")):
        assert "first" in one and "third" not in one
        assert "2 more are not shown here." in one
        assert "item 49." in one and "item 50." not in one and "and 10 more" in one
        assert "nobody came" in one
    assert not any("A column" in one for one in shown(Table("t", "A column", [])))
    for told, there in zip(shown(table, Section("s", [], "a", page=True)), (1, 0, 0), strict=True):
        assert ("second" in told, ">s<" in told) == (there, there)


def test_a_terminal_ends_with_the_verdict_and_words_of_an_enumeration_are_text():
    told = shown(Banner("the verdict"), Paragraph(Severity.CRASH))
    assert all("crash" in one for one in told)
    assert told[2].index("crash") < told[2].index("the verdict")
