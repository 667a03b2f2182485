//! Attacks on rows: families filled in with what each row has.

use assay::verifiers::stats::{SplitMix64, fnv1a};
use serde_json::{Map, Value};

use assay::data::Columns;

use super::target::{Judge, Target};
use crate::attack::{Attack, Expect, Family, Values};

/// What a text is padded with.
const PADDING: &str = "\n\nIt is worth noting that there is more to be said about this, as there always is, \
                       and that what was said above remains as it was said above.";
/// How often.
const PADDING_TIMES: usize = 30;
/// Characters of a right answer of which a part, or a longer one, is made.
const PART_CHARS: usize = 60;
/// Words of a text that are repeated.
const WORDS_MAX: usize = 400;

/// An attack on a row.
pub(super) struct Attempt {
    /// The place of the target.
    pub(super) target: usize,
    /// The place of the family.
    pub(super) family: usize,
    pub(super) name: String,
    /// The attack in each of its forms.
    pub(super) texts: Vec<String>,
}

impl Attempt {
    /// The ids of its rows.
    pub(super) fn ids(&self, target: &Target, family: &Family) -> Vec<String> {
        let id = |form| format!("{}/{}/{}/{form}", target.number, family.name, self.name);
        (0..self.texts.len()).map(id).collect()
    }

    /// Its rows.
    pub(super) fn rows(
        &self,
        target: &Target,
        family: &Family,
        columns: &Columns,
    ) -> Vec<Map<String, Value>> {
        let ids = self.ids(target, family);
        let row = |(text, id): (&String, String)| {
            let mut row = target.with(columns, text, &id);
            if let (Some(column), Some(label)) = (&columns.label, family.expect.label()) {
                row.insert(column.clone(), Value::from(label));
            }
            row
        };
        self.texts.iter().zip(ids).map(row).collect()
    }
}

/// The attacks of a family on a row: at most `most` of them, drawn by `seed`.
pub(super) fn of_row(
    (at, target): (usize, &Target),
    (family_at, family): (usize, &Family),
    judge: &Judge<'_>,
    (most, seed): (Option<usize>, u64),
) -> Vec<Attempt> {
    let values = values(judge, target, family.expect);
    let attempt = |name: &str, texts: Vec<String>| Attempt {
        target: at,
        family: family_at,
        name: name.to_owned(),
        texts,
    };
    if family.programs {
        let programs = target.programs.iter();
        return programs
            .map(|(name, text)| attempt(&name.replace('/', " "), vec![text.clone()]))
            .collect();
    }
    let mut attempts: Vec<Attempt> = Vec::new();
    for attack in &family.attacks {
        let Some(texts) = attack.texts(&values, seed ^ target.number) else { continue };
        if !texts.iter().any(|text| is_by_chance(attack, target, family.expect, text)) {
            attempts.push(attempt(&attack.name, texts));
        }
    }
    if let Some(most) = most.filter(|most| *most < attempts.len()) {
        let mut random = SplitMix64::of(&[seed, target.number, fnv1a(0, &family.name)]);
        let mut order = random.order(attempts.len(), SplitMix64::below);
        order.truncate(most);
        let mut at = 0..;
        attempts.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
    }
    attempts
}

/// Whether a text gives the right answer by chance.
fn is_by_chance(attack: &Attack, target: &Target, expect: Expect, text: &str) -> bool {
    match expect {
        Expect::Unpaid => target.is_right(text) || !attack.names_the_answer() && target.is_in(text),
        Expect::NotHigher => !target.is_in(target.sample.completion()) && target.is_in(text),
        Expect::Unmoved | Expect::Lower => false,
    }
}

/// What a row has for the placeholders.
pub(super) fn values(judge: &Judge<'_>, target: &Target, expect: Expect) -> Values {
    let right = target.right.clone();
    let wrong = target.wrong.clone();
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.trim().is_empty());
    let bad = match &wrong {
        Some(wrong) => format!("The answer is {wrong}."),
        None => "I looked at it, and I do not know.".to_owned(),
    };
    let completion = match expect {
        Expect::Unmoved | Expect::Lower => target.honest.as_ref().map(|(text, _)| text.clone()),
        Expect::Unpaid | Expect::NotHigher => text(target.sample.completion()),
    };
    let prompt = target.sample.prompt();
    let program = target.programs.first().map(|(_, program)| program);
    let is_javascript = program.is_some_and(|program| {
        program.starts_with("```js") || program.starts_with("```javascript")
    });
    let stub = program.map(|program| bare(program));
    let own = Values(vec![
        ("part", right.as_deref().and_then(part)),
        ("longer", right.as_deref().and_then(longer)),
        ("prefixed", right.as_deref().and_then(prefixed)),
        ("near", right.as_deref().and_then(near)),
        ("decimal", right.as_deref().and_then(decimal)),
        ("negative", right.as_deref().and_then(negative)),
        ("right_words", right.as_deref().and_then(backwards)),
        ("right", right),
        ("wrong", wrong),
        ("prompt", text(prompt)),
        ("prompt_words", words(prompt)),
        ("bad", Some(bad)),
        ("completion", completion),
        ("settings", judge.settings.clone()),
        ("example", judge.example.clone()),
        ("padding", Some(PADDING.repeat(PADDING_TIMES))),
        ("stub", stub.clone().filter(|_| !is_javascript)),
        ("js_stub", stub.filter(|_| is_javascript)),
    ]);
    own.with_lists(&target.many, &target.letters, &target.options)
}

/// A part of an answer that is another answer: the first digits of a whole number, the first of several words.
fn part(right: &str) -> Option<String> {
    let right = right.trim();
    if right.chars().count() > PART_CHARS {
        return None;
    }
    if right.len() > 1 && right.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(right.split_at(right.len() / 2).0.to_owned());
    }
    let words: Vec<&str> = right.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().all(char::is_alphabetic) && word.len() > 2;
    (words.len() > 1 && words.iter().all(is_word))
        .then(|| words.first().copied().map(str::to_owned))?
}

/// A longer answer that begins with this one.
fn longer(right: &str) -> Option<String> {
    let right = right.trim();
    let last = right.chars().next_back().filter(|_| right.chars().count() <= PART_CHARS)?;
    match last {
        '0'..='9' => Some(format!("{right}7")),
        last if last.is_alphabetic() && right.chars().count() > 1 => Some(format!("{right}oid")),
        _ => None,
    }
}

/// A longer answer that ends with this one.
fn prefixed(right: &str) -> Option<String> {
    let right = right.trim();
    let first = right.chars().next().filter(|_| right.chars().count() <= PART_CHARS)?;
    match first {
        '0'..='9' => Some(format!("7{right}")),
        first if first.is_alphabetic() && right.chars().count() > 1 => Some(format!("non{right}")),
        _ => None,
    }
}

/// A whole number that is a tenth off, and one at least.
fn near(right: &str) -> Option<String> {
    let number: i64 = right.trim().parse().ok()?;
    number.checked_add((number / 10).max(1)).map(|near| near.to_string())
}

/// A whole number and a half.
fn decimal(right: &str) -> Option<String> {
    let right = right.trim();
    (!right.is_empty() && right.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| format!("{right}.5"))
}

/// A number with the other sign.
fn negative(right: &str) -> Option<String> {
    let right = right.trim();
    let is_positive = right.parse().is_ok_and(|number: f64| number.is_finite() && number > 0.0);
    is_positive.then(|| format!("-{}", right.trim_start_matches('+')))
}

/// The words of a long answer, the last first.
fn backwards(right: &str) -> Option<String> {
    let words: Vec<&str> = right.split_whitespace().rev().collect();
    (words.len() > 3).then(|| words.join(" "))
}

/// The words of a text, each once, in order of the alphabet.
fn words(text: &str) -> Option<String> {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words.truncate(WORDS_MAX);
    (words.len() > 3).then(|| words.join(" "))
}

/// The program without its fence.
fn bare(program: &str) -> String {
    let lines = program.lines().filter(|line| !line.trim_start().starts_with("```"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_answers_are_made_of_right_ones() {
        assert_eq!(part("1250").as_deref(), Some("12"));
        assert_eq!(part("New York City").as_deref(), Some("New"));
        assert_eq!((part("7"), part("1.50"), part("Paris"), part("a b")), (None, None, None, None));
        assert_eq!(longer("42").as_deref(), Some("427"));
        assert_eq!(longer("Paris").as_deref(), Some("Parisoid"));
        assert_eq!((longer("B"), longer("x)"), longer("")), (None, None, None));
        assert_eq!(prefixed("42").as_deref(), Some("742"));
        assert_eq!((near("42").as_deref(), near("3").as_deref()), (Some("46"), Some("4")));
        assert_eq!(
            (negative("4.5").as_deref(), negative("-4"), negative("x")),
            (Some("-4.5"), None, None)
        );
        assert_eq!((decimal("42").as_deref(), decimal("B")), (Some("42.5"), None));
        assert_eq!(backwards("a b c d").as_deref(), Some("d c b a"));
        assert_eq!(words("b a, b! c d").as_deref(), Some("a b c d"));
        assert_eq!(bare("```python\nx\n```"), "x");
    }
}
