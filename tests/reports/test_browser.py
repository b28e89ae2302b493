"""report.html in headless Chromium: it runs without complaint, loads nothing, and shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from reports import write_all
from tests.reports import records
from tests.reports.test_trends import rising, series

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium binary on PATH")

DARK, LIGHT = 0, 1
"""Values of Chromium's setting preferredColorScheme."""
# The browser's own services, which no flag silences all of; none of them resolves here.
OWN = re.compile(r"^(https?://([\w-]+\.)*(google|googleapis|gvt1)\.com[/:]|chrome|data:|file:)")


def browse(page: Path, tmp_path: Path, *arguments: str) -> tuple[str, str, list[str]]:
    """Load a page. Gives what went to stdout, console messages, and addresses asked for."""
    profile = tmp_path / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    net_log = tmp_path / "net.json"
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}",
        "--enable-logging=stderr", f"--log-net-log={net_log}", *arguments, page.as_uri(),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("chromium hangs on this machine")
    console = [
        line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line
    ]
    asked = re.findall(r'"url":"([^"]+)"', net_log.read_text(errors="replace"))
    loaded = [address for address in asked if not OWN.match(address)]
    return done.stdout.decode(errors="replace"), "\n".join(console), loaded


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_page_shows_without_errors_or_requests(tmp_path: Path, scheme: int) -> None:
    write_all(records.nasty(), tmp_path / "out")
    shot = tmp_path / "shot.png"
    _, console, loaded = browse(
        tmp_path / "out" / "report.html",
        tmp_path,
        f"--screenshot={shot}",
        "--window-size=1200,2000",
        f"--blink-settings=preferredColorScheme={scheme}",
    )
    assert (console, loaded) == ("", [])
    # A blank page of this size compresses to a few kilobytes.
    assert shot.stat().st_size > 40_000


def probed(page: Path, tmp_path: Path, script: str) -> str:
    """What a script returns that is run beside the page's own, in a frame of 400 pixels.

    ``d`` is the page's document, ``w`` its window. What a test cannot see in the source.
    """
    probe = (
        "<script>addEventListener('load', () => {"
        "const frame = document.createElement('iframe'); frame.width = 400; frame.height = 800;"
        "frame.srcdoc = window.source; document.body.append(frame);"
        "frame.onload = () => { const d = frame.contentDocument, w = frame.contentWindow;"
        f"document.title = (() => {{ {script} }})(); }}; }});"
        "</script>"
    )
    source = page.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
    source = f'<iframe srcdoc="{source}" hidden></iframe>'
    taken = "<script>window.source = document.querySelector('iframe').srcdoc;</script>"
    host = tmp_path / "host.html"
    host.write_text(f"<!doctype html><meta charset=utf-8>{source}{taken}{probe}", encoding="utf-8")
    dom, console, _ = browse(host, tmp_path, "--dump-dom", "--virtual-time-budget=4000")
    assert console == ""
    found = re.search(r"<title>(.*?)</title>", dom)
    assert found is not None
    return found[1]


WIDE = {
    "three": (records.three(), ()),
    "night": (records.night(40, 0), (series(rising()), series([0.0] * 9, "findings", ""))),
}


@pytest.mark.parametrize("shape", WIDE)
def test_the_script_runs_and_the_page_fits_a_phone(shape: str, tmp_path: Path) -> None:
    record, runs = WIDE[shape]
    write_all(record, tmp_path / "out", runs)
    told = probed(
        tmp_path / "out" / "report.html", tmp_path,
        "d.querySelectorAll('details').forEach(e => { e.open = true; });"
        "const e = d.documentElement; return `${e.classList.contains('js')} ${e.scrollWidth}`;",
    )  # fmt: skip
    runs_script, width = told.split()
    assert runs_script == "true"
    assert int(width) <= 400


def test_folded_cards_open_where_a_reader_wants_them(tmp_path: Path) -> None:
    write_all(records.night(40, 0), tmp_path / "out")
    told = probed(
        tmp_path / "out" / "report.html", tmp_path,
        "const link = d.querySelector(\"a[href^='#f-']\");"
        "const card = d.getElementById(link.hash.slice(1)); const before = card.open;"
        "w.location.hash = link.getAttribute('href'); w.dispatchEvent(new Event('hashchange'));"
        "const field = d.querySelector('#filter'); field.value = 'tokenizers did not decode';"
        "field.dispatchEvent(new Event('input'));"
        "const shown = s => [...d.querySelectorAll(s)].filter(c => c.checkVisibility()).length;"
        "return [before, card.open, shown('details.card'), shown('tr[data-for]')].join(' ');",
    )  # fmt: skip
    before, linked, cards, rows = told.split()
    assert (before, linked, cards) == ("false", "true", rows)
    assert 0 < int(cards) < 40


def test_a_field_of_growth_leads_to_its_plot(tmp_path: Path) -> None:
    write_all(records.three(), tmp_path / "out")
    told = probed(
        tmp_path / "out" / "report.html", tmp_path,
        "const figure = d.getElementById(d.querySelector('a.cell').hash.slice(1));"
        "return `${figure.checkVisibility()} ${!!figure.querySelector('div.plot')}`;",
    )  # fmt: skip
    assert told == "true true"
