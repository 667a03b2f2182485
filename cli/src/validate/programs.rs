//! Programs that cannot print what is asked for, by their text.

/// Why programs print something else.
pub(super) struct Cause {
    pub(super) is_it: fn(&str) -> bool,
    pub(super) what: &'static str,
    pub(super) help: &'static str,
}

/// What to do where nothing calls what is defined.
const CALLED: &str = "where the tests call a function, write its name as \"fn_name\" and verifier = \"unit_tests\"; \
                      else the prompt must ask for a program that reads its input";

/// The causes, the plainest first.
pub(super) const CAUSES: [Cause; 6] = [
    Cause {
        is_it: has_entities,
        what: "the program has entities of HTML, such as &lt; for <",
        help: "write the completions again: html.unescape of Python takes them back",
    },
    Cause {
        is_it: has_curly_quotes,
        what: "the program has the curly quotes of a text editor",
        help: "write the completions again, as the policy wrote them",
    },
    Cause {
        is_it: is_python_2,
        what: "the program is Python 2, in which `print` is a statement",
        help: "programs run in Python 3: say so in the prompt",
    },
    Cause {
        is_it: asks,
        what: "the program asks for its input with a text, which is printed too",
        help: "say in the prompt that nothing but the output is printed: input() takes no text",
    },
    Cause { is_it: is_class, what: "the program defines a class and never calls it", help: CALLED },
    Cause {
        is_it: is_definition,
        what: "the program defines a function and never calls it",
        help: CALLED,
    },
];

fn has_entities(text: &str) -> bool {
    ["&lt;", "&gt;", "&quot;", "&#39;", "&amp;"].iter().any(|entity| text.contains(entity))
}

/// Quotes around what stands in brackets: in prose they are no slip.
fn has_curly_quotes(text: &str) -> bool {
    ["(\u{201c}", "(\u{2018}", "[\u{201c}", "[\u{2018}"].iter().any(|quote| text.contains(quote))
}

fn is_python_2(text: &str) -> bool {
    let is_statement = |line: &str| {
        let rest = line.trim_start().strip_prefix("print ");
        rest.is_some_and(|rest| {
            let first = rest.trim_start().chars().next();
            first.is_some_and(|char| char.is_alphanumeric() || ['"', '\'', '_'].contains(&char))
        })
    };
    text.contains("raw_input(") || code(text).any(is_statement)
}

fn asks(text: &str) -> bool {
    let calls = |line: &str| {
        ["input(\"", "input('", "input(f\""].iter().any(|call| {
            line.split_once(call).is_some_and(|(_, rest)| !rest.starts_with(['"', '\'']))
        })
    };
    code(text).any(calls)
}

fn is_class(text: &str) -> bool {
    code(text).any(|line| line.starts_with("class ")) && is_idle(text)
}

fn is_definition(text: &str) -> bool {
    code(text).any(|line| line.starts_with("def ")) && is_idle(text)
}

/// Whether a program of Python does nothing but define and import.
fn is_idle(text: &str) -> bool {
    let defines = |line: &str| {
        let starts = ["def ", "class ", "import ", "from ", "#", "@", ")", "]", "}"];
        line.starts_with([' ', '\t']) || starts.iter().any(|start| line.starts_with(start))
    };
    let mut lines = code(text).filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(defines)
}

/// The lines of the fenced blocks of a text, or all where there is none.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let fenced = text.lines().any(|line| line.starts_with("```"));
    let mut is_open = !fenced;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_open ^= is_fence;
        is_open && !is_fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_found_in_programs() {
        for (text, expected) in [
            ("```python\nn = int(input())\nif n &lt; 2:\n    print(n)\n```", "entities"),
            ("print(\u{201c}a\u{201d})", "curly"),
            ("n = int(raw_input())\nprint n", "Python 2"),
            ("n = input('n: ')\nprint(n)", "asks"),
            ("class Solution:\n    def f(self, n):\n        return n\n", "class"),
            ("So:\n```python\nimport sys\ndef solve():\n    print(1)\n```\nAll.", "a function"),
            ("def solve():\n    print(1)\nsolve()\n", ""),
            ("We print the sum.\n```python\nprint(sum(map(int, input().split())))\n```", ""),
        ] {
            let found = CAUSES.iter().find(|cause| (cause.is_it)(text)).map(|cause| cause.what);
            let found = found.unwrap_or_default();
            assert_eq!(found.is_empty(), expected.is_empty(), "{text}: {found}");
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
