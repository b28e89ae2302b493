"""Messages that people translated: what is read of a catalog, and texts made of them."""

import pytest

from corpora.texts import messages
from harness.engine.selection import SelectionError
from harness.studies.bench.plan import chosen_texts

CATALOG = r"""# A comment with msgstr "no message".
msgid ""
msgstr ""
"Language: xx\n"

msgid "one"
msgstr "eins \"genau\" \\ \n"

msgid "long"
msgstr ""
"zwei "
"Teile"

msgid "many"
msgid_plural "manies"
msgstr[0] "ein"
msgstr[1] "viele"

msgid "left out"
msgstr ""
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with two languages, and one that is none."""
    for language in ("xx", "yy", "en"):
        folder = tmp_path / "conf" / "locale" / language / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "all.po").write_text(CATALOG, encoding="utf-8")
    monkeypatch.setattr(messages, "folder", lambda: tmp_path)
    messages.languages.cache_clear()
    yield tmp_path
    messages.languages.cache_clear()


def test_a_catalog():
    assert messages.translations(CATALOG) == ['eins "genau" \\ \n', "zwei Teile", "ein", "viele"]
    assert messages.translations("") == []


def test_a_text_is_of_all_languages_but_english_and_follows_the_seed(package):
    assert [name for name, _ in messages.languages()] == ["xx", "yy"]
    text = messages.text(5000, 1)
    assert len(text) >= 5000
    assert text == messages.text(5000, 1) != messages.text(5000, 2)
    assert b"zwei Teile" in text


def test_without_the_package_it_is_no_kind_of_text(monkeypatch):
    monkeypatch.setattr(messages, "folder", lambda: None)
    assert "messages" not in [one.name for one in chosen_texts([])]
    with pytest.raises(SelectionError, match=r"tokgate\[bench\]"):
        chosen_texts(["messages"])
