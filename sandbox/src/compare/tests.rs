//! Outputs that are equal, and outputs that are not.

use assay_verifiers::{Fault, FaultKind};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn comparison(settings: serde_json::Value) -> Comparison {
    let mut comparison: Comparison = serde_json::from_value(settings).unwrap();
    comparison.load().unwrap();
    comparison
}

fn run(settings: serde_json::Value, expected: &str, got: &str) -> Result<Compared, Fault> {
    comparison(settings).compare(expected, got.as_bytes(), "5\n", &mut Meter::default())
}

fn equal(settings: serde_json::Value, expected: &str, got: &str) -> bool {
    let compared = run(settings, expected, got).unwrap();
    assert_eq!(compared.is_equal(), compared.credit >= 1.0);
    compared.is_equal()
}

fn differs(settings: serde_json::Value, expected: &str, got: &str) -> Difference {
    run(settings, expected, got).unwrap().difference.unwrap()
}

#[test]
fn tokens_are_equal_however_they_are_set_apart() {
    for (expected, got) in
        [("1 2\n3\n", "1\n2 3"), ("", " \n"), ("a\r\nb", "a b\n"), ("nan", "nan")]
    {
        assert!(equal(json!({}), expected, got), "{expected:?} {got:?}");
    }
    for (expected, got) in [
        ("1\n4\n9\n", "1\n"),
        ("1\n", "1\n4\n"),
        ("3", ""),
        ("", "3"),
        ("3", "3.0"),
        ("7", "07"),
        ("Yes", "yes"),
        ("2.5", "nan"),
        ("nan", "NaN"),
        ("16", "0x10"),
        ("12", "1 2"),
        ("1 2", "12"),
        ("-0", "0"),
    ] {
        assert!(!equal(json!({}), expected, got), "{expected:?} {got:?}");
    }
}

#[test]
fn lines_keep_their_blanks_but_for_those_at_the_end() {
    let how = || json!({"how": "lines"});
    for (expected, got) in [("a b\n", "a b"), ("a\n", "a  \r\n\n \n"), ("", "\n\n"), (" a", " a\t")]
    {
        assert!(equal(how(), expected, got), "{expected:?} {got:?}");
    }
    for (expected, got) in [
        ("a b", "a  b"),
        (" a", "a"),
        ("a\nb", "a b"),
        ("\na", "a"),
        ("a\n\nb", "a\nb"),
        ("a\nb\n", "a\n"),
    ] {
        assert!(!equal(how(), expected, got), "{expected:?} {got:?}");
    }
    let near = || json!({"how": "lines", "float_tolerance": 1e-3});
    assert!(equal(near(), " x  1.0", " x  1.0001 "));
    assert!(!equal(near(), "x  1.0", "x 1.0001") && !equal(near(), " 1.0", "1.0001"));
}

#[test]
fn exact_is_every_byte() {
    assert!(equal(json!({"how": "exact"}), "a \n", "a \n"));
    assert!(!equal(json!({"how": "exact"}), "a\n", "a"));
    assert!(equal(json!({"how": "exact", "ignore_case": true}), "Straße\n", "STRAßE\n"));
}

#[test]
fn numbers_may_be_off_where_that_was_asked_for() {
    let near = || json!({"float_tolerance": 1e-6});
    for (expected, got) in
        [("2.500000", "2.5"), ("3", "3.0000001"), ("1e3", "1000.0"), ("1000000.0", "1000000.5")]
    {
        assert!(equal(near(), expected, got), "{expected:?} {got:?}");
    }
    for (expected, got) in [
        ("2.5", "nan"),
        ("2.5", "2.6"),
        ("10000000000000000000001", "10000000000000000000002"),
        ("inf", "1e400"),
        ("1.0", "-1.0"),
        ("0.0", "1e-5"),
        ("1.0 2.0", "1.0"),
        ("a1.0", "a1.00"),
    ] {
        assert!(!equal(near(), expected, got), "{expected:?} {got:?}");
    }
    let absolute = || json!({"float_tolerance": {"absolute": 0.01}});
    assert!(equal(absolute(), "1.0", "1.01") && !equal(absolute(), "1000.0", "1001.0"));
}

#[test]
fn lines_may_come_in_any_order() {
    let any = || json!({"unordered_lines": true});
    assert!(equal(any(), "a 1\nb 2\nb 2\n", "b  2\n\na 1\nb 2"));
    assert!(
        !equal(any(), "a\nb\nb\n", "a\na\nb\n")
            && !equal(any(), "a\nb", "a")
            && !equal(any(), "a b", "b a")
    );
    let near = || json!({"unordered_lines": true, "float_tolerance": 1e-3});
    assert!(equal(near(), "9.0 x\n10.0 y\n", "10.0001 y\n8.9999 x\n"));
    assert!(!equal(near(), "9.0\n10.0\n", "10.0\n10.0\n"));
    let lines = || json!({"how": "lines", "unordered_lines": true});
    assert!(equal(lines(), "a b\nc\n", "c\na b\n") && !equal(lines(), "a b\nc\n", "c\na  b\n"));
}

#[test]
fn the_difference_says_where() {
    let found = differs(json!({}), "1 2\n3 4\n", "1 2\n3 5\n");
    assert_eq!((found.reason, found.line, found.token), ("different-token", 2, Some(4)));
    assert_eq!((found.expected.as_str(), found.got.as_str()), ("4", "5"));
    assert_eq!(differs(json!({}), "1 2", "1").reason, "missing-token");
    assert_eq!(differs(json!({}), "1", "1 2").reason, "extra-token");
    let long = "x".repeat(500);
    let found = differs(json!({"how": "lines"}), &format!("{long}a{long}"), &format!("{long}b"));
    assert_eq!((found.reason, found.line), ("different-line", 1));
    assert_eq!(found.expected.chars().count(), 202);
    assert!(found.got.ends_with('b') && found.got.starts_with('…'));
    assert_eq!(differs(json!({"how": "exact"}), "a\nb\n", "a\nb").line, 2);
    let compared = comparison(json!({})).compare("a\u{fffd}", b"a\xff", "", &mut Meter::default());
    assert_eq!(compared.unwrap().difference.unwrap().reason, "not-utf8");
}

#[test]
fn a_comparator_decides() {
    let script = |source: &str| json!({"comparator": source});
    assert!(equal(script("got.trim(); stdin.trim(); got == stdin"), "0", "5"));
    assert!(!equal(script("got.trim(); stdin.trim(); got == stdin"), "0", "6"));
    let half = run(script("if got == expected { 1.0 } else { 0.5 }"), "a", "b").unwrap();
    assert!((half.credit - 0.5).abs() < 1e-12 && !half.is_equal());
    let throws = "if got == \"bad\" { throw \"no number\" } else { true }";
    assert_eq!(differs(script(throws), "5", "bad").reason, "comparator-failed");
    let spins = "if got == \"bad\" { loop { } } else { true }";
    assert_eq!(differs(script(spins), "5", "bad").reason, "comparator-failed");
    for source in [
        "throw got",
        "got.nothing()",
        "loop { got; }",
        "got",
        "2.0 + got.len",
        "0.0 / (got.len * 0.0)",
    ] {
        let fault = run(script(source), "5", "5").unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Trap | FaultKind::OutOfFuel), "{source}: {fault}");
    }
    let long = "x".repeat((1 << 20) + 1);
    assert_eq!(differs(script("got.len > 0"), "5", &long).reason, "too-long");
    assert_eq!(
        run(script("got == expected"), &long, "5").unwrap_err().kind,
        FaultKind::BadReference
    );
}

#[test]
fn settings_that_cannot_be_are_refused() {
    for (settings, setting) in [
        (json!({"float_tolerance": -1.0}), "float_tolerance"),
        (json!({"float_tolerance": 1.0}), "float_tolerance"),
        (json!({"how": "exact", "unordered_lines": true}), "how"),
        (json!({"how": "exact", "float_tolerance": 0.1}), "how"),
        (json!({"comparator": "let"}), "comparator"),
        (json!({"comparator": "expected == stdin"}), "comparator"),
    ] {
        let mut comparison: Comparison = serde_json::from_value(settings.clone()).unwrap();
        assert_eq!(comparison.load().unwrap_err().setting, setting, "{settings}");
    }
    assert!(serde_json::from_value::<Comparison>(json!({"tolerance": 1})).is_err());
}

#[test]
fn the_meter_pays() {
    let text = "1 ".repeat(1000);
    let fault = comparison(json!({})).compare(&text, text.as_bytes(), "", &mut Meter::new(100));
    assert_eq!(fault.unwrap_err().kind, FaultKind::OutOfFuel);
}

fn settings() -> impl Strategy<Value = serde_json::Value> {
    let how = prop_oneof![Just("tokens"), Just("lines")];
    let tolerance =
        prop_oneof![Just(json!(null)), Just(json!(1e-6)), Just(json!({"relative": 0.5}))];
    (how, tolerance, any::<bool>(), any::<bool>()).prop_map(|(how, tolerance, case, unordered)| {
        json!({"how": how, "float_tolerance": tolerance, "ignore_case": case, "unordered_lines": unordered})
    })
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-c]{1,2}|-?[0-9]{1,20}|[0-9]\\.[0-9]{1,3}|nan|1e999|é", 1..12)
}

proptest! {
    #[test]
    fn every_output_equals_itself(settings in settings(), text in "[ab1.\n\r \tnané]{0,30}|\\PC{0,20}") {
        assert!(equal(settings, &text, &text));
        assert!(equal(json!({"how": "exact"}), &text, &text));
    }

    #[test]
    fn blanks_do_not_count_between_tokens(words in words(), blanks in "[ \n\t\r]{1,3}") {
        assert!(equal(json!({}), &words.join(" "), &words.join(&blanks)));
    }

    #[test]
    fn a_token_more_or_less_is_different(settings in settings(), words in words(), at in 0_usize..12) {
        let mut fewer = words.clone();
        fewer.remove(at % words.len());
        for (a, b) in [(&words, &fewer), (&fewer, &words)] {
            assert!(!equal(settings.clone(), &a.join("\n"), &b.join("\n")));
            assert!(!equal(json!({}), &a.join(" "), &b.join(" ")));
        }
    }

    #[test]
    fn the_order_of_lines_may_be_free(settings in settings(), words in words(), turn in 0_usize..12) {
        let mut settings = settings;
        settings["unordered_lines"] = json!(true);
        let mut turned = words.clone();
        turned.rotate_left(turn % words.len());
        assert!(equal(settings, &words.join("\n"), &turned.join("\n")));
    }

    #[test]
    fn another_integer_is_different(number in "[1-9][0-9]{0,40}", digit in 0_usize..40) {
        let mut digits: Vec<u8> = number.clone().into_bytes();
        let at = digit % digits.len();
        digits[at] = if digits[at] == b'9' { b'1' } else { digits[at] + 1 };
        let other = String::from_utf8(digits).unwrap();
        assert!(!equal(json!({"float_tolerance": 0.9}), &number, &other));
    }
}
