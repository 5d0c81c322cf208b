"""The status of a cluster, and the page that explains it; they need no Ray."""

from __future__ import annotations

import subprocess
from dataclasses import fields
from pathlib import Path

import yaml

from stoneworks.training.alphazero.cluster.status import ClusterStatus

STATUS = ClusterStatus(5, 40, 1234, 80, 1.25, 3, 2, 7, {f"host{number}/abcdef": float(number) for number in range(5)})


def test_the_lines_name_the_fastest_nodes() -> None:
    first, second = STATUS.lines()
    for text in ("5 nodes", "40 actors", "1,234 positions", "80 batches", "1.2 updates behind", "at most 3"):
        assert text in first
    assert second.index("host4/abcdef 4.0") < second.index("host1/abcdef 1.0")
    assert "host0" not in second
    assert second.endswith("and 1 more")


def test_every_figure_has_a_tag_and_is_explained_on_the_page(repository: Path) -> None:
    *names, by_node = (item.name for item in fields(ClusterStatus))
    assert by_node == "games_per_second_by_node"
    nodes = {f"cluster/games_per_second/{name}": rate for name, rate in STATUS.games_per_second_by_node.items()}
    assert STATUS.scalars() == {f"cluster/{name}": getattr(STATUS, name) for name in names} | nodes
    page = (repository / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | " in page for name in (*names, by_node))


def test_the_manifest_has_heads_and_workers_with_equal_images(repository: Path) -> None:
    manifest = yaml.safe_load((repository / "examples" / "cluster" / "kuberay.yaml").read_text(encoding="utf-8"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    groups = [manifest["spec"]["headGroupSpec"], *manifest["spec"]["workerGroupSpecs"]]
    containers = [group["template"]["spec"]["containers"][0] for group in groups]
    assert len({container["image"] for container in containers}) == 1
    script = repository / "examples" / "cluster" / "slurm.sh"
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert "stoneworks train vadus-5 --folder runs/vadus --cluster auto --resume" in script.read_text()
