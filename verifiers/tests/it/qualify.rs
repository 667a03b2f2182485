//! The words around a value: what makes it none, and remarks behind it.

use assay_verifiers::extract::qualify::{Qualifier, is_unsaid, qualifier, value_length};

#[test]
fn values_that_are_none() {
    for (before, after, why) in [
        ("is not ", "", Qualifier::Denied),
        ("it cannot be $", "$", Qualifier::Denied),
        ("", " is wrong", Qualifier::Denied),
        ("答案不是 ", "", Qualifier::Denied),
        ("is at least ", "", Qualifier::Bounded),
        ("is ", " or more", Qualifier::Bounded),
        ("is between ", " and 5", Qualifier::Ranged),
        ("is the ", "th prime", Qualifier::Ordinal),
        ("by equation (", ")", Qualifier::Named),
        ("is shown in Figure ", "", Qualifier::Named),
        ("Try x = ", ".", Qualifier::Example),
        ("is half of ", "", Qualifier::Computed),
        ("is ", " squared", Qualifier::Computed),
        ("I give up after ", " tries", Qualifier::Counted),
        ("is ", ", maybe", Qualifier::Hedged),
    ] {
        assert_eq!(qualifier(before, after), Some(why), "{before}4{after}");
    }
    for (before, after) in [
        ("is ", ""),
        ("is ", " apples"),
        ("x = ", "."),
        ("is a number, ", " then"),
        ("is knot ", ""),
    ] {
        assert_eq!(qualifier(before, after), None, "{before}4{after}");
    }
}

#[test]
fn announcements_that_are_none() {
    for before in [
        "I don't think that the ",
        "It would be wrong to say the ",
        "Suppose the ",
        "I am not sure the ",
        "I doubt that the ",
        "We ask whether the ",
    ] {
        assert!(is_unsaid(before), "{before}");
    }
    for before in ["", "So the ", "Since 2 is not a root, the ", "We do not add the box so the "] {
        assert!(!is_unsaid(before), "{before}");
    }
}

#[test]
fn remarks_behind_a_value() {
    for (text, value) in [
        ("7 (see page 8)", "7"),
        ("7 since 8 is too big", "7"),
        ("7, not 8", "7"),
        ("7; note that 8 is wrong", "7"),
        ("$7$, as $8$ is not prime", "$7$"),
        ("7, or 8 if empty", "7, or 8 if empty"),
        ("3 and 4", "3 and 4"),
        ("7 apples", "7 apples"),
    ] {
        assert_eq!(text.get(..value_length(text)), Some(value), "{text}");
    }
}
