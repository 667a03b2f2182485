//! Letters that an answer chose: the constants of a function, the parameters of a point.
//!
//! `f(x) = cx` and `f(x) = ax` name the same functions, `(t, 2t)` and `(k, 2k)` the same points. A
//! letter that the question uses is none of the answer's choosing.

use super::Stop;
use super::compare::{Comparer, Judged};
use super::echo::Question;
use super::poly::Ctx;
use super::value::{Named, Value};

/// The most letters that are exchanged.
const LETTERS_MAX: usize = 3;

impl Comparer<'_, '_, '_> {
    /// Equal as they are, or after the letters that only the answer has are called as those that
    /// only the reference has.
    pub(super) fn up_to_letters(
        &mut self,
        one: &Value,
        two: &Value,
        question: &Question<'_>,
    ) -> Result<Judged, Stop> {
        let judged = self.compare(one, two)?;
        if judged != Judged::Unequal {
            return Ok(judged);
        }
        let (mut want, mut have) = (Vec::new(), Vec::new());
        if !(self.ctx.letters(one, &mut want) && self.ctx.letters(two, &mut have)) {
            return Ok(Judged::Unequal);
        }
        let shared: Vec<String> = want.iter().filter(|name| have.contains(name)).cloned().collect();
        for names in [&mut want, &mut have] {
            names.retain(|name| !shared.contains(name));
        }
        if want.is_empty() || want.len() != have.len() || want.len() > LETTERS_MAX {
            return Ok(Judged::Unequal);
        }
        for name in want.iter().chain(&have) {
            if question.mentions(name, self.ctx.meter)? {
                return Ok(Judged::Unequal);
            }
        }
        self.exchanged(one, two, &want, &have)
    }

    /// Tries every way to call the letters `have` by the names `want`.
    fn exchanged(
        &mut self,
        one: &Value,
        two: &Value,
        want: &[String],
        have: &[String],
    ) -> Result<Judged, Stop> {
        let Some((to, rest)) = want.split_first() else { return self.compare(one, two) };
        for from in have {
            let Some(renamed) = self.ctx.with_letter(two, from, to)? else { break };
            let others: Vec<String> = have.iter().filter(|name| *name != from).cloned().collect();
            let judged = self.exchanged(one, &renamed, rest, &others)?;
            if matches!(judged, Judged::Equal(_)) {
                return Ok(judged);
            }
        }
        Ok(Judged::Unequal)
    }
}

impl Ctx<'_, '_> {
    /// Collects the letters of functions and points that may have another name. `false` where the
    /// value is of another kind, or all that it says is its letters.
    fn letters(&self, value: &Value, out: &mut Vec<String>) -> bool {
        match value {
            Value::List(items) | Value::Set(items) => {
                items.iter().all(|item| self.letters(item, out))
            }
            Value::Tuple { open: '(', close: ')', items } => {
                let mut own = Vec::new();
                for item in items {
                    let Value::Scalar(scalar) = item else { return false };
                    self.add_names(&scalar.canon, None, &mut own);
                }
                let says_more = own.len() < items.len();
                own.retain(|name| !out.contains(name));
                out.extend(own);
                says_more
            }
            Value::Named(named) if is_function(named) => {
                let Value::Scalar(scalar) = &named.value else { return false };
                self.add_names(&scalar.canon, named.parameter.as_deref(), out);
                true
            }
            Value::Named(named) if named.label.starts_with('(') => self.letters(&named.value, out),
            _ => false,
        }
    }

    fn add_names(&self, form: &super::poly::Canon, besides: Option<&str>, out: &mut Vec<String>) {
        for name in self.names_in(form) {
            if name.len() == 1 && besides != Some(name.as_str()) && !out.contains(&name) {
                out.push(name);
            }
        }
    }

    /// A function or points with one letter called by another name.
    fn with_letter(&mut self, value: &Value, from: &str, to: &str) -> Result<Option<Value>, Stop> {
        let renamed_items = |ctx: &mut Self, items: &[Value]| {
            let items = items.iter().map(|item| ctx.with_letter(item, from, to));
            items.collect::<Result<Option<Vec<_>>, _>>()
        };
        Ok(match value {
            Value::List(items) => renamed_items(self, items)?.map(Value::List),
            Value::Set(items) => renamed_items(self, items)?.map(Value::Set),
            Value::Tuple { open, close, items } => renamed_items(self, items)?
                .map(|items| Value::Tuple { open: *open, close: *close, items }),
            Value::Named(named) => {
                let inner = self.with_letter(&named.value, from, to)?;
                let named = |value| Named { value, equation: None, ..named.as_ref().clone() };
                inner.map(|value| Value::Named(Box::new(named(value))))
            }
            _ => self.renamed_value(value, from, to)?,
        })
    }
}

/// Whether a name is that of a function or of a sequence: `f(x)`, `a_n`.
fn is_function(named: &Named) -> bool {
    let index = named.label.split_once('_').map(|(_, index)| index);
    named.parameter.is_some()
        || index.is_some_and(|index| index.len() == 1 && index.starts_with(char::is_alphabetic))
}
