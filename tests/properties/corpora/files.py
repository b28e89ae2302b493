"""Small whole files of each format of vocabularies, and what tests ask of every reader."""

import base64
import json

import pytest

from corpora.vocabularies import tokenizer_json
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.sources import load_path

BYTES = [bytes([byte]) for byte in range(256)]


def written(path, content):
    """A file with this content: bytes, a text, or a document that becomes JSON."""
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    return path


def refusal(call, *args, **options):
    """The one line of the VocabularyError that a call must raise."""
    with pytest.raises(VocabularyError) as caught:
        call(*args, **options)
    line = str(caught.value)
    assert line.isprintable() and len(line) < 1000
    assert caught.value.mend
    return line


def says(vocabulary, **fields):
    """Hold a vocabulary to these fields; ``merges`` are triples, ``types`` those of pieces."""
    for name, expected in fields.items():
        match name:
            case "merges":
                found = vocabulary.merges.triples()
            case "types":
                found = [piece.type.name for piece in vocabulary.pieces]
            case "added":
                found = [(token.text, token.id, token.special) for token in vocabulary.added_tokens]
            case _:
                found = getattr(vocabulary, name)
        assert found == expected, name


def ranks(*tokens):
    """tiktoken's rank file."""
    return b"".join(b"%s %d\n" % (base64.b64encode(t), i) for i, t in enumerate(tokens))


def encoding(**changes):
    """An encoding as tiktoken's packages for JavaScript carry it, with a gap at 2."""
    lines = "! 0 YQ== Yg==\n! 3 YWI=\n"
    return {"pat_str": r"\s+|\S+", "special_tokens": {"<s>": 2}, "bpe_ranks": lines, **changes}


def tekken(entries=None, special_tokens=None, **config):
    """Mistral's format: the bytes and three tokens, of which the last one is not used."""
    spelled = map(base64.b64encode, [*BYTES, b"ab", b"abab", b"unused"])
    vocab = [{"rank": i, "token_bytes": text.decode()} for i, text in enumerate(spelled)]
    for place, entry in (entries or {}).items():
        vocab[place] = entry
    sizes = {"default_vocab_size": 268, "default_num_special_tokens": 10}
    document = {"config": {"pattern": ".+", **sizes, **config}, "vocab": vocab}
    return document | ({"special_tokens": special_tokens} if special_tokens is not None else {})


def proto(kind=1, pieces=(), **spec):
    """A SentencePiece model; ``pieces`` replace those of their places."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = kind
    usual = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("a", -1.0, 1), ("b", -2.0, 1), ("ab", -0.5, 1)]
    usual.append(("<0x41>", 0.0, 6))
    for place, piece in dict(pieces).items():
        usual[place] = piece
    for text, score, of_type in usual:
        model.pieces.add(piece=text, score=score, type=of_type)
    for name, value in spec.items():
        setattr(model.normalizer_spec, name, value)
    return model


def _document(fields, model, changes):
    """The document with changes to its own fields, or else to those of its model."""
    own = {name: value for name, value in changes.items() if name in fields}
    rest = {name: value for name, value in changes.items() if name not in fields}
    return {**fields, **own, "model": {**model, **rest}}


def byte_bpe(**changes):
    """A tokenizer.json of byte-level BPE."""
    vocab = {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "<s>": 7}
    fields = {
        "added_tokens": [{"id": 7, "content": "<s>", "special": True, "lstrip": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
    }
    return _document(fields, {"type": "BPE", "vocab": vocab, "merges": ["a b", "Ġ ab"]}, changes)


def character_bpe(**changes):
    """A tokenizer.json of BPE over characters, as Llama 2's."""
    steps = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    fields = {
        "added_tokens": [{"id": 1, "content": "<s>", "special": True}],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": None,
    }
    vocab = {"<unk>": 0, "<s>": 1, "<0x41>": 2, "▁": 3, "a": 4, "▁a": 5}
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    return _document(fields, {**model, "vocab": vocab, "merges": ["▁ a"]}, changes)


def unigram(**changes):
    """A tokenizer.json of Unigram, as T5's."""
    steps = [
        {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
    ]
    special, ordinary = {"special": True}, {"special": False}
    fields = {
        "added_tokens": [
            {"id": 1, "content": "<s>", **special},
            {"id": 3, "content": "b", **ordinary},
            {"id": 4, "content": "new", **special},
        ],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    }
    vocab = [["<unk>", 0.0], ["<s>", 0], ["a", -1.5], ["b", -2.0]]
    return _document(fields, {"type": "Unigram", "unk_id": 0, "vocab": vocab}, changes)


def wordpiece(**changes):
    """A tokenizer.json of WordPiece, as BERT's."""
    fields = {
        "added_tokens": [{"id": 0, "content": "[UNK]", "special": True}],
        "normalizer": {"type": "BertNormalizer"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }
    vocab = {"[UNK]": 0, "a": 1, "##b": 2}
    return _document(fields, {"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab}, changes)


def read(document):
    """The vocabulary of a tokenizer.json's document."""
    return tokenizer_json.from_document(document, "x", None)


GGUF_BPE = {
    "pre": "qwen2",
    "tokens": ["a", "b", "Ġ", "ab", "Ġab", "<s>", "x y", "[PAD6]"],
    "token_type": [1, 1, 1, 1, 1, 3, 4, 5],
    "merges": ["a b", "Ġ ab"],
}
GGUF_PIECES = {
    "tokens": ["<unk>", "<s>", "a", "b", "ab", "▁"],
    "scores": [0.0, 0.0, -1.0, -2.0, -0.5, -3.0],
    "token_type": [2, 3, 1, 1, 1, 1],
    "unknown_token_id": 0,
}


def by_the_package(path, model, fields):
    """The file of metadata alone as the package ``gguf`` writes it."""
    from gguf import GGUFWriter

    writer = GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    adders = {bool: writer.add_bool, int: writer.add_uint32, str: writer.add_string}
    for name, value in fields.items():
        adders.get(type(value), writer.add_array)(f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def gguf(folder, model, base, **changes):
    """The vocabulary of a GGUF file with these fields; a change to None takes one out."""
    fields = {name: value for name, value in {**base, **changes}.items() if value is not None}
    return load_path(by_the_package(folder / "x.gguf", model, fields))
