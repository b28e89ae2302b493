"""Mistakes with the decoders and the post-processors of a tokenizer.json."""

from __future__ import annotations

from dataclasses import replace

from harness.studies.selftest.mutants import files
from harness.studies.selftest.mutants.files import misread, put, read_as, reordered, without

words, subwords, characters, scores, affixes = (
    replace(one, check="round-trip", stage="decode")
    for one in (files.words, files.subwords, files.characters, files.scores, files.affixes)
)
template = replace(
    files.words, check="template", stage="template",
    at="self.encoder.encode_with_added(data, pair, mode)",
)  # fmt: skip


def from_its_end(template: dict[str, list[object]]) -> dict[str, list[object]]:
    """A template whose first and last tokens have changed places."""
    first, *texts, last = template["pair"]
    return template | {"single": template["single"][::-1], "pair": [last, *texts, first]}


MUTANTS = (
    characters(
        "fuses-before-bytes",
        "Tokens are fused before their bytes are put together, and bytes stay as they are spelled.",
        "\u20ac".encode(), **reordered("decoder", "Replace", "Fuse", "ByteFallback", "Strip"),
    ),
    characters(
        "strips-nothing",
        "The space that normalization put before the text stays in what is decoded.",
        b"a", **without("decoder", "Strip"),
    ),
    characters(
        "strips-each-token",
        "The space at the beginning of each token is stripped, not that of the text.",
        b"a b", **reordered("decoder", "Replace", "ByteFallback", "Strip", "Fuse"),
    ),
    subwords(
        "cleans-nothing",
        "Spaces before punctuation stay, though the decoder WordPiece is to clean up.",
        b"a!", **misread("decoder", "WordPiece", cleanup=False),
    ),
    subwords(
        "keeps-the-prefix",
        "The prefix of tokens that continue a word stays in what is decoded.",
        b"aa", **misread("decoder", "WordPiece", prefix=""),
    ),
    scores(
        "keeps-the-first-mark",
        "The mark that Metaspace puts before the text is decoded to a space.",
        b"b", **misread("decoder", "Metaspace", prepend_scheme="never"),
    ),
    affixes(
        "space-after-all", "BPEDecoder makes a space of the suffix of the last token, too.",
        b"a", **put(decoders=[lambda tokens: [one.replace("</w>", " ") for one in tokens]]),
    ),
    words(
        "no-spaces", "Tokens are put together without a space between words.",
        b"a b", **put(decoders=[lambda tokens: tokens]),
    ),
    template(
        "ends-with-the-beginning",
        "A template is read from its end: the token of the beginning stands after the text.",
        b"a",
        **read_as(lambda file: {"post_processor": from_its_end(file["post_processor"])}),
    ),
    template(
        "second-text-first", "Of a pair the second text comes first.",
        b"a", "@ if pair is None else self.encoder.encode_with_added(pair, data, mode)",
    ),
    template(
        "pair-as-two-texts",
        "A pair is two texts one after another, each with the template of one.",
        b"a",
        "sum((self.encoder.encode_with_added(one, None, mode)"
        " for one in (data, pair) if one is not None), [])",
    ),
    template(
        "two-separators",
        "BertProcessing puts two separators between the texts of a pair,"
        " as RobertaProcessing does.",
        b"a", **misread("post_processor", "BertProcessing", type="RobertaProcessing"),
        vocabulary="toy_file_subwords",
    ),
)  # fmt: skip
