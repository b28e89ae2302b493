"""report.html: nothing breaks out of it, and its structure is accessible."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from corpora.plain_text import shows
from reports import findings, html, record
from reports.record import MAX_CARDS
from tests.breadth import thorough_from
from tests.reports import records
from tests.reports.records import SHAPES

VOID = {"meta", "input"}


class Page(HTMLParser):
    """What a page consists of: elements with attributes, names of buttons, visible text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.buttons: list[str] = []
        self.tables: list[bool] = []
        self.text: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "button":
            self.buttons.append("")
        if tag == "table":
            self.tables.append(False)
        if tag == "caption":
            self.tables[-1] = True
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack[-1] != tag:
            self.unbalanced.append(tag)
        else:
            self.stack.pop()

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] in {"style", "script"}:
            return
        self.text.append(data)
        if "button" in self.stack:
            self.buttons[-1] += data

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def pages() -> dict[str, tuple[str, Page]]:
    made = {name: html.render(shape()) for name, shape in SHAPES.items()}
    return {name: (text, Page(text)) for name, text in made.items()}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_is_well_formed_and_accessible(
    shape: str, pages: dict[str, tuple[str, Page]]
) -> None:
    text, page = pages[shape]
    assert (page.unbalanced, page.stack) == ([], [])
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    assert all(name.strip() for name in page.buttons)
    assert all(page.tables)
    assert all(attrs.get("scope") for attrs in page.every("th"))
    assert [tag for tag, _ in page.elements].count("main") == 1
    assert [tag for tag, _ in page.elements].count("h1") == 1
    assert page.every("html") == [{"lang": "en"}]
    for attrs in page.every("a"):
        target = attrs["href"] or ""
        assert not target.startswith("#") or target[1:] in ids, target
    for _, attrs in page.elements:
        for key in ("aria-labelledby", "popovertarget", "for"):
            assert attrs.get(key) is None or attrs[key] in ids
    assert len(text.encode()) < 5_000_000


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_loaded_and_nothing_breaks_out(
    shape: str, pages: dict[str, tuple[str, Page]]
) -> None:
    _, page = pages[shape]
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "link", "iframe", "object", "embed", "base", "form"}
    programs = [attrs for attrs in page.every("script") if attrs != {"type": "application/json"}]
    assert len(programs) == 1
    assert len(page.every("style")) == 1
    for _, attrs in page.elements:
        assert not attrs.keys() & {"src", "srcset", "style"}
        assert not any(key.startswith("on") for key in attrs)
    for attrs in page.every("a"):
        assert re.match(r"#|https?://|findings/", attrs["href"] or "")
    (policy,) = [a["content"] for a in page.every("meta") if "http-equiv" in a]
    assert (policy or "").startswith("default-src 'none';")


@pytest.mark.parametrize("shape", SHAPES)
def test_no_character_hides_or_reorders(shape: str, pages: dict[str, tuple[str, Page]]) -> None:
    _, page = pages[shape]
    said = "".join(page.text) + "".join(
        value or "" for _, attrs in page.elements for value in attrs.values()
    )
    assert {char for char in said if not shows(char)} <= {"\n", "\t"}


def test_inputs_outcomes_and_reproducers_are_there(pages: dict[str, tuple[str, Page]]) -> None:
    said = "".join(pages["nasty"][1].text)
    assert r"'x\u202etxt.exe\u2066 \u05d0\u05d1 1'" in said
    assert "<script>alert(1)</script>" in said
    assert "'<' + 'é' * 500000 + '>'" in said
    assert "RIGHT-TO-LEFT OVERRIDE" in said
    assert "python findings/f-bidi/repro.py" in said
    assert "thread 'main' panicked" in said
    assert said.count("first difference") >= 2 * len(records.NASTY)


def test_the_stage_at_which_pipelines_part_is_marked(pages: dict[str, tuple[str, Page]]) -> None:
    said = "".join(pages["nasty"][1].text)
    assert said.count("they part here") >= len(records.NASTY)
    assert "tokenizers as bpe.heap" in said


def test_the_first_difference_is_marked_where_an_output_ends(
    pages: dict[str, tuple[str, Page]],
) -> None:
    text, _ = pages["three"]
    assert re.search(r'<li class="end first"><b dir="ltr">end</b><em>first difference', text)


def test_an_incomplete_run_says_so(pages: dict[str, tuple[str, Page]]) -> None:
    for shape in ("incomplete", "cut_off", "empty"):
        assert "INCOMPLETE" in "".join(pages[shape][1].text)
    assert "Incomplete" not in "".join(pages["clean"][1].text)


def test_sections_without_data_are_not_there(pages: dict[str, tuple[str, Page]]) -> None:
    for section in ("scaling", "forced", "trends", "texts"):
        assert f'id="{section}"' not in pages["incomplete"][0]
    assert 'id="scaling"' in pages["three"][0]
    assert 'class="plot"' in pages["three"][0]
    assert "uPlot" not in pages["incomplete"][0]


def test_many_findings_start_folded(pages: dict[str, tuple[str, Page]]) -> None:
    folded = [a for a in pages["many"][1].every("details") if "card" in (a["class"] or "")]
    assert len(folded) == 200
    assert not any("open" in card for card in folded)
    few = [a for a in pages["three"][1].every("details") if "card" in (a["class"] or "")]
    assert all("open" in card for card in few)


@pytest.mark.parametrize(
    ("number", "carded"), thorough_from(1, [(2, 2), (2000, MAX_CARDS), (200, 200)])
)
def test_a_night_of_findings_stays_small_and_readable(number: int, carded: int) -> None:
    text = html.render(records.night(number))
    page = Page(text)
    assert (page.unbalanced, page.stack) == ([], [])
    assert len(text.encode()) < 5_000_000
    details = [attrs.get("class") or "" for attrs in page.every("details")]
    assert sum(name.startswith("card ") for name in details) == carded
    said = "".join(page.text)
    assert (f"The worst {carded} are shown in full" in said) is (number > carded)
    assert ("more are not shown here" in said) is (number > findings.MAX_LINES)


def test_beyond_the_cards_the_index_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MAX_CARDS", 5)
    page = Page(html.render(records.many(15)))
    assert "The worst 5 are shown in full" in "".join(page.text)
    assert sum("data-for" in attrs for attrs in page.every("tr")) == 15
