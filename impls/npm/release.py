"""``npm:NAME==VERSION``: one release of a tokenizer of JavaScript, on node.

The package is installed into a folder of its own (:mod:`impls.npm.environments`), where a small
program (``serve.mjs``) speaks the stdio protocol with it. How it is given a vocabulary is said by
:mod:`impls.npm.packages`::

    tokgate run --impl npm:js-tiktoken==1.0.21 --impl tiktoken --vocab tiktoken:o200k_base
"""

from __future__ import annotations

import json
import shlex
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch
from impls import interface
from impls.adapters.recipes import Way, why_not
from impls.errors import ImplementationError
from impls.external import PROTOCOL_VERSION, ExternalEncoder
from impls.interface import About, Capability, Mode, Recipe
from impls.npm import environments
from impls.npm.packages import PACKAGES

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

PROGRAM = Path(__file__).with_name("serve.mjs")

HEAP_MEGABYTES = 2048
"""The limit of node's heap: it would take a share of the machine's memory otherwise, and be killed
by the worker's limit."""

RECIPE = """\
import json, subprocess, tempfile
from pathlib import Path

PACKAGE = {package!r}
CODE = {code!r}
START = '''
const [folder, vocabulary, question] = process.argv.slice(2);
const inner = require("node:module").createRequire(folder + "/main.js");
const load = (name) => import(require("node:url").pathToFileURL(inner.resolve(name)).href);
const AsyncFunction = (async () => {{}}).constructor;
console.log = console.info = console.error;
new AsyncFunction("require", "load", "VOCABULARY", CODE)(inner, load, vocabulary).then((own) => {{
  const asked = JSON.parse(require("node:fs").readFileSync(question, "utf8"));
  const answer = asked.ids ? [...Buffer.from(own.decode(asked.ids))]
    : Array.from(own.encode(Buffer.from(asked.input).toString("utf8")));
  require("node:fs").writeFileSync(question, JSON.stringify(answer));
}});
'''

# A folder of its own, made on the first use and kept. Wants node and npm.
folder = Path(tempfile.gettempdir(), "repro-npm-" + PACKAGE.replace("/", "_"))
if not (folder / "ready").exists():
    print("installing", PACKAGE, "into", folder)
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text("{{}}")
    install = ["npm", "install", "--silent", "--ignore-scripts", PACKAGE]
    subprocess.run(install, cwd=folder, check=True)
    (folder / "ready").touch()


def ask(question):
    with tempfile.TemporaryDirectory() as place:
        script, asked = Path(place, "ask.cjs"), Path(place, "asked.json")
        script.write_text("const CODE = " + json.dumps(CODE) + ";" + START)
        asked.write_text(json.dumps(question))
        command = ["node", str(script), str(folder), str(VOCABULARY), str(asked)]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or [""]
            raise RuntimeError("exit status " + str(done.returncode) + " " + " ".join(lines[:6]))
        return json.loads(asked.read_text())


def encode(data):
    data.decode()  # it takes text alone
    return ask({{"input": list(data)}})


def decode(ids):
    return bytes(ask({{"ids": [int(i) for i in ids]}}))
"""

MODES = {"special": Mode(special="all"), "text": Mode()}


class NpmImplementation:
    """A package of npm on node. ``about`` installs it if need be."""

    def __init__(self, text: str) -> None:
        self._wanted = environments.parse(text)
        if self._wanted.name not in PACKAGES:
            raise ImplementationError(
                f"implementation 'npm:{text}': no adapter for {self._wanted.name}; "
                f"there are {', '.join(PACKAGES)} (others: cmd:PROGRAM)",
                unknown=True,
            )
        self._package = PACKAGES[self._wanted.name]
        self.native_formats = self._package.native_formats

    @cached_property
    def _command(self) -> str:
        node = environments.node_for(self._wanted.text)
        folder = environments.folder_of(self._wanted, node)
        hello = {
            "protocol": PROTOCOL_VERSION,
            "name": self._name,
            "version": self._wanted.version,
            "operations": ["encode", "decode"],
        }
        heap = f"--max-old-space-size={HEAP_MEGABYTES}"
        return shlex.join([node.node, heap, str(PROGRAM), str(folder), json.dumps(hello)])

    @property
    def _name(self) -> str:
        """Apart from the libraries of Python, of which one has the same name."""
        return f"npm:{self._wanted.text}"

    @property
    def about(self) -> About:
        """Who it is. Raises ImplementationError if it cannot be had."""
        _ = self._command
        return About(
            name=self._name,
            version=self._wanted.version,
            language="javascript",
            homepage=self._package.homepage,
            issues=f"{self._package.homepage}/issues",
            capabilities=frozenset({Capability.DECODE}),
            library=f"npm:{self._wanted.name}",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Whether there is a way, and its file can be written."""
        return why_not(self._package.ways(vocabulary, mode), vocabulary)

    def reads(self, vocabulary: Vocabulary, mode: Mode) -> str:
        """The name of the file that it is given, or nothing if it does not run the vocabulary."""
        way = self._package.ways(vocabulary, mode)
        return "" if isinstance(way, str) else way.name

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Start the program and give it a file for each mode."""
        folder = scratch.temporary("npm-")
        ways: dict[str, dict[str, str]] = {}
        for label, mode in MODES.items():
            way = self._package.ways(vocabulary, mode)
            if isinstance(way, Way):
                path = Path(folder.name, f"{label}-{way.name}")
                path.write_bytes(way.content())
                ways[label] = {"code": way.code, "path": str(path)}
        wire: dict[str, object] = {
            "id": vocabulary.id,
            "algorithm": str(vocabulary.algorithm),
            "format": vocabulary.format,
            "ways": ways,
        }
        return ExternalEncoder(self._command, wire, folder)

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """The very lines that the program runs, in a folder that the reproducer makes."""
        way = self._package.ways(vocabulary, mode)
        assert isinstance(way, Way)
        package = f"{self._wanted.name}@{self._wanted.version}"
        code = RECIPE.format(package=package, code=way.code)
        return Recipe((), code, way.name, way.content())
