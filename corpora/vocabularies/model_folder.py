"""A model's folder as the hub has it: the file of a tokenizer, and those that stand beside it.

``tokenizer_config.json`` names the class by which transformers reads the folder; it, and the lists
of added and special tokens, say again what the tokenizer's file says. Where they say otherwise,
libraries follow one or the other, and a remark tells the user so.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import part_files
from corpora.vocabularies.model import NativeFile, Vocabulary, VocabularyError
from corpora.vocabularies.reading import decode_json, read_bytes, shown_json

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

WHOLE = ("tokenizer.json", "tokenizer.model", "spiece.model", "tekken.json")
"""Files that have all of a tokenizer: the first that a folder has is read."""

BESIDE = (part_files.CONFIG, part_files.SPECIALS, part_files.ADDED)
TEMPLATES = ("chat_template.jinja", "chat_template.json")

SHOWN = 3
"""Tokens of which files differ that are named."""


def load(
    folder: Path, pattern: str | None, load_path: Callable[[Path, str | None], Vocabulary]
) -> Vocabulary:
    """The vocabulary of a folder; ``load_path`` reads a file. Raises VocabularyError."""
    there = [*BESIDE, *TEMPLATES, *part_files.FILES]
    contents = {name: read_bytes(folder / name) for name in there if (folder / name).is_file()}
    said = {name: decode_json(contents[name], Json, str(folder / name))
            for name in (*BESIDE, TEMPLATES[1]) if name in contents}  # fmt: skip
    config = said.get(part_files.CONFIG, {})
    kind = config.get("tokenizer_class")
    if not isinstance(kind, str | None):
        where = str(folder / part_files.CONFIG)
        raise VocabularyError(where, f"tokenizer_class is {shown_json(kind)}", "it must be a name")
    whole = next((name for name in WHOLE if (folder / name).is_file()), "")
    if whole:
        vocabulary = load_path(folder / whole, pattern)
        contents = {name: contents[name] for name in contents if name not in part_files.FILES}
    else:
        vocabulary = part_files.of_folder(folder, contents, said, pattern)
        contents = {} if pattern else contents  # the class has a pattern of its own
    native = vocabulary.native or NativeFile(b"")
    ends = _ends(native.content, config) if whole == WHOLE[0] else []
    remarks = (*native.remarks, *_remarks(vocabulary, said), *ends)
    native = replace(native, beside=tuple(contents.items()), remarks=remarks)
    return replace(vocabulary, id=folder.resolve().name, native=native)


def chat_template(vocabulary: Vocabulary) -> tuple[str, str]:
    """The template of conversations of a folder, and the text of BOS if the template has it.

    Empty where there is none, or several.
    """
    files = dict(vocabulary.native.beside if vocabulary.native else ())
    config, other = (
        decode_json(files.get(name, b"{}"), Json, name)
        for name in (part_files.CONFIG, TEMPLATES[1])
    )
    template = files[TEMPLATES[0]].decode(errors="replace") if TEMPLATES[0] in files else None
    template = template or other.get("chat_template") or config.get("chat_template")
    if not isinstance(template, str):
        return "", ""
    bos = config.get("bos_token") if "bos_token" in template else None
    bos = bos.get("content") if isinstance(bos, dict) else bos
    return template, bos if isinstance(bos, str) else ""


def _ends(content: bytes, config: Json) -> list[str]:
    """Where the config says otherwise than a tokenizer.json whether a text gets BOS or EOS."""
    told = [
        (key, text, adds)
        for end in ("bos_token", "eos_token")
        for key, text in [(f"add_{end}", part_files.text_of(config.get(end)))]
        if text and isinstance(adds := config.get(key), bool)
    ]
    # Most configs say nothing, and files are large.
    adding = json.dumps(json.loads(content).get("post_processor")) if told else ""
    return [
        f"{part_files.CONFIG} has {key}: {shown_json(adds)}, but {WHOLE[0]} "
        f"{'adds no' if adds else 'adds'} {shown_json(text)} to a text: libraries follow one or "
        "the other"
        for key, text, adds in told
        if adds != (json.dumps(text) in adding)
    ]


def _remarks(vocabulary: Vocabulary, said: dict[str, Json]) -> list[str]:
    """In what the files beside a tokenizer's file say otherwise than it, a line each."""
    ids = {text.decode(errors="replace"): i for text, i in vocabulary.ids.items()}
    ids |= dict(vocabulary.special_tokens) | {
        token.text: token.id for token in vocabulary.added_tokens
    }
    ids |= {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
    remarks = []
    for name, tokens in part_files.listed(said).items():
        other = [
            f"{shown_json(text)} as {i}, not {ids.get(text, 'a token')}"
            for text, i in tokens.items()
            if ids.get(text) != i and (i is not None or text not in ids)
        ]
        if other:
            more = f" and {len(other) - SHOWN} more" if len(other) > SHOWN else ""
            remarks.append(
                f"{name} has {', '.join(other[:SHOWN])}{more}, other than the tokenizer's file: "
                "libraries follow one or the other"
            )
    return remarks
