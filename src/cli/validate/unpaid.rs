//! Why rows earn nothing: what their evidence says, and other settings by which they are right. One row that
//! earns something hides the rest from a mean, so these are told whatever the others earn.

use assay::Registry;
use assay::engine::Planned;
use assay::verifiers::{Built, Earlier, FaultKind, Lane, Meter, NoFiles, Outcome, Verdict};
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _,
};
use serde_json::{Map, Value};

use super::probe::is_full;
use super::read::Row;
use super::slips::which;
use super::trial::Tried;
use crate::cli::output::count;

/// Rows on which other settings are tried.
const ROWS_MAX: usize = 300;
/// One row in so many that earns nothing has the reason at least; fewer may be slips of the policy.
const SHARE: usize = 4;

/// A verifier, the one that may be meant, and its settings as TOML.
const ALTERNATIVES: [(&str, &str, &str); 22] = [
    ("exact", "exact", "ignore_case = true"),
    ("exact", "number", ""),
    ("exact", "choice", ""),
    ("exact", "math", ""),
    ("exact", "regex", "pattern = '<answer>\\s*(.*?)\\s*</answer>', group = \"1\""),
    ("exact", "contains", "whole_words = true"),
    ("number", "number", "decimal_comma = true"),
    ("number", "number", "percent_is_fraction = true"),
    ("number", "number", "relative = 0.01"),
    ("number", "choice", ""),
    ("number", "math", ""),
    ("math", "choice", ""),
    ("math", "number", "decimal_comma = true"),
    ("math", "number", "percent_is_fraction = true"),
    ("math", "exact", "ignore_case = true"),
    ("choice", "choice", "index_from = 1"),
    ("choice", "choice", "multiple = true"),
    ("choice", "choice", "letters = 26"),
    ("choice", "exact", "ignore_case = true"),
    ("choice", "number", ""),
    ("contains", "contains", "ignore_case = true"),
    ("contains", "math", ""),
];

/// Words of the evidence of a row that earns nothing, what is wrong, and what to do.
const SIGNS: [(&str, &str, &str); 3] = [
    (
        "No module named '",
        "the program imports what is not there",
        "programs have the standard library of Python alone: say so in the prompt, or leave out rows whose \
         solutions need more",
    ),
    (
        "the tests name what the program does not define",
        "the tests call a function that the program does not define",
        "the prompt must say what the function is called; \"entry_point\" of the reference names it for tests \
         that call `candidate`",
    ),
    (
        "\"no-program\"",
        "the completion holds no program in the language of the settings",
        "`language` names another; a program stands in a fenced block, or is the whole completion",
    ),
];

/// Why rows earn nothing.
pub(super) struct Unpaid {
    pub(super) message: String,
    pub(super) help: String,
}

/// Rows by what the verifier gave.
#[derive(Default)]
struct Earned<'a> {
    /// Full reward.
    paid: Vec<&'a Row>,
    /// Nothing, or a reference that cannot be read, with what is said of it.
    unpaid: Vec<(&'a Row, &'a Verdict)>,
}

/// Why rows earn nothing from the reward at `at`, whose settings these are; `None` where that is not known.
pub(super) fn why(
    rows: &[Tried<'_>],
    (at, planned): (usize, &Planned),
    settings: &Map<String, Value>,
    registry: &Registry,
) -> Option<Unpaid> {
    let Lane::Compute(_) = &planned.built.lane else { return None };
    let mut earned = Earned::default();
    for tried in rows {
        let Some(verdict) = tried.judged.get(at).and_then(Option::as_ref) else { continue };
        let is_unpaid = match &verdict.outcome {
            Outcome::Scored(reward) => reward.get() <= 0.0,
            Outcome::Failed(fault) => fault.kind == FaultKind::BadReference,
            Outcome::Abstained(_) => false,
        };
        if is_unpaid {
            earned.unpaid.push((tried.row, verdict));
        } else if is_full(verdict) {
            earned.paid.push(tried.row);
        }
    }
    let is_fast = !planned.built.slow;
    earned.sign().or_else(|| is_fast.then(|| earned.alternative(planned, settings, registry))?)
}

impl Earned<'_> {
    /// The sign that the evidence of many rows has.
    fn sign(&self) -> Option<Unpaid> {
        let text = |verdict: &Verdict| serde_json::to_string(&verdict.evidence).unwrap_or_default();
        let said: Vec<_> = self.unpaid.iter().map(|(row, verdict)| (row, text(verdict))).collect();
        SIGNS.iter().find_map(|(words, what, help)| {
            let mut with =
                said.iter().filter_map(|(row, text)| Some((row, text.split_once(words)?.1)));
            let (first, behind) = with.next()?;
            let amount = 1 + with.count();
            if !self.is_many(amount) {
                return None;
            }
            let name = behind.split('\'').next().filter(|_| words.ends_with('\''));
            let name = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
            let message = format!("{}: {what}{name}", which(amount, first.number));
            Some(Unpaid { message, help: (*help).to_owned() })
        })
    }

    /// Whether so many of the rows that earn nothing are more than slips of the policy.
    fn is_many(&self, amount: usize) -> bool {
        let (all, is_whole) = (self.unpaid.len(), self.paid.is_empty());
        amount > 0 && amount * SHARE >= all && (amount > 1 || is_whole && all == 1)
    }

    /// The settings, or the verifier, by which most of the rows are right that earn nothing, and that takes
    /// nothing from those that do.
    fn alternative(
        &self,
        planned: &Planned,
        settings: &Map<String, Value>,
        registry: &Registry,
    ) -> Option<Unpaid> {
        let own = planned.built.spec.id.as_ref();
        let mut best: Option<(usize, String)> = None;
        for (id, added) in self.alternatives(own, settings) {
            let Ok(added_settings) = toml::from_str::<Map<String, Value>>(&added) else { continue };
            let mut all = if id == own { settings.clone() } else { Map::new() };
            all.extend(added_settings);
            if id == own && all == *settings {
                continue;
            }
            let built = registry.build_alone(id, Value::Object(all), &NoFiles);
            let Some(Ok(Built { lane: Lane::Compute(verifier), slow: false, .. })) = built else {
                continue;
            };
            let is_right = |row: &Row| {
                let mut meter = Meter::new(planned.fuel);
                is_full(&verifier.verify(&row.sample, Earlier::default(), &mut meter))
            };
            let right = self.unpaid.par_iter().take(ROWS_MAX);
            let right = right.filter(|(row, _)| is_right(row)).count();
            let lost = self.paid.par_iter().take(ROWS_MAX).filter(|row| !is_right(row)).count();
            if lost * SHARE > right || !self.is_many(right) {
                continue;
            }
            if best.as_ref().is_none_or(|(most, _)| right > *most) {
                best = Some((right, typed(own, id, &added)));
            }
        }
        let (right, typed) = best?;
        let unpaid = self.unpaid.len();
        let (first, _) = self.unpaid.first()?;
        let right = if right == unpaid { "all".to_owned() } else { count(right as u64) };
        Some(Unpaid {
            message: format!(
                "{} earn nothing, and {right} of them are right with {typed}",
                which(unpaid, first.number)
            ),
            help: format!("{typed}, if such answers are right"),
        })
    }

    /// Verifiers and settings, as TOML, that may be meant.
    fn alternatives(
        &self,
        own: &str,
        settings: &Map<String, Value>,
    ) -> Vec<(&'static str, String)> {
        let known = ALTERNATIVES.iter().filter(|(of, ..)| *of == own);
        let mut all: Vec<(&'static str, String)> =
            known.map(|(_, id, added)| (*id, (*added).to_owned())).collect();
        if own == "tags"
            && let Some((first, _)) = self.unpaid.first()
        {
            let found = tags(first.sample.completion());
            all.extend(
                (!found.is_empty())
                    .then(|| ("tags", format!("tags = {}", toml::Value::from(found)))),
            );
        }
        if own == "regex"
            && let Some(pattern) = settings.get("pattern").and_then(Value::as_str)
        {
            let with =
                |flags| format!("pattern = {}", toml::Value::from(format!("({flags}){pattern}")));
            all.extend(["?s", "?i", "?si", "?m"].map(|flags| ("regex", with(flags))));
        }
        all
    }
}

/// The names of the tags that stand side by side in a text, in their order.
fn tags(text: &str) -> Vec<String> {
    /// More than anyone asks for.
    const TAGS_MAX: usize = 8;
    let (mut rest, mut names) = (text, Vec::new());
    while let Some((_, behind)) = rest.split_once('<').filter(|_| names.len() < TAGS_MAX) {
        rest = behind;
        let Some((name, inner)) = behind.split_once('>') else { break };
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if let Some((_, after)) = inner.split_once(&format!("</{name}>")).filter(|_| is_name) {
            names.push(name.to_owned());
            rest = after;
        }
    }
    names
}

/// What is written in the configuration.
fn typed(own: &str, id: &str, added: &str) -> String {
    let mut parts = Vec::new();
    if id != own {
        parts.push(format!("verifier = \"{id}\""));
    }
    if !added.is_empty() {
        parts.push(format!("config = {{ {added} }}"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_side_by_side() {
        for (text, names) in [
            ("<Think>a <b>c</b></Think>\n<Answer>1</Answer>", vec!["Think", "Answer"]),
            ("a</think><answer>1</answer>", vec!["answer"]),
            ("1 < 2 and <not closed", vec![]),
            ("<think>open", vec![]),
        ] {
            assert_eq!(tags(text), names, "{text}");
        }
    }
}
