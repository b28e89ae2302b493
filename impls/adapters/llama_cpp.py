"""``llama.cpp``: its tokenizers (BPE, SPM, UGM, WPM), through the C API in the xllamacpp wheel.

The wheel's extension module exports ``llama.h``; it is opened as a plain library, without being
imported, and loads GGUF files with ``vocab_only``. Structures differ from version to version, and
of them only ``llama_model_params`` is needed: see :data:`LAYOUTS`.

llama.cpp is C++ behind a C interface without a way to report errors: what it throws at tokenizing,
and its failed assertions, end the process. Byte-level BPE and WordPiece throw at what looks like
UTF-8 beyond U+10FFFF, such as F4 90 80 80; so ``llama.cpp`` gets only text there, as from its own
server, and ``--impl impls.adapters.llama_cpp:AS_BYTES`` gets everything.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import model_folder, scratch
from corpora.vocabularies.model import Alphabet
from corpora.vocabularies.preflight import preflight
from impls.adapters.common import Library, text_of
from impls.interface import Capability, Recipe, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About, Json, Mode

LIBRARY = Library(
    name="llama.cpp",
    distribution="xllamacpp",
    homepage="https://github.com/ggml-org/llama.cpp",
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
    language="c++",
    extra="engines",
    helpers=("gguf",),
)

POINTER = ctypes.sizeof(ctypes.c_void_p)
PARAMS_BYTES = 256
"""This is more than ``llama_model_params`` has in any version. It is the last argument of the only
function that takes it, by value, so that what is too much is never read."""


class Message(ctypes.Structure):
    """``llama_chat_message``."""

    _fields_ = (("role", ctypes.c_char_p), ("content", ctypes.c_char_p))


class Params(ctypes.Structure):
    """``llama_model_params``, its content unknown."""

    _fields_ = (("content", ctypes.c_ubyte * PARAMS_BYTES),)


LAYOUTS: tuple[tuple[tuple[tuple[int, bytes], ...], int], ...] = (
    # b10809 and later: load and lazy mode after the split mode, no use_mmap.
    (
        (
            (0, bytes(2 * POINTER)),  # devices, tensor_buft_overrides
            (16, b"\xff\xff\xff\xff\x01\0\0\0" * 2),  # layers, split mode, load mode, lazy mode
            (32, bytes(4)),  # main_gpu
            (40, bytes(4 * POINTER)),  # tensor_split, progress_callback and its data, kv_overrides
            (72, b"\0\0\1\0\0\0"),  # vocab_only, check_tensors, use_extra_bufts, ..
        ),
        72,
    ),
    # b8672 to b10068: vocab_only, use_mmap, use_direct_io, use_mlock, check_tensors, ..
    (
        (
            (0, bytes(2 * POINTER)),
            (16, b"\xff\xff\xff\xff\x01\0\0\0"),  # layers, split mode
            (24, bytes(4)),  # main_gpu
            (32, bytes(4 * POINTER)),
            (64, b"\0\1\0\0\0\1\0\0"),
        ),
        64,
    ),
)
"""The defaults that ``llama_model_default_params`` gives in each version of the structure, as
(offset, bytes) without the padding, and the offset of ``vocab_only``. They are read off
``llama.h``; a structure that has other defaults is another one, and is refused. A byte at a wrong
place could not pass unseen either: a file without tensors loads with ``vocab_only`` only."""

RECIPE = """\
import ctypes
import importlib.util
import os
from pathlib import Path

os.environ["GGML_NO_BACKTRACE"] = "1"
folder = Path(importlib.util.find_spec("xllamacpp").submodule_search_locations[0])
llama = ctypes.CDLL(str(next(folder.glob("xllamacpp*.so"))))


class Params(ctypes.Structure):
    _fields_ = [("content", ctypes.c_ubyte * 256)]


log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)
llama.llama_log_set(log, None)
llama.llama_model_default_params.restype = Params
llama.llama_model_load_from_file.restype = ctypes.c_void_p
llama.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Params]
llama.llama_model_get_vocab.restype = ctypes.c_void_p
llama.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
params = llama.llama_model_default_params()
params.content[OFFSET] = 1  # vocab_only
model = llama.llama_model_load_from_file(str(VOCABULARY).encode(), params)
vocab = ctypes.c_void_p(llama.llama_model_get_vocab(model))


def encode(data):
    ids = (ctypes.c_int32 * (len(data) + 2))()
    flags = ctypes.c_bool(False), ctypes.c_bool(SPECIAL)
    return ids[: llama.llama_tokenize(vocab, data, len(data), ids, len(ids), *flags)]


def decode(ids):
    given, text = (ctypes.c_int32 * len(ids))(*ids), ctypes.create_string_buffer(1 << 20)
    flags = ctypes.c_bool(False), ctypes.c_bool(True)
    count = llama.llama_detokenize(vocab, given, len(ids), text, len(text), *flags)
    return text.raw[:count]
"""

LOG_ERROR = 4
STRING = 8
"""The type of a string in a GGUF file."""
NOT_ENOUGH = -(1 << 31)


class Refused(Exception):
    """llama.cpp does not load the vocabulary, or tokgate does not know this llama.cpp."""


def library_path() -> str:
    """Where the extension module lies. Raises ImportError that says what to install."""
    spec = find_spec(LIBRARY.module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(Path(folder).glob("xllamacpp*.so")):
            return str(file)
    raise LIBRARY.missing()


def vocab_only_offset(defaults: bytes) -> int:
    """Where ``vocab_only`` lies in a ``llama_model_params`` with these defaults; else Refused."""
    for parts, offset in LAYOUTS:
        if all(defaults[at : at + len(part)] == part for at, part in parts):
            return offset
    raise Refused(
        f"xllamacpp {LIBRARY.version}: llama_model_params has another layout than the known ones; "
        "install a version between 2026.4 and 2026.10"
    )


HANGING_SECONDS = 60.0
"""A process that loads the library and ends takes a second; this is for one that hangs."""


@cache
def offset_seen_elsewhere() -> int:
    """Where ``vocab_only`` lies in the installed llama.cpp, seen in a process that ends with that.

    Whoever writes a reproducer asks, and that is the harness: it loads no library into itself.
    Raises Refused where that process fails.
    """
    code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as m; m.print_offset()"
    command = [sys.executable, "-c", code]
    seconds = HANGING_SECONDS
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        last = f"no answer in {seconds:g} seconds"
    else:
        if done.returncode == 0:
            return int(done.stdout)
        last = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
    raise Refused(f"xllamacpp {LIBRARY.version}: llama_model_params cannot be looked at: {last}")


def print_offset() -> None:
    """Print where ``vocab_only`` lies in the installed llama.cpp."""
    print(vocab_only_offset(api().defaults()))


@cache
def api() -> Api:
    """The installed library. One for a process, since the library keeps the last one's callback."""
    return Api(library_path())


class Api:
    """The functions of ``llama.h`` that are needed, with their types: see :func:`api`."""

    def __init__(self, path: str) -> None:
        # A failed assertion would start a debugger to print its stack.
        os.environ.setdefault("GGML_NO_BACKTRACE", "1")
        self._library = ctypes.CDLL(path)
        self._errors: list[str] = []
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        self._log = callback(self._note)  # must outlive the library
        self._declare("llama_log_set", None, callback, ctypes.c_void_p)(self._log, None)
        self._defaults = self._declare("llama_model_default_params", Params)
        self._load = self._declare(
            "llama_model_load_from_file", ctypes.c_void_p, ctypes.c_char_p, Params
        )
        self._vocab = self._declare("llama_model_get_vocab", ctypes.c_void_p, ctypes.c_void_p)
        ids, size, flag = ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_bool
        text, vocab = ctypes.c_char_p, ctypes.c_void_p
        self.size = self._declare("llama_vocab_n_tokens", ctypes.c_int32, vocab)
        self.tokenize = self._declare(
            "llama_tokenize", size, vocab, text, size, ids, size, flag, flag
        )
        self.detokenize = self._declare(
            "llama_detokenize", size, vocab, ids, size, text, size, flag, flag
        )
        said = ctypes.POINTER(Message), ctypes.c_size_t
        self.chat = self._declare("llama_chat_apply_template", size, text, *said, flag, text, size)

    def _declare(self, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(self._library, name)
        function.restype = result
        function.argtypes = arguments
        return function

    def _note(self, level: int, text: bytes, _: object) -> None:
        if level == LOG_ERROR:
            self._errors.append(" ".join(text.decode(errors="replace").split()))

    def defaults(self) -> bytes:
        """What ``llama_model_default_params`` gives."""
        return bytes(self._defaults().content)

    def load(self, path: str) -> int:
        """The address of the ``llama_vocab`` of a file. Raises Refused with llama.cpp's reason."""
        parameters = self._defaults()
        parameters.content[vocab_only_offset(self.defaults())] = 1
        self._errors.clear()
        model = self._load(path.encode(), parameters)
        if not model:
            reason = self._errors[0] if self._errors else "it does not say why"
            raise Refused(f"llama.cpp does not load the vocabulary: {reason}")
        vocab: int = self._vocab(model)
        return vocab


class _Encoder:
    def __init__(self, api: Api, vocab: int, template: tuple[str, str], *, text_only: bool) -> None:
        self._api = api
        self._vocab = vocab
        self._template, self._first = template
        self._text_only = text_only
        self._size: int = api.size(vocab)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """Without BOS and EOS. Bytes go as they are, where not ``text_only``."""
        return self._ids(data, mode, added=False)

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """With those that the file asks for; it knows no pairs."""
        if pair is not None:
            raise Unsupported("has no pairs")
        return self._ids(data, mode, added=True)

    def encode_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> list[int]:
        """The text with its special tokens, as its server and its programs encode it."""
        return self._ids(self.render_chat(messages, tools, mode).encode(), mode, added=False)

    def render_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> str:
        """By ``llama_chat_apply_template``, which knows a template of the folder by what it has.

        It leaves the token of the beginning to the file, which a template has itself.
        """
        told = [Message(one["role"].encode(), one["content"].encode()) for one in messages]
        if tools or mode.special != "all" or any("\0" in one["content"] for one in messages):
            raise Unsupported("has no tools and no NUL in messages; special tokens must be on")
        given, room = (Message * len(told))(*told), 256
        while True:
            text = ctypes.create_string_buffer(room)
            size: int = self._api.chat(self._template.encode(), given, len(told), False, text, room)
            if not self._template or size < 0:
                raise Unsupported("knows no such template")
            if size <= room:
                return self._first + text.raw[:size].decode()
            room = size

    def _ids(self, data: bytes, mode: Mode, *, added: bool) -> list[int]:
        if self._text_only:
            text_of(data)
        special = mode.special == "all"
        room = len(data) + 4  # a dummy space, BOS and EOS more; a token a byte at the most
        while True:
            ids = (ctypes.c_int32 * room)()
            count = self._api.tokenize(self._vocab, data, len(data), ids, room, added, special)
            if count >= 0:
                return ids[:count]
            if count == NOT_ENOUGH or -count <= room:
                raise OverflowError(f"llama_tokenize gives {count}")
            room = -count

    def decode(self, ids: Sequence[int]) -> bytes:
        """By ``llama_detokenize``, special tokens included. ValueError for an unknown id."""
        if any(not 0 <= token_id < self._size for token_id in ids):
            raise ValueError(f"ids must be below {self._size}")  # it would end the process
        given = (ctypes.c_int32 * len(ids))(*ids)
        room = 16 * len(ids) + 16
        while True:
            text = ctypes.create_string_buffer(room)
            count: int = self._api.detokenize(self._vocab, given, len(ids), text, room, False, True)
            if count >= 0:
                return text.raw[:count]
            room = -count


@lru_cache(maxsize=16)
def _trouble(vocabulary: Vocabulary) -> str | None:
    # Only needed where llama.cpp takes part: keeps `tokgate list` from importing the writer.
    from corpora.vocabularies.gguf_file import pre_name, trouble  # noqa: PLC0415
    from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES  # noqa: PLC0415

    fault = trouble(vocabulary)
    if fault is not None or vocabulary.alphabet is Alphabet.CHARACTERS:
        return fault
    name = pre_name(vocabulary)
    if (name in GGUF_IGNORE_MERGES) != vocabulary.ignore_merges and _improper(vocabulary):
        does = "takes" if name in GGUF_IGNORE_MERGES else "does not take"
        return f"{does} whole pre-tokens as tokens with the pre-tokenizer {name}"
    return None


def _improper(vocabulary: Vocabulary) -> bool:
    return any(one.kind.startswith("not-self-encoding") for one in preflight(vocabulary))


def gguf_file(vocabulary: Vocabulary) -> bytes:
    """The vocabulary's own GGUF file if it was read from one, else a new one.

    llama.cpp may know more of its own file than the plain model says. A file whose pre-tokenizer is
    not the vocabulary's was given another one by name (``#pattern=``), and is written anew. What
    is written of a large vocabulary is kept on disk.
    """
    from corpora.vocabularies.gguf_file import to_gguf  # noqa: PLC0415 (as above)
    from corpora.vocabularies.limits import MAX_FILE_BYTES  # noqa: PLC0415
    from corpora.vocabularies.patterns import GGUF_PRE, PATTERNS  # noqa: PLC0415
    from corpora.vocabularies.reading import read_bytes  # noqa: PLC0415
    from corpora.vocabularies.tables_on_disk import kept_bytes  # noqa: PLC0415

    if vocabulary.format == "gguf" and vocabulary.source_path is not None:
        content = read_bytes(Path(vocabulary.source_path))
        splits = PATTERNS.get(GGUF_PRE.get(pre_of(content), "none"), ())
        # Of a larger file, one with weights, only the beginning was read.
        whole = len(content) < MAX_FILE_BYTES
        if whole and (vocabulary.alphabet is Alphabet.CHARACTERS or splits == vocabulary.splits):
            return content
    return kept_bytes(vocabulary, "gguf", lambda: to_gguf(vocabulary))


def pre_of(content: bytes) -> str:
    """``tokenizer.ggml.pre`` of a GGUF file, found by its key alone; ``default`` if none."""
    key = b"tokenizer.ggml.pre" + STRING.to_bytes(4, "little")
    at = content.find(key)
    if at < 0:
        return "default"
    start = at + len(key) + 8
    length = int.from_bytes(content[start - 8 : start], "little")
    return content[start : start + length].decode(errors="replace")


class Implementation:
    """``llama_tokenize`` on a GGUF file written from the vocabulary.

    takes_bytes: byte-level BPE and WordPiece, too, are given what is not UTF-8.
    """

    native_formats = frozenset({"gguf"})

    def __init__(self, name: str, *, takes_bytes: bool) -> None:
        self._name = name
        self._takes_bytes = takes_bytes

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError if it is not installed: it has no part in a run then."""
        library_path()
        return replace(LIBRARY.about, name=self._name)

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE with a pre-tokenizer that it knows by name, SPM, UGM and WPM."""
        if not mode.pretokenize:
            return "its own splitting and handling of white space cannot be left out"
        if vocabulary.unexpressed:
            return None  # it reads the file itself
        return _trouble(vocabulary)

    def load(self, vocabulary: Vocabulary) -> _Encoder:
        """Write the file, load it, delete it: up to three seconds for 200,000 tokens."""
        content = gguf_file(vocabulary)
        with scratch.temporary("llama-cpp-") as folder:
            path = Path(folder, "vocabulary.gguf")
            path.write_bytes(content)
            text_only = not (vocabulary.pieces or self._takes_bytes)
            vocab, template = api().load(str(path)), model_folder.chat_template(vocabulary)
            return _Encoder(api(), vocab, template, text_only=text_only)

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """A GGUF file, and ``llama.h`` by ctypes."""
        code = RECIPE.replace("OFFSET", str(offset_seen_elsewhere())).replace(
            "SPECIAL", str(mode.special == "all")
        )
        return Recipe((LIBRARY.requirement,), code, "vocabulary.gguf", gguf_file(vocabulary))


IMPLEMENTATION = Implementation("llama.cpp", takes_bytes=False)
AS_BYTES = Implementation("llama.cpp-bytes", takes_bytes=True)
