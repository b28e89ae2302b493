"""Blocks: each renderer shows all of them, and nothing of what is put in breaks out."""

import io
import re

from rich.console import Console

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
    terminal,
)
from tests.reports.test_html import Page as Parsed

NASTY = "<b>|`*\u202e\x1b[31m</script>"
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


def test_a_page_has_every_block_and_nothing_breaks_out():
    text = html.render(Page("title", "brand", BLOCKS))
    parsed = Parsed(text)
    assert (parsed.unbalanced, parsed.stack) == ([], [])
    said = "".join(parsed.text)
    for part in ("All is well", "a stamp", "A heading", "on the page", "in the fold", "a body"):
        assert part in said
    assert said.count(r"<b>|`*\u202e\x1b[31m</script>") == 7
    assert "<b>|" not in text
    assert all(attrs.get("scope") for attrs in parsed.every("th"))
    assert [one["href"] for one in parsed.every("a")][1:] == [
        "#a", "https://c.example", "#a",
    ]  # fmt: skip
    assert parsed.every("td")[1]["data-sort"] == "-1"
    assert "uPlot" in text
    assert "uPlot" not in html.render(Page("title", "brand", BLOCKS[2:]))


def test_a_link_is_clickable_only_where_it_is_harmless():
    assert html.link("findings/f-1/repro.py#a:b") == "findings/f-1/repro.py#a:b"
    assert html.link("HTTPS://a.example") == "HTTPS://a.example"
    for bad in ("javascript:alert(1)", "data:x", "//x", "a\u202eb", ""):
        assert html.link(bad) == ""


def test_markdown_has_what_stands_open():
    text = markdown.render(BLOCKS)
    assert text.startswith("## ❔ All is well\n\nbecause\n\na stamp\n\n- one\n")
    assert "| Name | Fast | Slow |\n| --- | ---: | ---: |" in text
    assert "| ab |  | 7 |" in text
    assert r"Said of **&#60;b&#62;" in text
    assert "### A section" in text
    assert {row.count("|") for row in text.splitlines() if row.startswith("|")} == {4}
    outside = re.sub(r"`[^`]*`", "", text)
    assert "<" not in outside
    for hidden in ("on the page", "where to click", "in the fold", "a body", "of a plot"):
        assert hidden not in text


def test_markdown_says_what_it_leaves_out():
    lines = markdown.render([Items([str(number) for number in range(60)])]).splitlines()
    assert (len(lines), lines[-1]) == (51, "- and 10 more")
    assert markdown.inline(Span("a", href="javascript:b")) == "a"
    assert markdown.inline(("see ", Span("a", href="b.html"))) == "see [a](b.html)"


def test_every_renderer_says_how_many_rows_are_left_out():
    table = Table("t", "Head", [["first"], ["second"], ["third"]], most=1)
    for one in shown(table):
        assert "first" in one and "second" not in one
        assert "2 more are not shown here." in one


def test_a_terminal_has_what_stands_open():
    told = io.StringIO()
    Display(width=100, file=told).show(BLOCKS)
    text = told.getvalue()
    assert r"Said of <b>|`*\u202e\x1b[31m</script> so." in text
    assert re.search(r"\n +Speed +\nName +Fast +Slow", text)
    assert re.search(r"1,234 +5", text)
    assert "All is well" in text
    for hidden in ("on the page", "where to click", "in the fold", "a body", "of a plot"):
        assert hidden not in text


def shown(*blocks):
    """The same blocks by each renderer."""
    console = Console(width=100, file=io.StringIO())
    with console.capture() as printed:
        console.print(*terminal.render(blocks), sep="\n")
    return [html.render(Page("", "", blocks)), markdown.render(blocks), printed.get()]


def test_a_table_without_rows_says_so_or_is_not_there():
    said = Table("t", "A column", [], empty="nobody came")
    assert all("nobody came" in one for one in shown(said))
    assert not any("A column" in one for one in shown(said, Table("t", "A column", [])))


def test_what_is_for_a_page_is_on_a_page_alone():
    table = Table("t", "Head | (Other)", [["first", "second"]])
    page, *others = shown(table, Section("third", [Paragraph("fourth")], "a", page=True))
    assert all(word in page for word in ("first", "second", "third", "fourth"))
    for one in others:
        assert "first" in one
        assert not any(word in one for word in ("second", "third", "fourth"))


def test_a_terminal_ends_with_the_verdict():
    *_, printed = shown(Banner("the verdict"), Paragraph("before"))
    assert printed.index("before") < printed.index("the verdict")


def test_words_of_an_enumeration_are_text():
    assert all("crash" in one for one in shown(Paragraph(Severity.CRASH)))
