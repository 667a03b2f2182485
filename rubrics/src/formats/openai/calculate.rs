//! `calculate_output`: arithmetic over graders, written as an expression of ours.
//!
//! The operators are `+ - * / ^`, of which `^` raises to a power, binds more than a sign before it,
//! and groups from the right; the functions are min, max, abs, floor, ceil, exp, sqrt and log (the
//! natural one). Whatever else a formula holds is refused. Every number is written with a point, so
//! that no division drops a fraction.

use std::iter::Peekable;
use std::str::CharIndices;

use assay_verifiers::script::Script;

/// The deepest nesting of a formula.
const DEPTH_MAX: usize = 24;
/// The longest formula, in bytes.
const BYTES_MAX: usize = 4096;

/// A grader by the name that the formula has for it, and what it is in ours.
pub(super) struct Variable {
    pub(super) key: String,
    pub(super) source: String,
}

/// The name of a criterion that an expression can say.
pub(super) fn variable(key: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = key.chars().map(sign).collect();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name != "value";
    if is_word && Script::expression(&name).is_ok() { name } else { format!("g_{name}") }
}

/// The formula as an expression of ours.
pub(super) fn calculation(formula: &str, variables: &[Variable]) -> Result<String, String> {
    if formula.len() > BYTES_MAX {
        return Err(format!("the formula is longer than {BYTES_MAX} bytes"));
    }
    let mut parser = Parser { signs: formula.char_indices().peekable(), formula, variables };
    let source = parser.sum(0)?;
    match parser.next_sign() {
        None => Ok(source),
        Some(sign) => Err(parser.unexpected(sign)),
    }
}

struct Parser<'a> {
    signs: Peekable<CharIndices<'a>>,
    formula: &'a str,
    variables: &'a [Variable],
}

impl Parser<'_> {
    /// The next sign that is not a space, without taking it.
    fn next_sign(&mut self) -> Option<char> {
        while self.signs.next_if(|(_, sign)| sign.is_whitespace()).is_some() {}
        self.signs.peek().map(|(_, sign)| *sign)
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.next_sign() == Some(wanted) && self.signs.next().is_some()
    }

    fn needs(&mut self, wanted: char) -> Result<(), String> {
        if self.takes(wanted) {
            return Ok(());
        }
        let found = self.next_sign().map_or("the end".to_owned(), |sign| format!("`{sign}`"));
        Err(format!("expected `{wanted}`, found {found} in \"{}\"", self.formula))
    }

    fn unexpected(&self, sign: char) -> String {
        format!("`{sign}` is not expected there in \"{}\"", self.formula)
    }

    fn sum(&mut self, depth: usize) -> Result<String, String> {
        if depth > DEPTH_MAX {
            return Err(format!("the formula nests deeper than {DEPTH_MAX}"));
        }
        let mut left = self.product(depth)?;
        loop {
            let Some(sign @ ('+' | '-')) = self.next_sign() else { return Ok(left) };
            self.signs.next();
            let right = self.product(depth)?;
            left = format!("({left} {sign} {right})");
        }
    }

    fn product(&mut self, depth: usize) -> Result<String, String> {
        let mut left = self.signed(depth)?;
        loop {
            let Some(sign @ ('*' | '/')) = self.next_sign() else { return Ok(left) };
            self.signs.next();
            let right = self.signed(depth)?;
            left = format!("({left} {sign} {right})");
        }
    }

    fn signed(&mut self, depth: usize) -> Result<String, String> {
        let mut negative = false;
        while let Some(sign @ ('+' | '-')) = self.next_sign() {
            self.signs.next();
            negative ^= sign == '-';
        }
        let power = self.power(depth)?;
        Ok(if negative { format!("(0.0 - {power})") } else { power })
    }

    fn power(&mut self, depth: usize) -> Result<String, String> {
        let base = self.atom(depth)?;
        if !self.takes('^') {
            return Ok(base);
        }
        if depth > DEPTH_MAX {
            return Err(format!("the formula nests deeper than {DEPTH_MAX}"));
        }
        let exponent = self.signed(depth + 1)?;
        Ok(format!("({base} ** {exponent})"))
    }

    fn atom(&mut self, depth: usize) -> Result<String, String> {
        match self.next_sign() {
            Some('(') => {
                self.signs.next();
                let inner = self.sum(depth + 1)?;
                self.needs(')')?;
                Ok(inner)
            }
            Some(sign) if sign.is_ascii_digit() || sign == '.' => self.number(),
            Some(sign) if sign.is_alphabetic() || sign == '_' => self.word(depth),
            Some(sign) => Err(self.unexpected(sign)),
            None => Err(format!("\"{}\" ends too early", self.formula)),
        }
    }

    fn number(&mut self) -> Result<String, String> {
        let mut text = self.run(|sign| sign.is_ascii_digit() || sign == '.');
        if let Some((_, sign)) = self.signs.next_if(|(_, sign)| ['e', 'E'].contains(sign)) {
            text.push(sign);
            if let Some((_, sign)) = self.signs.next_if(|(_, sign)| ['+', '-'].contains(sign)) {
                text.push(sign);
            }
            text.push_str(&self.run(|sign| sign.is_ascii_digit()));
        }
        let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| format!("\"{text}\" is not a number"))?;
        let written = format!("{number}");
        Ok(if written.contains('.') { written } else { format!("{written}.0") })
    }

    fn run(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some((_, sign)) = self.signs.next_if(|(_, sign)| wanted(*sign)) {
            text.push(sign);
        }
        text
    }

    /// A grader, or a function of one.
    fn word(&mut self, depth: usize) -> Result<String, String> {
        let word = self.run(|sign| sign.is_alphanumeric() || sign == '_');
        if self.next_sign() == Some('(') {
            return self.call(&word, depth);
        }
        let found = self.variables.iter().find(|variable| variable.key == word);
        found.map(|variable| variable.source.clone()).ok_or_else(|| {
            let keys: Vec<&str> = self.variables.iter().map(|one| one.key.as_str()).collect();
            format!("no grader is called \"{word}\"; has: {}", keys.join(", "))
        })
    }

    fn call(&mut self, word: &str, depth: usize) -> Result<String, String> {
        let mut given = Vec::new();
        self.needs('(')?;
        loop {
            given.push(self.sum(depth + 1)?);
            if !self.takes(',') {
                break;
            }
        }
        self.needs(')')?;
        let ours = match word {
            "min" | "max" if given.len() > 1 => {
                let pair = |a: String, b: String| format!("{word}({a}, {b})");
                return given.into_iter().reduce(pair).ok_or_else(String::new);
            }
            "abs" | "floor" | "exp" | "sqrt" => word,
            "ceil" => "ceiling",
            "log" => "ln",
            _ => "",
        };
        match given.as_slice() {
            [one] if !ours.is_empty() => Ok(format!("{ours}({one})")),
            _ => Err(format!("`{word}` of {} numbers is not known", given.len())),
        }
    }
}
