"""Reproducers: what a recipe gives where nothing of tokgate's can be imported."""

import json
import subprocess
import sys

CHECKED = """
import json, sys
ids = list(map(int, encode({data!r})))
print(json.dumps([ids, decode(ids).decode() if "decode" in globals() else None]))
assert not {{"impls", "corpora", "harness"}} & set(sys.modules)
"""


def run(recipe, data, folder, **environment):
    """The ids, and the text of them if the recipe decodes, by a Python in this folder."""
    artifact = folder / recipe.artifact_name
    artifact.write_bytes(recipe.artifact)
    script = folder / "repro.py"
    code = f"VOCABULARY = {str(artifact)!r}\n{recipe.code}\n{CHECKED.format(data=data)}"
    script.write_text(code, encoding="utf-8")
    command = [sys.executable, "-I", str(script)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, **environment
    )
    assert done.returncode == 0, done.stderr
    ids, text = json.loads(done.stdout.splitlines()[-1])
    return ids, text
