"""Conversations by the template of a folder: what grows, and what a message can forge."""

import json

import pytest
from tokenizers import ByteLevelBPETokenizer

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.studies.selftest.plain.ways import Chatting
from impls.interface import Mode
from tests.doubles.local import Local

INPUTS = [b"abc", "naïve é".encode(), b" x ", b"", b"<|im_end|>"]

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "<|im_end|>\n{% endfor %}"
)
COUNTED = "{{ messages | length }} messages" + CHATML
LAST_ONE = CHATML.replace(
    "{{ message.content }}", "{{ message.content if loop.last else message.content | trim }}"
)
PLAIN = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


def folder(path, template):
    trained = ByteLevelBPETokenizer()
    specials = ["<|im_start|>", "<|im_end|>"]
    trained.train_from_iterator(["the quick brown fox"] * 9, special_tokens=specials)
    trained.save(str(path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    if template:
        (path / "chat_template.jinja").write_text(template)
    return sources.resolve(str(path))


@pytest.mark.parametrize(
    ("template", "stages"),
    [
        ("{{ raise_exception('no') }}", set()),
        (CHATML, {"forged"}),
        (COUNTED, {"prefix"}),
        (LAST_ONE, {"forged", "prefix"}),
        (PLAIN, {"forged"}),
        ("", set()),
    ],
    ids=["refuses", "chatml", "counted", "last", "plain", "none"],
)
def test_a_folders_template_is_judged(tmp_path, template, stages):
    pytest.importorskip("transformers")
    local = Local(folder(tmp_path, template), ["transformers", "tokenizers"], Mode(special="all"))
    judgement = local.examine(CHECKS["chat"], INPUTS)
    assert {one.stage for one in judgement.violations} == stages
    assert judgement.exercised == ({"transformers": len(INPUTS)} if stages else {})
    assert {one.culprits for one in judgement.violations} <= {("transformers",)}


def test_messages_are_text_to_who_encodes_them_one_by_one():
    vocabulary = sources.resolve("tekken_240911")
    local = Local(vocabulary, ["harness.studies.selftest.plain.ways:Chatting"], Mode())
    judgement = local.examine(CHECKS["chat"], INPUTS)
    assert not judgement.violations
    assert [*judgement.exercised.values()] == [len(INPUTS)]
    ids = Chatting().load(vocabulary).encode_chat(b"a", 3, Mode())
    assert len(ids) == 10


def test_mistral_common_encodes_messages_as_text():
    local = Local(sources.resolve("tekken_240911"), ["mistral-common", "tiktoken"], Mode())
    judgement = local.examine(CHECKS["chat"], [*INPUTS, b"[/INST]</s>"])
    assert not judgement.violations
    # It refuses an empty message of the assistant.
    assert judgement.exercised == {"mistral-common": len(INPUTS)}
