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
from tests.reports import records

ROOT = Path(__file__).parents[2]
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


def run(command, folder, **environment):
    """Run a target in a folder, where it leaves its crash."""
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip


def target(algorithm, *options):
    """The command of a target.

    libFuzzer takes for its own the most memory that the process had which has started it: that of
    pytest, after a thousand tests, is beyond its limit.
    """
    module = "harness.studies.guided.target"
    return [sys.executable, "-m", module, algorithm, *options, "-rss_limit_mb=0"]


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
    ended = run(target(algorithm, *options, *["--plain"] * plain), tmp_path)
    assert ended.returncode not in (0, 2), ended.stderr
    assert PLANTED[algorithm][1] in ended.stderr
    (reproducer,) = (tmp_path / "found").glob("look-*/findings/f-*/repro.py")
    assert run([sys.executable, str(reproducer)], tmp_path).returncode == 1
    if not plain:
        (crash,) = tmp_path.glob("crash-*")
        look = [sys.executable, "-m", "harness.studies.guided.looking", algorithm, str(crash)]
        again = run([*look, str(tmp_path / "again"), *named(algorithm)], tmp_path)
        assert again.returncode == 1, again.stderr
        assert PLANTED[algorithm][1] in again.stdout


@pytest.mark.thorough
def test_what_is_right_ends_without_a_finding(tmp_path):
    options = ["--impl", "wordpiece.bert", "--impl", "tokenizers", "--plain", "-runs=300"]
    ended = run(target("wordpiece", *options), tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "without Atheris: nothing guides what comes next" in ended.stderr


class Telling:
    """Finds what it is told to."""

    def __init__(self, *found):
        self.told, self.asked = list(found), 0

    def __call__(self, subject, data, out):
        self.asked += 1
        return self.told


HERE = Path("here")
NEW = records.found("f-1", b"x", bucket="b", difference="they differ")
KNOWN = records.found("f-2", b"x", expected="known")


def subject():
    """A toy, with what is right and what is not."""
    right, wrong = PLANTED["bpe"]
    participants, _ = selection.participants([right, f"{MUTANTS}:{wrong}"])
    return Subject("toy_runs", participants)


SHOWS = b"bbaababa"


def test_only_a_finding_of_the_harness_is_one():
    one = subject()
    assert one.suspicion(b"a") is None
    assert one.suspicion(b"not of its alphabet") is None
    assert one.suspicion(SHOWS) is not None
    nothing = Telling()
    asked = Asked([one], nothing, HERE)
    for _ in range(40):
        asked(SHOWS)
    assert nothing.asked == 6  # after 1, 2, 4, 8, 16 and 32 inputs: more rarely, but never ignored
    said = r"b: they differ; reproduce: python here/look-\d+-1/findings/f-1/repro\.py"
    with pytest.raises(Disagreement, match=said):
        Asked([one], Telling(NEW), HERE)(SHOWS)


class TwoFaults:
    """Suspects an input with an ``x`` or a ``y``, always with one pattern of answers."""

    source, names, vocabulary = "toy_bytes", ["a", "b"], sources.resolve("toy_bytes")

    def suspicion(self, data):
        odd = b"x" in data or b"y" in data
        return (self.source, "equivalence", "ids", "b") if odd else None


def test_what_is_expected_covers_only_what_it_explains():
    looks = Telling(KNOWN)
    asked = Asked([TwoFaults()], looks, HERE)
    for data in (b"x", b"ax", b"xbx", b"axa"):
        asked(data)
    assert looks.asked == 1
    looks.told = [NEW]
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
    assert (options.algorithm, options.impl) == ("bpe", ["bpe.naive"])
    assert options.corpus == [Path("corpus")]


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


UV = """\
#!/bin/sh
# In place of uv: a Python that has tokgate already.
if [ "$1 $2" = "python find" ]; then echo "{home}/bin/python3"; fi
"""


@pytest.mark.thorough  # builds all targets, after a campaign
def test_what_the_script_builds_runs(tmp_path):
    """All but the installation, which needs the network: uv is replaced."""
    home, tools = tmp_path / "home", tmp_path / "tools"
    for folder in (home / "bin", tools, tmp_path / "work", tmp_path / "out"):
        folder.mkdir(parents=True)
    python = home / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    uv = tools / "uv"
    uv.write_text(UV.format(home=home))
    for one in (python, uv):
        one.chmod(0o755)
    out = tmp_path / "out"
    built = run(
        [str(ROOT / ".clusterfuzzlite" / "build.sh")], tmp_path, SRC=str(tmp_path), OUT=str(out),
        WORK=str(tmp_path / "work"), SEED_CASES="100", PATH=f"{tools}:{os.environ['PATH']}",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    found = {one.name for one in out.iterdir() if os.access(one, os.X_OK) and one.is_file()}
    assert found == {f"fuzz_{algorithm}" for algorithm in ALGORITHMS}
    with zipfile.ZipFile(out / "fuzz_wordpiece_seed_corpus.zip") as archive:
        names = set(archive.namelist())
    assert names & {one.name for one in (tmp_path / "work" / "seeds").iterdir()}
    ran = run(
        [str(out / "fuzz_wordpiece"), "--impl", "wordpiece.bert", "-runs=50",
         f"-dict={out / 'fuzz_wordpiece.dict'}"],
        tmp_path, TOKGATE_FINDINGS=str(tmp_path / "found"),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
