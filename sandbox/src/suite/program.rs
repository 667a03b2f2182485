//! Tests that are given as their program alone.

use super::error::SuiteError;
use super::kind::{Assertions, Kind, Suite};
use super::limits::BYTES_MAX;

/// How lines begin that test something.
const TESTS: [&str; 6] =
    ["assert ", "assert(", "def test", "async def test", "class Test", "def check("];

/// Whether a text that is not JSON is a program of tests, rather than JSON that is broken.
pub(super) fn is_program(text: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    !is_json && (tests(text) || text.lines().any(is_test_case))
}

/// The suite of a program of tests, which call functions by name.
pub(super) fn suite(text: &str) -> Result<Suite, SuiteError> {
    if text.len() > BYTES_MAX {
        let (what, found, limit) = ("bytes", text.len(), BYTES_MAX);
        return Err(SuiteError::TooMuch { key: String::new(), what, found, limit });
    }
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    if begins("def check(") && !begins("check(") {
        let why = "they define check(candidate), and the function that it is given stands elsewhere: \
                   for rows with the columns test and entry_point write tests = \".\" and leave \
                   [data] reference out; else {\"test\": \"...\", \"entry_point\": \"...\"}";
        return Err(SuiteError::Refused { key: String::new(), why: why.to_owned() });
    }
    let tests = Assertions { entry_point: None, prompt: None, test: text.to_owned() };
    Ok(Kind::Assertions(tests).into())
}

fn tests(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| TESTS.iter().any(|start| line.starts_with(start)))
}

/// "class SumTest(unittest.TestCase):"
fn is_test_case(line: &str) -> bool {
    line.starts_with("class ") && line.contains("TestCase")
}
