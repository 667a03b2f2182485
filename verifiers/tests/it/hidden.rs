//! Text that a reader does not see, and marks of thinking.

use assay_verifiers::extract::Thinking;
use assay_verifiers::extract::hidden::{blanked, shown};
use assay_verifiers::extract::thinking::answer;

#[test]
fn what_is_not_seen_is_blank() {
    for (text, seen) in [
        ("a <!-- 4 --> b", "a b"),
        ("a <!-- 4", "a"),
        ("a <del>4</del> b", "a b"),
        (r#"a <span style="display: none">4</span> b"#, "a b"),
        ("a <div hidden>4</div> b", "a b"),
        (r#"a <span style="color:red">4</span> b"#, r#"a <span style="color:red">4</span> b"#),
        ("a < b, c > d", "a < b, c > d"),
        (r"3\phantom{4}", "3"),
        (r"\phantom{\frac{1}{2}}3", "3"),
        (r"\textcolor{white}{4}7", "7"),
        (r"\textcolor[rgb]{1,1,1}{4}7", "7"),
        (r"{\color{white} 4}7", "{ }7"),
        (r"\color{red}{4}", r"\color{red}{4}"),
        (r"a \iffalse 4 \fi b", "a b"),
        (r"\newcommand{\x}{4} b", "b"),
        (r"\def\x{4} b", "b"),
        ("7 ~~4~~", "7"),
        (r"$x=4~~\text{or}~~x=5$", r"$x=4~~\text{or}~~x=5$"),
        ("50% of 8", "50% of 8"),
        ("% 4\n7", "7"),
        ("7 %4\n", "7"),
        ("[//]: # (4)\n7", "7"),
        ("[7](http://a.b \"4\")", "[7]"),
        ("![4](http://a.b) 7", "7"),
        (r"I pass. % \boxed{4}", "I pass."),
        (r"\\phantom{4}", r"\\phantom{4}"),
    ] {
        let blanked = blanked(text);
        assert_eq!(blanked.len(), text.len(), "{text}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&blanked), words(seen), "{text}");
    }
}

#[test]
fn characters_that_are_not_seen() {
    assert_eq!(shown("1\u{200b}8").as_deref(), Some("18"));
    assert_eq!(shown("\u{202e}81"), None);
    assert_eq!(shown("18").as_deref(), Some("18"));
}

#[test]
fn hostile_text_is_read_in_one_pass() {
    for unit in [
        "<!--",
        "\\phantom{",
        "\\phantom",
        "<del>",
        "~~",
        "~~a",
        "<a b",
        "%\n",
        " %a",
        "](http",
        "[//]:",
        "\\color{white}",
        "\\def\\a{",
        "\\begin{comment}",
        "<a hidden>",
    ] {
        let text = unit.repeat(100_000);
        assert_eq!(blanked(&text).len(), text.len(), "{unit:?}");
    }
}

#[test]
fn hostile_marks_are_read_in_one_pass() {
    for unit in [
        "<think>",
        "</think>",
        "<think></think>",
        "```\n<think>\n",
        "```\n</think>\n",
        "<|channel|>",
        "<|im_end|>",
    ] {
        let text = unit.repeat(100_000);
        let span = answer(&text, Thinking::Skip);
        assert!(span.is_none_or(|span| span.end <= text.len()), "{unit:?}");
    }
}

#[cfg(feature = "tasks")]
#[test]
fn both_crates_know_the_same_blank_characters() {
    let is_blank = assay_verifiers::extract::hidden::is_blank;
    let other = |c: &char| is_blank(*c) != assay_structure::fold::shows_nothing(*c);
    assert_eq!(('\0'..=char::MAX).filter(other).collect::<String>(), "");
}
