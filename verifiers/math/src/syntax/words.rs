//! The words and the functions that the lexer knows, as tables.

use super::token::Tok;

/// Functions with their normalised name.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("tg", "tan"), ("cot", "cot"), ("ctg", "cot"),
    ("sec", "sec"), ("csc", "csc"), ("arcsin", "arcsin"), ("arccos", "arccos"), ("arctan",
    "arctan"), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("sinh", "sinh"),
    ("cosh", "cosh"), ("tanh", "tanh"), ("sech", "sech"), ("csch", "csch"), ("coth", "coth"),
    ("arsinh", "arsinh"), ("arcsinh", "arsinh"), ("asinh", "arsinh"), ("arcosh", "arcosh"), ("arccosh", "arcosh"),
    ("acosh", "arcosh"), ("artanh", "artanh"), ("arctanh", "artanh"), ("atanh", "artanh"), ("ln", "ln"), ("log", "log"), ("lg", "lg"), ("exp", "exp"),
    ("abs", "abs"), ("floor", "floor"), ("ceil", "ceil"), ("min", "min"), ("max", "max"), ("gcd",
    "gcd"), ("GCD", "gcd"), ("HCF", "gcd"), ("lcm", "lcm"), ("LCM", "lcm"), ("det", "det"), ("arg", "arg"), ("arccot", "arccot"),
];

/// Words of a label that says of its value that it is not an answer.
#[rustfmt::skip]
const DENYING: [&str; 17] = [
    "not", "never", "isn", "cannot", "wrong", "incorrect", "false", "untrue", "mistake", "mistaken", "rejected", "invalid",
    "discarded", "excluded", "extraneous", "impossible", "except",
];
/// Words of a label for a number of things.
const COUNTING: [&str; 5] = ["number", "total", "count", "many", "no"];

pub(crate) fn function(name: &str) -> Option<Tok<'static>> {
    FUNCTIONS.iter().find(|(have, _)| *have == name).map(|(_, canonical)| Tok::Fun(canonical))
}

/// The meaning of a whole word outside LaTeX commands.
pub(crate) fn word(run: &str) -> Option<Tok<'static>> {
    if run.len() < 2 {
        return None;
    }
    if let Some(tok) = function(run) {
        return Some(tok);
    }
    Some(match run {
        "pi" | "Pi" | "PI" => Tok::Pi,
        "sqrt" => Tok::Sqrt,
        "infinity" | "inf" | "infty" | "oo" | "Infinity" => Tok::Infinity,
        "and" | "And" | "AND" => Tok::And,
        "or" | "Or" | "OR" => Tok::Or,
        "degrees" | "degree" | "deg" => Tok::Degree,
        "percent" | "percentage" | "Percent" | "pct" => Tok::Percent,
        "plus" => Tok::Plus,
        "minus" => Tok::Minus,
        "tens" => Tok::Scale(10),
        "dozen" | "dozens" => Tok::Scale(12),
        "score" => Tok::Scale(20),
        "hundred" | "hundreds" => Tok::Scale(100),
        "gross" => Tok::Scale(144),
        "thousand" | "thousands" => Tok::Scale(1_000),
        "lakh" | "lakhs" => Tok::Scale(100_000),
        "million" | "millions" | "mil" | "mln" | "mn" => Tok::Scale(1_000_000),
        "crore" | "crores" => Tok::Scale(10_000_000),
        "billion" | "billions" | "bn" => Tok::Scale(1_000_000_000),
        "trillion" | "trillions" => Tok::Scale(1_000_000_000_000),
        "quadrillion" => Tok::Scale(1_000_000_000_000_000),
        "for" | "where" | "For" | "Where" => Tok::Stop,
        "union" => Tok::Cup,
        "mod" => Tok::Mod,
        _ => return None,
    })
}

/// The currency that a code before an amount names.
pub(crate) fn currency(code: &str) -> Option<&'static str> {
    Some(match code {
        "USD" => "dollar",
        "EUR" => "euro",
        "GBP" => "gbp",
        "JPY" => "yen",
        "CNY" | "RMB" => "yuan",
        "INR" | "Rs" => "rupee",
        _ => return None,
    })
}

/// Whether a label denies the value after it: "wrong: 7", but not "number rejected: 7" and "wrong
/// answers: 7".
pub(crate) fn denies(label: &str) -> bool {
    let counts = label.ends_with('s') || label.split(' ').any(|word| COUNTING.contains(&word));
    label == "no" || (!counts && label.split(' ').any(|word| DENYING.contains(&word)))
}
