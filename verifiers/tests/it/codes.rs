//! The page of the codes is what the code says.

use assay_verifiers::FaultKind;
use assay_verifiers::code::Code;

const PAGE: &str = "../docs/codes.md";

const HEAD: &str = "\
# Codes

Every error has a code: a word of this closed list. It is printed as `error[CODE]`, is `error.code` in the bodies of the \
daemon and on the exceptions of Python (`error.fields` has the rest: `key`, `file`, `line`, `column`, `found`, `expected`), \
and is what a script should look at: sentences change. What `assay validate` warns of has codes of its own: \
`assay list lints`. This page is generated from `verifiers/src/code.rs`.

| code | meaning |
|---|---|
";

const FAULTS: &str = "
## Faults

A sample that could not be judged has a fault in place of a reward. Its kind is a code too; `docs/run-format.md` says \
which are tried again.

| fault | code |
|---|---|
";

fn page() -> String {
    let row = |code: &Code| {
        let page = code.page().replace('\n', " ").replace('|', "\\|");
        format!("| `{code}` | {page} |\n")
    };
    let codes: String = Code::ALL.iter().map(row).collect();
    let kind = |kind: &FaultKind| format!("| `{kind}` | `{}` |\n", kind.code());
    let kinds: String = FaultKind::ALL.iter().map(kind).collect();
    format!("{HEAD}{codes}{FAULTS}{kinds}")
}

#[test]
fn the_page_of_the_codes_is_current() {
    let page = page();
    let kept = std::fs::read_to_string(PAGE).unwrap();
    assert!(kept == page, "docs/codes.md is not\n{page}");
}

#[test]
fn a_code_is_found_by_its_word() {
    for code in Code::ALL {
        assert_eq!(Code::find(code.word()), Some(*code));
        assert_eq!(serde_json::to_value(code).unwrap(), code.word());
    }
    assert_eq!(Code::find("no_such_code"), None);
}
