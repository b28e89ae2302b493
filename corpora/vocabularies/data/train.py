"""Train the two unigram models of this folder: ``python corpora/vocabularies/data/train.py``.

The text is made here from seeded syllables, so that nothing is downloaded and a run with the same
SentencePiece (0.2.3 made the committed files) gives the same files. The corpus has what separates
unigram engines: ligatures, full- and half-width forms, combining accents, several scripts, digits,
emoji, and words that nest in each other.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
from pathlib import Path
from typing import Any

SENTENCES = 12_000

_SYLLABLES: dict[str, list[str]] = {
    "latin": [
        c + v + e for c in "bcdflmnprst" for v in "aeiou" for e in ("", "n", "r", "st", "ng")
    ],
    "accented": [c + v for c in "bcdlmnrstç" for v in "àéèêëïôöüñ"],
    "cyrillic": [c + v for c in "бвгдклмнпрст" for v in "аеиоуыя"],
    "greek": [c + v for c in "βγδκλμνπρστ" for v in "αεηιου"],
    "kana": [chr(c) for c in (*range(0x3042, 0x3090, 2), *range(0x30A2, 0x30F0, 2))],
    "han": list("日本語文字中国大学生東京人山川水火木金土今年時間新聞電車天気友達"),
    "hangul": [chr(0xAC00 + 28 * k + f) for k in range(0, 399, 19) for f in (0, 4, 8)],
    "emoji": ["😀", "🙂", "👍", "👍🏽", "👩‍💻", "🇫🇷", "❤️", "🚀"],
    "forms": ["ﬁ", "ﬂ", "Ａ", "ｂ", "１", "ｶ", "ﾞ", "①", "²", "½", "™", "e\u0301", "ｱ"],
}
"""Syllables by script; ``forms`` are changed by NFKC."""

_WEIGHTS = {
    "latin": 12,
    "accented": 3,
    "cyrillic": 4,
    "greek": 2,
    "kana": 3,
    "han": 3,
    "hangul": 2,
    "emoji": 1,
    "forms": 1,
}

_MARKS = (".", ",", "!", "?", ":", ";", "...", " -", ")", "]", '"', "。", "、")


def sentences(seed: int) -> list[str]:
    """The corpus: words drawn by rank as in natural text, a sentence an entry."""
    rng = random.Random(seed)
    lexicon = {
        script: ["".join(rng.choices(parts, k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(900)]
        for script, parts in _SYLLABLES.items()
    }
    ranks = [1 / (rank + 3) for rank in range(900)]
    scripts, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    corpus = []
    for _ in range(SENTENCES):
        script = rng.choices(scripts, weights)[0]
        words = rng.choices(lexicon[script], ranks, k=rng.randint(2, 12))
        if rng.random() < 0.3:
            words.insert(rng.randrange(len(words)), _number(rng))
        if rng.random() < 0.2:
            other = rng.choices(scripts, weights)[0]
            words.insert(rng.randrange(len(words)), rng.choices(lexicon[other], ranks)[0])
        if rng.random() < 0.3:
            words[0] = words[0].capitalize()
        space = "" if script in ("kana", "han") and rng.random() < 0.8 else " "
        corpus.append(space.join(words) + rng.choice(_MARKS))
    return corpus


def _number(rng: random.Random) -> str:
    return rng.choice((str(rng.randint(0, 9999)), f"{rng.random():.2f}", f"{rng.randint(1, 99)}%"))


def train(name: str, **options: Any) -> bytes:
    """The serialized model ``name``; progress goes nowhere."""
    import sentencepiece  # noqa: PLC0415 (only this script trains)

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(seed=2024)),
        model_writer=model,
        model_type="unigram",
        num_threads=1,
        shuffle_input_sentence=False,
        minloglevel=2,
        **options,
    )
    print(f"{name}: {len(model.getvalue()):,} bytes")
    return model.getvalue()


def main() -> None:
    """Write both models into ``--out``, by default this folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    out = parser.parse_args().out
    normalized = train(
        "unigram_nfkc",
        vocab_size=2000,
        normalization_rule_name="nmt_nfkc",
        # Symbols that overlap ordinary pieces and each other, and one with a space in it.
        user_defined_symbols=["<sep>", "<|user|>", "bar", "arno", "日本", "123", "e\u0301", "🙂"],
        control_symbols=["<mask>"],
        character_coverage=0.9995,
    )
    # The charsmap alone has 237 kB: packed, without a time stamp, so that equal runs give equal
    # files.
    (out / "unigram_nfkc.model.gz").write_bytes(gzip.compress(normalized, mtime=0))
    fallback = train(
        "unigram_bytes",
        vocab_size=2000,
        normalization_rule_name="identity",
        byte_fallback=True,
        character_coverage=0.98,
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        split_digits=True,
    )
    (out / "unigram_bytes.model").write_bytes(fallback)


if __name__ == "__main__":
    main()
