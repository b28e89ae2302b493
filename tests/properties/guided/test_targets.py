"""Each target of libFuzzer finds a planted mistake of its algorithm, and accuses nobody else."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from corpora.vocabularies import sources
from harness.engine import selection
from harness.studies.guided.looking import found_in, looked_into
from harness.studies.guided.making import CHOICES, Mutator, dictionary
from harness.studies.guided.project import seeds, write
from harness.studies.guided.subject import ALGORITHMS, Subject, small
from harness.studies.guided.target import LONGEST, Asked, Disagreement, parsed
from tests.doubles.command import python
from tests.properties.reports import records

ROOT = Path(__file__).parents[3]
MUTANTS = "harness.studies.selftest.catalog"
PLANTED = {
    "bpe": ("bpe.naive", "merging.forgets-left"),
    "spm": ("spm.sentencepiece", "spm.bytes-backwards"),
    "unigram": ("unigram.sentencepiece", "unigram.unknowns-apart"),
    "wordpiece": ("wordpiece.bert", "wordpiece.no-limit"),
}
"""By algorithm what is right, and a mistake beside it."""

needs_atheris = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="Atheris is not installed"
)


def target(folder, algorithm, *options):
    """Run a target in a folder, where it leaves its crash.

    libFuzzer takes for its own the most memory that the process had which has started it: that of
    pytest, after a thousand tests, is beyond its limit.
    """
    module = "harness.studies.guided.target"
    return python("-m", module, algorithm, *options, "-rss_limit_mb=0", folder=folder)


def named(algorithm):
    """The options that name what is right and what is not."""
    right, wrong = PLANTED[algorithm]
    return ["--impl", right, "--impl", f"{MUTANTS}:{wrong}"]


@pytest.mark.thorough  # each starts workers, which load everything
@pytest.mark.parametrize(
    ("algorithm", "plain"),
    [*(pytest.param(one, False, marks=needs_atheris) for one in ("bpe", "unigram")), ("bpe", True)],
)
def test_a_planted_mistake_is_our_finding_with_our_reproducer(tmp_path, algorithm, plain):
    options = [*named(algorithm), "--findings", str(tmp_path / "found"), "-seed=1", "-runs=20000"]
    ended = target(tmp_path, algorithm, *options, *["--plain"] * plain)
    assert ended.returncode not in (0, 2), ended.stderr
    assert PLANTED[algorithm][1] in ended.stderr
    (reproducer,) = (tmp_path / "found").glob("look-*/findings/f-*/repro.py")
    assert python(str(reproducer), folder=tmp_path).returncode == 1
    if not plain:
        (crash,) = tmp_path.glob("crash-*")
        look = ("-m", "harness.studies.guided.looking", algorithm, str(crash))
        again = python(*look, str(tmp_path / "again"), *named(algorithm), folder=tmp_path)
        assert again.returncode == 1, again.stderr
        assert PLANTED[algorithm][1] in again.stdout


@pytest.mark.thorough
def test_what_is_right_ends_without_a_finding(tmp_path):
    options = ["--impl", "wordpiece.bert", "--impl", "tokenizers", "--plain", "-runs=300"]
    ended = target(tmp_path, "wordpiece", *options)
    assert ended.returncode == 0, ended.stderr
    assert "without Atheris: nothing guides what comes next" in ended.stderr


HERE = Path("here")
NEW = records.found("f-1", b"x", bucket="b", difference="they differ")
KNOWN = records.found("f-2", b"x", expected="known")
SHOWS = b"bbaababa"


def asking(subject, found):
    """What asks a subject, where whoever looks finds these; and how often somebody looked."""
    looks = []
    return Asked([subject], lambda *given: looks.append(given) or found, HERE), looks


def test_only_a_finding_of_the_harness_is_one():
    right, wrong = PLANTED["bpe"]
    participants, _ = selection.participants([right, f"{MUTANTS}:{wrong}"])
    subject = Subject("toy_runs", participants)
    assert subject.suspicion(b"a") is None
    assert subject.suspicion(b"not of its alphabet") is None
    assert subject.suspicion(SHOWS) is not None
    asked, looks = asking(subject, [])
    for _ in range(40):
        asked(SHOWS)
    assert len(looks) == 6  # after 1, 2, 4, 8, 16 and 32 inputs: more rarely, but never ignored
    said = r"b: they differ; reproduce: python here/look-\d+-1/findings/f-1/repro\.py"
    with pytest.raises(Disagreement, match=said):
        asking(subject, [NEW])[0](SHOWS)


class TwoFaults:
    """Suspects an input with an ``x`` or a ``y``, always with one pattern of answers."""

    source, names, vocabulary = "toy_bytes", ["a", "b"], sources.resolve("toy_bytes")

    def suspicion(self, data):
        odd = b"x" in data or b"y" in data
        return (self.source, "equivalence", "ids", "b") if odd else None


def test_what_is_expected_covers_only_what_it_explains():
    found = [KNOWN]
    asked, looks = asking(TwoFaults(), found)
    for data in (b"x", b"ax", b"xbx", b"axa"):
        asked(data)
    assert len(looks) == 1
    found[:] = [NEW]
    asked(b"just x")
    with pytest.raises(Disagreement):
        asked(b"x and y")


@pytest.mark.thorough  # workers
def test_what_is_expected_is_no_finding(tmp_path):
    """llama.cpp falls back to bytes where SentencePiece replaces them: known, and written down."""
    pytest.importorskip("xllamacpp")
    several = ["sentencepiece", "spm.sentencepiece", "llama.cpp"]
    assert looked_into(b"\xc1", ["toy_characters"], several, tmp_path)
    found = found_in(tmp_path)
    assert found
    assert all(one.expected for one in found)


def test_mutants_follow_from_the_seed_alone():
    toys = [sources.resolve("toy_bytes"), sources.resolve("toy_acbb")]

    def made():
        mutator = Mutator(toys, lambda data, most: b"theirs")
        return [mutator(b"abc", 64, seed) for seed in range(60)]

    first = made()
    assert first == made()
    assert 15 < first.count(b"theirs") < 55
    assert len(set(first)) > 10
    assert max(map(len, first)) <= 64
    assert CHOICES > 64


def test_dictionaries_and_seeds():
    toy = sources.resolve("toy_acbb")
    words = dictionary([toy]).splitlines()
    assert '"\\x62\\x62"' in words
    assert len(words) == len(set(words))
    begun = seeds([toy], [b"given", b"x" * (LONGEST + 1)])
    assert begun[0] == b"given"
    assert max(map(len, begun)) <= LONGEST
    assert len(begun) > 20


def test_options_of_libfuzzer_go_through():
    options, theirs = parsed(["bpe", "-runs=5", "--impl", "bpe.naive", "corpus", "-seed=1"])
    assert theirs == ["-runs=5", "-seed=1"]
    assert (options.impl, options.corpus) == (["bpe.naive"], [Path("corpus")])


def test_every_algorithm_has_vocabularies_and_both_projects_are_whole():
    assert all(small(algorithm) for algorithm in ALGORITHMS)
    for folder in (ROOT / ".clusterfuzzlite", ROOT / "docs" / "examples" / "oss-fuzz" / "tokgate"):
        assert yaml.safe_load((folder / "project.yaml").read_text())["language"] == "python"
        assert (folder / "Dockerfile").read_text().startswith("FROM gcr.io/oss-fuzz-base/")
        subprocess.run(["bash", "-n", str(folder / "build.sh")], check=True)


def test_a_target_is_written_whole(tmp_path):
    write(tmp_path, "wordpiece", [b"given"], sys.executable)
    program = (tmp_path / "fuzz_wordpiece").read_text()
    assert "LLVMFuzzerTestOneInput" in program
    assert os.access(tmp_path / "fuzz_wordpiece", os.X_OK)
    assert "dict = fuzz_wordpiece.dict" in (tmp_path / "fuzz_wordpiece.options").read_text()
    with zipfile.ZipFile(tmp_path / "fuzz_wordpiece_seed_corpus.zip") as archive:
        assert b"given" in map(archive.read, archive.namelist())


TOOLS = {
    "home/bin/python3": 'exec {python} "$@"',
    # In place of uv, which would need the network: a Python that has tokgate already.
    "tools/uv": 'if [ "$1 $2" = "python find" ]; then echo "{folder}/home/bin/python3"; fi',
}


@pytest.mark.thorough  # builds all targets, after a campaign
def test_what_the_script_builds_runs(tmp_path):
    """All but the installation."""
    for name, line in TOOLS.items():
        tool = tmp_path / name
        tool.parent.mkdir(parents=True)
        tool.write_text(f"#!/bin/sh\n{line.format(python=sys.executable, folder=tmp_path)}\n")
        tool.chmod(0o755)
    out, work = tmp_path / "out", tmp_path / "work"
    for folder in (out, work):
        folder.mkdir()
    given = {"SRC": tmp_path, "OUT": out, "WORK": work, "TOKGATE_FINDINGS": tmp_path / "found"}
    paths = {"PATH": f"{tmp_path / 'tools'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environment = os.environ | paths | {name: str(path) for name, path in given.items()}

    def run(*command):
        ended = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300,
            env=environment | {"SEED_CASES": "100"},
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr

    run(str(ROOT / ".clusterfuzzlite" / "build.sh"))
    found = {one.name for one in out.iterdir() if os.access(one, os.X_OK) and one.is_file()}
    assert found == {f"fuzz_{algorithm}" for algorithm in ALGORITHMS}
    with zipfile.ZipFile(out / "fuzz_wordpiece_seed_corpus.zip") as archive:
        names = set(archive.namelist())
    assert names & {one.name for one in (work / "seeds").iterdir()}
    words = f"-dict={out / 'fuzz_wordpiece.dict'}"
    run(str(out / "fuzz_wordpiece"), "--impl", "wordpiece.bert", "-runs=50", words)
