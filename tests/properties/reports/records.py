"""Synthetic runs of several shapes, for the tests of the reports."""

import base64
import itertools

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    ExpectationJudged,
    Finished,
    Forced,
    Found,
    Group,
    GrowthJudged,
    ImplementationFailed,
    Measured,
    Started,
    VocabularyLoaded,
)
from reports.record import RunRecord

COMMAND = "tokgate run --vocab tekken_240911 --vocab t5_base --seed 7"
CHECKS = ["equivalence", "round-trip", "determinism", "validity", "offsets"]
TEKKEN = "tekken_240911"

NASTY = {
    "nul": b"a\x00b",
    "bidi": "x\u202etxt.exe\u2066 \u05d0\u05d1 1".encode(),
    "mark": "\u0301".encode(),
    "invalid": b"\xff\xfe\xe2\x82ok",
    "script": b"</script><script>alert(1)</script><img src=x onerror=alert(2)>",
    "cdata": b"]]>&lt;!--`|*_",
    "invisible": "a\u200b\u00ad\u3164\u2028\U000e0041\u00a0b".encode(),
    "megabyte": b"<" + "\u00e9".encode() * 500_000 + b">",
    "noise": bytes((i * i * 31 + i // 7) % 256 for i in range(1_000_000)),
}


def b64(data):
    return base64.b64encode(data).decode()


def started():
    versions = {
        "tokgate": "0.1.0", "python": "3.11.7", "tiktoken": "0.14.0", "tokenizers": "0.23.3",
        "sentencepiece": "0.2.3", "bpe.heap": "0.1.0",
    }  # fmt: skip
    time, machine = "2026-11-20T12:00:00+00:00", "Linux x86_64, 2 cores"
    return Started(time, 7, "smoke", "60s", COMMAND, versions, machine)


def finished(verdict="pass", *, complete=True, reasons=None):
    status = 0 if verdict == "pass" else 1
    return Finished(complete, verdict, reasons or [], 58.25, 41_280, 103_442, status)


def opening():
    """A run over three contracts and four implementations, up to its first batches."""
    bpe = ["tiktoken", "tokenizers", "bpe.heap"]
    lone = {"sentencepiece": "this vocabulary is byte-level BPE; SentencePiece runs its own models"}
    no_bpe = dict.fromkeys(["tiktoken", "bpe.heap"], "byte-pair encoding only")
    problems = ["103 pieces are UNUSED", "no byte pieces: unknown characters become <unk>"]
    opened = [
        *(
            ContractOpened(f"{TEKKEN}/{mode}", "bpe", TEKKEN, mode, bpe, bpe[:1], lone, CHECKS)
            for mode in ("text", "raw")
        ),
        ContractOpened(
            "t5_base/text", "unigram", "t5_base", "text", ["sentencepiece", "tokenizers"],
            ["sentencepiece"], no_bpe, CHECKS[:3],
        ),
    ]  # fmt: skip
    return [
        started(),
        VocabularyLoaded(TEKKEN, "tekken", "bpe", 131_072, "ab" * 32, None, []),
        VocabularyLoaded(
            "t5_base", "sentencepiece", "unigram", 32_000, "cd" * 32, "/data/t5_base.model",
            problems,
        ),
        *opened,
        *(
            BatchDone(
                one.id, generator, cases, cases * 41, cases * 2,
                {check: dict.fromkeys(one.implementations, cases) for check in CHECKS[:3]}, {},
            )
            for generator, cases in (("vocabulary", 9000), ("codepoints", 12_000), ("mutated", 500))
            for one in opened
        ),
    ]  # fmt: skip


def group(names, data, step, **more):
    """A group whose tokens are ``data`` cut every ``step`` bytes (at most 2,000 of them)."""
    total = -(-len(data) // step)
    shown = range(0, min(total, 2000) * step, step)
    surfaces = [b64(data[i : i + step]) for i in shown]
    return Group(names, "encoded", [1000 + data[i] for i in shown], total, surfaces, **more)


def explanation(left, right):
    """Two pipelines that part in the middle."""
    stages = [("normalization", "x", "x"), ("pre-tokens", left, right), ("ids", "1 2", "1 3")]
    return {
        "left": "tiktoken", "right": "tokenizers", "left_model": "tiktoken",
        "right_model": "bpe.heap", "parted": "pre-tokens",
        "stages": [{"name": n, "left": a, "right": b} for n, a, b in stages],
    }  # fmt: skip


def died(names, kind, message):
    return Group(names, kind, message=message)


def found(identity, data, **more):
    values = {
        "id": identity, "check": "equivalence", "stage": "pre-tokens",
        "bucket": f"equivalence/pre-tokens/{identity}", "contract": f"{TEKKEN}/text",
        "vocabulary": TEKKEN, "mode": "text", "culprits": ["tokenizers"],
        "partition": [group(["tiktoken", "bpe.heap"], data, 1), group(["tokenizers"], data, 2)],
        "input_b64": b64(data), "first_difference": 0,
        "difference": "Token 0 differs: tiktoken and bpe.heap cut after one byte.",
        "generator": "mutated", "seed": 7, "index": 1204, "original_bytes": len(data) + 300,
        "minimal": True, "expected": None, "link": None,
        "explanation": explanation(repr(data[:40]), data[:40].decode("utf-8", "replace")),
        "reproducer": f"findings/{identity}/repro.py",
    }  # fmt: skip
    return Found(**{**values, **more})


FAMILIES = [
    "one letter", "alternating", "white space", "newlines", "digits", "merge chain", "emoji",
    *(f"hostile family {i}" for i in range(33)),
]  # fmt: skip


def cell(name, vocabulary, family, law, verdict, **more):
    """Growth as a cost of n ** law, with all that an event can say."""
    sizes = [256.0 * 2**i for i in range(8 if law > 1.5 else 13)]
    base = 1e-8 * (1 + len(name) % 5) / 256 ** (law - 1)
    values = {
        "points": [[n, base * n**law + 2e-7] for n in sizes],
        "cached": [[n, base * n / 9] for n in sizes],
        "memory_per_byte": 12.0, "memory_verdict": "ordinary",
        "expression": "b'ab' * (n // 2) + b'a' * (n % 2)", "law": "n" if law < 1.2 else "n^2",
        "constant": base * 1e9, "overhead": 2e-7, "rounds": 6,
    }  # fmt: skip
    interval = law, law - 0.04, law + 0.06
    return Measured(name, vocabulary, family, *interval, verdict, **{**values, **more})


def measured():
    """Growth of each kind, on a vocabulary."""
    laws = {"tiktoken": (1.03, "linear"), "tokenizers": (1.08, "inconclusive"),
            "bpe.naive": (1.97, "superlinear")}  # fmt: skip
    made = [cell(name, TEKKEN, one, *law) for name, law in laws.items() for one in FAMILIES[:3]]
    dead = Measured("bpe.heap", TEKKEN, FAMILIES[0], None, None, None, "failed", [], "hung")
    return [*made, dead]


def grown(vocabularies=2, names=10):
    """Growth of many on 40 families: mostly linear, one quadratic as it may be, some open."""
    who = ["tiktoken", "tokenizers", "bpe.naive", "sentencepiece",
           *(f"bpe.variant-{k}" for k in range(names - 4))]  # fmt: skip
    events = []
    places = itertools.product(range(vocabularies), enumerate(who), enumerate(FAMILIES))
    for v, (j, name), (i, family) in places:
        place = name, f"vocabulary_{v}", family
        if name == "bpe.naive":
            events.append(cell(*place, 1.98, "superlinear"))
            events.append(GrowthJudged(*place, "time", "quadratic", "pass", "by definition"))
        elif (i + j) % 17 == 0:
            events.append(cell(*place, 1.2, "inconclusive", note="24 rounds"))
        else:
            memory = "hungry" if (i, j) == (3, 4) else "ordinary"
            events.append(cell(*place, 1 + (i % 7) / 100, "linear", memory_verdict=memory))
    return events


def forced():
    return [
        Forced("llguidance", TEKKEN, "heuristic, grammar, 4 tokens", 12_000, 40_321, 3),
        Forced("exact", TEKKEN, "exact", 12_000, 41_002, 0),
    ]


def special():
    """A crash with a log, an expected divergence, an expired one, a wrong round trip."""
    text, trip = " hello  wörld, it's 2024".encode(), "i̇".encode()
    log = "thread 'main' panicked at src/lib.rs:10:\n\x1b[31mindex out of bounds\x1b[0m \u202e]]>"
    issue, evil = "https://github.com/huggingface/tokenizers/issues/1", "javascript:alert(1)"
    spaces = "equivalence/normalization/double-space"
    return [
        found(
            "f-crash", b"\xe2\x82", stage="crashed", first_difference=None, generator="bytes",
            partition=[group(["tiktoken"], b"\xe2\x82", 1), died(["tokenizers"], "crashed", log)],
            difference="tokenizers died with signal 6 (SIGABRT).",
        ),
        found(
            "f-expected", text, stage="normalization", contract="t5_base/text",
            vocabulary="t5_base", bucket=spaces, first_difference=4, link=issue,
            partition=[group(["sentencepiece"], text, 3), group(["tokenizers"], text[:12], 3)],
            expected="charsmap is applied per grapheme by tokenizers",
        ),
        Counted(spaces, 1234),
        found(
            "f-expired", "ﬁ".encode(), bucket="equivalence/expired", expected="fixed upstream",
            link=evil,
        ),
        found(
            "f-trip", "İ".encode(), check="round-trip", stage="", minimal=False,
            partition=[group(["tokenizers"], trip, 1, decoded=b64(trip))], first_difference=None,
            difference="decode(encode(x)) is not x.",
        ),
        ExpectationJudged(spaces, "shown", "per grapheme", issue, ["tokenizers"]),
        ExpectationJudged("equivalence/expired", "expired", "fixed upstream", evil, ["tokenizers"]),
        ExpectationJudged("equivalence/gone", "stale", "did <b>not</b> show", None, ["x"]),
        ExpectationJudged("equivalence/later", "not-exercised", "other suite", None, ["x"]),
        BatchDone(
            f"{TEKKEN}/text", "bytes", 10, 400, 20,
            {"equivalence": {"tokenizers": 10}}, {"equivalence": {"tokenizers": 4}},
        ),
    ]  # fmt: skip


def run(*events, **end):
    """A record of these events after the opening; end: as :func:`finished` takes it."""
    return RunRecord.from_events([*opening(), *events, finished(**end)])


def growing():
    """A night's measurements, and hardly a finding."""
    return run(*special()[:2], *grown(1), verdict="fail")


def clean():
    """No findings, everything measured."""
    return run(*measured(), *forced())


def nasty():
    """One bucket for each nasty input, a crash, an expected and an expired divergence."""
    inputs = [found(f"f-{name}", data) for name, data in NASTY.items()]
    counts = [Counted(one.bucket, 3) for one in inputs]
    reasons = ["</script> in \x1b[31mred"]
    return run(*inputs, *counts, *special(), verdict="fail", reasons=reasons)


def three():
    """A usual failing run: a handful of findings, with measurements."""
    lost = ImplementationFailed("rs-bpe", TEKKEN, "no wheel\x00 for this platform")
    reasons = ["2 unexpected buckets", "stale: equivalence/gone"]
    return run(*special(), *measured(), *forced(), lost, verdict="fail", reasons=reasons)


def night(number, vocabularies=2):
    """A night's findings as they are: small inputs, of many kinds, some known, some deadly."""
    events = []
    who = ["tokenizers", "bpe.heap", "sentencepiece", "rs-bpe", "splintr", "mistral-common"]
    for i in range(number):
        data = f"a{i}\u0301 \u200d'll\t".encode()[: 3 + i % 13]
        name, check = who[i % 7 % 6], ("equivalence", "round-trip", "offsets")[i % 11 % 3]
        other = group([name], data, 2)
        if i % 23 == 0:
            other = died([name], "crashed", "thread 'main' panicked at src/lib.rs:10")
        one = found(
            f"f-{i:08x}", data, partition=[group(["tiktoken"], data, 1), other], culprits=[name],
            check=check, bucket=f"{check}/bpe/text/merges/more/{name}-{i}", original_bytes=900,
            expected="known since 0.20" if i % 5 == 0 else None,
        )  # fmt: skip
        events += [one, Counted(one.bucket, 1 + i * 37 % 911)]
    return run(*events, *grown(vocabularies), *forced(), verdict="fail")


def incomplete():
    """Interrupted with Ctrl-C after one finding."""
    return run(found("f-one", b" \t1"), verdict="fail", complete=False, reasons=["interrupted"])


def cut_off():
    """Killed: no closing event at all."""
    return RunRecord.from_events(opening()[:5])


SHAPES = {
    "clean": clean,
    "nasty": nasty,
    "three": three,
    "many": lambda: night(200, 0),
    "growing": growing,
    "incomplete": incomplete,
    "cut_off": cut_off,
    "empty": lambda: RunRecord.from_events([]),
}
