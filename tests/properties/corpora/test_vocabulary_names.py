"""From names to vocabularies: embedded, drawn, tiktoken's, the hub's, paths, and their mistakes."""

import itertools
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from corpora.vocabularies import drawn, sources
from corpora.vocabularies.embedded import ALIKE, TOY_FILES, embedded
from corpora.vocabularies.model import AddedToken, PieceType, WordPieceRules
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from corpora.vocabularies.toys import TOYS
from harness.cli.commands.list import rows
from harness.engine.selection import vocabularies
from tests.doubles.command import python
from tests.properties.corpora.files import ranks, refusal, says, written

HERE = Path(sources.__file__).parent / "data"
KINDS = "give random:KIND:SEED, with KIND one of bpe, ranks"


@pytest.mark.parametrize("name", sorted({*embedded(), *TOY_FILES}))
def test_embedded_vocabularies_load_under_their_name(name):
    vocabulary = resolve(name)
    assert vocabulary.id == name
    assert len(vocabulary) > 5
    assert len(vocabulary.merges) or vocabulary.unk_id is not None or vocabulary.unexpressed
    assert name in {row["name"] for row in rows("vocabs")}
    # Of two that are alike a run takes one, and files of toys where they are named.
    assert (name in vocabularies([])) == (name not in {*ALIKE, *TOY_FILES})
    if name in ALIKE:
        assert vocabulary.fingerprint == resolve(ALIKE[name]).fingerprint


def test_resolving_embedded_names_does_not_import_mistral_common():
    code = (
        "import sys; from corpora.vocabularies.sources import resolve; resolve('mistral_v1');"
        "sys.exit('mistral_common' in sys.modules)"
    )
    assert python("-c", code).returncode == 0


@pytest.fixture(autouse=True)
def nothing_remembered():
    """Encodings of tiktoken are loaded once; what a test stands in for them is for it alone."""
    sources._from_tiktoken.cache_clear()
    yield
    sources._from_tiktoken.cache_clear()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "empty"),
        ("tekken_24091", "tekken_240911"),
        ("o200k_base", "did you mean tiktoken:o200k_base?"),
        ("nothing-like-it", "an embedded name"),
        ("tiktoken:o200k", "o200k_base"),
        ("no/such/file.tiktoken#pattern=gpt2", "no such file"),
        ("x.tiktoken#patern=gpt2", "#pattern=NAME"),
        ("x.tiktoken#pattern=", "#pattern=NAME"),
        ("a\0b/c", "cannot be read"),
        ("/dev/zero", "not a regular file"),
        (str(HERE), "is a folder without a tokenizer"),
        (f"{HERE}/unigram_bytes.model#pattern=gpt2", "does not apply"),
        (f"{HERE}/toy_file_words.json#pattern=gpt2", "does not apply"),
        (f"{HERE}/README.md", "format not recognised"),
        (f"{HERE}/README.md", "vocab.txt, or vocab.json with merges.txt"),
        ("hf:org/name@", "revision"),
        *((f"random:{rest}", KINDS) for rest in ("", "bpe", "bpe:", "bpe:x", "no:1")),
    ],
)
def test_mistaken_names(name, fault):
    assert fault in refusal(resolve, name)


def test_content_tells_the_format_where_the_name_does_not(tmp_path):
    shutil.copy(HERE / "unigram_bytes.model", tmp_path / "spiece")
    written(tmp_path / "t", to_tokenizer_json(resolve("toy_bytes"), True))
    written(tmp_path / "r", ranks(b"a", b"aa"))
    formats = {"spiece": "sentencepiece", "t": "tokenizer.json", "r": "tiktoken"}
    for name, told in formats.items():
        assert resolve(str(tmp_path / name)).format == told


def test_tiktoken_encodings_come_with_their_special_tokens(monkeypatch):
    import tiktoken

    encoding = tiktoken.Encoding(
        "o200k_base", pat_str="x++", mergeable_ranks={b"a": 0, b"aa": 3}, special_tokens={"<e>": 5}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    says(
        resolve("tiktoken:o200k_base"),
        tokens=(b"a", None, None, b"aa", None, None),
        special_tokens={"<e>": 5},
        splits=PATTERNS["o200k_base"],
        own_pattern="x++",
    )


def test_tiktoken_without_a_network(monkeypatch):
    import tiktoken

    def fail(name):
        raise OSError("no route\nto host")

    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    assert "check the network" in refusal(resolve, "tiktoken:o200k_base")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder that stands for the hub: hf:org/name reads tmp_path/org/name."""
    hub_module = pytest.importorskip("huggingface_hub")
    errors = pytest.importorskip("huggingface_hub.errors")

    def download(repository, file, revision=None):
        if repository == "down/down":
            raise ConnectionError("offline")
        path = tmp_path / repository / file
        if not path.exists():
            raise errors.EntryNotFoundError(f"404\n{file}")
        return str(path)

    monkeypatch.setattr(hub_module, "hf_hub_download", download)
    (tmp_path / "org/name").mkdir(parents=True)
    return tmp_path / "org/name"


def test_the_hub_prefers_tokenizer_json(hub):
    assert "has none of tokenizer.json" in refusal(resolve, "hf:org/name")
    assert "cannot be fetched (offline)" in refusal(resolve, "hf:down/down")
    shutil.copy(HERE / "unigram_bytes.model", hub / "tokenizer.model")
    says(resolve("hf:org/name"), id="org/name", format="sentencepiece")
    written(hub / "tokenizer.json", to_tokenizer_json(resolve("toy_bytes"), True))
    assert resolve("hf:org/name@main").format == "tokenizer.json"


def test_the_hub_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "tokgate[hub]" in refusal(resolve, "hf:org/name")


# Drawn vocabularies have what they are drawn for

MANY = 60


def all_of(kind):
    return [drawn.draw(kind, seed) for seed in range(MANY)]


@pytest.mark.parametrize("kind", drawn.KINDS)
def test_a_name_decides_all_of_it(kind):
    name = f"random:{kind}:7"
    first, again = resolve(name), resolve(name)
    assert first.id == name
    assert first.fingerprint == again.fingerprint
    assert len({vocabulary.fingerprint for vocabulary in all_of(kind)}) > MANY // 2


def test_sources_go_round_the_kinds_and_seeds_give_others():
    names = drawn.sources(2 * len(drawn.KINDS), 3)
    assert len(set(names)) == len(names)
    assert {name.split(":")[1] for name in names} == set(drawn.KINDS)
    assert not set(names) & set(drawn.sources(2 * len(drawn.KINDS), 4))


def said(flags):
    """Each field of a dataclass that is a flag, with its value."""
    return [(name, value) for name, value in asdict(flags).items() if isinstance(value, bool)]


SPM = ("characters", "unigram")
ADDED_FLAGS = [(name, v) for name, _ in said(AddedToken("", 0)) for v in (False, True)]
RULES = [(name, v) for name, _ in said(WordPieceRules()) for v in (False, True)]
KNOWN = {make().fingerprint for _, make in TOYS.values()}
KINDS_OF_PROBLEMS = ("ids-not-merge-order", "several-merges", "not-self-encoding", "missing-bytes")


@pytest.mark.parametrize(
    ("kind", "of", "wanted"),
    [
        ("bpe", lambda one: [problem.kind for problem in preflight(one)], [*KINDS_OF_PROBLEMS]),
        ("bpe", lambda one: [(bool(one.splits), one.ignore_merges)], [(True, False), (True, True)]),
        ("ranks", lambda one: [p.kind for p in preflight(one)] or [""], ["no-valid-split", ""]),
        ("ranks", lambda one: [None in one.tokens], [False, True]),
        ("pipeline", lambda one: [one.normalizer.form], [None, "NFC", "NFD", "NFKC", "NFKD"]),
        ("pipeline", lambda one: itertools.chain(*map(said, one.added_tokens)), ADDED_FLAGS),
        ("wordpiece", lambda one: said(one.wordpiece), RULES),
        *((kind, lambda one: [p.type for p in one.pieces], [*PieceType]) for kind in SPM),
        *(
            (kind, lambda one: [sum(p.type == 6 for p in one.pieces)], [0, 200, 256])
            for kind in SPM
        ),
        *((kind, lambda one: [bool(one.normalizer.charsmap)], [False, True]) for kind in SPM),
        ("mutated", lambda one: [one.fingerprint in KNOWN], [False]),
    ],
)
def test_drawn_vocabularies_have_every_oddity(kind, of, wanted):
    """What separates engines once in a thousand real tokens."""
    assert {value for one in all_of(kind) for value in of(one)} >= {*wanted}
