"""``npm:NAME==VERSION``: packages of JavaScript over the stdio protocol, on node."""

import json
import shutil
from pathlib import Path

import pytest

from corpora.vocabularies import node
from impls import environments as kept
from impls import registry
from impls.environments import MANIFEST
from impls.errors import ImplementationError
from impls.interface import Capability, Died, Mode, Reproducible, Unsupported
from impls.npm import environments
from impls.npm.environments import parse
from impls.npm.packages import PACKAGES
from tests.properties.impls import recipes
from tests.properties.impls.test_peers import ranked

TEXT = Mode()
SPEC = "npm:js-tiktoken==0.0.1"

# What the adapter of js-tiktoken asks of the package; this one is wrong on purpose.
MODULE = """
exports.Tiktoken = class {
  constructor(told) { console.log("noise on standard output"); this.told = told; }
  encode(text, allowed) {
    if (text.includes("!")) process.abort();
    if (text.includes("?")) throw new Error("not today");
    if (text.includes("#")) new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(
      [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0,
       10, 5, 1, 3, 0, 0, 11]))).exports.f();
    return [allowed === "all" ? 1 : 0, text.length, this.told.bpe_ranks.split(" ").length - 2];
  }
  decode(ids) { return String.fromCodePoint(...ids); }
};
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package in its place, as npm would have left it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("needs node and npm")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wanted = parse(SPEC.removeprefix("npm:"))
    monkeypatch.setattr(kept, "_sound", lambda folder: {"files": {}})
    folder = environments.folder_of(wanted, environments.node_for(wanted.text))
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lite = folder / "node_modules" / "js-tiktoken" / "lite.js"
    lite.parent.mkdir(parents=True)
    lite.write_text(MODULE)
    files = {str(lite.relative_to(folder)): len(MODULE)}
    (folder / MANIFEST).write_text(json.dumps({"package": SPEC, "files": files}))
    return folder


def test_a_package_answers_over_the_protocol(package):
    found = registry.resolve(SPEC)
    assert (found.about.name, found.about.version) == (SPEC, "0.0.1")
    assert found.about.capabilities == {Capability.DECODE}
    vocabulary = ranked(300)
    assert found.supports(vocabulary, TEXT) is None
    assert found.supports(vocabulary, Mode(pretokenize=False)) == "always pre-tokenizes"
    encoder = found.load(vocabulary)
    # UTF-16 has two units for what is beyond its first plane; a mark of byte order is text.
    assert list(encoder.encode("a\ufeff\U0001f600".encode(), TEXT)) == [0, 4, 300]
    assert list(encoder.encode(b"a", Mode(special="all"))) == [1, 1, 300]
    assert encoder.decode([0x4E2D, 0x61]) == "中a".encode()
    with pytest.raises(Unsupported, match="not UTF-8"):
        encoder.encode(b"\xff", TEXT)
    with pytest.raises(RuntimeError, match="not today"):
        encoder.encode(b"?", TEXT)
    for fatal in (b"!", b"#"):
        with pytest.raises(Died) as died:
            encoder.encode(fatal, TEXT)
        assert died.value.kind == "crashed"
        assert list(encoder.encode(b"", TEXT)) == [0, 0, 300]  # started again


def test_its_recipe_gives_what_it_gives(package, tmp_path):
    found, vocabulary = registry.resolve(SPEC), ranked(300)
    assert isinstance(found, Reproducible)
    recipe = found.recipe(vocabulary, TEXT)
    # In place of what the reproducer would install.
    made = tmp_path / "repro-npm-js-tiktoken@0.0.1"
    shutil.copytree(package, made)
    (made / "ready").touch()
    environment = {"PATH": str(Path(shutil.which("node") or "").parent), "TMPDIR": str(tmp_path)}
    ids, text = recipes.run(recipe, "é".encode(), tmp_path, env=environment)
    assert (ids, text) == ([0, 1, 300], "\x00\x01\u012c")


def test_a_release_that_lacks_what_is_called_cannot_be_started(package):
    lite = package / "node_modules" / "js-tiktoken" / "lite.js"
    # As long as it was, so that nobody takes it for damaged.
    lite.write_text(MODULE.replace("decode(ids)", "decade(ids)"))
    with pytest.raises(Died, match=r"its adapter asks of it \(TypeError"):
        registry.resolve(SPEC).load(ranked(300))


@pytest.mark.parametrize("text", ["js-tiktoken", "js-tiktoken==^1", "../x==1.0.0", "a b==1.0.0"])
def test_a_release_is_named(text):
    with pytest.raises(ImplementationError, match="name one release"):
        registry.resolve(f"npm:{text}")


def test_a_package_without_an_adapter_is_told_apart():
    with pytest.raises(ImplementationError, match="no adapter for left-pad; there are js-tiktoken"):
        registry.resolve("npm:left-pad==1.3.0")


def test_without_node_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(node.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImplementationError, match=r"pip install 'tokgate\[node\]'"):
        environments.node_for(SPEC.removeprefix("npm:"))


def test_damage_is_noticed(package):
    (package / "node_modules" / "js-tiktoken" / "lite.js").write_text("")
    assert kept._sound(package) is None


def test_every_package_says_why_it_does_not_run_a_vocabulary():
    raw = Mode(pretokenize=False)
    for package in PACKAGES.values():
        assert isinstance(package.ways(ranked(300), raw), str)
