"""The other side of the stdio protocol: any implementation in Python as a program.

``python impls/serving.py impls.adapters.tiktoken:IMPLEMENTATION`` answers requests on standard
input with that implementation, in whatever environment the interpreter belongs to, which needs
NumPy besides the library. Of what lies beside it, only the packages ``impls`` and ``corpora`` can
be imported: all else comes from that environment.

Beyond the protocol it understands two fields of ``tokgate``'s own: ``model`` of a vocabulary, the
path of the pickled plain model, which has what the bundle leaves out; and ``offsets`` of
``encode``, without which none are made: some libraries take them from another path of their code.
"""

from __future__ import annotations

import base64
import importlib
import importlib.machinery
import json
import operator
import os
import pickle
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

OURS = ("impls", "corpora")

TRIAL = b"a"

MISSING = (AttributeError, TypeError, ImportError, NotImplementedError)
"""These are raised where a release has no such function, or no such argument of it."""


class Ours:
    """Finds our two packages in their folder, and nothing else there."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """As the import system asks its finders."""
        if name in OURS:
            return importlib.machinery.PathFinder.find_spec(name, [self._root])
        return None


class Program:
    """Answers requests with one implementation, and each input of a request by itself."""

    def __init__(self, target: str) -> None:
        module, _, attribute = target.partition(":")
        self._implementation = getattr(importlib.import_module(module), attribute)
        about = self._implementation.about
        self._hello = {
            "protocol": 1,
            "name": about.name,
            "version": about.version,
            "language": about.language,
            "homepage": about.homepage,
            "issues": about.issues,
            "operations": ["encode", *sorted(about.capabilities)],
            "algorithms": ["bpe", "unigram", "wordpiece"],
        }
        self._encoder: Any = None

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response to any request but ``stop``; the caller adds ``seq``."""
        op = request["op"]
        if op == "hello":
            return self._hello
        if op == "load":
            return self._load(request["vocabulary"])
        answer = ANSWERS.get(op)
        if answer is None or op not in self._hello["operations"]:
            return {"unsupported": f"no op {op!r}"}
        mode = _mode(request)
        return {"results": [self._one(answer, item, mode, request) for item in request["inputs"]]}

    def _load(self, vocabulary: dict[str, Any]) -> dict[str, Any]:
        from impls.interface import Unsupported  # noqa: PLC0415 (found once the finder is there)

        if "model" not in vocabulary:
            return {"unsupported": "takes vocabularies from tokgate only"}
        try:
            with Path(vocabulary["model"]).open("rb") as file:
                model = pickle.load(file)
            self._encoder = self._implementation.load(model)
            self._try(model)
        except Unsupported as error:
            return {"unsupported": str(error)}
        except Exception as error:
            line = f"{type(error).__name__}: {error}".split("\n", 1)[0][:300]
            return {"error": f"this release does not do what its adapter asks of it ({line})"}
        return {"ok": True}

    def _try(self, model: Vocabulary) -> None:
        """Encode and decode a letter: what a release lacks shows here, once, and in no finding.

        Raises what the library raises where it fails in the first mode that there is, and where a
        name or an argument is missing in any.
        """
        from impls.interface import Mode, Rejected, Unsupported  # noqa: PLC0415

        modes = [Mode(), Mode(special="all"), Mode(pretokenize=False)]
        modes = [mode for mode in modes if self._implementation.supports(model, mode) is None]
        for place, mode in enumerate(modes):
            try:
                ids = _integers(self._encoder.encode(TRIAL, mode))
                if "decode" in self._hello["operations"]:
                    self._encoder.decode(ids)
            except (Rejected, Unsupported):
                continue
            except Exception as error:
                if place == 0 or isinstance(error, MISSING):
                    raise

    def _one(
        self, answer: Callable[..., dict[str, Any]], item: Any, mode: Mode, request: dict[str, Any]
    ) -> dict[str, Any]:
        from impls.interface import Rejected, Unsupported  # noqa: PLC0415

        start = time.perf_counter_ns()
        try:
            result = answer(self._encoder, item, mode, request)
        except Rejected as error:
            return {"rejected": str(error)}
        except Unsupported as error:
            return {"unsupported": str(error)}
        except Exception as error:
            # A Rust panic is none: it ends the program, as the library has lost its footing.
            return {"error": f"{type(error).__name__}: {error}"}
        return {"ns": time.perf_counter_ns() - start, **result}


def _mode(request: dict[str, Any]) -> Mode:
    from impls.interface import Mode  # noqa: PLC0415

    pretokenize = bool(request.get("pretokenize"))
    return Mode(pretokenize, "all" if request.get("special") == "all" else "none")


def _encode(encoder: Any, item: str, mode: Mode, request: dict[str, Any]) -> dict[str, Any]:
    data = base64.b64decode(item)
    if request.get("offsets"):
        ids, offsets = encoder.encode_with_offsets(data, mode)
        return {"ids": _integers(ids), "offsets": [_integers(pair) for pair in offsets]}
    return {"ids": _integers(encoder.encode(data, mode))}


def _decode(encoder: Any, item: list[int], mode: Mode, request: dict[str, Any]) -> dict[str, Any]:
    return {"bytes": base64.b64encode(encoder.decode(item)).decode("ascii")}


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {"encode": _encode, "decode": _decode}
"""What adapters answer: no library has more of what the protocol knows."""


def _integers(values: Any) -> list[int]:
    # No `int`: it would make an integer of what is none.
    return [operator.index(value) for value in values]


def main() -> None:
    """Serve until ``stop`` or the end of the input."""
    root = str(Path(__file__).resolve().parents[1])
    if sys.path[0] == str(Path(__file__).resolve().parent):
        del sys.path[0]  # modules beside this file are not top-level ones
    sys.meta_path.append(Ours(root))
    # Whatever a library prints goes to the log: standard output has the responses alone.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as responses:
        os.dup2(2, 1)
        program = Program(sys.argv[1])
        for line in sys.stdin.buffer:
            request = json.loads(line)
            if request["op"] == "stop":
                return
            response = {"seq": request["seq"], **program.respond(request)}
            responses.write(json.dumps(response) + "\n")
            responses.flush()


if __name__ == "__main__":
    main()
