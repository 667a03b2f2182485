"""The daemon as a child, and what it says by its own protocol of the samples that clients send."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "fixtures" / "models"

# Two rewards, by rules alone.
RIGHT_AND_BRIEF = """
[[reward]]
name = "right"
verifier = "math"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.5
config = { max = 12 }
"""


def command() -> str:
    """The command: `ASSAY`, else that of the wheel, else what was built last."""
    if given := os.environ.get("ASSAY"):
        return given
    installed = Path(sys.executable).parent / "assay"
    if installed.exists():
        return str(installed)
    built = [ROOT / "target" / kind / "assay" for kind in ("release", "debug")]
    return str(max((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime))


@contextmanager
def serving(*flags: str, **configs: str) -> Iterator[str]:
    """The URL of a daemon with these configurations, each without its `version`."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in configs.items():
            paths.append(Path(folder, f"{name}.toml"))
            paths[-1].write_text(f"version = 1\n{text}")
        common = ["--bind", "127.0.0.1:0", "--no-cache", "--log", "warn", "--allow-path", str(MODELS)]
        child = subprocess.Popen(
            [command(), "serve", *map(str, paths), *common, *flags],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        try:
            found = re.search(r"http://\S+", child.stdout.readline())
            assert found, "the daemon does not start"
            yield found[0]
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def verified(url: str, samples: Sequence[Mapping[str, Any]], profile: str | None = None) -> Any:
    """The verdict lines of `/v1/verify`."""
    body = {"samples": samples} | ({"profile": profile} if profile else {})
    request = urllib.request.Request(
        f"{url}/v1/verify", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["results"]


def rewards(url: str, samples: Sequence[Mapping[str, Any]], profile: str | None = None) -> list[Any]:
    """The rewards of `/v1/verify`."""
    return [line["reward"] for line in verified(url, samples, profile)]


def scored(config: str, samples: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The rewards of `assay score`."""
    with tempfile.TemporaryDirectory() as folder:
        path, data, run = (Path(folder, name) for name in ("c.toml", "d.jsonl", "run"))
        path.write_text(f"version = 1\n{config}")
        data.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
        line = [command(), "score", str(path), str(data), "--no-cache", "-q", "--output", str(run)]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        lines = (run / "verdicts.jsonl").read_text().splitlines()
        return [json.loads(one)["reward"] for one in lines]


def without_init(*packages: str) -> None:
    """Lets modules of these packages be imported without what the packages themselves import, which is
    large and takes no part in a request."""
    for package in packages:
        top, *below = package.split(".")
        found = PathFinder.find_spec(top)
        assert found is not None and found.submodule_search_locations, f"{top} is not installed"
        shell = ModuleType(package)
        shell.__path__ = [str(Path(place, *below)) for place in found.submodule_search_locations]
        sys.modules[package] = shell
