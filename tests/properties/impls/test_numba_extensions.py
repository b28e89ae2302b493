"""Packages that extend Numba are imported by nobody but plug-ins."""

import pytest

from corpora.vocabularies.caches import OURS
from tests.doubles.command import ROOT, python

CODE = (
    "import sys\n"
    "from impls.compiled import jit\n"
    "from numba.core.entrypoints import init_all\n"
    "init_all()  # as Numba does before it compiles or loads a function\n"
    "print('extends_numba' in sys.modules)"
)


@pytest.mark.parametrize("of_a_plug_in", [False, True], ids=["ours", "of a plug-in"])
def test_a_package_that_extends_numba(of_a_plug_in, tmp_path):
    (tmp_path / "extends_numba.py").write_text("def init():\n    pass\n")
    folder = tmp_path / "extends_numba-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: extends_numba\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[numba_extensions]\ninit = extends_numba:init\n")
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    if of_a_plug_in:
        environment[OURS] = str(tmp_path / "ours")
    done = python("-c", CODE, **environment)
    assert done.stdout.split()[-1] == str(of_a_plug_in)
