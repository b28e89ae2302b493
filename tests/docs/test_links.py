"""Files, headings and make targets that README and docs name are there."""

import re

from tests.docs.pages import ROOT, anchors, blocks, files, links, pages, prose


def missing(texts):
    """What these pages name and what is not there, as ``page: name``."""
    found = []
    for page, text in texts.items():
        folder = (ROOT / page).parent
        for link in links(text):
            name, _, anchor = link.partition("#")
            target = (folder / name).resolve() if name else ROOT / page
            if not target.exists():
                found.append(f"{page}: {link}")
            elif anchor and anchor not in anchors(target.read_text("utf-8")):
                found.append(f"{page}: {link} (no such heading)")
        absent = (name for name in files(text) if not (ROOT / name).exists())
        found.extend(f"{page}: {name}" for name in absent)
    return found


def targets(texts):
    """Targets of make that these pages name, as ``page: target``."""
    return [
        f"{page}: {name}"
        for page, text in texts.items()
        for name in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    ]


def test_files_and_headings_are_there():
    assert missing(pages()) == []


def test_what_is_not_there_is_seen():
    wrong = "see [a](docs/none.md), `harness/none.py`, [b](docs/protocol.md#nothing)\n"
    assert len(missing({"README.md": wrong})) == 3
    assert missing({"README.md": "[c](docs/protocol.md#requests-and-responses)"}) == []


def test_targets_of_make_are_there():
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = targets(pages())
    assert named
    assert [one for one in named if one.partition(": ")[2] not in known] == []


def test_every_page_can_be_reached_from_the_readme():
    texts = pages()
    seen = set()
    ahead = ["README.md"]
    while ahead:
        page = ahead.pop()
        if page in texts and page not in seen:
            seen.add(page)
            folder = (ROOT / page).parent
            for link in links(texts[page]):
                target = (folder / link.partition("#")[0]).resolve()
                if target.is_relative_to(ROOT):
                    ahead.append(str(target.relative_to(ROOT)))
    assert set(texts) - seen == set()


def test_the_readme_is_short_and_its_plug_in_too():
    text = pages()["README.md"]
    assert text.count("\n") < 200
    assert len(re.findall(r"!\[", prose(text))) == 1
    (plugin,) = [one for one in blocks("README.md", text) if "`mine.py`" in one.before]
    lines = [line for line in plugin.text.splitlines() if line.strip()]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
