//! The code in a prompt: a stub that the completion goes on with, and helpers that it may use.

use crate::answer::{Asked, Outline, blanked, function, unmarked, without_prose_before};
use crate::suite::{Kind, Suite};

/// The program as it runs: a completion that goes on where the stub ends needs the stub, and one
/// that uses what is before the stub needs that. A function that is asked for and is a method
/// of a class `Solution` is called through it.
pub(crate) fn completed(program: &str, prompt: &str, suite: &Suite) -> String {
    let asked = suite.asked();
    let outline = Outline::of(program);
    let prompts = [prompt, reference_prompt(suite).unwrap_or_default()];
    let stub = prompts.into_iter().find_map(|prompt| Stub::of(prompt, &asked));
    let is_defined = |stub: &Stub<'_>| {
        outline.defines(stub.name) || outline.bound.contains(stub.name) || nests(program, stub.name)
    };
    let mut source = match &stub {
        Some(stub) if !is_defined(stub) => stub.continued(program),
        Some(stub) if stub.helps(&outline) => joined(stub.head, program),
        _ => program.to_owned(),
    };
    // Calls find the method by themselves.
    let words = if let Kind::Calls(_) = suite.kind { Vec::new() } else { asked.words() };
    for name in words {
        if outline.methods.contains(&name) && !outline.defined.contains(&name) {
            let function = format!(
                "\n\n\ndef {name}(*args, **kwargs):\n    return Solution().{name}(*args, **kwargs)\n"
            );
            source.push_str(&function);
        }
    }
    source
}

/// What the tests may use of a prompt: all of its code where the function that they are about is
/// known, and else what precedes the stub, which would be before the candidate's own.
pub(crate) fn helpers<'p>(prompt: &'p str, asked: &Asked<'_>) -> Option<&'p str> {
    let code = match (Stub::of(prompt, asked), asked.entry_point) {
        (Some(stub), Some(_)) => stub.code,
        (Some(stub), None) => stub.head,
        (None, _) => prompt,
    };
    (!code.trim().is_empty()).then_some(code)
}

fn reference_prompt(suite: &Suite) -> Option<&str> {
    match &suite.kind {
        Kind::Assertions(tests) => tests.prompt.as_deref(),
        Kind::Calls(_) | Kind::Stdio { .. } | Kind::Grader { .. } => None,
    }
}

/// A function at the margin of a prompt that is asked for.
struct Stub<'p> {
    name: &'p str,
    /// The code up to the end of the function.
    code: &'p str,
    /// The code before it.
    head: &'p str,
}

impl<'p> Stub<'p> {
    fn of(prompt: &'p str, asked: &Asked<'_>) -> Option<Self> {
        let prompt = unmarked(prompt);
        let whole = 0..prompt.len();
        let fenced = crate::answer::fenced(prompt, whole.clone());
        let pieces = if fenced.is_empty() { vec![whole] } else { fenced };
        let words = asked.words();
        let found = |piece| Self::in_piece(prompt.get(piece)?, &words);
        pieces.into_iter().rev().find_map(found)
    }

    fn in_piece(piece: &'p str, words: &[String]) -> Option<Self> {
        let (mut at, mut found) = (0, None);
        // Where the decorators of a function begin that may come.
        let mut decorated = None;
        let code = blanked(piece);
        for line in code.split_inclusive('\n') {
            let from = decorated.unwrap_or(at);
            let name = function(line).filter(|name| words.iter().any(|word| word == name));
            if let Some(name) = name {
                let start = without_prose_before(&code, from);
                let name_at = at + line.find(name)?;
                let end = at + line.len() + body_length(code.get(at + line.len()..)?);
                found = Some(Self {
                    name: piece.get(name_at..name_at + name.len())?,
                    code: piece.get(start..end)?,
                    head: piece.get(start..from)?,
                });
            }
            decorated = line.starts_with('@').then_some(from);
            at += line.len();
        }
        found
    }

    fn continued(&self, program: &str) -> String {
        joined(self.code, &as_body(program))
    }

    /// Whether what precedes the stub has something that the program uses and lacks.
    fn helps(&self, program: &Outline) -> bool {
        let head = Outline::of(self.head);
        let mut names = head.defined.iter().chain(&head.bound);
        names.any(|name| {
            program.used.contains(name)
                && !program.defined.contains(name)
                && !program.bound.contains(name)
        })
    }
}

/// The length of the lines up to the first one at the margin that closes no bracket of a signature.
fn body_length(rest: &str) -> usize {
    let of_body =
        |line: &&str| line.trim().is_empty() || line.starts_with([' ', '\t', ')', ']', '}', '"']);
    rest.split_inclusive('\n').take_while(of_body).map(str::len).sum()
}

/// A body as it is below its stub: some completions have lost the blanks before their first
/// line, and some those before all lines.
fn as_body(program: &str) -> String {
    let code = blanked(program);
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    let mut lines = code.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next().filter(|line| !is_indented(line)) else {
        return program.to_owned();
    };
    let returns = |line: &str| line.starts_with("return") || line.starts_with("yield");
    let is_flush = code.lines().any(returns) || first.ends_with(':');
    let mut others = lines.peekable();
    let margin = others.peek().map_or("    ", |line| &line[..line.len() - line.trim_start().len()]);
    if others.peek().is_some() && !first.trim_end().ends_with(':') && others.all(is_indented) {
        let start = program.len() - program.trim_start().len();
        return format!("{margin}{}", &program[start..]);
    }
    if !is_flush {
        return program.to_owned();
    }
    program.split_inclusive('\n').flat_map(|line| ["    ", line]).collect()
}

fn joined(before: &str, after: &str) -> String {
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{gap}{after}")
}

/// Whether a line of the program defines or assigns the name, at any depth.
fn nests(program: &str, name: &str) -> bool {
    let code = blanked(program);
    code.lines().any(|line| {
        let line = line.trim_start();
        let assigns = || line.split_once('=').is_some_and(|(left, _)| left.trim_end() == name);
        function(line) == Some(name) || assigns()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn suite(entry_point: Option<&str>) -> Suite {
        let test = "assert f(1) == 2";
        let value = match entry_point {
            Some(name) => json!({"entry_point": name, "test": test}),
            None => json!({"test": test}),
        };
        Suite::from_value(&value).unwrap()
    }

    #[test]
    fn a_body_goes_on_with_its_stub() {
        let stub = "def f(x):\n    '''Doubles\n\nx.\n'''\n";
        let whole = format!("{stub}    y = 2\n    return y * x\n");
        let prompts = [
            stub.to_owned(),
            format!("Complete this function:\n\n```python\n{stub}```\n\nOnly the body.\n"),
            format!("Complete it from here, please.\n\n{stub}\n"),
        ];
        for prompt in prompts {
            let prompt = prompt.as_str();
            for body in [
                "    y = 2\n    return y * x\n",
                "y = 2\n    return y * x\n",
                "y = 2\nreturn y * x\n",
            ] {
                for entry_point in [Some("f"), None] {
                    let source = completed(body, prompt, &suite(entry_point));
                    let packed = |text: &str| text.replace("\n\n    y", "\n    y");
                    assert_eq!(packed(&source), whole, "{prompt}{body}");
                }
            }
        }
    }

    #[test]
    fn a_whole_program_takes_from_its_prompt_what_it_lacks() {
        let prompt = "from a import B\n\ndef helper(x):\n    return x\n\n@B\ndef f(x):\n    pass\n";
        let suite = suite(Some("f"));
        let own = "def f(x):\n    return 2 * x\n";
        assert_eq!(completed(own, prompt, &suite), own);
        let uses = "def f(x):\n    return helper(x)\n";
        let head = "from a import B\n\ndef helper(x):\n    return x\n\n";
        assert_eq!(completed(uses, prompt, &suite), format!("{head}{uses}"));
        assert_eq!(helpers(prompt, &suite.asked()), Some(prompt));
        let unnamed = Asked { entry_point: None, ..suite.asked() };
        assert_eq!(helpers(prompt, &unnamed), Some(head));
        assert_eq!(helpers("Write f.", &unnamed), Some("Write f."));
        assert_eq!(helpers("def f(x):\n    pass\n", &unnamed), None);
    }

    #[test]
    fn a_method_of_a_solution_is_called_through_it() {
        let program = "class Solution:\n    def f(self, x):\n        return 2 * x\n";
        let source = completed(program, "", &suite(Some("f")));
        assert!(source.ends_with("    return Solution().f(*args, **kwargs)\n"), "{source}");
        let defined = format!("{program}\ndef f(x):\n    return x\n");
        assert_eq!(completed(&defined, "", &suite(None)), defined);
    }
}
