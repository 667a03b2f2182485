//! How much of a text is in a language, or in a script.

use crate::detect::{grams, likely};
use crate::py::{self, Class};

/// Lines are joined until they have so many letters: fewer tell little of a language.
const LETTERS: usize = 100;

/// The share of the letters of a text that are in a language, from 0 to 1; `None` where no letters tell.
///
/// The text is told apart by lines, of which short ones are joined. Each part counts by its letters,
/// times the probability of the language. A code without a region stands for all of its regions: `zh`.
/// `pay` is called with the cost of each step of the work before it is done, or soon after.
///
/// # Errors
///
/// What `pay` says.
pub fn language_share<E>(
    text: &str,
    code: &str,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Option<f64>, E> {
    let (mut all, mut own) = (0.0, 0.0);
    for part in parts(text) {
        pay(20 * part.len() as u64)?;
        let Some(found) = likely(&grams(part), pay)? else { continue };
        let letters = letters(part);
        let is_own = |found: &str| {
            let tail = found.strip_prefix(code);
            tail.is_some_and(|tail| tail.is_empty() || tail.starts_with('-'))
        };
        let share: f64 =
            found.iter().filter(|(found, _)| is_own(found)).map(|(_, share)| share).sum();
        all += letters;
        own += letters * share.min(1.0);
    }
    Ok((all > 0.0).then(|| own / all))
}

/// Lines, joined until they have enough letters; what is left at the end belongs to the last part.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut end, mut count) = (Vec::new(), 0, 0, 0);
    for line in text.split_inclusive('\n') {
        end += line.len();
        count += line.chars().filter(|c| py::is_alphabetic(*c)).count();
        if count >= LETTERS {
            parts.push((start, end));
            (start, count) = (end, 0);
        }
    }
    match parts.last_mut() {
        Some(last) => last.1 = end,
        None => parts.push((start, end)),
    }
    parts.into_iter().map(|(start, end)| &text[start..end]).collect()
}

#[expect(clippy::cast_precision_loss, reason = "letters of a text are far below 2^53")]
fn letters(text: &str) -> f64 {
    text.chars().filter(|&c| py::is_alphabetic(c)).count() as f64
}

/// Letters of some scripts.
pub struct Alphabet(Vec<Class>);

impl Alphabet {
    /// The letters of scripts by their names in Unicode: `Latin`, `Cyrillic`, `Han`.
    ///
    /// # Errors
    ///
    /// The name of a script that there is not.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Alphabet, &'n str> {
        let class = |name: &'n str| {
            let is_name = name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            let class = is_name.then(|| Class::read(&format!(r"\p{{Script={name}}}"))).flatten();
            class.ok_or(name)
        };
        names.into_iter().map(class).collect::<Result<_, _>>().map(Alphabet)
    }

    /// The share of the letters of a text that are of these scripts; `None` where it has no letters.
    /// Linear in the text.
    pub fn share(&self, text: &str) -> Option<f64> {
        let is_own = |c: char| self.0.iter().any(|class| class.has(c));
        let own: String = text.chars().filter(|&c| py::is_alphabetic(c) && is_own(c)).collect();
        let all = letters(text);
        (all > 0.0).then(|| letters(&own) / all)
    }
}

impl std::fmt::Debug for Alphabet {
    fn fmt(&self, form: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(form, "Alphabet of {} scripts", self.0.len())
    }
}
