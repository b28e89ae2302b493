"""What half a pair of UTF-16 may become, and who is not accused for it."""

from __future__ import annotations

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.surrogates import lawful, readings
from harness.core.outcomes import Encoded, Failed, Status
from tests.harness.test_service_checks import TEXT, Local

INPUTS = [b"", b"a", "é 日本 🙂".encode(), *(b"text number %d" % i for i in range(30)), b"\xff"]


def test_readings_are_text_but_for_the_last() -> None:
    for data in INPUTS[:-1]:
        *texts, raw = readings(data)
        assert all(text.decode() for text in texts[:-1])
        assert texts[-1] == data
        assert len(raw) == len(data) + 3
        with pytest.raises(UnicodeDecodeError):
            raw.decode()


def test_an_error_is_lawful_and_a_panic_is_not() -> None:
    known = [Encoded((1,)), Encoded((2,))]
    assert lawful(Failed(Status.ERRORED, "UnicodeEncodeError"), known)
    assert not lawful(Failed(Status.CRASHED, "PanicException"), known)
    assert lawful(Encoded((2,)), known)
    assert not lawful(Encoded((3,)), known)
    assert lawful(Encoded((3,)), [])


@pytest.mark.parametrize(
    ("vocabulary", "specs"),
    [
        ("mistral_v1", ["sentencepiece", "tokenizers", "mistral-common"]),
        ("toy_bytes", ["tiktoken", "tokenizers", "bpe.heap"]),
    ],
)
def test_libraries_refuse_or_replace_it(vocabulary: str, specs: list[str]) -> None:
    local = Local(resolve(vocabulary), specs, TEXT)
    judgement = local.examine(CHECKS["surrogates"], INPUTS)
    libraries = [name for name in specs if name != "bpe.heap"]
    assert judgement.exercised == dict.fromkeys(libraries, len(INPUTS) - 1)
    assert not judgement.violations
