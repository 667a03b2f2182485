//! Programs that solve nothing. Tests that one of them passes do not test their task.

use std::collections::BTreeSet;

use assay_verifiers::{Trivial, canonical};
use serde_json::Value;

use crate::answer::{self, Extract};
use crate::languages::Written;
use crate::suite::{Kind, Suite};

/// What a function returns whatever it is given, and how that is called.
const RETURNED: [(&str, &str); 11] = [
    ("None", "None"),
    ("True", "True"),
    ("False", "False"),
    ("0", "0"),
    ("1", "1"),
    ("-1", "-1"),
    ("''", "''"),
    ("[]", "[]"),
    ("()", "()"),
    ("{}", "{}"),
    ("the first argument", "[*args, *kwargs.values(), None][0]"),
];
/// What a program prints whatever it reads.
const PRINTED: [&str; 9] = ["0", "1", "-1", "YES", "NO", "Yes", "No", "True", "False"];

/// Words of Python before a bracket that name no function.
const KEYWORDS: [&str; 27] = [
    "and", "as", "assert", "async", "await", "del", "elif", "else", "except", "for", "from",
    "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "print", "raise",
    "return", "try", "while", "with", "yield",
];

/// The programs for the tests that `value` holds, as answers in which they are found. `None`
/// where there are no tests of which we know what they ask for.
pub(crate) fn trivial(value: &Value, written: &Written, extract: &Extract) -> Option<Trivial> {
    let suite = Suite::from_value(value).ok()?;
    let language = written.language();
    let programs = match &suite.kind {
        Kind::Stdio { .. } => printing(written)?,
        Kind::Calls(calls) => returning(&[&calls.entry_point]),
        Kind::Assertions(tests) => match &tests.entry_point {
            Some(name) => returning(&[name]),
            None => returning(&called(&tests.test)),
        },
        Kind::Grader { .. } => return None,
    };
    let answer =
        |(name, program): (String, String)| (name, answer::written(&program, &language, extract));
    let completions = programs.into_iter().map(answer).collect();
    Some(Trivial { tests: canonical::digest(value), completions })
}

/// Programs that define functions under these names.
fn returning(names: &[&str]) -> Vec<(String, String)> {
    let program = |body: &str| -> String {
        let define = |name: &&str| format!("def {name}(*args, **kwargs):\n    {body}\n");
        names.iter().map(define).collect()
    };
    let mut programs: Vec<(String, String)> = RETURNED
        .iter()
        .map(|(name, value)| ((*name).to_owned(), program(&format!("return {value}"))))
        .collect();
    programs.push(("raise".to_owned(), program("raise Exception")));
    programs.push(("pass".to_owned(), "pass".to_owned()));
    programs
}

/// Programs that print the same, or what they read; `None` where we do not know how to write them.
fn printing(written: &Written) -> Option<Vec<(String, String)>> {
    // One that prints nothing, one that prints its input, and what is around a text to print.
    let (nothing, echo, before, after) = match written {
        Written::Python => {
            ("pass", "import sys\nsys.stdout.write(sys.stdin.read())", "print(\"", "\")")
        }
        Written::JavaScript | Written::TypeScript => (
            ";",
            "process.stdout.write(require(\"fs\").readFileSync(0, \"utf8\"));",
            "console.log(\"",
            "\");",
        ),
        Written::C | Written::Cpp => (
            "int main(void) { return 0; }",
            "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); \
             return 0; }",
            "#include <stdio.h>\nint main(void) { puts(\"",
            "\"); return 0; }",
        ),
        Written::Wasm(_) => return None,
    };
    let mut programs =
        vec![("nothing".to_owned(), nothing.to_owned()), ("its input".to_owned(), echo.to_owned())];
    programs.extend(PRINTED.map(|text| (text.to_owned(), format!("{before}{text}{after}"))));
    Some(programs)
}

/// The names that code calls and does not define: words right before a bracket.
fn called(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut called, mut defined) = (BTreeSet::new(), BTreeSet::new());
    let mut before = "";
    let mut rest = code;
    while let Some(start) = rest.find(is_word) {
        let gap = &rest[..start];
        let word = &rest[start..];
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_name = !word.starts_with(|c: char| c.is_ascii_digit()) && !KEYWORDS.contains(&word);
        if before == "def" || before == "class" {
            defined.insert(word);
        } else if is_name && !gap.ends_with('.') && after.trim_start_matches(' ').starts_with('(') {
            called.insert(word);
        }
        (before, rest) = (word, after);
    }
    called.difference(&defined).copied().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_are_called() {
        let code = "def helper(x): return x\nassert f(1) == g (2)\nassert not (math.sqrt(h(3)) > 1)\n\
            assert Pair(1, helper(2)).total() == 3 and 2(x)";
        assert_eq!(called(code), ["Pair", "f", "g", "h"]);
        assert_eq!(called("é(1)"), ["é"]);
    }

    #[test]
    fn each_kind_of_tests_has_its_programs() {
        let names = |value: Value, written| -> Vec<String> {
            let made = trivial(&value, &written, &Extract::default());
            made.map(|made| made.completions.into_iter().map(|(name, _)| name).collect())
                .unwrap_or_default()
        };
        let asserts = names(json!({"test": "assert f(1) == 2"}), Written::Python);
        assert!(asserts.contains(&"the first argument".to_owned()), "{asserts:?}");
        let cases = json!({"cases": [{"stdin": "1", "stdout": "1"}]});
        assert!(names(cases, Written::JavaScript).contains(&"its input".to_owned()));
        assert!(names(json!({"type": "python", "source": "x"}), Written::Python).is_empty());
        assert!(names(json!("no tests"), Written::Python).is_empty());
    }
}
