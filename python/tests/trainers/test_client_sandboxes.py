"""Clients of sandboxes, and the daemon: verl's and SandboxFusion's own of `/run_code`, and two of Piston."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING

import pytest
from serving import rewards, serving, without_init

pytest.importorskip("piston_rspy")
without_init("verl", "verl.utils", "verl.utils.reward_score")

import piston_rspy
import pistonapi
import sandbox_fusion
from pistonapi.exceptions import PistonError
from sandbox_fusion.models import (
    CommandRunStatus,
    RunCodeRequest,
    RunJupyterRequest,
    RunStatus,
    SubmitRequest,
    SummaryMapping,
    TestConfig,
)
from verl.utils.reward_score.sandbox_fusion import compute_score

if TYPE_CHECKING:
    from collections.abc import Iterator

PROFILE = "[[reward]]\nname = 'runs'\nverifier = 'stdin_stdout'\n"
PROGRAMS = {
    "right": "print(int(input()) + 1)",
    "wrong": "print(int(input()) + 2)",
    "raises": "raise ValueError(input())",
    "unread": "print(int(input())) if",
}
CASES = [("1\n", "2\n"), ("41\n", "42\n")]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("--set", "serve.run_programs=true", runs=PROFILE) as url:
        yield url


@pytest.mark.parametrize("name", PROGRAMS)
def test_verl_earns_what_our_own_verifier_gives(url: str, name: str) -> None:
    completion = f"```python\n{PROGRAMS[name]}\n```"
    cases = {"inputs": [stdin for stdin, _ in CASES], "outputs": [stdout for _, stdout in CASES]}
    score, told = compute_score(f"{url}/run_code", None, 512, completion, json.dumps(cases), timeout=10)
    reference = {"cases": [{"stdin": stdin, "stdout": stdout} for stdin, stdout in CASES]}
    [reward] = rewards(url, [{"completion": completion, "reference": reference}])
    assert score == reward == (1.0 if name == "right" else 0.0)
    assert len(told) == len(CASES)
    assert all(one["api_request_error"] is None for one in told)


def test_the_client_of_sandbox_fusion_runs_programs(url: str) -> None:
    def run(code: str, **more: object) -> sandbox_fusion.RunCodeResponse:
        request = RunCodeRequest(code=code, language="python", **more)
        return sandbox_fusion.run_code(request, endpoint=url, max_attempts=1)

    words = SummaryMapping(Success="fine", Failed="failed", RunFailed="wrong", RunTimeout="late")
    fine = run(PROGRAMS["right"], stdin="41")
    assert (fine.status, fine.run_result.stdout, fine.run_result.return_code) == (RunStatus.Success, "42\n", 0)
    assert sandbox_fusion.summary_run_code_result(fine, words) == "fine"
    wrong = run(PROGRAMS["raises"], stdin="what")
    assert "ValueError: what" in wrong.run_result.stderr
    assert sandbox_fusion.summary_run_code_result(wrong, words) == "wrong"
    late = run("while True: pass", run_timeout=0.5)
    assert late.run_result.status == CommandRunStatus.TimeLimitExceeded
    assert sandbox_fusion.summary_run_code_result(late, words) == "late"


def test_the_client_of_sandbox_fusion_sends_and_fetches_files(url: str) -> None:
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    code = """
import csv, helper, pathlib
rows = list(csv.DictReader(open("data/a.csv")))
pathlib.Path("out.txt").write_text(str(helper.total(rows)))
raise SystemExit(3)
"""
    request = RunCodeRequest(
        code=code,
        language="python",
        files={
            "data/a.csv": encoded("n\n1\n2\n"),
            "helper.py": encoded("def total(rows):\n    return sum(int(row['n']) for row in rows)"),
            "none.txt": None,
        },
        fetch_files=["out.txt", "none.txt", "data/a.csv"],
    )
    done = sandbox_fusion.run_code(request, endpoint=url, max_attempts=1)
    assert (done.status, done.run_result.return_code) == (RunStatus.Failed, 3), done
    assert done.files == {"out.txt": encoded("3"), "data/a.csv": encoded("n\n1\n2\n")}

    async def again() -> None:
        request = RunCodeRequest(
            code="const fs = require('fs'); fs.writeFileSync('b.txt', fs.readFileSync('a.txt', 'utf8') + '!')",
            language="nodejs",
            files={"a.txt": encoded("é")},
            fetch_files=["b.txt"],
        )
        done = await sandbox_fusion.run_code_async(request, endpoint=url, max_attempts=1)
        assert (done.status, done.files) == (RunStatus.Success, {"b.txt": encoded("é!")}), done

    asyncio.run(again())


def test_the_other_paths_of_sandbox_fusion_are_not_there(url: str) -> None:
    request = RunJupyterRequest(cells=["1"])
    with pytest.raises(Exception, match="code 404"):
        sandbox_fusion.run_jupyter(request, endpoint=url, max_attempts=1)
    submitted = SubmitRequest(dataset="a", id=1, completion="a", config=TestConfig())
    with pytest.raises(Exception, match="code 404"):
        sandbox_fusion.submit(submitted, endpoint=url, max_attempts=1)


def test_the_client_of_sandbox_fusion_is_told_why(url: str) -> None:
    request = RunCodeRequest(code="1", language="lean")
    with pytest.raises(Exception, match="code 422.*no such language") as told:
        sandbox_fusion.run_code(request, endpoint=url, max_attempts=1)
    detail = json.loads(str(told.value).split(": ", 1)[1])["detail"]
    assert detail[0]["loc"] == ["body", "language"]


def test_pistonapi_runs_programs(url: str) -> None:
    client = pistonapi.PistonAPI(f"{url}/api/v2")
    version = client.runtimes["python"]["version"]
    assert "py" in client.languages["python"]["aliases"]
    assert client.execute("python", version, PROGRAMS["right"], stdin="41") == "42\n"
    assert client.execute("js", "*", "console.log('a' + 1)") == "a1\n"
    assert "ValueError: what" in client.execute("py", "3.x", PROGRAMS["raises"], stdin="what")
    with pytest.raises(PistonError, match="runtime is unknown"):
        client.execute("brainfuck", "*", "+")
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"
    assert client.execute("python", "*", code, stdin="in", args=["a", "b c"]) == "['a', 'b c'] in\n"


def test_piston_rspy_runs_programs_of_several_files(url: str) -> None:
    async def run() -> None:
        client = piston_rspy.Client.with_url(f"{url}/api/v2")
        runtimes = {one.language: one for one in await client.fetch_runtimes()}
        assert "python3" in runtimes["python"].aliases
        main = piston_rspy.File(
            name="main.py",
            content="from lib.add import add\nprint(add(int(input()), 1), open('lib/note.txt').read())",
        )
        files = [
            main,
            piston_rspy.File(name="lib/add.py", content="def add(a, b):\n    return a + b\n"),
            piston_rspy.File(name="lib/note.txt", content="bm90ZQ==", encoding="base64"),
        ]
        executor = piston_rspy.Executor().set_language("python").set_version("*").set_stdin("41")
        done = await client.execute(executor.add_files(files))
        assert done.is_ok() and done.run.is_ok(), done.run.stderr
        assert (done.run.stdout, done.run.code, done.run.signal) == ("42 note\n", 0, None)

        scripts = [
            piston_rspy.File(name="main.js", content="console.log(require('./add')(41, 1))"),
            piston_rspy.File(name="add.js", content="module.exports = (a, b) => a + b"),
        ]
        executor = piston_rspy.Executor().set_language("javascript").set_version("*").add_files(scripts)
        done = await client.execute(executor)
        assert done.run.stdout == "42\n", done.run.stderr

        wrong = piston_rspy.File(name="main.py", content="import sys\nsys.exit(3)")
        executor = piston_rspy.Executor().set_language("py").add_file(wrong)
        done = await client.execute(executor)
        assert done.run.is_err() and done.run.code == 3
        unknown = piston_rspy.Executor().set_language("brainfuck").add_file(wrong)
        told = await client.execute(unknown)
        assert told.is_err() and told.status == 400

    asyncio.run(run())
