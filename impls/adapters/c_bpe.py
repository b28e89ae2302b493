"""``c-bpe``: rs-bpe ported to C, with two of OpenAI's vocabularies built in."""

from __future__ import annotations

from impls.adapters.built_in import like_rs_bpe
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter

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
"""

IMPLEMENTATION = Adapter(LIBRARY, like_rs_bpe(CODE))
