//! A suite, and its kinds of tests.

use crate::value::{AnswerOrder, Arguments, PyValue};

/// The tests of one task.
///
/// They are read by [`Suite::from_value`] from an object, or from the JSON text of one, in these
/// shapes, which stay as they are:
///
/// | shape | kind |
/// |---|---|
/// | `{"entry_point": "add", "test": "def check(candidate): ..."}` | assertions |
/// | `{"test": "assert add(1, 2) == 3"}` | assertions that call functions by name |
/// | `{"entry_point": "add", "cases": [{"args": [1, 2], "kwargs": {}, "expected": 3}]}` | calls |
/// | `{"cases": [{"operations": ["Stack", "push", "top"], "arguments": [[], [1], []], "expected": [null, null, 1]}]}` | calls of the methods of an object |
/// | `{"cases": [{"stdin": "1 2\n", "stdout": "3\n"}]}` | a program's output |
///
/// The program of the tests as text alone is read as its `test`.
///
/// Each may have `setup`, code that runs first. The first may have `prompt`, the code that the
/// candidate was asked to complete, whose helpers the tests may use. The third and the fourth may
/// have `float_tolerance`, `compare` (also in a case) and `class`, the class of which `entry_point`
/// is a method where no function has that name. `args`, `kwargs` and `stdin` may be left out. In
/// the place of `args` a case may have `input`, as `LeetCode` prints it (`"nums = [3, 3], target = 6"`,
/// or an argument a line), in the place of `expected` the text `output`, or a list
/// `expected_any` of what is right.
///
/// These are read too, as their data sets hold them; columns that are not named are not looked at:
///
/// | from | read |
/// |---|---|
/// | `HumanEval`, `HumanEval+` | `prompt`, `test`, `entry_point` |
/// | MBPP, MBPP sanitized | `test_list`, `challenge_test_list`, `test_setup_code`, `test_imports` |
/// | `code_contests` | `public_tests`, `private_tests`, `generated_tests`, each `{"input": [...], "output": [...]}` |
/// | APPS, TACO, verl `prime_code` | `input_output`, or `inputs`, `outputs` and `fn_name` as they are |
/// | verl `prime_code` | `{"assert_case": ["assert ..."]}` |
/// | code-r1, Guru | `functional` or `pytest`, code that names what it tests; or `inputs` and `outputs` |
/// | `LiveCodeBench`, `DeepCoder` | `public_test_cases`, `private_test_cases`, `metadata`; or a list of `input`, `output`, `testtype` |
/// | `open-r1`, SYNTHETIC-1 | `{"verification_info": {"test_cases": [{"input", "output", "type", "fn_name"}]}}` |
/// | `NeMo Gym` | `{"unit_tests": {"inputs", "outputs"}}` |
/// | `EvalPlus` | `entry_point`, `inputs`, `outputs`, `atol` |
/// | `AceCode` | a list of assertions, or `{"test_cases": [...]}` with one |
/// | `OpenAI` graders | `{"type": "python", "source": "def grade(sample, item): ..."}` |
///
/// Integers of any size, `NaN` and `Infinity` are kept exactly in JSON text. An object that was
/// read before it came here has lost the digits of integers beyond 64 bits, so such numbers are
/// refused there.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Code that runs before the tests, or before the candidate.
    pub setup: Option<String>,
    /// The language of the programs, where the tests name one.
    pub language: Option<String>,
    /// What is tested, and how.
    pub kind: Kind,
}

/// What is tested, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Code that asserts.
    Assertions(Assertions),
    /// Calls of one function, each with what it returns.
    Calls(Calls),
    /// Runs of a program, each with what it prints.
    Stdio {
        /// At least one.
        cases: Vec<StdioCase>,
    },
    /// A grader of its own, as the `python` graders of `OpenAI` are.
    Grader {
        /// Code that defines `grade(sample, item)`.
        source: String,
    },
}

/// Tests that assert.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertions {
    /// The function that `check` is given. Without one the tests call functions by name.
    pub entry_point: Option<String>,
    /// The code that the candidate was asked to complete.
    pub prompt: Option<String>,
    /// The code of the tests.
    pub test: String,
}

/// Tests that call one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// The function to call.
    pub entry_point: String,
    /// The class of which it is a method, where no function has that name.
    pub class: Option<String>,
    /// How far a number that is returned may be off.
    pub float_tolerance: Option<f64>,
    /// How what is returned may be ordered.
    pub order: Option<AnswerOrder>,
    /// At least one.
    pub cases: Vec<CallCase>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCase {
    /// What is called.
    pub target: CallTarget,
    /// What it is given.
    pub arguments: Arguments,
    /// What the call returns.
    pub expected: PyValue,
    /// What is as right: APPS and TACO wrap what is returned in a list of one, and do not say
    /// whether they did, and tasks may have several answers.
    pub or_expected: Vec<PyValue>,
    /// How what is returned may be ordered, where this case says so.
    pub order: Option<AnswerOrder>,
}

/// What a case calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// The function that the suite names.
    Function,
    /// The class that the suite names: the operations that follow are those of a new object.
    Class,
    /// A method of the last object.
    Operation {
        /// Its name.
        name: String,
        /// The number of the object, from 1.
        case: usize,
        /// The number of the operation, from 1; making the object is the first.
        step: usize,
    },
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioCase {
    /// What the program reads.
    pub stdin: String,
    /// What it prints.
    pub stdout: String,
}
