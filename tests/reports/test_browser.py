"""report.html in headless Chromium: it runs without complaint, loads nothing, and shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from reports import write_all
from tests.reports import records

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
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
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


def test_the_script_runs_and_the_page_fits_a_phone(tmp_path: Path) -> None:
    """A probe beside the page's own script measures what a test cannot see in the source."""
    write_all(records.three(), tmp_path / "out")
    page = tmp_path / "out" / "report.html"
    probe = (
        "<script>addEventListener('load', () => {"
        "const frame = document.createElement('iframe'); frame.width = 400; frame.height = 800;"
        "frame.srcdoc = window.source; document.body.append(frame);"
        "frame.onload = () => { const d = frame.contentDocument.documentElement;"
        "document.title = `js=${d.classList.contains('js')} width=${d.scrollWidth}`; }; });"
        "</script>"
    )
    source = page.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
    source = f'<iframe srcdoc="{source}" hidden></iframe>'
    taken = "<script>window.source = document.querySelector('iframe').srcdoc;</script>"
    host = tmp_path / "host.html"
    host.write_text(f"<!doctype html><meta charset=utf-8>{source}{taken}{probe}", encoding="utf-8")
    dom, console, _ = browse(host, tmp_path, "--dump-dom", "--virtual-time-budget=4000")
    assert console == ""
    found = re.search(r"<title>js=(\w+) width=(\d+)</title>", dom)
    assert found is not None
    assert found[1] == "true"
    assert int(found[2]) <= 400
