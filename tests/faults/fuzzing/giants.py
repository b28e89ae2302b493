"""Files at and beyond the limits: each is refused clearly or loads within 1 GiB and 20 seconds.

    python -m tests.faults.fuzzing.giants

prints a table. Mutants of small files never reach the limits of size; these do: bombs, and files of
valid parts in numbers that cost the most memory or time for their bytes.
"""

import base64
import gzip
import io
import itertools
import resource
import sys
import tarfile
import tempfile
from pathlib import Path

from backports import zstd

from corpora.vocabularies import limits
from tests.faults.fuzzing.damage import Object
from tests.faults.fuzzing.formats import FORMATS
from tests.faults.fuzzing.loaders import SECONDS, bound, described, in_child, warm_up
from tests.faults.fuzzing.writers import to_proto

FILE = limits.MAX_FILE_BYTES


def _filled(head, unit, tail, size=FILE):
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


def _ranks(tokens):
    return b"".join(b"%s %d\n" % (base64.b64encode(t), i) for i, t in enumerate(tokens))


def _words(count, length):
    """Distinct tokens of a length."""
    return (b"%0*d" % (length, number) for number in range(count))


def _model(pieces):
    """A model of these pieces, which are written already."""
    return pieces + to_proto(Object([[2, Object([[3, 2]])]]))


def _pieces(texts):
    return _model(b"".join(to_proto(Object([[1, Object([[1, text]])]])) for text in texts))


def _bpe(vocab, merges):
    return (
        b'{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},'
        b'"model":{"type":"BPE","vocab":{%s},"merges":[%s]}}' % (vocab, merges)
    )


def _names(count):
    return (b'"%x":%d' % (number, number) for number in range(count))


def _all_merges():
    """Pairs of letters, then all pairs of those: as many merges as a file may have."""
    letters = [chr(97 + i) for i in range(16)]
    words = ["".join(parts) for n in (1, 2, 3, 4) for parts in itertools.product(letters, repeat=n)]
    vocab = ",".join(f'"{word}":{i}' for i, word in enumerate(words))
    merges = (f'"{word[:cut]} {word[cut:]}"' for word in words * 11 for cut in range(1, len(word)))
    most = itertools.islice(merges, limits.MAX_MERGES - 1)
    return _bpe(vocab.encode(), ",".join(most).encode())


def _sparse():
    """An archive whose one member says that it has a tebibyte."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("a.json")
        member.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 40)}
        member.size = 1
        archive.addfile(member, io.BytesIO(b"1"))
    return raw.getvalue()


GIANTS = {
    "gzip bomb": ("x.tiktoken.gz", lambda: gzip.compress(bytes(8 * FILE), 1)),
    "gzip bomb of JSON": (
        "tokenizer.json",
        lambda: gzip.compress(_filled(b'{"a":[', b"[],", b"1]}", 4 * FILE), 1),
    ),
    "lines without end": ("x.tiktoken", lambda: b"YQ== 0\n" + b"\n" * (FILE - 8)),
    "one line of fields": ("x.tiktoken", lambda: _filled(b"", b"a ", b"")),
    "as many ranks as may be": ("x.tiktoken", lambda: _ranks(_words(limits.MAX_IDS, 20))),
    "tokens as long as may be": (
        "x.tiktoken",
        lambda: _ranks(itertools.chain([b"a", b"0"], _words(15, limits.MAX_TOKEN_BYTES))),
    ),
    "runs of one letter": ("x.tiktoken", lambda: _ranks(b"a" * n for n in range(1, 1450))),
    "a token of 90 MB": ("x.tiktoken", lambda: base64.b64encode(bytes(90 << 20)) + b" 0\n"),
    "JSON of empty lists": ("tokenizer.json", lambda: _filled(b'{"normalizer":[', b"[],", b"1]}")),
    "JSON of brackets": ("tokenizer.json", lambda: b'{"normalizer":' + b"[" * (FILE - 20)),
    "values to the limit": (
        "tokenizer.json",
        lambda: b'{"normalizer":[' + b"{}," * (limits.MAX_JSON_COMMAS - 1) + b"1]}",
    ),
    "a string of 120 MB": (
        "tokenizer.json",
        lambda: _bpe(b'"\xf0\x9f\x98\x80%s":0' % (b"a" * (120 << 20)), b""),
    ),
    "ids to the limit": (
        "tokenizer.json",
        lambda: _bpe(b",".join(_names(limits.MAX_IDS)), b""),
    ),
    "merges to the limit": ("tokenizer.json", _all_merges),
    "empty merges": (
        "tokenizer.json",
        lambda: _bpe(b'"a":0', b'["",""],' * (limits.MAX_JSON_COMMAS // 2 - 4) + b'""'),
    ),
    "unigram pieces to the limit": (
        "tokenizer.json",
        lambda: b'{"model":{"type":"Unigram","vocab":[%s]}}'
        % b",".join(b'["%x",-1.5]' % n for n in range(limits.MAX_IDS)),
    ),
    "empty pieces": (
        "x.model",
        lambda: _model(_filled(b"", b"\x0a\x00", b"", limits.MAX_PROTO_BYTES - 16)),
    ),
    "self tests": (
        "x.model",
        lambda: _model(
            b"\x0a\x03\x0a\x01a\x22\x81\x80\x80\x0f"
            + _filled(b"", b"\x0a\x00", b"", (15 << 21) + 1).ljust((15 << 21) + 1, b"\x08"),
        ),
    ),
    "pieces of one letter": (
        "x.model",
        lambda: _pieces(b"a" * n for n in range(1, 1450)),
    ),
    "pieces to the limit": (
        "x.model",
        lambda: _pieces(_words(limits.MAX_IDS, 20)),
    ),
    "short pieces to the limit": (
        "x.model",
        lambda: _pieces(b"%x" % n for n in range(limits.MAX_IDS)),
    ),
    "GGUF of strings": (
        "x.gguf",
        lambda: b"GGUF\x03\0\0\0" + bytes(8) + (1).to_bytes(8, "little")
        + (21).to_bytes(8, "little") + b"tokenizer.ggml.tokens" + b"\x09\0\0\0\x08\0\0\0"
        + (15 << 20).to_bytes(8, "little") + bytes(8 * (15 << 20)),
    ),
    "TOML of one key": ("expect.toml", lambda: b"a." * 500_000 + b"a = 1\n"),
    "TOML of tables": ("expect.toml", lambda: b"[[expected]]\n" * 80_000),
    "TOML too large": ("expect.toml", lambda: b"#" * (2 << 20)),
    "a line without end": ("run.jsonl", lambda: b'{"event":"' + b"a" * (64 << 20)),
    "Zstandard bomb": (
        "schemas.tar",
        lambda: zstd.compress(bytes(1 << 27)) * 20,  # 2.5 GiB
    ),
    "a member of a tebibyte": ("schemas.tar", _sparse),
}  # fmt: skip
"""By name: the file's name, and its content."""


def row(name):
    """A line of the table: what becomes of one of them within the limits.

    It is written, and loaded, in a child of its own, each of which begins with what this process
    has: what writing took is no part of what loading may take.
    """
    file, content = GIANTS[name]
    form = next(one for one in FORMATS.values() if one.file == file.removesuffix(".gz"))
    with tempfile.TemporaryDirectory(prefix="tokgate-giant-") as folder:
        path = Path(folder, file)
        warm_up(form, Path(folder))

        def load(tell):
            bound(SECONDS)
            before = resource.getrusage(resource.RUSAGE_SELF)
            try:
                verdict = "accepted" if form.use(path) else "refused"
            except Exception as error:
                verdict = f"OTHER: {described(error)}"
            after = resource.getrusage(resource.RUSAGE_SELF)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            grown = (after.ru_maxrss - before.ru_maxrss) >> 10
            tell(f"{verdict} | {seconds:.1f} | {grown}")

        list(in_child(lambda tell: path.write_bytes(content())))
        *told, died = in_child(load)
        told = told or [f"OTHER: died by {died} | | "]
        return f"| {name} | {path.stat().st_size / 2**20:.1f} | {told[0]} |"


def main():
    """The table; 1 where one was neither refused nor accepted within the limits."""
    print("| file | MiB | | s | MiB more |\n|---|--:|---|--:|--:|")
    failed = False
    for name in sys.argv[1:] or GIANTS:
        line = row(name)
        failed = failed or "OTHER" in line
        print(line, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
