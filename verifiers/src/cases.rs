//! The fixture format: samples written by hand, with the verdicts that a check must give.
//!
//! One file a check, in TOML, whose literal strings hold LaTeX and regular expressions without
//! escapes. The rewards are written by hand and never recorded.

mod peers;
pub mod redteam;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Map;

use crate::from_value::from_value;
use crate::prelude::*;
use crate::sample::Content;
use crate::verifier::{Built, Lane};
use peers::JudgedCase;
pub use peers::{EarlierVerdict, Peer, Unscored};

/// Where a case begins.
const CASE: &str = "\n[[case]]";

/// The cases of one check.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// The id of the check.
    pub check: String,
    /// What each version but the first changed, by its number.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
    /// What tasks the check is for, and the public scorer that it equals.
    pub task: Option<TaskFamily>,
    /// Settings of every case that does not say otherwise. [`parse`] merges them into the cases.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// What a configuration has that names the check.
    pub example: Option<ExampleConfig>,
    /// Settings, and other verifiers, that are meant where answers earn nothing.
    #[serde(default, rename = "alternative")]
    pub alternatives: Vec<Alternative>,
    /// The cases, in the order of the file.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
}

/// What tasks a check is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFamily {
    /// The family of tasks, as `docs/checks.md` groups them.
    pub family: String,
    /// The public scorer that it equals, with its version.
    pub equals: Option<String>,
    /// On how many values it was compared with the scorer, and how many are equal.
    pub compared: Option<String>,
    /// Where it deliberately differs from the scorer, and why.
    pub differs: Option<String>,
}

/// A configuration that names a check: what it has beside what every one has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleConfig {
    /// The name of the reward.
    pub name: String,
    /// The rows that it is for, and the files that it names.
    pub row: String,
    /// What is before the reward: rewards and judges that it needs.
    #[serde(default)]
    pub before: String,
    /// The settings, as TOML without braces.
    #[serde(default)]
    pub config: String,
}

/// Settings, or another verifier, by which answers may be right that earn nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alternative {
    /// The other verifier; the same by default.
    pub verifier: Option<String>,
    /// Settings that are added, as TOML without braces.
    pub config: String,
    /// A setting that is left out.
    pub without: Option<String>,
    /// A pattern that the reference must match, as it is not an alternative for others.
    pub reference: Option<Pattern>,
    /// A pattern that the reference or the completion must match.
    pub either: Option<Pattern>,
    /// Words of the reference must be in the completion too, such as a unit.
    pub same_words: bool,
    /// One of two numbers must be the other one, rounded.
    pub rounded: bool,
}

/// One sample, and what the check must say of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the case shows; unique within its file.
    pub name: String,
    /// The cheat that the case plays. Such a case must not earn full reward.
    pub hack: Option<String>,
    /// Text, or a list of messages.
    pub completion: Content,
    /// What a right completion comes to, of any type.
    pub reference: Option<Value>,
    /// What the completion answers.
    pub prompt: Option<Content>,
    /// The other columns of the row.
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// Settings; they win over those of the file.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The files that the settings name: name to text.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What other rewards said of the sample: their names to a reward, `"abstained"` or `"failed"`.
    #[serde(default)]
    pub earlier: BTreeMap<String, EarlierVerdict>,
    /// The other members of the group, for a verifier of groups. They share prompt and reference.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// How many of the peers come before the sample.
    #[serde(default)]
    pub place: usize,
    /// The reward that the sample must earn.
    pub reward: Option<f64>,
    /// The outcome, where it is not a reward.
    pub outcome: Option<Unscored>,
    /// The fault of a case that fails.
    pub fault: Option<FaultKind>,
    /// Notes that the evidence must hold, among others.
    #[serde(default)]
    pub evidence: Map<String, Value>,
    /// Components that there must be, among others; of each the members that are named.
    #[serde(default)]
    pub components: Map<String, Value>,
    /// All steps; of each the members that are named.
    pub steps: Option<Vec<Value>>,
    /// What the verdict must say that it took.
    #[serde(default)]
    pub usage: Map<String, Value>,
}

/// Reads a fixture file.
///
/// # Errors
/// Text that is not TOML or has an unknown key, a name that is missing or used twice, and a case
/// that expects nothing or two things at once.
pub fn parse(text: &str) -> Result<CaseFile, String> {
    let tree = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut file: CaseFile =
        from_value(&tree).map_err(|error| format!("{}: {error}", error.setting))?;
    let mut names = BTreeSet::new();
    for case in &mut file.cases {
        if !names.insert(case.name.clone()) {
            return Err(format!("case \"{}\": the name is used twice", case.name));
        }
        case.well_formed().map_err(|why| format!("case \"{}\": {why}", case.name))?;
        for (key, value) in &file.config {
            case.config.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(file)
}

/// Reads what is before the first case of a fixture file.
///
/// # Errors
/// As of [`parse`].
pub fn head(text: &str) -> Result<CaseFile, String> {
    parse(text.split(CASE).next().unwrap_or(text))
}

/// Reads a fixture file without the cases that play no cheat, which are most of it.
///
/// # Errors
/// As of [`parse`].
pub fn hacks(text: &str) -> Result<CaseFile, String> {
    let is_kept = |(at, part): &(usize, &str)| *at == 0 || part.contains("\nhack = ");
    let kept = text.split(CASE).enumerate().filter(is_kept).map(|(_, part)| part);
    parse(&kept.collect::<Vec<_>>().join(CASE))
}

impl CaseFile {
    /// Whether the cases belong to the verifier called `id` and cover it: at least 5 that are
    /// accepted, 5 that are rejected, 1 that abstains and 3 cheats.
    ///
    /// # Errors
    /// What is missing.
    pub fn shows(&self, id: &str) -> Result<(), String> {
        let count = |is: fn(&Case) -> bool| self.cases.iter().filter(|case| is(case)).count();
        let counted = [
            ("accepted", 5, count(Case::is_accepted)),
            ("rejected", 5, count(Case::is_rejected)),
            ("abstained", 1, count(Case::is_abstained)),
            ("hack", 3, count(|case| case.hack.is_some())),
        ];
        if self.check != id {
            return Err(format!("check = \"{}\" in the fixtures of {id}", self.check));
        }
        match counted.iter().find(|(_, wanted, found)| found < wanted) {
            Some((kind, wanted, found)) => {
                Err(format!("{found} cases are {kind}, of at least {wanted}"))
            }
            None => Ok(()),
        }
    }
}

impl Case {
    /// The sample that is judged.
    pub fn sample(&self) -> Sample {
        self.row(&self.completion, &self.meta)
    }

    /// The sample of another member of its group.
    fn beside(&self, peer: &Peer) -> Sample {
        self.row(&peer.completion, &peer.meta)
    }

    fn row(&self, completion: &Content, meta: &Map<String, Value>) -> Sample {
        let builder = Sample::builder(completion.clone())
            .id(&self.name)
            .meta(meta.clone())
            .reference(self.reference.clone().unwrap_or_default());
        match &self.prompt {
            Some(prompt) => builder.prompt(prompt.clone()).build(),
            None => builder.build(),
        }
    }

    /// Builds the check as the case sets it, and judges the sample.
    ///
    /// # Errors
    /// Settings that the check refuses, and peers where it judges single samples.
    pub fn run(
        &self,
        maker: impl FnOnce(Value, &dyn Files) -> Result<Built, BuildError>,
    ) -> Result<Verdict, BuildError> {
        let built = maker(Value::Object(self.config.clone()), self)?;
        let peers = self.peers.iter().map(|peer| (self.beside(peer), &peer.earlier));
        let judged = JudgedCase::new((self.sample(), &self.earlier), peers.collect(), self.place);
        match &built.lane {
            Lane::Compute(_) | Lane::Awaited(_) if !self.peers.is_empty() => {
                Err(BuildError::new("", "only verifiers of groups have cases with peers"))
            }
            lane => judged.verdict(lane),
        }
    }

    /// An accepted case again, with each right answer that the check makes of its reference.
    ///
    /// # Errors
    /// Settings that the check refuses.
    pub fn gold(
        &self,
        maker: impl FnOnce(Value, &dyn Files) -> Result<Built, BuildError>,
    ) -> Result<Vec<Self>, BuildError> {
        let built = maker(Value::Object(self.config.clone()), self)?;
        let Lane::Compute(verifier) = built.lane else { return Ok(Vec::new()) };
        let texts = verifier.gold(&self.sample()).filter(|_| self.is_accepted());
        let case = |text: String| {
            let (completion, evidence) = (text.into(), Map::new());
            Self { completion, evidence, steps: None, ..self.clone() }
        };
        Ok(texts.into_iter().flatten().map(case).collect())
    }

    /// How `verdict` differs from what the case expects, if it does.
    pub fn disagreement(&self, verdict: &Verdict) -> Option<String> {
        let agrees = match (&verdict.outcome, self.outcome) {
            (Outcome::Scored(reward), None) => {
                self.reward.is_some_and(|wanted| (reward.get() - wanted).abs() < 1e-9)
            }
            (Outcome::Abstained(_), Some(Unscored::Abstained)) => true,
            (Outcome::Failed(fault), Some(Unscored::Failed)) => {
                self.fault.is_none_or(|kind| kind == fault.kind)
            }
            _ => false,
        };
        if !agrees {
            return Some(format!("expected {}, got {}", self.expected(), described(verdict)));
        }
        let steps = self.steps.clone().map(Value::Array);
        let parts = [
            ("evidence", json(&verdict.evidence), &self.evidence),
            ("components", json(&verdict.components), &self.components),
            ("usage", json(&verdict.usage), &self.usage),
        ];
        let of_part = |(part, found, wanted): &(&str, Value, &Map<String, Value>)| {
            let mut members = wanted.iter();
            members
                .find_map(|(key, wanted)| missing(&format!("{part} {key}"), found.get(key), wanted))
        };
        let of_steps = || missing("steps", Some(&json(&verdict.steps)), steps.as_ref()?);
        parts.iter().find_map(of_part).or_else(of_steps)
    }

    /// Whether the case expects full reward, none, or no reward at all.
    pub fn is_accepted(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
    }

    /// Whether the case expects that nothing is earned.
    pub fn is_rejected(&self) -> bool {
        self.reward.is_some_and(|reward| reward <= 0.0)
    }

    /// Whether the case expects that the check does not apply.
    pub fn is_abstained(&self) -> bool {
        self.outcome == Some(Unscored::Abstained)
    }

    fn well_formed(&self) -> Result<(), &'static str> {
        match (self.reward, self.outcome, self.fault) {
            _ if self.place > self.peers.len() => Err("place is behind the last peer"),
            (Some(reward), ..) if !reward.is_finite() => Err("the reward is not finite"),
            (Some(reward), ..) if self.hack.is_some() && reward >= 1.0 => {
                Err("a hack must not earn full reward")
            }
            (Some(_), None, None)
            | (None, Some(_), None)
            | (None, Some(Unscored::Failed), Some(_)) => Ok(()),
            (None, None, _) => Err("expects neither a reward nor an outcome"),
            (Some(_), ..) => Err("expects a reward and another outcome"),
            (None, Some(Unscored::Abstained), Some(_)) => Err("only a failure has a fault"),
        }
    }

    fn expected(&self) -> String {
        match (self.reward, self.outcome, self.fault) {
            (Some(reward), ..) => format!("reward {reward}"),
            (None, Some(Unscored::Abstained), _) => "abstained".to_owned(),
            (None, _, Some(kind)) => format!("failed ({kind})"),
            (None, ..) => "failed".to_owned(),
        }
    }
}

impl Files for Case {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let text = self.files.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.files.keys().map(String::as_str).collect();
            format!("file \"{name}\": not among the files of the case; has: {}", names.join(", "))
        })?;
        Ok(text.as_bytes().to_vec())
    }
}

fn described(verdict: &Verdict) -> String {
    let outcome = match &verdict.outcome {
        Outcome::Scored(reward) => format!("reward {}", reward.get()),
        Outcome::Abstained(why) => format!("abstained ({why})"),
        Outcome::Failed(fault) => format!("failed ({fault})"),
    };
    let evidence = serde_json::to_string(&verdict.evidence).unwrap_or_default();
    format!("{outcome} {evidence}")
}

fn json(part: &impl serde::Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// The message where a part of a verdict is not as the case expects it.
fn missing(what: &str, found: Option<&Value>, wanted: &Value) -> Option<String> {
    let differs = found.is_none_or(|found| !holds(found, wanted));
    differs.then(|| {
        let found = found.map_or("nothing".to_owned(), Value::to_string);
        format!("expected {what} = {wanted}, got {found}")
    })
}

/// Whether what was found is what is wanted; of an object, the members that are wanted. TOML tells
/// 1 from 1.0; in a verdict they are the same number.
fn holds(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| found.get(key).is_some_and(|found| holds(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| holds(found, wanted))
        }
        _ => match (found.as_f64(), wanted.as_f64()) {
            (Some(found), Some(wanted)) => (found - wanted).abs() <= f64::EPSILON * wanted.abs(),
            _ => found == wanted,
        },
    }
}
