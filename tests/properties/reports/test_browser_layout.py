"""Pages in headless Chromium: nothing sticks out, contrast, anchors, filters, sorting, axe.

Playwright drives the Chromium of the distribution; both it and axe-core are of the extra ``dev``.
"""

import shutil

import pytest

from tests.breadth import thorough_from
from tests.properties.reports import every_page

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium binary on PATH"),
    pytest.mark.thorough,  # a browser starts, and each page is laid out several times
]

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

VIEWS = {
    "wide": (1400, "light"), "phone": (420, "light"),
    "dark": (1400, "dark"), "phone-dark": (420, "dark"),
}  # fmt: skip

HANG = 300_000
"""Milliseconds that the browser may take for anything: a busy machine is slow."""

WIDE = {"nasty", "bench"}
"""Pages with a table that may scroll: many kinds of speed at many sizes, and names without end."""

STICKING_OUT = """
() => Array.from(document.querySelectorAll("body *")).filter((item) => {
  if (!item.checkVisibility() || item.closest(".sr, svg, [popover]")) { return false; }
  const style = getComputedStyle(item);
  const own = item.scrollWidth > item.clientWidth + 1 && item.clientWidth > 0
    && style.display !== "inline" && style.overflowX === "visible";
  const box = item.getBoundingClientRect();
  return own || box.right > innerWidth + 1 && !item.closest(".scroll, .expect, .log");
}).slice(0, 5).map((item) => item.outerHTML.slice(0, 200))
"""
"""Elements that are wider than their box, or than the window."""

CUT = (
    "() => Array.from(document.querySelectorAll('.scroll')).filter((box) =>"
    " box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)"
    ".map((box) => box.getAttribute('aria-label'))"
)
"""Tables that are wider than their place."""

OPEN_ALL = """() => {
  document.querySelectorAll("details").forEach((item) => { item.open = true; });
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=HANG)
        yield made
        made.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return every_page.write(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def opened(browser, written):
    """Opens a page by its name in a view, at an anchor."""
    contexts = []

    def open_page(name, view="wide", anchor=""):
        width, scheme = VIEWS[view]
        # axe is put into the page, which the page's own policy forbids.
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        contexts.append(context)
        context.set_default_timeout(HANG)
        made = context.new_page()
        made.goto(written[name].as_uri() + anchor)
        return made

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", every_page.REPORTS)
def test_nothing_is_loaded_and_nothing_complained_of(name, scheme, browser, written):
    context = browser.new_context(color_scheme=scheme)
    page, told = context.new_page(), []
    for kind in ("console", "pageerror", "request"):
        page.on(kind, lambda one: told.append(getattr(one, "url", None) or str(one)))
    page.goto(written[name].as_uri(), timeout=HANG)
    assert page.evaluate("document.documentElement.classList.contains('js')")
    for link in page.locator("a.cell").all()[:1]:
        figure = page.locator(f"[id='{str(link.get_attribute('href'))[1:]}']")
        assert figure.is_visible() and figure.locator("div.plot").count() == 1
    assert told == [written[name].as_uri()]
    context.close()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", every_page.NAMES)
def test_nothing_sticks_out_and_no_column_is_cut(name, view, opened):
    page = opened(name, view)
    assert page.evaluate(CUT) == [] or name in WIDE
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= VIEWS[view][0]
    assert page.evaluate(STICKING_OUT) == []


# What axe looks at depends on the width or on the colours, never on both: two views have each once.
@pytest.mark.parametrize("view", ["wide", "phone-dark"])
@pytest.mark.parametrize("name", [n for n in every_page.NAMES if n not in {"nasty", "clean"}])
def test_axe_finds_nothing(name, view, opened):
    page = opened(name, view)
    found = axe.Axe().run(page).response["violations"]
    told = [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found]
    assert told == []


def test_a_permanent_address_opens_its_finding(opened):
    first = opened("night")
    anchor = first.evaluate("document.querySelector('details.card:last-of-type').id")
    assert anchor.startswith("f-")
    page = opened("night", anchor=f"#{anchor}")
    card = page.locator(f"[id='{anchor}']")
    assert card.evaluate("(item) => item.open")
    assert card.locator(".body").is_visible()
    link = card.locator(".permanent a").first
    assert link.get_attribute("href") == f"#{anchor}"


@pytest.mark.parametrize(
    ("name", "choices", "items", "value"),
    [
        ("night", "select.choice", "details.card", "item.dataset[key]"),
        (
            "site-defects", "select.pick", "table.picked tbody tr",
            "[...item.cells].find((cell) => cell.dataset.label.startsWith(key)).textContent",
        ),
    ],
)  # fmt: skip
def test_filters_leave_what_fits_them(name, choices, items, value, opened):
    page = opened(name)
    filters, shown = page.locator(choices).all(), page.locator(items)
    assert len(filters) >= 2
    for one in filters:
        wanted = one.locator("option").nth(1).get_attribute("value")
        one.select_option(wanted)
        left = shown.evaluate_all(
            "(items, key) => items.filter((item) => item.checkVisibility())"
            f".map((item) => {value})",
            one.get_attribute("name"),
        )
        assert 0 < len(left) < shown.count()
        assert all(wanted in text for text in left)
        one.select_option("")


def test_tables_sort_by_keyboard(opened):
    page = opened("three")
    button = page.locator("table.standings button.sort", has_text="Cases judged")
    button.focus()
    for direction in ("ascending", "descending"):
        page.keyboard.press("Enter")
        assert button.locator("xpath=..").get_attribute("aria-sort") == direction
        shown = page.locator("table.standings tbody tr td:last-child").all_inner_texts()
        numbers = [int(text.replace(",", "")) for text in shown]
        assert len(numbers) > 1
        assert numbers == sorted(numbers, reverse=direction == "descending")
    unsorted = page.evaluate(
        "() => Array.from(document.querySelectorAll('table')).filter((table) =>"
        " table.tBodies[0].rows.length > 1 && !table.querySelector('button.sort')"
        " && !table.matches('.stages, .aligned')).length"
    )
    assert unsorted == 0


PAINTED = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 250) { colours.add(`${data[at]},${data[at + 1]},${data[at + 2]}`); }
  }
  return colours.size;
}"""
"""How many opaque colours a canvas has."""


@pytest.mark.parametrize("view", thorough_from(1, ["wide", "phone-dark"]))
@pytest.mark.parametrize(
    "name", thorough_from(1, ["bench", "three", "campaign", "bench-of-one-size", "worst"])
)
def test_plots_are_painted_inside_their_boxes(opened, name, view):
    page = opened(name, view)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    boxes = page.locator("figure div.plot")
    assert boxes.count()
    for number in range(boxes.count()):
        box = boxes.nth(number)
        box.scroll_into_view_if_needed()
        canvas = box.locator("canvas")
        canvas.wait_for()
        assert canvas.evaluate(PAINTED) > 2
        assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
        legend = box.locator(".u-legend tr")
        assert legend.count() == len(
            box.evaluate("(box) => JSON.parse(box.nextElementSibling.textContent).series")
        ) + 1  # fmt: skip
        # While nothing is pointed at, each line has its last value there.
        box.evaluate(
            "(box) => new Promise((done) => { const look = () =>"
            " box.querySelector('.u-legend').innerText.includes('–')"
            " ? requestAnimationFrame(look) : done(); look(); })"
        )
    assert not faults


def test_a_line_comes_to_the_fore_where_it_is_pointed_at(opened):
    page = opened("three")
    plot = page.locator("figure div.plot").first
    plot.scroll_into_view_if_needed()
    plot.locator("canvas").wait_for()
    place = plot.evaluate(
        "(box) => { const u = box.uplot, at = u.over.getBoundingClientRect();"
        " const i = u.data[0].length - 2;"
        " return [at.x + u.valToPos(u.data[0][i], 'x'), at.y + u.valToPos(u.data[1][i], 'y')]; }"
    )
    page.mouse.move(*place)
    page.wait_for_function(
        "() => document.querySelector('figure div.plot').uplot.series[2].alpha < 1"
    )
    shades = plot.evaluate("(box) => box.uplot.series.slice(1).map((one) => one.alpha)")
    assert len(shades) > 1
    assert shades[0] == 1
    assert set(shades[1:]) == {0.2}


def test_a_site_is_searched_from_a_file(opened, written):
    page = opened("site-library")
    page.locator("#find").fill("library-02 special")
    page.locator("form.find button").click()
    page.wait_for_url("**/search.html?q=**")
    hits = page.locator("#hits a")
    shown = hits.all_inner_texts()
    assert shown
    assert all(text.startswith("library-02 treats special tokens") for text in shown)
    page.locator("#find").fill("no such page")
    assert hits.count() == 0
    assert page.locator("#hits-count").inner_text() == "0 pages"
    page.locator("#find").fill(written["site-defect"].stem)
    hits.first.click()
    page.wait_for_url("**/defects/f-*.html")
    assert page.locator(".verdict h1").is_visible()
