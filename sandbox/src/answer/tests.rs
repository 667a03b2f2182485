//! Answers as models write them, and the program in each.

use super::*;

fn found(text: &str) -> Option<String> {
    with(text, &Extract::default())
}

fn with(text: &str, how: &Extract) -> Option<String> {
    program(text, &Language::PYTHON, how).map(|program| program.source.into_owned())
}

fn defining(text: &str, name: &str) -> Option<String> {
    let how = Extract::default();
    program_with(text, &Language::PYTHON, &how, Some(name)).map(|found| found.source.into_owned())
}

/// Each answer with its program; `-` stands for none.
const ANSWERS: &[(&str, &str, &str)] = &[
    ("a plain block", "Here you go:\n\n```python\nx = 1\n```\nDone.", "x = 1\n"),
    ("the last of two", "```python\na = 1\n```\nBetter:\n```python\nb = 2\n```\n", "b = 2\n"),
    ("alias py", "```py\nx = 1\n```", "x = 1\n"),
    ("alias Python3", "```Python3\nx = 1\n```", "x = 1\n"),
    ("a version", "```python3.11\nx = 1\n```", "x = 1\n"),
    ("a space before the language", "``` python\nx = 1\n```", "x = 1\n"),
    ("a title", "```python title=\"a.py\"\nx = 1\n```", "x = 1\n"),
    ("pandoc attributes", "```{.python .numberLines}\nx = 1\n```", "x = 1\n"),
    ("a file name after a colon", "```python:src/main.py\nx = 1\n```", "x = 1\n"),
    ("a file name alone", "```solution.py\nx = 1\n```", "x = 1\n"),
    ("tildes", "~~~python\nx = 1\n~~~", "x = 1\n"),
    ("tildes hold backticks", "~~~python\ns = '''\n```\n'''\n~~~", "s = '''\n```\n'''\n"),
    ("Windows line ends", "Hi\r\n```python\r\nx = 1\r\ny = 2\r\n```\r\n", "x = 1\ny = 2\n"),
    ("cut off", "```python\ndef f():\n    return", "def f():\n    return"),
    ("cut off after a whole block", "```python\nx = 1\n```\nor\n```python\ny =", "y ="),
    ("no fence", "def f():\n    return 1\n", "def f():\n    return 1\n"),
    ("a body keeps its margin", "    return 1\n", "    return 1\n"),
    ("indented by three", "   ```python\n   x = 1\n   ```", "x = 1\n"),
    (
        "in a list",
        "1. Code:\n   ```python\n   if x:\n       y = 1\n   ```\n2. Done",
        "if x:\n    y = 1\n",
    ),
    ("deep in a list", "- a\n  - b\n\n    ```python\n    x = 1\n    ```\n", "x = 1\n"),
    ("on the line of a list mark", "1. ```python\n   x = 1\n   ```", "x = 1\n"),
    ("quoted", "> ```python\n> if x:\n>     y = 1\n> ```\nprose", "if x:\n    y = 1\n"),
    ("after prose on its line", "The code: ```python\nx = 1\n```", "x = 1\n"),
    ("closed on a line of code", "```python\ndef f():\n    return 1```", "def f():\n    return 1"),
    ("closed with prose behind", "```python\nx = 1\n``` That is all.\n", "x = 1\n"),
    ("one line", "```x = 1```", "x = 1"),
    ("closed too deep", "```python\nx = 1\n      ```\nprose\n", "x = 1\n"),
    (
        "never closed before the next",
        "```python\nx = 1\n\nBetter:\n```python\ny = 2\n```",
        "y = 2\n",
    ),
    ("an outer fence", "````markdown\n# Hi\n```python\nx = 1\n```\n````", "x = 1\n"),
    (
        "Markdown around all, of one length",
        "```markdown\n# Hi\n```python\nx = 1\n```\nBye\n```",
        "x = 1\n",
    ),
    ("a longer fence", "````python\ns = 1\n```\nt = 2\n````", "s = 1\n```\nt = 2\n"),
    ("output is no program", "```python\nx = 1\n```\nIt prints:\n```\n1\n```", "x = 1\n"),
    (
        "a shell block is no program",
        "```python\nx = 1\n```\nRun:\n```bash\npython x.py\n```",
        "x = 1\n",
    ),
    ("a session is no program", "```python\nx = 1\n```\n```pycon\n>>> x\n1\n```", "x = 1\n"),
    ("without a language", "So:\n```\ndef f(): pass\n```", "def f(): pass\n"),
    (
        "without a language, then output",
        "```\ndef f(): pass\nprint(f())\n```\ngives\n```\nNone\n```",
        "def f(): pass\nprint(f())\n",
    ),
    ("without a language, then a session", "```\nx = 1\n```\n```\n>>> x\n1\n```", "x = 1\n"),
    (
        "a session marked as a program",
        "```python\nx = 1\n```\nUse:\n```python\n>>> x\n1\n```",
        "x = 1\n",
    ),
    ("only a session", "```python\n>>> x\n1\n```", "-"),
    ("commands without a language", "```\nx = 1\n```\n```\npip install numpy\n```", "x = 1\n"),
    ("marked as text", "```text\ndef f(): pass\n```", "def f(): pass\n"),
    ("another language alone", "```java\nclass A {}\n```", "-"),
    ("a shell alone", "```bash\nls\n```", "-"),
    ("nothing", " \n ", "-"),
    ("an empty block is not the last", "```python\nx = 1\n```\n```python\n```", "x = 1\n"),
    (
        "after the thinking",
        "<think>\n```python\ndraft = 1\n```\n</think>\n```python\nx = 1\n```",
        "x = 1\n",
    ),
    (
        "thinking without its opening",
        "try\n```python\ndraft = 1\n```\n</think>\n```python\nx = 1\n```",
        "x = 1\n",
    ),
    ("only a draft", "<think>\n```python\ndraft = 1\n```\n</think>\nI cannot.", "\nI cannot."),
    ("thinking without end", "<think>\n```python\ndraft = 1\n```\nhmm", "-"),
    (
        "half a block in the thinking",
        "<think>\n```python\ndraft = 1\n</think>\n```python\nx = 1\n```",
        "x = 1\n",
    ),
    (
        "thinking twice",
        "<think>a</think>no<think>```python\nd = 1\n```\n</think>```python\nx = 1\n```",
        "x = 1\n",
    ),
    ("a program about thinking", "```python\ns.split('</think>')\n```", "s.split('</think>')\n"),
    (
        "both",
        "<think>\nhm\n</think>\n```python\ns.split('<think>')[0].split('</think>')\n```",
        "s.split('<think>')[0].split('</think>')\n",
    ),
    (
        "answer tags around the fence",
        "<think>a</think><answer>\n```python\nx = 1\n```\n</answer>",
        "x = 1\n",
    ),
    ("answer tags on the fence lines", "<answer>```python\nx = 1\n```</answer>", "x = 1\n"),
    ("answer tags alone", "<think>a</think>\n<answer>\nx = 1\n</answer>", "x = 1\n"),
    ("a draft before the answer", "```python\nd = 1\n```\n<answer>\nx = 1\n</answer>", "x = 1\n"),
    ("prose in the answer", "```python\nx = 1\n```\n<answer>see above</answer>", "x = 1\n"),
    ("code tags", "Sure.\n<code>\nx = 1\n</code>", "x = 1\n"),
    ("language tags", "Sure.\n[PYTHON]\nx = 1\n[/PYTHON]\n", "x = 1\n"),
    ("a tag in a string", "```python\nprint('<answer>')\nx = 1\n```", "print('<answer>')\nx = 1\n"),
    (
        "a fence in a deep docstring",
        "```python\ndef f():\n    '''\n    ```\n    f()\n    ```\n    '''\n    return 1\n```",
        "def f():\n    '''\n    ```\n    f()\n    ```\n    '''\n    return 1\n",
    ),
    (
        "a fence in a string at the margin",
        "```python\nP = \"\"\"\n```json\n{}\n```\n\"\"\"\nx = 1\n```\nprose",
        "P = \"\"\"\n```json\n{}\n```\n\"\"\"\nx = 1\n",
    ),
    (
        "plain fences in a string",
        "```python\nP = '''\n```\n{}\n```\n'''\nx = 1\n```",
        "P = '''\n```\n{}\n```\n'''\nx = 1\n",
    ),
    (
        "a string that never ends",
        "```python\nP = '''\n```\nAgain:\n```python\nx = 1\n```",
        "x = 1\n",
    ),
    (
        "a bare program with a fence in it",
        "def f():\n    \"\"\"\n    ```\n    f()\n    ```\n    \"\"\"\n    return 1\n",
        "def f():\n    \"\"\"\n    ```\n    f()\n    ```\n    \"\"\"\n    return 1\n",
    ),
    ("a fence that was never opened", "def f():\n    return 1\n```", "def f():\n    return 1\n"),
    (
        "a fence that the prompt opened, and prose after it",
        "def f():\n    return 1\n```\nThis works.",
        "def f():\n    return 1\n",
    ),
    (
        "a bare use, and a block that the end cut off",
        "print(f(2)) shows it:\n```\ndef f(x):\n    return x",
        "def f(x):\n    return x",
    ),
    ("prose, and what it prints", "It prints this.\n```\n1 2 3\n", "1 2 3\n"),
    (
        "a program on the line of its fence",
        "Sure.\n```python def f(): return 1\n```",
        "def f(): return 1\n",
    ),
    (
        "a program that begins on the line of its fence",
        "```python def f():\n    return 1\n```\nDone.",
        "def f():\n    return 1\n",
    ),
    (
        "an import on the line of its fence",
        "```py import math\ndef f(): return math.pi\n```",
        "import math\ndef f(): return math.pi\n",
    ),
    ("a title", "```python title=\"main.py\"\nx = 1\n```", "x = 1\n"),
    ("a title of words", "```python with numpy\nx = 1\n```", "x = 1\n"),
    ("a title before an empty block", "```python 3.11\n```\n```python\nx = 1\n```", "x = 1\n"),
    ("an end mark", "x = 1<|im_end|>\n", "x = 1"),
    ("an end mark on the fence", "```python\nx = 1\n```<|im_end|>", "x = 1\n"),
    ("inline code is no fence", "Use ```x``` here.\n```python\nx = 1\n```", "x = 1\n"),
    (
        "template for the answer",
        "```python\n# Your code here\nn = int(input())\nprint(n)\n```\n",
        "# Your code here\nn = int(input())\nprint(n)\n",
    ),
    (
        "json about it",
        "```json\n{\"a\": 1}\n```\n```python\nx = 1\n```\n```json\n{}\n```",
        "x = 1\n",
    ),
    (
        "an apostrophe in a comment",
        "```python\n# don't\nx = 1\n```\nIt's '''done'''.\n",
        "# don't\nx = 1\n",
    ),
];

#[test]
fn the_program_of_each_answer() {
    for (name, answer, want) in ANSWERS {
        let want = (*want != "-").then_some(*want);
        assert_eq!(found(answer).as_deref(), want, "{name}: {answer}");
    }
}

#[test]
fn the_span_holds_the_program() {
    for (name, answer, _) in ANSWERS {
        let Some(program) = program(answer, &Language::PYTHON, &Extract::default()) else {
            continue;
        };
        let spanned = &answer[program.span.0..program.span.1];
        let plain = |text: &str| text.replace(['>', ' ', '\r'], "");
        assert_eq!(plain(spanned), plain(&program.source), "{name}");
    }
}

#[test]
fn the_evidence_says_how_it_was_found() {
    let how = |text: &str| {
        program(text, &Language::PYTHON, &Extract::default()).map(|found| found.found.name())
    };
    assert_eq!(how("```py\nx = 1\n```"), Some("fenced"));
    assert_eq!(how("```\nx = 1\n```"), Some("untagged"));
    assert_eq!(how("<answer>x = 1</answer>"), Some("tagged"));
    assert_eq!(how("x = 1"), Some("whole"));
}

#[test]
fn settings_choose_among_blocks() {
    let text = "```python\na = 1\n```\n```js\nb\n```\n```python\nc = 3\n```\n";
    let how = |blocks| Extract { blocks, ..Extract::default() };
    assert_eq!(with(text, &how(BlockChoice::First)).unwrap(), "a = 1\n");
    assert_eq!(with(text, &how(BlockChoice::Last)).unwrap(), "c = 3\n");
    assert_eq!(with(text, &how(BlockChoice::All)).unwrap(), "a = 1\n\nc = 3\n");
}

#[test]
fn a_block_that_defines_the_entry_point_is_preferred() {
    let text = "```python\ndef add(a, b):\n    return a + b\n```\nUse:\n```python\nprint(add(1, 2))\n```\n";
    assert_eq!(defining(text, "add").unwrap(), "def add(a, b):\n    return a + b\n");
    let both = "def add(a, b):\n    return a + b\n\nprint(add(1, 2))\n";
    assert_eq!(defining(text, "sub").unwrap(), both);
    let text = "```python\ndef add2(): pass\n```\n```python\nadd = 1\n```\n";
    assert_eq!(defining(text, "add").unwrap(), "add = 1\n");
}

#[test]
fn settings_say_where_to_look() {
    let text = "x = 1\n<solution>\ny = 2\n</solution>\n";
    let tag = Extract { tag: Some("solution".into()), ..Extract::default() };
    assert_eq!(with(text, &tag).unwrap(), "y = 2\n");
    assert_eq!(with("<solution>\n```python\ny = 2\n```\n</solution>", &tag).unwrap(), "y = 2\n");
    assert_eq!(with("```python\nx = 1\n```", &tag), None);
    let whole = Extract { from: ProgramSource::Whole, ..Extract::default() };
    assert_eq!(with("```python\nx = 1\n```", &whole).unwrap(), "```python\nx = 1\n```");
    let bare = "def f():\n    return 1\n";
    assert_eq!(with(bare, &Extract::default()).unwrap(), bare);
    let fence = Extract { from: ProgramSource::Fence, ..Extract::default() };
    assert_eq!(with("x = 1", &fence), None);
    assert_eq!(with("a```python\nx = 1\n```", &fence).unwrap(), "x = 1\n");
}

#[test]
fn a_prompt_may_have_opened_the_fence() {
    let how = Extract { prefilled: true, ..Extract::default() };
    assert_eq!(with("x = 1\n```\nIt sets x.", &how).unwrap(), "x = 1\n");
    assert_eq!(with("x = 1\n", &how).unwrap(), "x = 1\n");
    assert_eq!(with("```python\nx = 1\n```\nIt sets x.", &how).unwrap(), "x = 1\n");
}

#[test]
fn thinking_may_be_searched_or_asked_for() {
    let how = |thinking| Extract { thinking, ..Extract::default() };
    let endless = "<think>\n```python\nx = 1\n```";
    assert_eq!(with(endless, &how(Thinking::Lenient)).unwrap(), "x = 1\n");
    assert_eq!(with(endless, &how(Thinking::Keep)).unwrap(), "x = 1\n");
    assert_eq!(with("```python\nx = 1\n```", &how(Thinking::Required)), None);
    assert_eq!(
        with("a</think>```python\nx = 1\n```", &how(Thinking::Required)).unwrap(),
        "x = 1\n"
    );
    let kept = "<think>\n```python\nx = 1\n```\n</think>\nok";
    assert_eq!(with(kept, &how(Thinking::Keep)).unwrap(), "x = 1\n");
}

#[test]
fn other_languages() {
    let of = |text: &str, language: &Language| {
        program(text, language, &Extract::default()).map(|program| program.source.into_owned())
    };
    let text =
        "```python\np\n```\n```node\nj\n```\n```c\nc\n```\n```c++17\nd\n```\n```sqlite\ns\n```\n";
    assert_eq!(of(text, &Language::JAVASCRIPT).unwrap(), "j\n");
    assert_eq!(of(text, &Language::C).unwrap(), "c\n");
    assert_eq!(of(text, &Language::CPP).unwrap(), "d\n");
    assert_eq!(of(text, &Language::SQL).unwrap(), "s\n");
    let text = "```cpp\n/*\n```\nx\n```\n*/\nint main() {}\n```\n";
    assert_eq!(of(text, &Language::CPP).unwrap(), "/*\n```\nx\n```\n*/\nint main() {}\n");
    assert_eq!(of("<sql>SELECT 1</sql>", &Language::SQL).unwrap(), "SELECT 1");
    assert_eq!(
        of("It is ```sql SELECT 1```", &Language::SQL).as_deref(),
        Some("It is ```sql SELECT 1```")
    );
    assert_eq!(of("```sql SELECT 1```", &Language::SQL).unwrap(), " SELECT 1");
    for language in Language::ALL {
        assert_eq!(Language::named(language.name()), Some(language));
    }
    assert_eq!(Language::named("C++"), Some(Language::CPP));
    assert_eq!(Language::named("css"), None);
}

/// Time grows with the length of the answer, and not faster.
#[test]
fn hostile_answers_end() {
    let pieces = [
        "```\n",
        "```python\n",
        "a:```\n",
        "```python\n'''\n```\n",
        "<think>",
        "</think>",
        "<answer>",
        "<think></think>",
        "~~~\n",
        "     ```\n",
        "```py\n     ```\n",
        "> ```\n",
        "[PYTHON]",
        "1. ",
        "````markdown\n```python\n",
        "```x```\n",
        "\"\"\"\n```\n",
        "<|im_end|>",
        "<a ",
        "`",
    ];
    for piece in pieces {
        let text = piece.repeat(200_000 / piece.len());
        for text in [format!("{text}     ```\n```python\nx = 1\n```"), text] {
            let program = program(&text, &Language::PYTHON, &Extract::default());
            assert!(program.is_none_or(|program| program.span.1 <= text.len()), "{piece:?}");
        }
    }
}

#[test]
fn a_mark_of_a_quotation_is_no_program() {
    let text = "> ```<answer>\n> ";
    assert_eq!(program(text, &Language::PYTHON, &Extract::default()), None);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(```|~~~|python|\n|\r|'''|\"|<think>|</think>|<answer>|</answer>|> |  |- |é|x = 1){0,40}") {
        for language in Language::ALL {
            if let Some(program) = program(&text, &language, &Extract::default()) {
                proptest::prop_assert!(text.get(program.span.0..program.span.1).is_some());
                proptest::prop_assert!(!program.source.trim().is_empty());
            }
        }
    }

    #[test]
    fn a_block_is_found_in_any_prose(before in "[a-z .,\n]{0,60}", body in "[a-z =\n]{1,60}", after in "[a-z .\n]{0,60}") {
        proptest::prop_assume!(!body.trim().is_empty());
        let text = format!("{before}\n```python\n{body}\n```\n{after}");
        proptest::prop_assert_eq!(found(&text), Some(format!("{body}\n")));
    }
}
