//! The rules of the crossing, each with a program that would pass without it.

use super::*;

fn task<'a>(candidate: &'a str, test: &'a str) -> AssertionTask<'a> {
    AssertionTask { candidate, test, ..AssertionTask::default() }
}

fn ruling(task: &AssertionTask<'_>) -> Ruling {
    let judged = with_context(|context| run_assertions(python(), task, context));
    println!("{}\n{}\n{judged:?}\n", task.candidate, task.test);
    judged.ruling()
}

fn passes(candidate: &str, test: &str) -> bool {
    ruling(&task(candidate, test)) == Ruling::Passed
}

#[test]
fn plain_values_cross_unchanged() {
    let values = [
        "None",
        "True",
        "-1",
        "10**40",
        "-(10**40)",
        "0.1",
        "float('inf')",
        "1+2j",
        "'\\ud800é'",
        "b'\\x00'",
        "[1, [2]]",
        "(1, (2,))",
        "{'a': {1: (2,)}}",
        "{1, 2}",
        "frozenset([1])",
        "...",
        "range(3)",
        "bytearray(b'a')",
        "[range(2)]",
        "(..., 't', 1)",
        "__import__('decimal').Decimal('1.5')",
        "__import__('fractions').Fraction(1, 3)",
        "__import__('collections').deque([1], 3)",
        "__import__('collections').Counter('aab')",
        "__import__('datetime').date(2024, 2, 29)",
        "__import__('datetime').timedelta(1, 2, 3)",
        "__import__('collections').OrderedDict(a=1)",
    ];
    for value in values {
        let candidate = format!("def f(): return {value}\ndef same(x): return x");
        let test = format!(
            "want = {value}\nassert f() == want\nassert type(f()) is type(want)\n\
             assert same(want) == want\nassert type(same(want)) is type(want)"
        );
        let judged =
            with_context(|context| run_assertions(python(), &task(&candidate, &test), context));
        assert_eq!(judged.ruling(), Ruling::Passed, "{value}: {judged:?}");
    }
}

#[test]
fn derived_values_are_their_plain_value() {
    let program = "import enum, collections\n\
        class E(enum.IntEnum):\n    A = 7\n\
        P = collections.namedtuple('P', 'x y')\n\
        class L(list):\n    def __eq__(self, other): return True\n    __hash__ = None\n\
        def e(): return E.A\ndef p(): return P(1, 2)\ndef l(): return L([1])";
    assert!(passes(program, "assert e() == 7\nassert p() == (1, 2)\nassert p().y == 2"));
    assert!(!passes(program, "assert l() == [2]"));
}

#[test]
fn objects_have_no_say_in_comparisons() {
    let program = "class A:\n    def __eq__(self, o): return True\n    def __ne__(self, o): return True\n\
        \x20   def __hash__(self): return 1\n    def __bool__(self): return True\n\
        \x20   def __lt__(self, o): return True\n    def __contains__(self, o): return True\n\
        def f(*a): return A()";
    for test in [
        "assert f() == 3",
        "assert f() != 3",
        "assert f()",
        "assert f() < 3",
        "assert f() in {1: 2}",
        "assert 3 in f()",
        "assert [f()] == [3]",
        "assert 3 == f()",
        "assert not (f() != 3)",
        "assert f() in [3]",
        "if f() != 3: raise AssertionError",
    ] {
        assert!(!passes(program, test), "{test}");
    }
}

#[test]
fn generators_are_lazy_and_may_be_endless() {
    let program = "def count():\n    n = 0\n    while True:\n        yield n\n        n += 1\n\
        def three(): return map(str, range(3))";
    let test = "import itertools\nassert list(itertools.islice(count(), 3)) == [0, 1, 2]\n\
        assert list(three()) == ['0', '1', '2']\nassert next(count()) == 0";
    assert!(passes(program, test));
}

#[test]
fn objects_are_used_through_handles() {
    let program = "class Pair:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n\
        \x20   def total(self): return self.a + self.b\n\
        def longest(pairs): return max(p.total() for p in pairs)\n\
        def adder(n): return lambda x: x + n";
    let test = "assert longest([Pair(1, 2), Pair(3, 4)]) == 7\nassert Pair(1, 2).a == 1\n\
        assert adder(3)(4) == 7\np = Pair(1, 2)\np.a = 5\nassert p.total() == 7";
    assert!(passes(program, test));
}

#[test]
fn exceptions_cross_by_name() {
    let program =
        "class Odd(ValueError): pass\ndef f(x):\n    if x: raise Odd('odd', x)\n    return {}[x]";
    let test = "def check(candidate):\n    try:\n        candidate(1)\n        assert False\n    \
        except ValueError as e:\n        assert e.args == ('odd', 1)\n    try:\n        candidate(0)\n\
        \x20   except KeyError as e:\n        assert str(e) == '0'\n    try:\n        f(1)\n    \
        except Odd:\n        pass";
    let entry_points = ["f".to_owned()];
    let task = AssertionTask { entry_points: &entry_points, ..task(program, test) };
    assert_eq!(ruling(&task), Ruling::Passed);
}

#[test]
fn what_ends_iterations_or_the_room_is_no_exception_of_the_tests() {
    for raised in [
        "StopIteration",
        "StopAsyncIteration",
        "GeneratorExit",
        "SystemExit(0)",
        "KeyboardInterrupt",
        "type('S', (StopIteration,), {})",
        "type('S', (BaseException,), {})",
    ] {
        let program = format!("def f(x): raise {raised}");
        for test in [
            "assert all(map(lambda x: f(x) == 1, [1, 2]))",
            "assert list(zip(map(f, [1]))) == []",
            "try:\n    f(1)\nexcept BaseException:\n    pass",
        ] {
            let passes = passes(&program, test);
            let is_swallowed = test.starts_with("try") && raised.contains("Stop");
            assert!(!passes || is_swallowed, "{raised}: {test}");
        }
    }
}

#[test]
fn nothing_that_a_room_does_to_itself_counts() {
    for program in [
        "import os\ndef f(x): os._exit(0)",
        "import sys\nsys.exit(0)",
        "import os\nos._exit(0)",
        "def f(x):\n    while True: pass",
        "def f(x): return float('nan')",
        "def f(x): return complex(0, float('nan'))",
        "import decimal\ndef f(x): return decimal.Decimal('nan')",
        "def f(x):\n    l = []\n    l.append(l)\n    return l",
        "import sys\nsys.modules['assay_guest'].solver.pack = lambda *a, **k: b'garbage'\ndef f(x): return 1",
        "import sys\nsys.modules['assay_guest'].loads = lambda *a: ()\ndef f(x): return 1",
        "def f(x): return 'x' * (100 << 20)",
    ] {
        for test in [
            "assert f(1) == 2",
            "try:\n    f(1)\nexcept BaseException:\n    pass\nassert True",
            "if abs(f(1) - 2) > 1: raise AssertionError",
        ] {
            assert!(!passes(program, test), "{program}\n{test}");
        }
    }
}

#[test]
fn a_forged_end_of_an_iteration_ends_none_of_the_tests() {
    let program = "import sys\nfrom marshal import dumps\ndef f(x):\n    frame = sys._getframe()\n    \
        while frame:\n        if 'pack' in frame.f_globals:\n            \
        frame.f_globals['pack'] = lambda *a, **k: dumps((3, 0, None), 2)\n        \
        frame = frame.f_back\n    return 1";
    for test in [
        "assert all(map(lambda x: f(x) == 2, range(3)))",
        "for x in map(f, range(3)): assert x == 2",
        "assert [*map(f, [])] == []\nassert not [x for x in map(f, [1]) if x != 2]",
    ] {
        assert!(!passes(program, test), "{test}");
    }
}

#[test]
fn arguments_are_copied_back_on_request_alone() {
    let program = "def f(xs):\n    xs.sort()\n    return xs";
    let test = "a = [3, 1, 2]\nassert f(a) == [1, 2, 3]\nassert a == [1, 2, 3]";
    assert!(!passes(program, test));
    let task = AssertionTask { copy_back: true, ..task(program, test) };
    assert_eq!(ruling(&task), Ruling::Passed);
}

#[test]
fn names_of_the_tests_are_not_taken_by_the_candidate() {
    let program = "def f(x): return 0\ndef isclose(*a): return True\ndef set(x): return 1\n\
        def all(x): return True\nclass math:\n    isclose = lambda *a: True\n\
        def sorted(x): return 1\ndef approx(x): return x";
    for test in [
        "assert isclose(f(1), 3)",
        "assert set(f(1)) == set([1])",
        "assert all([f(1) == 3])",
        "assert math.isclose(f(1), 3)",
        "import math\nassert math.isclose(f(1), 3)",
    ] {
        assert!(!passes(program, test), "{test}");
    }
    assert!(passes("def sum(a, b): return a + b", "assert sum(1, 2) == 3\nassert sum(0, 0) == 0"));
}

#[test]
fn broken_tests_are_told_apart() {
    for test in
        ["assert f(", "x = 1", "1 / 0\nassert f() == 1", "import os\nos._exit(3)", "f(lambda: 1)"]
    {
        let task = task("def f(*a): return 1", test);
        let found = ruling(&AssertionTask { isolation: Isolation::Separate, ..task });
        assert!(matches!(found, Ruling::BadTests(_)), "{test}: {found:?}");
    }
    for test in ["assert f(1) == 1", "assert g(1) == 1\nassert g(2) == 1"] {
        assert_eq!(ruling(&task("def h(x): return 1", test)), Ruling::Failed, "{test}");
    }
}

#[test]
fn a_type_of_python_may_be_the_answer() {
    let entry_points = ["parse".to_owned()];
    let task = AssertionTask {
        entry_points: &entry_points,
        ..task("parse = int", "assert parse('12') == 12")
    };
    assert_eq!(ruling(&task), Ruling::Passed);
    let task =
        AssertionTask { candidate: "parse = float", test: "assert parse('12') == 13", ..task };
    assert_eq!(ruling(&task), Ruling::Failed);
}

#[test]
fn every_shape_of_a_suite_runs() {
    let good = "def add(a, b): return a + b";
    let bad = "def add(a, b): return a - b";
    for test in [
        "def test_add():\n    assert add(1, 2) == 3",
        "from solution import add\ndef test_add():\n    assert add(1, 2) == 3",
        "import unittest\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)",
        "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
         self.assertEqual(add(1, 2), 3)\nif __name__ == '__main__':\n    unittest.main()",
        "def check(candidate):\n    assert candidate(1, 2) == 3",
        "def check(candidate):\n    for i in range(3):\n        assert candidate(i, i) == 2 * i\ncheck(add)",
        "assert add(*map(int, '12')) == 3",
    ] {
        let entry_points = ["add".to_owned()];
        for (program, wanted) in [(good, Ruling::Passed), (bad, Ruling::Failed)] {
            let task = AssertionTask { entry_points: &entry_points, ..task(program, test) };
            assert_eq!(ruling(&task), wanted, "{test}");
        }
    }
}

#[test]
fn each_assertion_has_a_result() {
    let test = "def check(candidate):\n    assert candidate(0) == 0\n    assert candidate(1) == 2\n\
        \x20   for i in range(5):\n        assert candidate(i) == i\n";
    let entry_points = ["f".to_owned()];
    let task = AssertionTask { entry_points: &entry_points, ..task("def f(x): return x", test) };
    let judged = with_context(|context| run_assertions(python(), &task, context));
    let rows: Vec<_> = judged.tests.iter().map(|t| (t.line, t.runs, t.failures)).collect();
    assert_eq!(rows, [(2, 1, 0), (3, 1, 1), (5, 5, 0)]);
    assert_eq!(judged.ruling(), Ruling::Failed);
}

#[test]
fn classes_are_tested_in_a_shared_room() {
    let program = "class V:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n\
        \x20   def __len__(self): return self.x";
    let test = "assert V(1) == V(1)\nassert not V(1) == V(2)\nassert len(V(3)) == 3";
    let apart = AssertionTask { isolation: Isolation::Separate, ..task(program, test) };
    assert_eq!(ruling(&apart), Ruling::Failed);
    for isolation in [Isolation::Auto, Isolation::Shared] {
        let task = AssertionTask { isolation, ..task(program, test) };
        let judged = with_context(|context| run_assertions(python(), &task, context));
        assert_eq!(judged.ruling(), Ruling::Passed, "{judged:?}");
        assert!(judged.shared_room);
    }
}

#[test]
fn programs_find_what_they_expect_of_a_system() {
    for (program, stdin, stdout) in [
        (
            "import os\nprint(os.read(0, os.fstat(0).st_size).decode(), end='')",
            "ab\ncd\n",
            "ab\ncd\n",
        ),
        (
            "import threading, sys\nsys.setrecursionlimit(10**9)\nthreading.stack_size(1 << 26)\n\
          def main(): print(input())\nt = threading.Thread(target=main)\nt.start()\nt.join()",
            "x\n",
            "x\n",
        ),
        (
            "import asyncio\nasync def f(x):\n    await asyncio.sleep(x)\n    return x\nasync def main():\n    \
          print(await asyncio.gather(f(2), f(1)), await asyncio.to_thread(len, 'ab'))\nasyncio.run(main())",
            "",
            "[2, 1] 2\n",
        ),
        (
            "import threading, queue\nq = queue.Queue()\ndef eat():\n    while (x := q.get()) is not None: print(x)\n\
          c = threading.Thread(target=eat)\nc.start()\ndef make():\n    for i in range(3): q.put(i)\n    q.put(None)\n\
          p = threading.Thread(target=make)\np.start()\np.join()\nc.join()",
            "",
            "0\n1\n2\n",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as e:\n    \
          print(list(e.map(abs, [-1, 2])))",
            "",
            "[1, 2]\n",
        ),
        ("import sys\nprint(sum(int(l) for l in sys.stdin))\nexit()", "1\n2\n", "3\n"),
        ("import sys\ndata = open(0).read().split()\nsys.stdout.write(data[-1])", "a b", "b"),
        ("print(sys.argv if False else __name__)", "", "__main__\n"),
        ("import time\nt = time.time()\ntime.sleep(5)\nprint(round(time.time() - t))", "", "5\n"),
        (
            "import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 1').fetchall())",
            "",
            "[(1,)]\n",
        ),
    ] {
        let run = with_context(|context| run_program(python(), program, stdin.as_bytes(), context));
        let found = String::from_utf8_lossy(&run.used.stdout).into_owned();
        let errors = String::from_utf8_lossy(&run.used.stderr).into_owned();
        assert_eq!((found.as_str(), run.end), (stdout, Ok(0)), "{program}\n{errors}");
    }
}

#[test]
fn a_program_ends_as_it_would_anywhere() {
    for (program, exit) in [
        ("import sys\nsys.exit(3)", 3),
        // The system interface of guests knows success and failure alone.
        ("import os\nos._exit(4)", 1),
        ("import os\nos._exit(0)", 0),
        ("raise ValueError", 1),
        ("import sys\nsys.exit('no')", 1),
        ("exit()", 0),
        ("def", 1),
    ] {
        let run = with_context(|context| run_program(python(), program, b"", context));
        assert_eq!(run.end, Ok(exit), "{program}: {run:?}");
    }
}

#[test]
fn the_same_task_costs_the_same_fuel() {
    let program = "import random\ndef f(x): return sorted(set(map(str, range(x))))[0] + str(random.random())[:0]";
    let task = task(program, "assert f(30) == '0'");
    let run = || with_context(|context| run_assertions(python(), &task, context));
    let first = run();
    assert_eq!(first.ruling(), Ruling::Passed, "{first:?}");
    for _ in 0..5 {
        assert_eq!(run().used.fuel, first.used.fuel);
    }
}
