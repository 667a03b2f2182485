//! Rules of reasoning-gym for answers that are formulas, roles and assignments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::countdown::{self, Attempt, UseRules};
use crate::entry::{Judged, Marked, Puzzle};
use crate::expression::{ExactArithmetic, ExpressionStyle, Operator, compute};
use crate::number::{Ratio, count, integer};
use crate::polynomial;

/// The whole numbers of a text that are words.
fn runs(text: &str) -> Vec<i128> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c))
        .filter_map(|word| integer(word).filter(|_| !word.contains('_')))
        .collect()
}

const FOUR: &[Operator] =
    &[Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide];

/// The value of an answer as published, where it is right, and what is right.
fn reached(puzzle: &Puzzle<'_>, target: i64) -> Result<(Option<Ratio>, bool), String> {
    let numbers: Vec<Ratio> =
        puzzle.numbers("numbers")?.into_iter().map(|one| Ratio::whole(one.into())).collect();
    let allowed = UseRules { operators: FOUR, all: true };
    let own = countdown::judge(puzzle.answer, &numbers, Ratio::whole(target.into()), allowed);
    let value = compute(puzzle.answer, ExpressionStyle::Python, &mut ExactArithmetic::default());
    Ok((value, own == Attempt::Reached))
}

/// All given numbers and a target.
pub(super) fn countdown(puzzle: &Puzzle<'_>) -> Judged {
    let target = puzzle.number("target")?;
    let (value, right) = reached(puzzle, target)?;
    let Some(value) = value else { return Ok(Marked { published: 0.01, right }) };
    let mut used = runs(puzzle.answer);
    let mut given: Vec<i128> = puzzle.numbers("numbers")?.into_iter().map(i128::from).collect();
    used.sort_unstable();
    given.sort_unstable();
    let wanted = Ratio::whole(target.into()).float();
    let near = (value.float() - wanted).abs() <= 1e-6 + 1e-5 * wanted.abs();
    Ok(Marked { published: if used == given && near { 1.0 } else { 0.05 }, right })
}

/// The game of 24. Published: any four numbers from 1 to 10, and a value from 24 to below 25.
pub(super) fn twenty_four(puzzle: &Puzzle<'_>) -> Judged {
    let (value, right) = reached(puzzle, 24)?;
    let used = runs(puzzle.answer);
    let top = puzzle.list("difficulty.value").ok().and_then(|range| range.get(1)?.as_i64());
    let range = 1..=i128::from(top.unwrap_or(10));
    let lucky = used.len() == 4
        && used.iter().all(|one| range.contains(one))
        && value.is_some_and(|value| value.truncated() == 24);
    Ok(Marked { published: if lucky { 1.0 } else { 0.01 }, right })
}

/// An antiderivative of a polynomial.
pub(super) fn integral(puzzle: &Puzzle<'_>) -> Judged {
    let (variable, integrand) = (puzzle.text("variable")?, puzzle.text("integrand")?);
    let found = polynomial::is_antiderivative(puzzle.answer, integrand, variable);
    Ok(Marked::exact(found.ok_or("`integrand` of the metadata is not a polynomial")?))
}

/// An expanded product of polynomials.
pub(super) fn product(puzzle: &Puzzle<'_>) -> Judged {
    let answer = puzzle.answer.trim();
    let inner = answer.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let is_expanded = !inner.unwrap_or(answer).contains('(');
    let found = polynomial::is_equal(answer, &puzzle.gold()?);
    let found = found.ok_or("the reference is not a polynomial")?;
    Ok(Marked::exact(found && is_expanded))
}

/// Colours of vertices.
pub(super) fn coloring(puzzle: &Puzzle<'_>) -> Judged {
    let vertices = puzzle.list("puzzle.vertices")?;
    let (edges, colors) = (puzzle.list("puzzle.edges")?, puzzle.list("puzzle.color_options")?);
    let Ok(answer) = serde_json::from_str::<Value>(puzzle.answer) else {
        return Ok(Marked::wrong(0.0));
    };
    let Some(map) = answer.as_object() else {
        // In Python a number raises an error when it is asked for a vertex, a list does not.
        let holds =
            answer.is_array() || answer.is_string() && vertices.iter().all(Value::is_string);
        return Ok(Marked::wrong(if holds { 0.01 } else { 0.0 }));
    };
    let color = |vertex: &Value| match vertex {
        Value::String(name) => map.get(name),
        vertex => map.get(&vertex.to_string()),
    };
    let is_colored =
        vertices.iter().all(|vertex| color(vertex).is_some_and(|own| colors.contains(own)));
    let differ = |edge: &Value| match edge.as_array().map(Vec::as_slice) {
        Some([one, two]) => Ok(color(one) != color(two)),
        _ => Err("an edge of the metadata is not two vertices"),
    };
    let proper: Result<Vec<bool>, _> = edges.iter().map(differ).collect();
    Ok(Marked::floor(is_colored && proper?.into_iter().all(|differ| differ), 0.01))
}

/// The words for knights and knaves.
const ROLES: &str = " altruist angel devil egoist fool hero knave knight laggard pioneer sage saint sinner villain ";

/// Who is what. Some right roles among all names earn a share.
pub(super) fn roles(puzzle: &Puzzle<'_>) -> Judged {
    let gold = roles_of(&puzzle.gold()?);
    if gold.is_empty() {
        return Err("the reference names no roles".to_owned());
    }
    let own = roles_of(puzzle.answer);
    let hits = own.intersection(&gold).count();
    let share = if own.len() == gold.len() && hits > 0 {
        0.3 + 0.7 * count(hits) / count(gold.len())
    } else {
        0.0
    };
    Ok(Marked { published: share, right: own == gold })
}

fn roles_of(text: &str) -> BTreeSet<(String, String)> {
    let text = text.to_lowercase().replace(['.', ',', '(', ')'], " ").replace(" and ", " ");
    let (mut roles, mut name) = (BTreeSet::new(), None);
    for word in text.split_whitespace().filter(|word| !matches!(*word, "is" | "a" | "an")) {
        if !ROLES.contains(&format!(" {word} ")) {
            name = Some(word);
        } else if let Some(name) = name.take() {
            roles.insert((name.to_owned(), word.to_owned()));
        }
    }
    roles
}

/// Digits for letters, so that a sum holds.
pub(super) fn cryptarithm(puzzle: &Puzzle<'_>) -> Judged {
    let (words, result) = (puzzle.texts("words_letters")?, puzzle.text("result_letters")?);
    let zero = puzzle.part("allow_leading_zero").ok().and_then(Value::as_bool) == Some(true);
    let mut digits: BTreeMap<&str, i128> = BTreeMap::new();
    for pair in puzzle.answer.split(',') {
        let mut parts = pair.trim().split('=');
        let (letter, digit, rest) = (parts.next(), parts.next(), parts.next());
        let Some((letter, digit)) = letter.zip(digit.and_then(integer)).filter(|_| rest.is_none())
        else {
            return Ok(Marked::wrong(0.0));
        };
        digits.insert(letter.trim(), digit);
    }
    let own: BTreeSet<&str> = digits.keys().copied().collect();
    let all = words.iter().copied().chain([result]);
    let letters: BTreeSet<&str> = all
        .clone()
        .flat_map(|word| word.char_indices().map(|(at, c)| &word[at..at + c.len_utf8()]))
        .collect();
    let different: BTreeSet<i128> = digits.values().copied().collect();
    let sound = own == letters
        && different.iter().all(|digit| (0..=9).contains(digit))
        && different.len() == digits.len();
    let value = |word: &str| {
        word.chars().try_fold(0_i128, |value, letter| {
            value.checked_mul(10)?.checked_add(*digits.get(letter.to_string().as_str())?)
        })
    };
    let leads = |word: &str| {
        word.chars().next().is_some_and(|first| digits.get(first.to_string().as_str()) == Some(&0))
    };
    let sum = words.iter().try_fold(0_i128, |sum, word| sum.checked_add(value(word)?));
    let right = sound && (zero || !all.clone().any(leads)) && sum.is_some() && sum == value(result);
    Ok(Marked::floor(right, 0.01))
}

/// A formula of propositional logic. A leaf is whatever text is left.
enum Formula {
    Leaf(String),
    Not(Box<Self>),
    Two(char, Box<Self>, Box<Self>),
}

/// How deep formulas nest, how long they are, and how many names they have.
const DEPTH_MAX: usize = 64;
const LENGTH_MAX: usize = 2000;
const NAMES_MAX: usize = 10;

/// The published grammar: the last operator of the lowest rank splits, whatever the rank of others.
fn formula(text: &str, depth: usize) -> Option<Formula> {
    let text = text.trim();
    if text.is_empty() || depth > DEPTH_MAX {
        return None;
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let mut level = 0_i32;
        let closes = inner.chars().any(|c| {
            level += i32::from(c == '(') - i32::from(c == ')');
            level < 0
        });
        if level == 0 && !closes {
            return formula(inner, depth + 1);
        }
    }
    for operator in ['↔', '→', '∨', '∧'] {
        let mut level = 0_i32;
        for (at, c) in text.char_indices().rev() {
            level += i32::from(c == ')') - i32::from(c == '(');
            if level == 0 && c == operator {
                let left = formula(&text[..at], depth + 1)?;
                let right = formula(&text[at + c.len_utf8()..], depth + 1)?;
                return Some(Formula::Two(operator, Box::new(left), Box::new(right)));
            }
        }
    }
    match text.strip_prefix('¬') {
        Some(inner) => Some(Formula::Not(Box::new(formula(inner, depth + 1)?))),
        None => Some(Formula::Leaf(text.to_owned())),
    }
}

impl Formula {
    fn names<'f>(&'f self, into: &mut BTreeSet<&'f str>) {
        match self {
            Self::Leaf(name) => {
                into.insert(name);
            }
            Self::Not(inner) => inner.names(into),
            Self::Two(_, left, right) => {
                left.names(into);
                right.names(into);
            }
        }
    }

    fn holds(&self, names: &[&str], bits: u32) -> bool {
        match self {
            Self::Leaf(name) => {
                names.iter().position(|own| own == name).is_some_and(|at| bits >> at & 1 == 1)
            }
            Self::Not(inner) => !inner.holds(names, bits),
            Self::Two(operator, left, right) => {
                let (left, right) = (left.holds(names, bits), right.holds(names, bits));
                match operator {
                    '∧' => left && right,
                    '∨' => left || right,
                    '→' => !left || right,
                    _ => left == right,
                }
            }
        }
    }
}

/// A conclusion that follows from premises and says more than a name or a tautology.
pub(super) fn conclusion(puzzle: &Puzzle<'_>) -> Judged {
    let known = puzzle.texts("variables")?;
    let premises: Option<Vec<Formula>> =
        puzzle.texts("premises")?.into_iter().map(|text| formula(text, 0)).collect();
    let premises = premises.ok_or("a premise of the metadata is not a formula")?;
    let capital = |c: &char| c.is_ascii_uppercase();
    let is_known = |c: char| known.contains(&c.to_string().as_str());
    if !puzzle.answer.chars().filter(capital).all(is_known) || puzzle.answer.len() > LENGTH_MAX {
        return Ok(Marked::wrong(0.0));
    }
    let Some(own) = formula(puzzle.answer, 0) else { return Ok(Marked::wrong(0.0)) };
    let (mut names, mut leaves) = (BTreeSet::new(), BTreeSet::new());
    own.names(&mut leaves);
    for premise in &premises {
        premise.names(&mut names);
    }
    names.extend(leaves.iter().copied());
    if names.len() > NAMES_MAX {
        return Ok(Marked::wrong(0.0));
    }
    let names: Vec<&str> = names.into_iter().collect();
    let mut all = 0..1_u32 << names.len();
    let follows = all.clone().all(|bits| {
        own.holds(&names, bits) || !premises.iter().all(|premise| premise.holds(&names, bits))
    });
    let trivial = matches!(own, Formula::Leaf(_)) || all.all(|bits| own.holds(&names, bits));
    let published = match (follows, trivial) {
        (false, _) => 0.05,
        (true, true) => 0.25,
        (true, false) => 1.0,
    };
    let sound = leaves.iter().all(|leaf| known.contains(leaf));
    Ok(Marked { published, right: follows && !trivial && sound })
}
