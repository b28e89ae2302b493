"""``c-bpe``: rs-bpe ported to C, with two of OpenAI's vocabularies built in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.built_in import openai_name
from impls.adapters.peers import Peer
from impls.adapters.recipes import FieldImplementation, Way

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="c-bpe",
    homepage="https://github.com/andrey-savov/c-bpe",
    language="c",
)

CODE = """\
import atexit
import importlib.util
import os
import shutil
import sys
import tempfile

if "c_bpe" not in sys.modules:
    # It unpacks its tables beside its own modules, where it may not be allowed to write.
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    installed = os.path.dirname(importlib.util.find_spec("c_bpe").origin)
    shutil.copytree(installed, os.path.join(folder, "c_bpe"))
    sys.path.insert(0, folder)
import c_bpe.openai

tokenizer = c_bpe.openai.{name}()


def encode(data):
    return {call}


def decode(ids):
    return tokenizer.bpe().decode_tokens(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if mode.special == "all":
        return "reads no special tokens"
    found = openai_name(vocabulary, mode, pretokenizes=False)
    if found.trouble is not None:
        return found.trouble
    call = "tokenizer.encode(data.decode())"
    if not mode.pretokenize:
        call = "tokenizer.bpe().encode_via_backtracking(data)"
    return Way("none", bytes, CODE.format(name=found.name, call=call))


IMPLEMENTATION = FieldImplementation(LIBRARY, _way)
