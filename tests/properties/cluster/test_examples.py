"""The examples of clusters are what they are for: each part, and the command that it runs."""

from pathlib import Path

import pytest

from harness.cluster import addresses
from tests.docs.pages import Command
from tests.docs.test_commands import fault

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def documents(name):
    """What a file of YAML has."""
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with Ray")
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def test_the_manifest_for_kubernetes_drives_a_campaign():
    parts = {one["kind"]: one for one in documents("raycluster.yaml")}
    assert set(parts) == {"RayCluster", "Service", "StatefulSet", "Job", "PersistentVolumeClaim"}
    assert parts["RayCluster"]["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (driver,) = parts["Job"]["spec"]["template"]["spec"]["containers"]
    arguments = driver["args"]
    assert driver["command"] == ["tokgate", "fuzz"]
    (address,) = [one for one in arguments if one.startswith("--cluster=")]
    assert addresses.ADDRESS.fullmatch(address.partition("=")[2])
    assert fault(Command("raycluster.yaml", ("fuzz", *arguments), True)) is None


def test_the_file_for_ray_up_keeps_work_off_the_head():
    (cluster,) = documents("cluster.yaml")
    kinds = cluster["available_node_types"]
    assert kinds[cluster["head_node_type"]]["resources"]["CPU"] == 0
    assert kinds["worker"]["max_workers"] <= cluster["max_workers"]
    assert any("--num-cpus=0" in line for line in cluster["head_start_ray_commands"])
