"""``pip:NAME==VERSION``: environments built once and mended, adapters over the protocol."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from impls import environments, pip_release, registry, serving
from impls.environments import environment, parse
from impls.errors import ImplementationError
from impls.external import ExternalEncoder
from impls.interface import About, Capability, Died, Mode, Unsupported
from tests.properties.impls.test_peers import ranked

TEXT = Mode()

# What the adapter of riptoken asks of the library; this one is wrong on purpose, and dies of "!".
MODULE = """
import os

def load_tiktoken_bpe(path):
    return {}

class CoreBPE:
    def __init__(self, ranks, special, pattern): print("noise on standard output")
    def encode_ordinary(self, text):
        if "!" in text: os.abort()
        if "?" in text: raise ValueError("not today")
        if "#" in text: raise type("PanicException", (BaseException,), {})("lost")
        return [VERSION, len(text)]
    def encode(self, text, allowed): return self.encode_ordinary(text)
    def decode_bytes(self, ids): return bytes(ids)
"""


def wheel(folder, version):
    """A wheel of a library that stands in for riptoken."""
    folder.mkdir(exist_ok=True)
    path = folder / f"riptoken-{version}.0-py3-none-any.whl"
    info = f"riptoken-{version}.0.dist-info"
    files = {
        "riptoken.py": MODULE.replace("VERSION", str(version)),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: riptoken\nVersion: {version}.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, content)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tokgate" / "environments"


def fault(text):
    with pytest.raises(ImplementationError) as raised:
        registry.resolve(f"pip:{text}")
    line = str(raised.value)
    assert "\n" not in line
    assert f"'pip:{text}'" in line
    return raised.value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tiktoken", "name one release"),
        ("tiktoken>=0.7", "name one release"),
        ("tiktoken==0.*", "name one release"),
        ("tiktoken @ https://x.org/a.whl", "name one release"),
        ("tik token==1", "write NAME==VERSION"),
        ("./absent", "no such file or folder"),
        ("nosuchpackage==1.0", "no adapter for nosuchpackage; there are tiktoken"),
    ],
)
def test_what_cannot_be_wanted_is_said_in_one_line(text, said):
    error = fault(text)
    assert said in str(error)
    assert error.unknown


def test_a_folder_without_a_project_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "neither a Python project" in str(fault(str(tmp_path / "empty")))


def test_names_and_sources_are_read(tmp_path):
    wanted = parse("Mistral_Common[sentencepiece]==1.11.0")
    assert wanted.name == "mistral-common"
    assert wanted.requirement == "mistral-common[sentencepiece]==1.11.0"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "Tiktoken"\n')
    assert parse(str(tmp_path)).name == "tiktoken"
    assert parse(str(wheel(tmp_path / "w", 3))).name == "riptoken"


def built(path, capfd):
    found = environment(parse(str(path)))
    return found, capfd.readouterr().err


@pytest.mark.thorough  # it builds three environments
def test_an_environment_is_built_once_and_again_when_damaged(tmp_path, cache, capfd):
    path = wheel(tmp_path / "w", 7)
    first, said = built(path, capfd)
    assert first.version == "7.0"
    assert "(once;" in said and "is ready after" in said
    code = "import riptoken; print(riptoken.CoreBPE.__name__)"
    ran = subprocess.run([first.python, "-I", "-c", code], capture_output=True, check=True)
    assert ran.stdout == b"CoreBPE\n"
    assert built(path, capfd) == (first, "")  # not a word: it is there
    # A file of the release is gone, or the manifest, or a build was cut off.
    (module,) = first.folder.glob("lib/python*/site-packages/riptoken.py")
    for damaged in (module, first.folder / environments.MANIFEST):
        damaged.unlink()
        cut_off = first.folder.with_name(first.folder.name + ".part")
        cut_off.mkdir()
        (cut_off / "leftover").touch()
        mended, said = built(path, capfd)
        assert mended == first
        assert "it was damaged" in said
        assert damaged.is_file() and not cut_off.exists()
    # What is edited is another environment.
    wheel(tmp_path / "w", 7).touch()
    assert built(path, capfd)[0].folder != first.folder
    assert {one.suffix for one in cache.iterdir()} <= {".lock", first.folder.suffix}


@pytest.mark.parametrize(
    ("log", "said", "unknown"),
    [
        (
            "ERROR: NewConnectionError(Failed to establish a new connection)",
            "index cannot be",
            False,
        ),
        ("error: client error (Connect)\n cause: error sending request for url", "network", False),
        ("ERROR: No matching distribution found for tiktoken==9", "no such release", True),
        ("error: No solution found when resolving\n no usable wheels", "has no wheel for", False),
        ("ERROR: something else\nmore", "cannot be installed (ERROR: something else)", False),
    ],
)
def test_why_an_installation_fails_is_said_in_one_line(log, said, unknown, monkeypatch):
    def run(command, wanted):
        failed = "install" in command
        return subprocess.CompletedProcess(command, int(failed), "", log if failed else "")

    monkeypatch.setattr(environments, "_run", run)
    with pytest.raises(ImplementationError) as raised:
        environment(parse("tiktoken==9"))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.unknown is unknown


def test_a_version_without_a_wheel_is_told_from_one_that_is_not_there(
    monkeypatch,
):
    def run(command, wanted):
        if "index" in command:
            return subprocess.CompletedProcess(command, 0, "Available versions: 0.3, 0.2\n", "")
        log = "ERROR: No matching distribution found"
        return subprocess.CompletedProcess(command, int("install" in command), "", log)

    monkeypatch.setattr(environments, "_run", run)
    monkeypatch.setattr("shutil.which", lambda name: None)
    for version, said in (("0.2", "has no wheel for Python"), ("0.9", "there are 0.3, 0.2")):
        with pytest.raises(ImplementationError, match=said):
            environment(parse(f"tiktoken=={version}"))


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The stand-in as a release. This Python serves in place of one with NumPy installed anew."""
    monkeypatch.setattr(environments.Environment, "python", Path(sys.executable))
    monkeypatch.setattr(pip_release, "NUMPY", ())
    found = registry.resolve(f"pip:{wheel(tmp_path / 'w', 7)}")
    # ... and finds the library by way of the environment's folder.
    (site,) = found._environment.folder.glob("lib/python*/site-packages")
    command = [sys.executable, "-c", STARTED.format(str(site), serving.__file__)]
    monkeypatch.setattr(pip_release, "served", lambda python, target: [*command, target])
    return found


STARTED = """
import runpy, sys
sys.path.insert(0, {0!r})
sys.argv[:] = [{1!r}, sys.argv[1]]
runpy.run_path({1!r}, run_name="__main__")
"""


def test_a_release_answers_over_the_protocol(release):
    about = release.about
    assert about.version == "7.0"
    assert about.name == "riptoken@riptoken-7.0-py3-none-any.whl"
    assert about.library == "riptoken"
    assert about.capabilities == {Capability.DECODE}
    assert release.supports(sources.resolve("unigram_nfkc"), TEXT)
    encoder = release.load(ranked())
    assert isinstance(encoder, ExternalEncoder)
    try:
        assert encoder.encode(b"abc", TEXT) == [7, 3]
        assert encoder.decode([104, 105]) == b"hi"
        with pytest.raises(Unsupported):
            encoder.encode(b"\xff", TEXT)
        with pytest.raises(RuntimeError, match="ValueError: not today"):
            encoder.encode(b"?", TEXT)
        for deadly in (b"!", b"#"):  # an abort, and a panic
            with pytest.raises(Died):
                encoder.encode(deadly, TEXT)
            assert encoder.encode(b"ab", TEXT) == [7, 2]
    finally:
        encoder.close()


def test_the_server_finds_our_packages_and_nothing_beside_them():
    root = str(Path(serving.__file__).parents[1])
    finder = serving.Ours(root)
    assert finder.find_spec("impls") is not None
    assert finder.find_spec("corpora") is not None
    assert finder.find_spec("harness") is None
    assert finder.find_spec("tiktoken") is None


IMPORTS = """
import importlib, sys
allowed = {"impls", "corpora", *sys.stdlib_module_names, *sys.argv[3:]}
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in allowed:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nothing())
sys.path.insert(0, sys.argv[1])
for module in sys.argv[2].split(","):
    importlib.import_module(module)
"""


def test_adapters_import_with_what_their_environments_have():
    # As imported: distributions that have modules of other names.
    modules = {"protobuf": ["google"], "numba": ["numba", "llvmlite"], "msgspec": ["msgspec"]}
    groups = {}
    for found in pip_release.adapters().values():
        helpers = (*pip_release.NUMPY, *found.LIBRARY.helpers)
        groups.setdefault(helpers, []).append(found.__name__)
    root = str(Path(pip_release.__file__).parents[1])
    for helpers, adapters in groups.items():
        allowed = [name for helper in helpers for name in modules.get(helper, [helper])]
        command = [sys.executable, "-c", IMPORTS, root, ",".join(adapters), *allowed]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (adapters, done.stderr)


class Lacking:
    """A library's adapter, and its encoder, where a release has not all that is called."""

    about = About("lacking", "1.0", capabilities=frozenset({Capability.DECODE}))
    failure: Exception | None = None

    def supports(self, vocabulary, mode):
        return None if mode.pretokenize else "always pre-tokenizes"

    def load(self, vocabulary):
        return self

    def encode(self, data, mode):
        if mode.special == "all" and self.failure is not None:
            raise self.failure
        return [1]

    def decode(self, ids):
        return b"a"


LACKING = Lacking()


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (None, {"ok": True}),
        (Unsupported("not here"), {"ok": True}),
        (ValueError("an answer like any other"), {"ok": True}),
        (
            AttributeError("no encode_special_tokens\nat all"),
            {
                "error": "this release does not do what its adapter asks of it "
                "(AttributeError: no encode_special_tokens)"
            },
        ),
    ],
)
def test_a_release_that_lacks_what_is_called_is_not_started(
    failure,
    told,
    tmp_path,
    monkeypatch,
):
    monkeypatch.setattr(LACKING, "failure", failure)
    model = tmp_path / "model.pickle"
    model.write_bytes(pickle.dumps(ranked(300)))
    program = serving.Program(f"{__name__}:LACKING")
    assert program.respond({"op": "load", "vocabulary": {"model": str(model)}}) == told
