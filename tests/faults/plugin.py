"""A plug-in that gives the bytes as ids, and does the faults that its inputs ask for."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import actions

from impls.interface import About, Capability

os.environ["TOKGATE_FAULTS"] = "plug-in"


class Faulty:
    """See the module."""

    about = About(name="faulty", version="1", capabilities=frozenset({Capability.DECODE}))

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        actions.act(os.environ.get("TOKGATE_FAULT_AT_LOAD", "").encode())
        return self

    def encode(self, data, mode):
        actions.act(data)
        return list(data)

    def decode(self, ids):
        data = bytes(ids)
        actions.act(data)
        return data
