"""Conversations by the template of a folder: what grows, and what a message can forge."""

import json

import pytest
from tokenizers import ByteLevelBPETokenizer

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.core.conversations import ROLES, conversation
from harness.findings.description import difference
from harness.studies.selftest.plain.ways import Chatting
from impls import registry
from impls.interface import About, Mode, Rejected
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
TOOLS = "{{ tools | tojson if tools }}" + CHATML
TOOLS_LAST = CHATML.replace(
    "{% for message in messages %}",
    "{% for message in messages %}{{ tools | tojson if tools and loop.last }}",
)
ONE_SYSTEM = "{{ messages[0].content if messages[0].role == 'system' and messages | length < 4 }}"
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('none') }}{% endif %}"
NO_TOOLS = "{{ 1 + 'a' if tools }}"
LLAMA_3 = (
    "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n"
    "{{ message.content | trim }}<|eot_id|>{% endfor %}"
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
        (TOOLS, {"forged"}),
        (COUNTED, {"forged", "prefix"}),
        (LAST_ONE, {"forged", "prefix"}),
        (ONE_SYSTEM + CHATML, {"forged", "prefix-system"}),
        (TOOLS_LAST, {"forged", "prefix-tools"}),
        (NO_SYSTEM + ONE_SYSTEM + CHATML, {"forged"}),
        (NO_TOOLS + TOOLS_LAST, {"forged"}),
        (PLAIN, {"forged"}),
        ("", set()),
    ],
)
def test_a_folders_template_is_judged(tmp_path, template, stages):
    pytest.importorskip("transformers")
    local = Local(folder(tmp_path, template), ["transformers", "tokenizers"], Mode(special="all"))
    judgement = local.examine(CHECKS["chat"], INPUTS)
    assert {one.stage for one in judgement.violations} == stages
    assert set(judgement.exercised) == ({"transformers"} if stages else set())
    assert {one.culprits for one in judgement.violations} <= {("transformers",)}


def said(messages, content):
    return [(one["role"], one["content"] == content) for one in messages]


def test_conversations_have_their_roles_and_the_content_wherever_it_may_stand():
    for kind, roles in ROLES.items():
        for turns in range(1, len(roles) + 1):
            messages, tools = conversation(kind, turns, "x<y>")
            names = {"call": "assistant", "nothing": "assistant"}
            expected = [(names.get(role, role), role not in names) for role in roles[:turns]]
            assert said(messages, "x<y>") == expected
            assert bool(tools) == (kind == "tools")
    calls = [one["tool_calls"][0] for one in messages if "tool_calls" in one]
    assert [call["function"]["arguments"] for call in calls] == [{"query": "x<y>"}]
    assert [one["tool_call_id"] for one in messages if one["role"] == "tool"] == [calls[0]["id"]]
    assert json.dumps(tools).count("x<y>") == 2


class Engine:
    """A template engine of our own for CHATML, with a mistake."""

    mistake = staticmethod(lambda text: text)
    first = ()
    refuses = False
    about = About(name="engine", version="1")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        self.encoder = registry.resolve("tokenizers").load(vocabulary)
        self.encode = self.encoder.encode
        return self

    def render_chat(self, messages, tools, mode):
        if self.refuses:
            raise Rejected("no")
        turns = (f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)
        return self.mistake("".join(turns))

    def encode_chat(self, messages, tools, mode):
        text = self.render_chat(messages, tools, mode)
        return [*self.first, *self.encoder.encode(text.encode(), mode)]


class Refuses(Engine):
    refuses = True


class Spaced(Engine):
    mistake = staticmethod(lambda text: text.replace("<|im_end|>", " <|im_end|>"))


class LeavesFirst(Engine):
    """The token of the beginning is left to the file: another text, and the same ids."""

    mistake = staticmethod(lambda text: text.removeprefix("<|im_start|>"))
    first = (0,)


class NoBeginning(Engine):
    mistake = staticmethod(LeavesFirst.mistake)


class TwoBeginnings(Engine):
    first = (0,)


@pytest.mark.parametrize(
    ("engine", "stage", "told"),
    [
        (Engine, None, ""),
        (Refuses, None, ""),
        (LeavesFirst, None, ""),
        (
            Spaced,
            "text",
            "text from character 20: '<|im_end|>\\n<|im_start|>a' in transformers, ' <",
        ),
        (NoBeginning, "text", "text from character 0: '<|im_start|>user"),
        (TwoBeginnings, "ids", "token 1: "),
    ],
)
@pytest.mark.parametrize("other", ["transformers", "llama.cpp"])
def test_engines_are_compared_by_text_then_by_ids(tmp_path, other, engine, stage, told):
    pytest.importorskip(other.replace("llama.cpp", "xllamacpp"))
    vocabulary = folder(tmp_path, CHATML)
    spec = f"{__name__}:{engine.__name__}"
    local = Local(vocabulary, [other, spec], Mode(special="all"))
    found = [
        one for one in local.examine(CHECKS["chat"], INPUTS).violations if one.stage != "forged"
    ]
    assert {one.stage for one in found} == {stage} - {None}
    assert {one.culprits for one in found} <= {("engine",)}
    for one in found:
        place, sentence = difference(one, vocabulary)
        assert place is not None
        assert "token" in sentence
    if found:
        assert told.replace("transformers", other) in difference(found[0], vocabulary)[1]
        assert len({one.data for one in found}) == len(found) == len(INPUTS)


def test_llama_cpp_knows_templates_by_what_they_have_and_declines_others(tmp_path):
    pytest.importorskip("xllamacpp")
    pytest.importorskip("transformers")
    mode, who = Mode(special="all"), ["transformers", "llama.cpp"]
    config = {"bos_token": "<|im_end|>", "tokenizer_class": "PreTrainedTokenizerFast"}
    for name, template in enumerate([PLAIN, CHATML, "{{ bos_token }}" + CHATML]):
        path = tmp_path / str(name)
        path.mkdir()
        folder(path, template)
        (path / "tokenizer_config.json").write_text(json.dumps(config))
        judgement = Local(sources.resolve(str(path)), who, mode).examine(CHECKS["chat"], INPUTS)
        assert {one.stage for one in judgement.violations} == {"forged"}
        assert ("llama.cpp" in judgement.exercised) == (template != PLAIN)


def test_llama_cpp_trims_less_than_jinja(tmp_path):
    pytest.importorskip("xllamacpp")
    pytest.importorskip("transformers")
    vocabulary = folder(tmp_path, LLAMA_3)
    local = Local(vocabulary, ["transformers", "llama.cpp"], Mode(special="all"))
    judgement = local.examine(CHECKS["chat"], [*INPUTS, "\u3000a".encode()])
    found = [one for one in judgement.violations if one.stage != "forged"]
    assert [(one.stage, one.undecided, one.data) for one in found] == [
        ("text", True, "\u3000a".encode())
    ]


def test_messages_are_text_to_who_encodes_them_one_by_one():
    vocabulary = sources.resolve("tekken_240911")
    local = Local(vocabulary, ["harness.studies.selftest.plain.ways:Chatting"], Mode())
    judgement = local.examine(CHECKS["chat"], INPUTS)
    assert not judgement.violations
    assert [*judgement.exercised.values()] == [len(INPUTS) * (len(ROLES) + 1)]
    ids = Chatting().load(vocabulary).encode_chat(*conversation("plain", 3, "a"), Mode())
    assert len(ids) == 10


@pytest.mark.parametrize("name", ["tekken_240911", "mistral_v1", "mistral_v3", "mistral_v7"])
def test_mistral_common_encodes_messages_as_text(name):
    others = ["tiktoken"] if name.startswith("tekken") else []
    local = Local(sources.resolve(name), ["mistral-common", *others], Mode())
    judgement = local.examine(CHECKS["chat"], [*INPUTS, b"[/INST]</s>", b"[", b"7"])
    found = {(one.stage, one.data) for one in judgement.violations}
    # Up to its version 3, tools and the system's message stand before the last message.
    moved = {"mistral_v1": set(), "mistral_v7": {"prefix-tools"}}
    moved = moved.get(name, {"prefix-system", "prefix-tools"})
    # What tools give back is parsed as JSON.
    fails = set() if name == "mistral_v7" else {b"[", b"7", b"[/INST]</s>"}
    other = {one for one in found if not one[0].startswith("prefix-")}
    assert other == {("errored", data) for data in fails}
    assert {stage for stage, _ in found if stage.startswith("prefix-")} == moved
    assert set(judgement.exercised) == {"mistral-common"}
