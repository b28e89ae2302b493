"""The variants of WordPiece: all in which its engines differ, as data.

``BERT`` is Hugging Face's tokenizers 0.23 (BertNormalizer, BertPreTokenizer, WordPiece), which
takes its characters from four tables of as many Unicode versions: categories of 8, canonical order
of 9, decompositions of 12, small letters of 17. ``LLAMA_CPP`` is ``llm_tokenizer_wpm`` of llama.cpp
in 2026, whose tables are of Unicode 15: of a decomposition it keeps the first character only.

Ranges of code points are written in hexadecimal. They were found by asking the engines about every
character, and tests ask them again.
"""

from __future__ import annotations

from dataclasses import dataclass

CJK = "3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B920-2CEAF 2F800-2FA1F"
"""Both variants take these for Chinese: extension E begins 256 code points late in both."""

WHITE_SPACE = r"\s"


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """The characters that an expression of `regex` matches as of Unicode 16, less and plus some.

    expression: matches single characters. without, besides: ranges of code points.
    """

    expression: str
    without: str = ""
    besides: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """How an engine reads a text.

    name: of the implementation. unicode: the versions of Unicode in the engine's tables.
    controls: dropped by ``clean_text``. marks: dropped by ``strip_accents``.
    punctuation: each a word of its own.
    whole_decomposition: NFD; else only the first character of each decomposition.
    undecomposed: characters whose decomposition is too new for the engine.
    reordered: marks that are kept, and put in canonical order.
    simple_lowercase: one character for one, so that U+0130 becomes ``i`` without its dot.
    lowercase: small letters newer than Python's tables, as ``FIRST[-LAST]=SMALL``.
    uncased: characters whose small letters are too new for the engine.
    limits_words: a word of more than ``max_word`` characters is unknown.
    marks_words: words begin with U+2581, as in GGUF; else the tokens that continue one are marked.
    strict: takes valid UTF-8 only; else any bytes that begin no character are dropped.
    """

    name: str
    unicode: str
    controls: CharacterClass
    marks: CharacterClass
    punctuation: CharacterClass
    undecomposed: str
    whole_decomposition: bool
    reordered: str
    simple_lowercase: bool
    lowercase: str
    uncased: str
    limits_words: bool
    marks_words: bool
    strict: bool


_CONTROLS = r"[\p{Cc}\p{Cf}\p{Co}\p{Cs}]"
_PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"

_DECOMPOSED_SINCE_15 = (
    "105C9 105E4 11383 11385 1138E 11391 113C5 113C7-113C8 16121-16128 16D68-16D6A"
)
_CASED_SINCE_15 = "1C89 A7CB-A7CC A7DA A7DC 10D50-10D65"

BERT = Variant(
    name="wordpiece.bert",
    unicode="8.9.12.17",
    controls=CharacterClass(
        _CONTROLS,
        without="0009-000A 000D 0890-0891 08E2 110CD 13430-1343F",
        besides="FFFD",
    ),
    marks=CharacterClass(
        r"\p{Mn}",
        without="""
        07FD 0897-089F 08CA-08E1 09FE 0AFA-0AFF 0B55 0C04 0C3C 0D00 0D3B-0D3C 0D81 0EBA 0ECE 180F
        1885-1886 1ABF-1ACE 1DF6-1DFB A82C A8C5 A8FF A9BD 10D24-10D27 10D69-10D6D 10EAB-10EAC
        10EFC-10EFF 10F46-10F50 10F82-10F85 11070 11073-11074 110C2 111C9 111CF 1123E 11241 1133B
        113BB-113C0 113CE 113D0 113D2 113E1-113E2 11438-1143F 11442-11444 11446 1145E 1182F-11837
        11839-1183A 1193B-1193C 1193E 11943 119D4-119D7 119DA-119DB 119E0 11A01-11A0A 11A33-11A38
        11A3B-11A3E 11A47 11A51-11A56 11A59-11A5B 11A8A-11A96 11A98-11A99 11C30-11C36 11C38-11C3D
        11C3F 11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36 11D3A 11D3C-11D3D
        11D3F-11D45 11D47 11D90-11D91 11D95 11D97 11EF3-11EF4 11F00-11F01 11F36-11F3A 11F40 11F42
        11F5A 13440 13447-13455 1611E-16129 1612D-1612F 16F4F 16FE4 1CF00-1CF2D 1CF30-1CF46
        1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E08F 1E130-1E136 1E2AE
        1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E944-1E94A
        """,
        besides="1734 1171E",
    ),
    punctuation=CharacterClass(
        _PUNCTUATION,
        without="""
        061D 09FD 0A76 0C77 0C84 1B4E-1B4F 1B7D-1B7F 2E43-2E4F 2E52-2E5D 10D6E 10EAD 10F55-10F59
        10F86-10F89 113D4-113D5 113D7-113D8 1144B-1144F 1145A-1145B 1145D 11660-1166C 116B9 1183B
        11944-11946 119E2 11A3F-11A46 11A9A-11A9C 11A9E-11AA2 11B00-11B09 11BE1 11C41-11C45
        11C70-11C71 11EF7-11EF8 11F43-11F4F 11FFF 12FF1-12FF2 16D6D-16D6F 16E97-16E9A 16FE2 1E5FF
        1E95E-1E95F
        """,
        besides="166D 111C9",
    ),
    undecomposed=f"11938 {_DECOMPOSED_SINCE_15}",
    whole_decomposition=True,
    reordered="""
    08D4-08E1 1B44 1BAA 1BF2-1BF3 1DFB 302E-302F A953 A9C0 111C0 11235 1134D 11442 11446 116B6
    11C3F 1D165-1D166 1D16D-1D172 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A
    1E944-1E94A
    """,
    simple_lowercase=False,
    lowercase="""
    1C89=1C8A A7CB=0264 A7CC=A7CD A7CE=A7CF A7D2=A7D3 A7D4=A7D5 A7DA=A7DB A7DC=019B
    10D50-10D65=10D70 16EA0-16EB8=16EBB
    """,
    uncased="",
    limits_words=True,
    marks_words=False,
    strict=True,
)

LLAMA_CPP = Variant(
    name="wordpiece.llama-cpp",
    unicode="15",
    controls=CharacterClass(_CONTROLS, without="0009-000D 0085", besides="FFFD"),
    marks=CharacterClass(
        r"\p{M}",
        without="""
        0897 10D69-10D6D 10EFC 113B8-113C0 113C2 113C5 113C7-113CA 113CC-113D0 113D2 113E1-113E2
        11F5A 1611E-1612F 1E5EE-1E5EF
        """,
    ),
    punctuation=CharacterClass(
        _PUNCTUATION,
        without="1B4E-1B4F 1B7F 10D6E 113D4-113D5 113D7-113D8 11BE1 16D6D-16D6F 1E5FF",
    ),
    undecomposed=_DECOMPOSED_SINCE_15,
    whole_decomposition=False,
    reordered="",
    simple_lowercase=True,
    lowercase="",
    uncased=_CASED_SINCE_15,
    limits_words=False,
    marks_words=True,
    strict=False,
)
