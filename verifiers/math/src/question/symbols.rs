//! The symbols of a text without layout and styling.
//!
//! Texts that differ in spacing, or in LaTeX that means the same, have the same symbols. Nothing is
//! parsed, so a long question costs one pass.

/// The symbol for an article, which is not a variable.
pub(crate) const ARTICLE: &str = "(a)";
/// Functions and constants, which have the same symbol with and without a backslash.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "log", "ln", "lg", "exp", "sqrt", "pi", "gcd", "lcm", "min", "max", "det", "mod", "binom", "sum",
    "prod", "int", "lim", "choose",
];
/// Commands with their normalised symbol.
#[rustfmt::skip]
const COMMANDS: &[(&str, &str)] = &[
    ("le", "≤"), ("leq", "≤"), ("leqslant", "≤"), ("ge", "≥"), ("geq", "≥"), ("geqslant", "≥"),
    ("ne", "≠"), ("neq", "≠"), ("lt", "<"), ("gt", ">"), ("div", "/"), ("pm", "±"), ("bmod", "mod"),
    ("pmod", "mod"), ("dbinom", "binom"), ("tbinom", "binom"), ("infty", "∞"), ("ldots", "…"),
    ("dots", "…"), ("cdots", "…"), ("dotsc", "…"), ("dotsb", "…"), ("circ", "°"), ("degree", "°"),
    ("lfloor", "⌊"), ("rfloor", "⌋"), ("lceil", "⌈"), ("rceil", "⌉"), ("vert", "|"), ("lvert", "|"),
    ("rvert", "|"), ("mid", "|"), ("lbrace", "{"), ("rbrace", "}"), ("langle", "("), ("rangle", ")"),
];
/// Commands that only style what follows, or separate it.
#[rustfmt::skip]
const STYLES: &[&str] = &[
    "text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mathit", "mathsf", "mbox", "boxed",
    "operatorname", "boldsymbol", "left", "right", "big", "Big", "bigg", "Bigg", "displaystyle",
    "textstyle", "limits", "nolimits", "quad", "qquad", "cdot", "times", "ast", "dollar",
];
/// Characters with their normalised symbol. A sign of multiplication has none.
#[rustfmt::skip]
const CHARS: &[(char, &str)] = &[
    ('−', "-"), ('–', "-"), ('÷', "/"), ('⁄', "/"), ('＝', "="), ('≡', "="), ('⩽', "≤"), ('⩾', "≥"),
    ('π', "pi"), ('√', "sqrt"), ('∑', "sum"), ('Σ', "sum"), ('∏', "prod"), ('∫', "int"), ('º', "°"),
    ('%', "%"), ('，', ","), ('：', ":"), ('。', "."), ('？', "?"),
    ('*', ""), ('×', ""), ('·', ""), ('⋅', ""), ('~', ""), ('$', ""), ('"', ""), ('“', ""), ('”', ""),
    ('`', ""), ('&', "&"),
];
/// Operations in words with their symbols. Multiplication has none.
#[rustfmt::skip]
const WORDS: &[(&str, &[&str])] = &[
    ("plus", &["+"]), ("minus", &["-"]), ("times", &[]), ("multiplied", &[]), ("divided", &["/"]),
    ("equals", &["="]), ("squared", &["^", "2"]), ("cubed", &["^", "3"]), ("percent", &["%"]),
    ("degrees", &["°"]), ("degree", &["°"]),
];

/// The symbols of an answer or a reference.
pub(crate) fn symbols(text: &str) -> Vec<&str> {
    Layout::new(text, false).read()
}

/// The symbols of a question: words may be between formulas.
pub(crate) fn symbols_of_prose(text: &str) -> Vec<&str> {
    Layout::new(text, true).read()
}

/// Whether a symbol is a word of the language.
pub(crate) fn is_word(symbol: &str) -> bool {
    let letters = symbol.chars().all(char::is_alphabetic) && symbol.chars().nth(1).is_some();
    symbol == ARTICLE || (letters && !NAMES.contains(&symbol))
}

/// Whether a symbol is a number.
pub(crate) fn is_number(symbol: &str) -> bool {
    symbol.bytes().any(|byte| byte.is_ascii_digit())
}

/// What the closing brace does.
#[derive(Clone, Copy)]
enum Close {
    Nothing,
    Group,
    /// The numerator ends.
    Top,
}

/// What the next symbol or group is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Plain,
    Styled,
    Top,
    Below,
}

struct Layout<'a> {
    text: &'a str,
    at: usize,
    out: Vec<&'a str>,
    open: Vec<Close>,
    next: Next,
    prose: bool,
    /// Between dollars.
    formula: bool,
}

impl<'a> Layout<'a> {
    fn new(text: &'a str, prose: bool) -> Self {
        let out = Vec::with_capacity(text.len() / 3 + 4);
        Self { text, at: 0, out, open: Vec::new(), next: Next::Plain, prose, formula: false }
    }

    fn read(mut self) -> Vec<&'a str> {
        while let Some(first) = self.rest().chars().next() {
            let before = self.at;
            match first {
                ' ' | '\n' | '\r' | '\t' => self.at += 1,
                'a'..='z' | 'A'..='Z' => self.letters(),
                '\\' => self.command(),
                '0'..='9' => self.number(),
                '.' => self.dots(),
                '{' => self.opened(),
                '}' => self.closed(),
                _ if first.is_alphabetic() && CHARS.iter().all(|(have, _)| *have != first) => {
                    self.letters();
                }
                _ => self.sign(first),
            }
            self.at = self.at.max(before + first.len_utf8());
        }
        self.out
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let part = &self.rest()[..length];
        self.at += length;
        part
    }

    fn push(&mut self, symbol: &'a str) {
        if symbol == "°" && self.out.last() == Some(&"^") {
            self.out.pop();
        }
        self.out.push(symbol);
        self.next = match self.next {
            Next::Top => {
                self.out.push("/");
                Next::Below
            }
            _ => Next::Plain,
        };
    }

    /// Closes a bracket; brackets around a single symbol are dropped.
    fn close_group(&mut self) {
        let Some(last) = self.out.pop() else { return };
        if last == "(" {
            return;
        }
        // An angle in brackets is one symbol and its sign.
        if let ("°", [.., "(", _]) = (last, self.out.as_slice()) {
            let place = self.out.len() - 2;
            self.out.remove(place);
            return self.out.push(last);
        }
        if self.out.last() != Some(&"(") {
            self.out.extend([last, ")"]);
            return;
        }
        self.out.pop();
        if last == "°" && self.out.last() == Some(&"^") {
            self.out.pop();
        }
        self.out.push(last);
    }

    fn opened(&mut self) {
        // Braces that are not an argument are dropped.
        let loose = matches!(self.out.last(), None | Some(&("|" | "=" | "+" | "," | "(")));
        let plain = self.next == Next::Styled || (self.next == Next::Plain && loose);
        self.open.push(match self.next {
            _ if plain => Close::Nothing,
            Next::Top => Close::Top,
            _ => Close::Group,
        });
        if !plain {
            self.out.push("(");
        }
        self.next = Next::Plain;
    }

    fn closed(&mut self) {
        match self.open.pop() {
            Some(Close::Group) => self.close_group(),
            Some(Close::Top) => {
                self.close_group();
                self.out.push("/");
                self.next = Next::Below;
            }
            Some(Close::Nothing) | None => {}
        }
    }

    fn number(&mut self) {
        let rest = self.rest().as_bytes();
        let digits =
            |from: usize| rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        // \frac12: one digit each.
        let whole = if matches!(self.next, Next::Top | Next::Below) { 1 } else { digits(0) };
        let places = if rest.get(whole) == Some(&b'.') { digits(whole + 1) } else { 0 };
        let length = if places > 0 { whole + 1 + places } else { whole };
        let number = self.take(length);
        self.push(number);
    }

    fn dots(&mut self) {
        let count = self.rest().bytes().take_while(|byte| *byte == b'.').count();
        let decimal = self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if count == 1 && decimal {
            let digits = self.rest().bytes().skip(1).take_while(u8::is_ascii_digit).count();
            let number = self.take(1 + digits);
            return self.push(number);
        }
        self.at += count;
        self.push(if count > 1 { "…" } else { "." });
    }

    fn letters(&mut self) {
        let rest = self.rest();
        let ascii = rest.starts_with(|c: char| c.is_ascii());
        let inside = |c: char| c.is_alphabetic() && c.is_ascii() == ascii;
        let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let spaced =
            self.text.get(..self.at).is_none_or(|head| !head.ends_with(char::is_alphanumeric));
        let run = self.take(end);
        if let Some(name) = NAMES.iter().find(|name| **name == run) {
            return self.push(name);
        }
        if let Some((_, signs)) = WORDS.iter().find(|(word, _)| *word == run) {
            return self.out.extend(*signs);
        }
        let before = self.out.last().copied().unwrap_or_default();
        match run {
            "by" if before == "/" => {}
            "of" if before == "%" || is_number(before) => {}
            "a" | "A" | "I" if self.prose && !self.formula && spaced && self.article() => {
                self.push(ARTICLE);
            }
            _ => self.push(run),
        }
    }

    /// Whether a noun follows, and no sign.
    fn article(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(' ')
            && rest.trim_start().starts_with(|c: char| c.is_alphanumeric() || "$\\".contains(c))
    }

    fn command(&mut self) {
        let tail = &self.rest()[1..];
        let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let name = &tail[..end];
        match (name, tail.chars().next()) {
            ("", Some('\\')) => {
                self.at += 1;
                if !tail.get(1..).is_some_and(|tail| tail.starts_with(char::is_alphabetic)) {
                    self.at += 1;
                    self.push("\\\\");
                }
            }
            ("", Some('{')) => self.escaped("{"),
            ("", Some('}')) => self.escaped("}"),
            ("", Some('%')) => self.escaped("%"),
            ("", Some('|')) => self.escaped("|"),
            ("", next) => {
                self.formula = matches!(next, Some('(' | '['))
                    || (self.formula && !matches!(next, Some(')' | ']')));
                self.at += 1 + next.map_or(0, char::len_utf8);
            }
            _ => {
                self.at += 1 + end;
                self.named(name);
            }
        }
    }

    fn escaped(&mut self, sign: &'static str) {
        self.at += 2;
        self.push(sign);
    }

    fn named(&mut self, name: &'a str) {
        if matches!(name, "frac" | "dfrac" | "tfrac" | "cfrac") {
            self.next = Next::Top;
        } else if let Some((_, sign)) = COMMANDS.iter().find(|(have, _)| *have == name) {
            self.push(sign);
        } else if STYLES.contains(&name) {
            if self.rest().trim_start().starts_with('{') {
                self.next = Next::Styled;
            }
            // \right.
            if matches!(name, "left" | "right") && self.rest().starts_with('.') {
                self.at += 1;
            }
        } else if let Some(name) = NAMES.iter().find(|have| **have == name) {
            self.push(name);
        } else {
            // The backslash keeps names of letters apart from words.
            let start = self.at - name.len() - 1;
            self.push(&self.text[start..self.at]);
        }
    }

    fn sign(&mut self, first: char) {
        self.formula ^= first == '$';
        let rest = self.rest();
        let double =
            ["<=", ">=", "!=", "**", "=="].into_iter().find(|pair| rest.starts_with(*pair));
        if let Some(pair) = double {
            self.at += 2;
            let signs = [("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("**", "^"), ("==", "=")];
            let sign = signs.into_iter().find(|(have, _)| *have == pair);
            return self.push(sign.map_or(pair, |(_, sign)| sign));
        }
        let length = first.len_utf8();
        let part = self.take(length);
        let sign = CHARS.iter().find(|(have, _)| *have == first).map_or(part, |(_, sign)| sign);
        match first {
            ')' => self.close_group(),
            '²' => self.out.extend(["^", "2"]),
            '³' => self.out.extend(["^", "3"]),
            _ if first.is_whitespace() || sign.is_empty() => {}
            _ => self.push(sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{symbols, symbols_of_prose};

    #[test]
    fn layout_says_nothing() {
        for (one, two) in [
            (r"\frac{1}{2}", "1/2"),
            (r"\dfrac12", r"\frac{1}{2}"),
            (r"\frac{x+1}{2}", "(x+1)/2"),
            (r"17 \cdot 24", "17 * 24"),
            (r"\gcd(84,126)", r"\gcd(84, 126)"),
            (r"\log_{10} 1000", "log_10(1000)"),
            (r"\sqrt{2}\cdot\sqrt 8", "sqrt(2)*sqrt(8)"),
            (r"\left( x+1 \right)^{2}", "(x+1)^2"),
            (r"45^{\circ}", "45°"),
            (r"45^\circ", "45 degrees"),
            (r"x \leqslant 2", "x <= 2"),
            (r"3\text{ hours}", "3 hours"),
            (r"15\% \cdot 80", "15% of 80"),
            (r"1+2+\cdots+100", "1+2+...+100"),
        ] {
            assert_eq!(symbols(one), symbols(two), "{one} {two}");
        }
    }

    #[test]
    fn articles_of_a_question_are_words() {
        assert_eq!(symbols_of_prose("Is a $2x$ a b?"), ["Is", "(a)", "2", "x", "(a)", "b", "?"]);
        assert_eq!(symbols_of_prose("Add 2a + a"), ["Add", "2", "a", "+", "a"]);
    }

    #[test]
    fn broken_layout_is_read_to_its_end() {
        for text in
            ["\\", "\\frac", "\\frac{", "}}}{{{", "((((", "))))", "\\\\\\", "^^{", "…\\left."]
        {
            assert!(symbols(text).len() <= text.len(), "{text}");
        }
    }
}
