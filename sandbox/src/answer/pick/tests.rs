//! Answers in several pieces, and the program that they are.

use super::super::{Extract, Language, program_with};
use super::Asked;

/// What is found where a task names the function to write.
fn defining(text: &str, name: &str) -> Option<String> {
    found(text, Asked { entry_point: Some(name), tests: None })
}

/// What is found where tests call by name what they are about.
fn tested(text: &str, tests: &str) -> Option<String> {
    found(text, Asked { entry_point: None, tests: Some(tests) })
}

fn found(text: &str, asked: Asked<'_>) -> Option<String> {
    let found = program_with(text, &Language::PYTHON, &Extract::default(), asked);
    found.map(|found| found.source.into_owned())
}

const TRIPLE: &str = "def triple(x):\n    return 3 * x\n";

#[test]
fn a_block_that_shows_the_program_is_not_the_program() {
    let shows = [
        "```python\nprint(triple(2))  # 6\n```",
        "```python\n>>> triple(2)\n6\n```",
        "```\n6\n```",
        "```\nresult = 6\n```",
        "```output\n6\n```",
        "```python\nfrom solution import triple\nassert triple(2) == 6\n```",
        "```python\nresult = triple(2)\nprint(result)\n```",
        "```python\nif __name__ == '__main__':\n    print(triple(int(input())))\n```",
        "```bash\npython3 triple.py\n```",
    ];
    for tag in ["python", "py", ""] {
        for shown in shows {
            let text = format!("```{tag}\n{TRIPLE}```\n\nExample:\n\n{shown}\n");
            assert_eq!(tested(&text, "assert triple(2) == 6").as_deref(), Some(TRIPLE), "{text}");
            assert_eq!(defining(&text, "triple").as_deref(), Some(TRIPLE), "{text}");
        }
    }
    let first = "def triple(x):\n    return x + x + x\n";
    let second = format!("Naive:\n```python\n{first}```\nBetter:\n```python\n{TRIPLE}```\n");
    assert_eq!(tested(&second, "assert triple(2) == 6").as_deref(), Some(TRIPLE));
    let lambda = "```python\ntriple = lambda x: 3 * x\n```\n```python\ntriple(2)\n```\n";
    assert_eq!(tested(lambda, "assert triple(2)").as_deref(), Some("triple = lambda x: 3 * x\n"));
}

#[test]
fn a_program_in_several_blocks_is_joined() {
    let text = "First a helper:\n```python\ndef half(x):\n    return x // 2\n```\nThen:\n```python\n\
        def quarter(x):\n    return half(half(x))\n```\nUse:\n```python\nprint(quarter(8))\n```\n";
    let whole = "def half(x):\n    return x // 2\n\ndef quarter(x):\n    return half(half(x))\n";
    assert_eq!(tested(text, "assert quarter(8) == 2").as_deref(), Some(whole));
    assert_eq!(tested(text, "assert half(8) == 4 and quarter(8) == 2").as_deref(), Some(whole));
    let reads = "print(solve(int(input())))\n";
    let solve = "def solve(n):\n    return n\n";
    // A program that reads and prints by itself is not run twice.
    let acts = format!("```python\n{solve}{reads}```\nTry:\n```python\nprint(solve(3))\n```\n");
    assert_eq!(found(&acts, Asked::default()), Some(format!("{solve}{reads}")));
    let parts = format!("```python\n{solve}```\nand\n```python\n{reads}```\n");
    assert_eq!(found(&parts, Asked::default()), Some(format!("{solve}\n{reads}")));
}

#[test]
fn marks_of_editors_and_prose_are_no_part_of_a_program() {
    let plain = "def f(x):\n    return x\n";
    for text in [
        format!("\u{feff}{plain}"),
        format!("\u{feff}```python\n{plain}```"),
        format!("```python\n\u{feff}{plain}```"),
        format!("\u{feff}```python\r\n{}```\r\n", plain.replace('\n', "\r\n")),
        format!("Sure, here's the function you asked for:\n\n{plain}\nIt returns x, as asked.\n"),
        "```python\n    def f(x):\n        return x\n```".to_owned(),
    ] {
        assert_eq!(defining(&text, "f").as_deref(), Some(plain), "{text:?}");
    }
}

#[test]
fn fences_in_strings_are_part_of_the_program() {
    for body in [
        "P = \"\"\"\n```\"\"\"\nx = 1\n",
        "P = '''\n```\n'''\nx = 1\n",
        "P = '''```python\ncode\n```'''\nx = 1\n",
        "def f(s):\n    return s.strip('```')\n",
        "def f(s):\n    '''Unwraps.\n\n    ```python\n    f(1)\n    ```\n    '''\n    return s\n",
        "FENCE = \"```\"\nx = FENCE + 'python'\n",
    ] {
        let text = format!("Here:\n\n```python\n{body}```\nDone.\n");
        assert_eq!(found(&text, Asked::default()).as_deref(), Some(body), "{text}");
    }
}
