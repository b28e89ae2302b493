"""report.html: nothing breaks out of it, and its structure is accessible."""

import re
from html.parser import HTMLParser

import pytest

from corpora.plain_text import printable
from reports import findings, html, record
from reports.record import MAX_CARDS
from tests.properties.reports import every_page, records
from tests.properties.reports.records import SHAPES

VOID = {"meta", "input", "link"}

EVERY = [*dict.fromkeys([*SHAPES, *every_page.NAMES])]
"""Every page, by its name."""


class Page(HTMLParser):
    """What a page consists of: elements with attributes, visible text, and what is not closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.stack = []
        self.text = []
        self.unbalanced = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if self.stack[-1:] == [tag]:
            self.stack.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        if not {"style", "script"} & {*self.stack[-1:]}:
            self.text.append(data)

    def every(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def values(self, *keys):
        """The values of attributes of these names."""
        return [attrs[key] or "" for _, attrs in self.elements for key in keys if key in attrs]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports of all shapes, and all other pages."""
    written = every_page.write(tmp_path_factory.mktemp("pages"))
    made = {name: path.read_text() for name, path in written.items()}
    made |= {name: html.render(shape()) for name, shape in SHAPES.items()}
    return {name: (text, Page(text)) for name, text in made.items()}


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_well_formed_and_accessible(name, pages):
    text, page = pages[name]
    assert (page.unbalanced, page.stack) == ([], [])
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    assert not re.search(r"<button[^>]*>\s*</button>", text)
    assert len(page.every("caption")) == len(page.every("table"))
    assert all(attrs.get("scope") for attrs in page.every("th"))
    assert [tag for tag, _ in page.elements].count("main") == 1
    assert [tag for tag, _ in page.elements].count("h1") == 1
    assert text.count('<header class="top">') == text.count('class="skip"') == 1
    assert text.count('<section class="verdict ') == (name != "site-search")
    assert page.every("html") == [{"lang": "en"}]
    local = [href[1:] for href in page.values("href") if href.startswith("#")]
    assert {*local, *page.values("aria-labelledby", "popovertarget", "for")} <= {*ids}
    assert len(text.encode()) < 5_000_000


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_loaded_and_nothing_breaks_out(name, pages):
    _, page = pages[name]
    own = {"link", "form"} if name.startswith("site-") else set()  # of the site's files
    tags = {tag for tag, _ in page.elements}
    assert not (tags - own) & {"img", "link", "iframe", "object", "embed", "base", "form"}
    programs = [attrs for attrs in page.every("script") if attrs.get("type") is None]
    (program,) = programs
    assert (program.get("src") or "").endswith("assets/site.js") if own else not program
    assert len(page.every("style")) == (not own)
    for tag, attrs in page.elements:
        assert tag == "script" or not attrs.keys() & {"src", "srcset", "style"}
        assert not any(key.startswith("on") for key in attrs)
    for attrs in page.every("a"):
        assert re.match(r"https?://|(?!\w*:|//)", attrs["href"] or "")
    (policy,) = [a["content"] for a in page.every("meta") if "http-equiv" in a]
    assert (policy or "").startswith("default-src 'none';")


@pytest.mark.parametrize("name", EVERY)
def test_no_character_hides_or_reorders(name, pages):
    _, page = pages[name]
    values = [value or "" for _, attrs in page.elements for value in attrs.values()]
    assert all(printable(one) == one for one in (*page.text, *values))


def test_nasty_inputs_are_read_as_they_are(pages):
    shown = "".join(pages["nasty"][1].text)
    for said in (
        r"'x\u202etxt.exe\u2066 \u05d0\u05d1 1'", "<script>alert(1)</script>",
        "'<' + 'é' * 500000 + '>'", "RIGHT-TO-LEFT OVERRIDE",
    ):  # fmt: skip
        assert said in shown
    assert shown.count("first difference") >= 2 * len(records.NASTY)


def test_only_who_draws_has_the_program(pages):
    texts = [pages[name][0] for name in SHAPES]
    assert all(("uPlot" in text) is ('class="plot"' in text) for text in texts)


def test_many_findings_start_folded(pages):
    folded = [a for a in pages["many"][1].every("details") if "card" in (a["class"] or "")]
    assert len(folded) == 200
    assert not any("open" in card for card in folded)
    few = [a for a in pages["three"][1].every("details") if "card" in (a["class"] or "")]
    assert all("open" in card for card in few)


@pytest.mark.thorough
def test_a_night_of_findings_stays_small():
    text = html.render(records.night(2000))
    assert len(text.encode()) < 5_000_000
    assert text.count('<details class="card ') == MAX_CARDS
    assert f"{2000 - findings.MAX_LINES:,} more are not shown here." in text


def test_beyond_the_cards_the_index_goes_on(monkeypatch):
    monkeypatch.setattr(record, "MAX_CARDS", 5)
    page = Page(html.render(records.night(15, 0)))
    assert "The worst 5 are shown in full" in "".join(page.text)
    assert sum("data-for" in attrs for attrs in page.every("tr")) == 15
