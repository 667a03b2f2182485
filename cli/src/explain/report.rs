//! The report on one row, as text and as JSON.

use std::ops::Range;

use assay::Plan;
use assay::engine::Planned;
use assay::verifiers::formula;
use assay::verifiers::recipe::{self, RecipePlace};
use assay::verifiers::{Component, Sample, Scored, Verdict};
use serde::Serialize;
use serde_json::Value;

use super::find::Found;
use crate::text::{Cut, Marks, excerpt, inline};
use crate::verdict;

/// The formula of these settings: their own, or that of the recipe that `key` names.
fn source<'a>(settings: &'a Value, key: &str, place: RecipePlace) -> Option<&'a str> {
    let own = settings.get("formula").and_then(Value::as_str);
    own.or_else(|| recipe::find_in(place, settings.get(key)?.as_str()?)?.formula.as_deref())
}

/// A row and all that is known of it.
pub(super) struct Explained<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sample: &'a Sample,
    pub(super) scored: &'a Scored,
    pub(super) kept: &'a [&'static str],
    pub(super) found: &'a Found,
    /// The training step.
    pub(super) step: u64,
}

#[derive(Serialize)]
pub(super) struct Json<'a> {
    id: &'a str,
    row: u64,
    place: String,
    rows_with_this_id: u64,
    prompt: &'a str,
    completion: &'a str,
    reference: Option<&'a Value>,
    rewards: Vec<JsonReward<'a>>,
    combination: String,
    #[serde(flatten)]
    total: Component,
}

#[derive(Serialize)]
struct JsonReward<'a> {
    name: &'a str,
    verifier: &'a str,
    version: u32,
    weight: f64,
    gate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'a str>,
    spent_us: u64,
    cache: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

/// One reward and its verdict.
struct Part<'a> {
    at: usize,
    planned: &'a Planned,
    verdict: &'a Verdict,
    spent_ns: u64,
    kept: &'static str,
}

impl<'a> Explained<'a> {
    pub(super) fn json(&self) -> Json<'a> {
        let reward = |part: Part<'a>| JsonReward {
            name: &part.planned.name,
            verifier: &part.planned.built.spec.id,
            version: part.planned.built.spec.version,
            weight: part.planned.weight.at(self.step),
            gate: self.plan.gates.contains(&part.at),
            when: self.when(part.at),
            spent_us: part.spent_ns.div_ceil(1000),
            cache: part.kept,
            verdict: part.verdict,
        };
        Json {
            id: self.sample.id(),
            row: self.found.row.index + 1,
            place: self.found.row.place.to_string(),
            rows_with_this_id: self.found.shared,
            prompt: self.sample.prompt(),
            completion: self.sample.completion(),
            reference: self.sample.reference(),
            rewards: self.parts().map(reward).collect(),
            combination: self.combination(),
            total: self.scored.outcome.clone().into(),
        }
    }

    pub(super) fn text(&self, cut: Cut) -> String {
        let marks = Marks::of_stdout();
        let spans: Vec<Range<usize>> =
            self.verdicts().iter().filter_map(|v| verdict::span(&v.evidence)).collect();
        let mut text = format!(
            "{}  row {}, {}\n",
            inline(self.sample.id()),
            self.found.row.index + 1,
            self.found.row.place
        );
        if !self.sample.prompt().is_empty() {
            text.push_str("\nprompt\n");
            text.push_str(&excerpt(self.sample.prompt(), &[], marks, cut));
        }
        text.push_str("\ncompletion\n");
        text.push_str(&excerpt(self.sample.completion(), &spans, marks, cut));
        let reference = self.sample.reference_text();
        let reference = reference.map_or_else(|| "none".to_owned(), |text| inline(&text));
        text.push_str(&format!("\nreference  {reference}\n"));
        for part in self.parts() {
            text.push_str(&self.part(&part));
        }
        text.push_str(&format!("\ntotal  {}\n", verdict::outcome(&self.scored.outcome)));
        text.push_str(&format!("  {}\n", self.combination()));
        text
    }

    fn parts(&self) -> impl Iterator<Item = Part<'a>> {
        let verdicts = self.verdicts().iter().zip(&self.scored.spent_ns).zip(self.kept);
        let rewards = self.plan.rewards.iter().enumerate().zip(verdicts);
        rewards.map(|((at, planned), ((verdict, spent_ns), kept))| Part {
            at,
            planned,
            verdict,
            spent_ns: *spent_ns,
            kept,
        })
    }

    fn part(&self, part: &Part<'_>) -> String {
        let spec = &part.planned.built.spec;
        let gate = if self.plan.gates.contains(&part.at) { ", gate" } else { "" };
        let head = format!(
            "\n{}  {} v{}, weight {}{gate}\n",
            inline(&part.planned.name),
            spec.id,
            spec.version,
            part.planned.weight.at(self.step)
        );
        let mut notes = Vec::new();
        if let Some(when) = self.when(part.at) {
            notes.push(("when".to_owned(), inline(when)));
        }
        notes.push(("outcome".to_owned(), verdict::outcome(&part.verdict.outcome)));
        notes.extend(verdict::notes(part.verdict, self.sample.completion()));
        notes.extend(self.formulas(part).map(|shown| ("formula".to_owned(), inline(&shown))));
        notes.push(("time".to_owned(), format!("{} us", part.spent_ns.div_ceil(1000))));
        if part.kept != "off" {
            notes.push(("cache".to_owned(), part.kept.to_owned()));
        }
        format!("{head}{}", verdict::columns(&notes, "  "))
    }

    /// The formulas by which a verdict came to its reward, with the numbers put in.
    fn formulas(&self, part: &Part<'a>) -> impl Iterator<Item = String> {
        let evidence = &part.verdict.evidence;
        let shaping = evidence.get("shaping").and_then(Value::as_array).into_iter().flatten();
        let shapes = part.planned.shapes.iter().map(|shape| &shape.settings).zip(shaping);
        let of_shapes = shapes.filter_map(|(settings, note)| {
            let place = RecipePlace::Shape;
            Some(self.with_numbers(source(settings, "kind", place)?, settings, note))
        });
        let none = Value::Null;
        let config = &part.planned.built.spec.settings;
        let own = source(config, "recipe", RecipePlace::Reward).map(|source| {
            let settings = config.get("settings").unwrap_or(&none);
            self.with_numbers(source, settings, evidence.get("notes").unwrap_or(&none))
        });
        own.into_iter().chain(of_shapes).collect::<Vec<_>>().into_iter()
    }

    /// A formula with its settings, what is noted of it, other rewards and columns put in.
    fn with_numbers(&self, source: &str, settings: &Value, note: &Value) -> String {
        let number =
            |value: &Value| (value.is_number() || value.is_string()).then(|| value.to_string());
        formula::with_numbers(source, |name| match name.split_once('.') {
            Some(("meta", column)) => number(self.sample.column(column)?),
            Some(("rewards", other)) => self.reward_of(other),
            Some(_) => None,
            None if name == "r" => number(note.get("before")?),
            None => {
                let noted = note.get(name).or_else(|| note.get(name.trim_end_matches('_')));
                noted
                    .or_else(|| settings.get(name))
                    .and_then(number)
                    .or_else(|| self.reward_of(name))
            }
        })
    }

    /// Another reward as it was judged, before its shapes.
    fn reward_of(&self, name: &str) -> Option<String> {
        let part = self.parts().find(|part| part.planned.name == name)?;
        let shaped = part.verdict.evidence.get("shaping").and_then(|own| own.get(0)?.get("before"));
        let reward =
            shaped.and_then(Value::as_f64).or_else(|| Some(part.verdict.outcome.reward()?.get()));
        reward.map(|own| own.to_string())
    }

    fn verdicts(&self) -> &'a [Verdict] {
        self.scored.verdicts.as_slice()
    }

    fn when(&self, at: usize) -> Option<&'a str> {
        self.plan.config.rewards.get(at)?.when.as_deref()
    }

    fn combination(&self) -> String {
        let how = serde_json::to_value(self.plan.config.combine.how).unwrap_or_default();
        let numbers = self.plan.combiner.explain(self.verdicts(), self.step);
        format!("{}: {}", how.as_str().unwrap_or_default(), inline(&numbers))
    }
}
