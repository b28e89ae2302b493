"""Names to implementations: what resolves, and the one line where it does not."""

import sys

import pytest

from impls import registry, roster
from impls.errors import ImplementationError
from impls.interface import About
from tests.doubles.command import python

GOOD = """
from impls.interface import About

class Mine:
    about = About(name="mine", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def encode(self, data, mode): return list(data)

MADE = Mine()

class Inner:
    Deep = Mine

class NoLoad:
    about = About(name="x", version="1")
    def supports(self, vocabulary, mode): return None

class NoAbout(Mine):
    about = "mine"

class Fails:
    def __init__(self): raise ValueError("not today\\nor ever")
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(GOOD)
    return path


def fault(spec):
    """The error of a spec, whose text is one line that names the spec."""
    with pytest.raises(ImplementationError) as raised:
        registry.resolve(spec)
    line = str(raised.value)
    assert "\n" not in line
    assert repr(spec) in line
    return raised.value


@pytest.mark.parametrize("name", roster.ROWS)
def test_every_built_in_name_says_who_it_is(name):
    try:
        about = registry.resolve(name).about
    except (ImplementationError, ImportError) as error:
        pytest.skip(str(error))
    assert isinstance(about, About)
    assert about.name == name


@pytest.mark.parametrize("attribute", ["Mine", "MADE", "Inner.Deep"])
def test_a_class_or_an_object_in_a_file(plugin, attribute):
    assert registry.resolve(f"{plugin}:{attribute}").about.name == "mine"


def test_the_same_file_is_loaded_once(plugin):
    one = registry.resolve(f"{plugin}:MADE")
    assert registry.resolve(f"{plugin}:MADE") is one


def test_a_plugin_may_import_its_neighbours(plugin):
    (plugin.parent / "tokgate_neighbour_of_test.py").write_text(GOOD)
    path = plugin.with_name("importer.py")
    path.write_text("from tokgate_neighbour_of_test import Mine\n")
    before = list(sys.path)
    assert registry.resolve(f"{path}:Mine").about.name == "mine"
    assert sys.path == before


def test_an_importable_attribute():
    assert registry.resolve("impls.bpe.heap:IMPLEMENTATION").about.name == "bpe.heap"


def test_an_unknown_name_comes_with_the_nearest():
    error = fault("tiktokn")
    assert error.unknown
    assert "did you mean 'tiktoken'?" in str(error)
    assert "tokgate list impls" in str(fault("zzzzzz"))


def test_a_missing_file_or_module_or_attribute_is_unknown(plugin):
    assert "no file" in str(error := fault(f"{plugin.parent}/absent.py:X"))
    assert error.unknown
    assert "is it installed?" in str(error := fault("tokgate_absent_module:X"))
    assert error.unknown
    assert "has no attribute 'Absent'" in str(error := fault(f"{plugin}:Absent"))
    assert error.unknown


def test_a_module_that_fails_to_import_cannot_start(plugin):
    plugin.write_text("import tokgate_absent_module\n")
    error = fault(f"{plugin}:Mine")
    assert not error.unknown
    assert "fails to import" in str(error)
    assert "ModuleNotFoundError" in str(error)
    plugin.write_text("def broken(:\n")
    assert "SyntaxError" in str(fault(f"{plugin}:Mine"))


def test_a_class_that_cannot_be_made_cannot_start(plugin):
    error = fault(f"{plugin}:Fails")
    assert not error.unknown
    assert "ValueError: not today" in str(error)


@pytest.mark.parametrize("arguments", ["path", "path, size=3", "*, path"])
def test_a_class_that_needs_arguments_is_told_what_an_adapter_is(plugin, arguments):
    plugin.write_text(f"class Mine:\n    def __init__(self, {arguments}): ...\n")
    line = str(fault(f"{plugin}:Mine"))
    assert "Mine cannot be created without path; name an adapter for it: a class without" in line
    assert "fails to import" not in line


def test_a_class_that_takes_arguments_without_need_is_made(plugin):
    made = GOOD.replace(
        "    def supports", "    def __init__(self, a=1, *b, **c): ...\n    def supports"
    )
    plugin.write_text(made)
    assert registry.resolve(f"{plugin}:Mine").about.name == "mine"


@pytest.mark.parametrize("last_words", ["raise SystemExit(0)", "raise BaseException('panic')"])
def test_a_plugin_does_not_end_the_command(plugin, last_words):
    plugin.write_text(f"{last_words}\n")
    assert "fails to import" in str(error := fault(f"{plugin}:Mine"))
    assert not error.unknown
    plugin.write_text(f"class Mine:\n    def __init__(self): {last_words}\n")
    assert not fault(f"{plugin}:Mine").unknown


def test_an_about_that_raises_is_one_line(plugin):
    about = "@property\n    def about(self): raise ValueError('who\\nam I')"
    plugin.write_text(GOOD.replace('about = About(name="mine", version="1")', about))
    error = fault(f"{plugin}:Mine")
    assert "its about fails (ValueError: who)" in str(error)
    assert not error.unknown


def test_what_is_no_implementation_is_told_what_it_lacks(plugin):
    assert "NoLoad has no load" in str(fault(f"{plugin}:NoLoad"))
    assert "about is not an impls.interface.About" in str(fault(f"{plugin}:NoAbout"))


def test_entry_points_are_registered_after_the_built_in(monkeypatch):
    class Entry:
        name = "theirs"
        value = "impls.bpe.naive:IMPLEMENTATION"

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()])
    monkeypatch.setattr(registry, "_plugged", registry._plugged.__wrapped__)
    assert list(registry.registered()) == [*roster.joining(roster.Joins.RUNS), "theirs"]
    assert registry.resolve("theirs").about.name == "bpe.naive"


QUESTIONS = """
import os
from pathlib import Path

from corpora.vocabularies import sources
from impls import registry
from impls.interface import Mode

vocabularies = [sources.resolve(name) for name in ("toy_bytes", "toy_unigram", "toy_wordpiece")]
before = dict(os.environ)
asked = 0
for name in registry.names():
    try:
        implementation = registry.resolve(name)
        implementation.about
    except ImportError:
        continue
    for vocabulary in vocabularies:
        if implementation.supports(vocabulary, Mode()) is None:
            recipe = getattr(implementation, "recipe", None)
            asked += recipe is not None and recipe(vocabulary, Mode()) is not None
changed = sorted(key for key, value in os.environ.items() if before.get(key) != value)
libraries = [line for line in Path("/proc/self/maps").read_text().splitlines() if "xllama" in line]
print(asked > 3, changed, libraries)
"""


def test_to_be_asked_about_changes_nothing_in_the_harness():
    # Workers are copies of a process that has the harness's environment, as long as it is that.
    done = python("-c", QUESTIONS)
    assert (done.stdout.strip(), done.returncode) == ("True [] []", 0), done.stderr
