"""Runs a reward function of the user's. Runs in the sandbox; only plain values leave it."""

import inspect
import marshal
import sys
import types

FILE = "<script>"
NAMES = ("reward", "grade")
NOTES_MAX = 16
TEXT_MAX = 500


def compiled(source, name):
    """The compiled script, once its function was found in it."""
    return guarded(lambda: {"code": marshal.dumps(prepared(source, name)[0])})


def judge(script, name, sample):
    """What the function says of the sample. `script` is compiled, or source."""
    def run():
        function = prepared(script, name)[1]
        if takes_two(function):
            return described(function(output_of(sample), item_of(sample)))
        return described(function(sample))
    return guarded(run)


def prepared(script, name):
    if type(script) is bytes:
        code = marshal.loads(script)
    else:
        code = compile(script, FILE, "exec", dont_inherit=True)
    module = types.ModuleType("script")
    sys.modules["script"] = module
    own = vars(module)
    exec(code, own)
    for wanted in (name,) if name else NAMES:
        if callable(own.get(wanted)):
            return code, own[wanted]
    functions = [key for key, value in own.items() if type(value) is types.FunctionType]
    wanted = name or " or ".join(NAMES)
    raise NoFunction(f"no function {wanted}; has: {', '.join(functions) or 'none'}")


class NoFunction(Exception):
    """The script has no function of the name."""


def takes_two(function):
    """Whether the function takes `sample` and `item`, as graders of OpenAI do."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in by_place if p.default is p.empty]
    return len(required) >= 2 or "item" in [p.name for p in by_place[1:2]]


def output_of(sample):
    """The sample with what else it has for graders of OpenAI."""
    text, tools = sample["output_text"], (sample["messages"] or [{}])[-1].get("tool_calls") or []
    message = {"role": "assistant", "content": text, "tool_calls": tools}
    choice = {"index": 0, "finish_reason": sample["finish_reason"], "message": message}
    return {**sample, "output_json": parsed(text), "output_tools": tools, "choices": [choice]}


def parsed(text):
    if text.lstrip()[:1] not in tuple('{["'):
        return None
    import json
    try:
        return json.loads(text)
    except ValueError:
        return None


def item_of(sample):
    """The row: its columns, under their own names where they have any."""
    if not sample["id"]:
        # The item of a request is all that there is of its row.
        return sample["meta"]
    named = {key: sample[key] for key in ("id", "prompt", "reference", "group")}
    return {**named, **sample["meta"]}


def described(value):
    notes = {}
    if isinstance(value, dict):
        if "reward" not in value:
            return {"wrong": 'a dict without "reward"'}
        others = [(key, note) for key, note in value.items() if key != "reward"]
        notes = {cut(str(key)): noted(note) for key, note in others[:NOTES_MAX]}
        value = value["reward"]
    if value is None:
        return {"abstained": True}
    if not isinstance(value, (int, float)):
        return {"wrong": f"a value of type {type(value).__name__}"}
    try:
        return {"reward": float(value), "notes": notes}
    except OverflowError:
        return {"wrong": "an int that is too large"}


def noted(value):
    if value is None or type(value) in (bool, float) or type(value) is int and abs(value) < 2**53:
        return value
    return cut(value if type(value) is str else repr(value))


def cut(text):
    return str(text[:TEXT_MAX])


def guarded(run):
    try:
        return run()
    except NoFunction as error:
        return {"missing": str(error)}
    except BaseException as error:
        try:
            text = str(error)
        except BaseException:
            text = ""
        name = type(error).__name__
        return {"error": cut(f"{name}: {text}" if text else name), "line": line_of(error)}


def line_of(error):
    """The line of the script at which it went wrong; 0 where there is none."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno or 0
        trace = trace.tb_next
    return line
