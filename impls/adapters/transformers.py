"""``transformers``: ``AutoTokenizer`` on tokenizer.json files and by converters; slow ones, too."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.tokenizer_json_out import given
from impls.adapters.common import DECODES, SENTENCEPIECE_FILES
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.sentencepiece import model_proto, model_trouble
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import json_content, json_trouble
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="transformers",
    homepage="https://github.com/huggingface/transformers",
    language="python",
    capabilities=DECODES | {Capability.THREADS},
    helpers=SENTENCEPIECE_FILES,
)

HEAD = """\
import os

os.environ["HF_HUB_OFFLINE"] = "1"  # all that it needs is in a folder
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["TRANSFORMERS_NO_ADVISORY_WARNINGS"] = "1"
"""

TAIL = """


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False)


def token_strings(data):
    return tokenizer.tokenize(data.decode(), add_special_tokens=False)


def encode_with_added(data, pair):
    return tokenizer.encode(data.decode(), None if pair is None else pair.decode())


if getattr(tokenizer, "chat_template", None):

    def chat(messages, tools, tokenize):
        how = {"tools": tools or None, "tokenize": tokenize, "return_dict": False}
        return tokenizer.apply_chat_template(messages, **how)


def decode(ids):
    text = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return text.encode()


def decode_cleaned(ids):
    text = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=True)
    return text.encode()
"""

FOLDER = "shutil.unpack_archive(VOCABULARY, folder)"

FILE = """\
shutil.copy(VOCABULARY, os.path.join(folder, {name!r}))
with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
    json.dump({{"tokenizer_class": {kind!r}}}, file)"""

AUTO = """\
import json
import shutil
import tempfile

from transformers import AutoTokenizer

# As a model's folder has them.
folder = tempfile.mkdtemp()
{files}
tokenizer = AutoTokenizer.from_pretrained(folder, split_special_tokens={split})
shutil.rmtree(folder)



def truncated(data, length, overlap):
    how = {{"truncation": True, "max_length": length, "stride": overlap}}
    rows = tokenizer(
        [data.decode()], add_special_tokens=False, return_overflowing_tokens=True, **how
    )
    return rows["input_ids"]


# Old releases (4.40 is one) find special tokens in any text, whatever they are told.
backend = getattr(tokenizer, "backend_tokenizer", None)
always_special = {split} and not getattr(backend, "encode_special_tokens", False)
"""

SENTENCEPIECE = """\
from transformers.tokenization_utils_sentencepiece import SentencePieceBackend

tokenizer = SentencePieceBackend(vocab_file=VOCABULARY)
"""

BERT = """\
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

tokenizer = BertTokenizerLegacy(
    VOCABULARY,
    do_lower_case={lower},
    strip_accents={accents},
    tokenize_chinese_chars={ideographs},
    unk_token={unk!r},
)
"""


def zipped(vocabulary: Vocabulary) -> bytes:
    """The files of a model's folder, as a zip; without a tokenizer.json where it has none."""
    assert vocabulary.native is not None
    files = dict(vocabulary.native.beside)
    if not {"vocab.json", "vocab.txt"} & {*files}:
        files["tokenizer.json"] = given(vocabulary)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def _fast(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    trouble = json_trouble(vocabulary, mode)
    split = mode.special == "none"
    kind = "PreTrainedTokenizerFast"
    if vocabulary.native and vocabulary.native.beside and native_json(vocabulary):
        code = HEAD + AUTO.format(files=FOLDER, split=split) + TAIL
        return trouble or Way("folder.zip", lambda: zipped(vocabulary), code)
    files = FILE.format(name="tokenizer.json", kind=kind)
    code = HEAD + AUTO.format(files=files, split=split) + TAIL
    if native_json(vocabulary):
        return trouble or Way("tokenizer.json", lambda: given(vocabulary), code)
    return trouble or Way("tokenizer.json", lambda: json_content(vocabulary, mode), code)


def _slow(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if mode.special == "all" or not mode.pretokenize:
        return "reads no special tokens here, and always pre-tokenizes"
    if vocabulary.pieces:
        trouble = model_trouble(vocabulary)
        if trouble is not None:
            return trouble
        code = HEAD + SENTENCEPIECE + TAIL
        return Way("vocabulary.model", lambda: model_proto(vocabulary), code)
    rules = vocabulary.wordpiece
    if rules is None or rules.prefix != "##" or not rules.clean_text or rules.max_word != 100:
        return "SentencePiece, and BERT's WordPiece only"
    if None in vocabulary.tokens or vocabulary.unk_id is None:
        return "wants ids without holes, and an unknown token"
    tokens = [(token or b"").decode() for token in vocabulary.tokens]
    code = BERT.format(
        lower=rules.lowercase,
        accents=rules.strip_accents,
        ideographs=rules.handle_chinese_chars,
        unk=tokens[vocabulary.unk_id],
    )
    return Way("vocab.txt", lambda: "\n".join(tokens).encode(), HEAD + code + TAIL)


def _converted(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Its converters: a .model file by the class of Llama, of which it makes a fast tokenizer."""
    if not vocabulary.pieces or not mode.pretokenize or mode.special == "all":
        return "SentencePiece only; reads no special tokens here, and always pre-tokenizes"
    first = [piece.text for piece in vocabulary.pieces[:3]]
    if vocabulary.algorithm is not Algorithm.BPE or not vocabulary.byte_fallback:
        return "SentencePiece BPE with byte fallback, as Llama 2 has it"
    if first != ["<unk>", "<s>", "</s>"] or not vocabulary.normalizer.add_dummy_prefix:
        return "the first pieces and the dummy space of Llama 2"
    trouble = model_trouble(vocabulary)
    files = FILE.format(name="tokenizer.model", kind="LlamaTokenizer")
    code = HEAD + AUTO.format(files=files, split=True) + TAIL
    return trouble or Way("tokenizer.model", lambda: model_proto(vocabulary), code)


IMPLEMENTATION = Adapter(LIBRARY, _fast, READS_JSON)
CONVERTED = Adapter(replace(LIBRARY, name="transformers-converted"), _converted)
SLOW = Adapter(replace(LIBRARY, name="transformers-slow", capabilities=DECODES), _slow)
