//! The value of a named functional: `\operatorname{rank}(A) = 2`, `\dim V = 3`, `\text{Area of }ABC = 12`.
//!
//! The left side is not an expression to be solved, and most of these names are no operators that are
//! worked out: it becomes a name, and the value comes after it. An unknown in the left side makes
//! it an equation.

use crate::syntax::words;

/// Longer texts are not searched.
const TEXT_MAX: usize = 400;
/// Styles in which names are set.
const STYLES: [&str; 8] = [
    "\\operatorname*{",
    "\\operatorname{",
    "\\text{",
    "\\mathrm{",
    "\\textrm{",
    "\\mathsf{",
    "\\textbf{",
    "\\mathbf{",
];
/// Commands that are such names.
const COMMANDS: [&str; 6] = ["\\dim", "\\deg", "\\Re", "\\Im", "\\Pr", "\\nabla"];
/// Names of functionals that are also written without a style.
#[rustfmt::skip]
const PLAIN: [&str; 22] = [
    "rank", "rk", "tr", "trace", "dim", "deg", "nullity", "Var", "Cov", "Corr", "Area", "area", "Vol", "Volume", "volume",
    "Perimeter", "perimeter", "ord", "Re", "Im", "sgn", "card",
];
/// Functionals of functions, in which a variable is bound.
const OF_FUNCTIONS: [&str; 4] = ["deg", "nabla", "partial", "degree"];
/// Nouns that name what is measured or counted.
#[rustfmt::skip]
const NOUNS: [&str; 42] = [
    "area", "volume", "perimeter", "circumference", "length", "width", "height", "depth", "distance", "radius", "diameter", "slope",
    "mean", "median", "mode", "average", "expectation", "variance", "covariance", "probability", "rank", "nullity", "trace",
    "determinant", "degree", "dimension", "order", "norm", "magnitude", "number", "total", "sum", "product", "remainder", "measure",
    "angle", "cost", "ratio", "coefficient", "cardinality", "index", "argument",
];
/// Unknowns, for which an equation would be solved.
const UNKNOWNS: [char; 6] = ['x', 'y', 'n', 't', 'k', 'm'];
/// Operations of sets.
const OF_SETS: [&str; 6] = ["\\cup", "\\cap", "\\setminus", "∪", "∩", "\\times"];

/// The text with a name in words for its left side.
pub(super) fn named(text: &str) -> Option<String> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let (left, right) = text.split_at_checked(equals_at(text)?)?;
    let left = left.trim_end_matches([' ', '&']);
    let name = name_of(left).filter(|_| is_applied(left))?;
    Some(format!("\\text{{{name}}} {right}"))
}

/// Where the first `=` outside of all brackets stands.
fn equals_at(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '=' if depth == 0 => {
                let head = text.get(..at)?;
                let plain = !"<>!:=".contains(before) && !head.ends_with("\\not");
                return plain.then_some(at);
            }
            '<' | '>' if depth == 0 => return None,
            _ => {}
        }
        before = c;
    }
    None
}

/// The left side as one word: its letters, and letters for its digits.
fn name_of(left: &str) -> Option<String> {
    let letter = |c: char| match c.to_digit(10) {
        Some(digit) => char::from_u32(u32::from('a') + digit),
        None => c.is_ascii_alphabetic().then_some(c),
    };
    let mut name = left.to_owned();
    for style in STYLES.iter().chain(&["\\left", "\\right"]) {
        name = name.replace(style, "");
    }
    let name: String = name.chars().filter_map(letter).collect();
    // No word of the grammar.
    (name.len() > 1).then(|| format!("{name}of"))
}

/// Whether a left side is a named functional, and what it applies to.
fn is_applied(left: &str) -> bool {
    if let Some(derived) = ["\\frac{\\partial", "\\dfrac{\\partial", "\\tfrac{\\partial"]
        .iter()
        .find_map(|open| left.strip_prefix(open))
    {
        // The grammar reads those by one variable.
        let below = derived.split_once("}{\\partial").map(|(_, below)| below);
        return below.is_some_and(|below| below.contains("\\partial"))
            && derived.matches('}').count() == 2;
    }
    if let Some(inner) = left.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
        return is_of_sets(inner);
    }
    let Some((name, rest)) = head(left) else { return false };
    let rest = unscripted(rest).trim_start_matches(['~', ' ']);
    let rest = ["\\,", "\\;", "\\ "].iter().find_map(|gap| rest.strip_prefix(gap)).unwrap_or(rest);
    let bound = name.split(' ').any(|word| OF_FUNCTIONS.contains(&word));
    is_argument(rest) && (bound || !has_unknown(rest))
}

/// The name at the start of a left side, and what comes after it.
fn head(left: &str) -> Option<(String, &str)> {
    if let Some((style, rest)) =
        STYLES.iter().find_map(|style| Some((*style, left.strip_prefix(*style)?)))
    {
        let (name, rest) = rest.split_once('}')?;
        return is_functional(name, rest, style.contains("operator"))
            .then(|| (name.to_lowercase(), rest));
    }
    if let Some((name, rest)) =
        COMMANDS.iter().find_map(|name| Some((*name, left.strip_prefix(*name)?)))
    {
        let ends = !rest.starts_with(|c: char| c.is_ascii_alphabetic());
        return ends.then(|| (name.trim_start_matches('\\').to_owned(), rest));
    }
    // The exponent of a prime in a number.
    if let Some(rest) = ["v_", "\\nu_"].iter().find_map(|name| left.strip_prefix(name)) {
        let length = if rest.starts_with('{') { rest.find('}')? + 1 } else { 1 };
        let rest = rest.get(length..).filter(|rest| rest.starts_with('('))?;
        return Some(("v".to_owned(), rest));
    }
    // A distance of two points, a number of elements.
    if let Some(rest) = left.strip_prefix(['d', 'n']).filter(|rest| rest.starts_with('(')) {
        let inner = rest.get(1..rest.len() - 1)?;
        let points = inner.contains(',') && inner.contains(|c: char| c.is_ascii_uppercase());
        return (points || is_of_sets(inner)).then(|| ("d".to_owned(), rest));
    }
    let length = left.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(left.len());
    let (name, rest) = left.split_at_checked(length)?;
    let apart = rest.starts_with(['(', '[', ' ']);
    (apart && PLAIN.contains(&name)).then(|| (name.to_owned(), rest))
}

/// Whether a styled name is that of a functional: any operator, a word before brackets, or a noun
/// that names what is measured.
fn is_functional(name: &str, rest: &str, is_operator: bool) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    let lower = name.to_lowercase();
    let known = words::word(name).is_some();
    let denied = words::denies(&lower);
    let applied = !name.contains(' ') && rest.starts_with(['(', '[']);
    let noun = lower.split(' ').any(|word| NOUNS.contains(&word));
    !name.is_empty() && plain && !known && !denied && (is_operator || applied || noun)
}

/// What comes after indices.
fn unscripted(text: &str) -> &str {
    let mut rest = text;
    while let Some(tail) = rest.strip_prefix(['_', '^']) {
        let length = match tail.chars().next() {
            Some('{') => tail.find('}').map_or(tail.len(), |at| at + 1),
            Some(c) => c.len_utf8(),
            None => 0,
        };
        rest = &tail[length..];
    }
    rest
}

/// Whether a text is names, or brackets, without arithmetic outside of them.
fn is_argument(text: &str) -> bool {
    let mut depth = 0i32;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '+' | '-' | '−' | '*' | '/' | '·' | '×' | '±' | '÷' if depth == 0 => {
                return false;
            }
            _ => {}
        }
    }
    let operates = ["\\cdot", "\\times", "\\pm", "\\div", "\\frac"];
    depth == 0 && !text.is_empty() && !operates.iter().any(|sign| text.starts_with(sign))
}

/// Whether a letter that stands alone is an unknown. Commands are no letters.
fn has_unknown(text: &str) -> bool {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let apart = !before.is_alphabetic() && before != '\\';
        if UNKNOWNS.contains(&c) && apart && !chars.peek().is_some_and(|next| next.is_alphabetic())
        {
            return true;
        }
        before = c;
    }
    false
}

fn is_of_sets(text: &str) -> bool {
    OF_SETS.iter().any(|sign| text.contains(sign))
        && text.contains(|c: char| c.is_ascii_uppercase())
        && !has_unknown(text)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_functional_is_a_name() {
        for text in [
            r"\operatorname{rank}(A)=2",
            r"\operatorname{ord}_7(3) = 6",
            r"\operatorname{tr} A=2",
            r"\dim V = 3",
            r"\deg(x^3 + 1) = 3",
            r"\text{Var}(2X+1)=12",
            r"\text{Area of }\triangle ABC=12",
            r"\mathrm{Area}(ABC)=12",
            r"v_2(48)=4",
            r"d(P,\ell)=4",
            r"|A\cup B|=5",
            r"\frac{\partial^2 f}{\partial x\partial y}=2x",
            r"\nabla f=(1,2)",
            "rank(A) = 2",
        ] {
            assert!(named(text).is_some(), "{text}");
        }
    }

    #[test]
    fn an_equation_is_none() {
        for text in [
            r"\operatorname{ord}_7(n) = 6",
            r"\operatorname{rank}(A) + x = 5",
            r"\text{if }x = 5",
            r"\text{not}(A) = 5",
            r"2\dim V = 6",
            r"|x| = 5",
            r"\dim V > 3",
            r"d(x) = 3",
            r"\frac{\partial f}{\partial x}=2x",
            "x = 5",
            "",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
