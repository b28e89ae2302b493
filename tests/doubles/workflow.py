"""What GitHub does with a workflow, in a few lines: expressions, conditions, outputs, caches.

Scripts run in bash as GitHub runs them. Of the actions of others, those that the examples use are
stood in for; ours runs step by step.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
WORD = re.compile(r"'[^']*'|[A-Za-z_][\w.-]*|&&|\|\||[!=]=|!")
OPERATORS = {"&&": " and ", "||": " or ", "!": " not "}


def bash(script, folder, **environment):
    """Run a script as GitHub does."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


@dataclass
class Runner:
    """A machine that runs jobs of one repository; its caches stay from job to job.

    github: the contexts ``github.*`` and others, by their whole names. environment: of scripts.
    stands: what an action of others does, by its name. log: of each script that ran, what it said.
    """

    folder: Path
    github: dict[str, str]
    environment: dict[str, str]
    log: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    sarif: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def workspace(self):
        """The folder with the files of the repository."""
        return self.folder / "workspace"

    @property
    def summary(self):
        """What the steps of the last job wrote for people."""
        return (self.folder / "summary").read_text("utf-8")

    def job(self, name, **changed):
        """Run the only job of an example; whether it passed. changed: inputs of our action."""
        flow = yaml.safe_load((ROOT / ".github" / "examples" / name).read_text("utf-8"))
        [job] = flow["jobs"].values()
        self.failed = False
        (self.folder / "summary").write_text("")
        self.steps(job["steps"], dict(self.github, **{"github.workflow": flow["name"]}), changed)
        return not self.failed

    def steps(self, steps, values, changed):
        """Run steps in a scope of their own. values: of the contexts; outputs are added."""
        for step in steps:
            condition = str(step.get("if", "true"))
            if self.failed and "always()" not in condition:
                continue
            if not self.value(condition, values):
                continue
            if "run" in step:
                self.script(step, values)
                continue
            action = step["uses"].partition("@")[0]
            given = {key: self.text(one, values) for key, one in step.get("with", {}).items()}
            if action == "OWNER/tokgate":
                inputs = {k: str(one.get("default", "")) for k, one in ACTION["inputs"].items()}
                scope = {f"inputs.{key}": one for key, one in (inputs | given | changed).items()}
                self.steps(ACTION["runs"]["steps"], {**values, **scope}, {})
            else:
                getattr(self, action.replace("/", "_").replace("-", "_"))(given)

    def script(self, step, values):
        """Run a script, and take up its outputs."""
        assert "${{" not in step["run"], "an input inside a script can become a command"
        output = self.folder / "output"
        output.write_text("")
        given = {key: self.text(one, values) for key, one in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": self.folder / "summary"}
        named = {"GITHUB_WORKSPACE": self.workspace, **files}
        for key, one in self.github.items():
            named[key.upper().replace(".", "_")] = one
        environment = {key: str(one) for key, one in {**named, **self.environment, **given}.items()}
        done = bash(step["run"], self.workspace, **environment)
        self.log.append(done.stdout + done.stderr)
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            values[f"steps.{step.get('id')}.outputs.{key}"] = value
        self.failed |= done.returncode != 0

    def text(self, template, values):
        """A text with its expressions replaced."""

        def told(match):
            found = self.value(match[1], values)
            return str(found).lower() if isinstance(found, bool) else str(found)

        return EXPRESSION.sub(told, str(template))

    def value(self, expression, values):
        """What an expression comes to; whatever is not known is empty, as on GitHub."""
        functions = {
            "always": lambda: True,
            "format": lambda text, *more: text.format(*more),
            "hashFiles": lambda path: "digest" if (self.workspace / path).is_file() else "",
        }

        def python(match):
            word = match[0]
            if word in functions or word[0] == "'" or word in ("==", "!="):
                return word
            return OPERATORS.get(word) or f"known({word!r})"

        def known(name):
            return {"true": True, "false": False}.get(name, values.get(name, ""))

        return eval(WORD.sub(python, expression), {"known": known, **functions})

    # --- actions of others ---

    def actions_checkout(self, given):
        """The files are there."""

    def actions_setup_python(self, given):
        """So is Python."""

    def actions_cache_restore(self, given):
        """Put the newest folder back whose key begins as it is to."""
        found = [one for one in (self.folder / "caches").glob("*") if
                 one.name.startswith((given["key"], given["restore-keys"]))]  # fmt: skip
        if found:
            newest = max(found, key=lambda one: one.stat().st_mtime_ns)
            shutil.copytree(newest, self.workspace / given["path"], dirs_exist_ok=True)

    def actions_cache_save(self, given):
        """Keep a folder under a key, which is never written again."""
        kept, path = self.folder / "caches" / given["key"], self.workspace / given["path"]
        if path.is_dir() and not kept.exists():
            shutil.copytree(path, kept)
            os.utime(kept)

    def actions_upload_artifact(self, given):
        """Note what is kept."""
        path = self.workspace / given["path"]
        self.artifacts.append(f"{given['name']}: {sorted(one.name for one in path.iterdir())}")

    def github_codeql_action_upload_sarif(self, given):
        """Keep what code scanning is told."""
        self.sarif.append((self.workspace / given["sarif_file"]).read_text("utf-8"))
