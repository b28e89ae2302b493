"""Vectors: the files, readers in each language, and the mistakes that the vectors alone find."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from corpora.vocabularies import embedded, sources
from harness.studies.selftest.catalog import mistakes
from harness.studies.vectors.make import MOST, vectors_of
from impls import registry
from impls.interface import Mode, Unsupported
from tests.doubles.command import here, python

DOCS = Path(__file__).parents[3] / "docs" / "vectors"
EXAMPLE = DOCS / "toy_bytes.json"
MODES = {"text": Mode(), "raw": Mode(pretokenize=False), "special": Mode(special="all")}
LANGUAGES = {
    "python": [sys.executable, "reader.py"],
    "javascript": ["node", "reader.mjs"],
    "go": ["go", "run", "reader.go"],
}


def read(path):
    """The file; it has the form that its schema says, and what readers without JSON rely on."""
    content = path.read_text("ascii")
    told = json.loads(content)
    jsonschema.validate(told, json.loads((DOCS / "schema.json").read_text()))
    lines = [line for line in content.splitlines() if line.startswith('{"input": "')]
    assert [json.loads(line.removesuffix(",")) for line in lines] == told["vectors"]
    return told


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except Exception:
        return None


def passes(one, encode, decode):
    """Whether a tokenizer passes a vector: the rule of docs/vectors.md, apart from its readers."""
    data, ids, flags = bytes.fromhex(one["input"]), one["ids"], one["flags"]
    if "bad-ids" in flags:
        return attempt(decode, ids) is None
    if "decode-only" in flags:
        return attempt(decode, ids) == data
    try:
        found = encode(data, MODES[one["mode"]])
    except Unsupported:
        return True
    except Exception:
        found = None
    if "rejected" in flags:
        return found is None
    if found is None or [*found] != ids:
        return False
    return "encode-only" in flags or attempt(decode, ids) == data


def failures(vectors, encode, decode):
    return [number for number, one in enumerate(vectors) if not passes(one, encode, decode)]


def readers_failures(command, path, status=1):
    done = subprocess.run(
        [*command, str(path)], cwd=DOCS, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == status, done.stderr
    return [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("FAIL ")]


def test_the_shipped_example_has_the_form_and_its_own_vocabulary_passes():
    told = read(EXAMPLE)
    assert len(told["vectors"]) <= MOST
    assert told["mutants"]["missed"] == []
    flags = {flag for one in told["vectors"] for flag in one["flags"]}
    assert flags >= {"not-utf8", "decode-only", "bad-ids"}
    encoder = registry.resolve("tiktoken").load(sources.resolve("toy_bytes"))
    bad = failures(told["vectors"], encoder.encode, encoder.decode)
    # tiktoken takes no text that is not UTF-8 with a pattern, and is not asked to refuse such ids.
    assert [one for one in bad if "bad-ids" not in told["vectors"][one]["flags"]] == []


def test_the_kept_files_are_of_the_vocabularies_as_they_are():
    paths = sorted(DOCS.glob("toy_*.json"))
    for path in paths:
        known = read(path)["vocabulary"]
        assert known["fingerprint"] == sources.resolve(path.stem).fingerprint, path.name
    assert len(paths) > 8


def bytewise(data, mode):
    return [*data]


@pytest.mark.parametrize("language", LANGUAGES)
def test_readers_say_what_fails(language):
    if shutil.which(LANGUAGES[language][0]) is None:
        pytest.skip(f"{language} is not installed")
    expected = failures(read(EXAMPLE)["vectors"], bytewise, bytes)
    assert 0 < len(expected) < len(read(EXAMPLE)["vectors"])
    assert readers_failures(LANGUAGES[language], EXAMPLE) == expected


def test_the_reader_in_rust_says_what_fails(tmp_path):
    if shutil.which("rustc") is None:
        pytest.skip("Rust is not installed")
    built = tmp_path / "reader"
    done = subprocess.run(
        ["rustc", "--edition=2021", "-o", str(built), str(DOCS / "reader.rs")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "toolchain" in done.stderr:
        pytest.skip("rustup has no toolchain here")
    assert done.returncode == 0, done.stderr
    expected = failures(read(EXAMPLE)["vectors"], bytewise, bytes)
    assert readers_failures([str(built)], EXAMPLE) == expected


def test_a_small_vocabulary_is_covered_and_made_alike_twice(tmp_path):
    done = here("vectors", "toy_acbb", "random:ranks:3", "--out", "a", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "toy_acbb.json" in done.stdout
    told = read(tmp_path / "a" / "toy_acbb.json")
    vocabulary = sources.resolve("toy_acbb")
    encoder = registry.resolve("bpe.naive").load(vocabulary)
    assert failures(told["vectors"], encoder.encode, encoder.decode) == []
    code = (
        "from corpora.vocabularies import sources\n"
        "from harness.studies.vectors.make import vectors_of\n"
        "print(vectors_of(sources.resolve('toy_acbb')).content, end='')"
    )
    again = python("-c", code, PYTHONHASHSEED="7").stdout
    assert again == (tmp_path / "a" / "toy_acbb.json").read_text()


def failing(encoder, vectors, mutant):
    """The vectors in its mode that an encoder fails; decoding counts where a mistake is in it."""
    decodes = mutant.check == "round-trip"
    kept = ("not-utf8",) if decodes else ("not-utf8", "encode-only")
    own = [one for one in vectors if one["mode"] == mutant.mode and {*one["flags"]} <= {*kept}]
    if not decodes:
        own = [one | {"flags": [*one["flags"], "encode-only"]} for one in own]
    return failures(own, encoder.encode, getattr(encoder, "decode", None))


@pytest.mark.thorough
@pytest.mark.first
def test_vectors_alone_find_the_planted_mistakes(tmp_path):
    """Of all that are declared to show in the ids or the text of one input, each loaded afresh.

    And the files that are kept in docs/vectors are those that are made.
    """
    names = [*embedded.TOY_FILES, *(n for n in embedded.embedded() if n not in embedded.left_out())]
    missed, right_ones, count = [], set(), 0
    for name in names:
        here_ = [
            one for one in mistakes().values()
            if one.vocabulary == name and one.base and one.inputs and not one.apart
            and one.check in ("equivalence", "round-trip")
        ]  # fmt: skip
        kept = DOCS / f"{name}.json"
        if not here_ and not kept.exists():
            continue
        vocabulary = sources.resolve(name)
        path = tmp_path / f"{name}.json"
        path.write_text(vectors_of(vocabulary).content)
        if kept.exists():
            assert path.read_text() == kept.read_text(), "make it again: docs/vectors.md"
        vectors = read(path)["vectors"]
        for mutant in here_:
            count += 1
            if not failing(mutant.implementation.load(vocabulary), vectors, mutant):
                missed.append(mutant.name)
            if (control := mutant.control) not in right_ones:
                right_ones.add(control)
                right = registry.resolve(control).load(vocabulary)
                assert failing(right, vectors, mutant) == [], control
    assert count > 100
    assert len(missed) <= 0.05 * count, missed
