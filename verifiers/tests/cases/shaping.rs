//! Every case of `fixtures/shaping` is a test of its own, named `<kind>: <case>`. Shaped rewards are
//! written by hand.

mod properties;
#[cfg(feature = "json-schema")]
mod schema;

use std::collections::BTreeMap;

use assay_verifiers::fault::FaultKind;
use assay_verifiers::shaping::{self, ShapeEntry};
use assay_verifiers::{
    BuildError, BuiltShape, Content, Earlier, Fault, Files, Meter, Reward, Sample, ShapeMember,
    Shaped, Step, TrainingState, Verdict,
};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeFile {
    kind: String,
    /// Settings of every case that does not say otherwise.
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(rename = "case")]
    cases: Vec<ShapeCase>,
}

/// The members of one group, or one after another where the kind takes them so.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeCase {
    name: String,
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    state: TrainingState,
    #[serde(default)]
    members: Vec<CaseMember>,
    /// The setting at fault, where the settings are refused.
    refused: Option<String>,
    /// The fault of the whole group.
    fault: Option<FaultKind>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseMember {
    #[serde(default)]
    completion: Option<Content>,
    /// How many token ids the row has.
    tokens: Option<usize>,
    finish_reason: Option<String>,
    reference: Option<Value>,
    #[serde(default)]
    meta: Map<String, Value>,
    /// The reward before.
    reward: Option<f64>,
    /// `abstained` or `failed`, where there is no reward.
    outcome: Option<String>,
    #[serde(default)]
    steps: Vec<f64>,
    /// Other rewards by name: a number, a list of steps, `abstained` or `failed`.
    #[serde(default)]
    others: BTreeMap<String, Value>,
    /// The reward after.
    shaped: Option<f64>,
    shaped_steps: Option<Vec<f64>>,
    #[serde(default)]
    notes: Map<String, Value>,
    /// The fault of this member; of a group shape any kind stands for "not finite".
    fault: Option<FaultKind>,
}

pub(crate) fn trials() -> Vec<Trial> {
    shaping::all().into_iter().flat_map(trials_of).collect()
}

fn trials_of(entry: ShapeEntry) -> Vec<Trial> {
    let kind = entry.kind;
    let path = format!("{}/../fixtures/shaping/{kind}.toml", env!("CARGO_MANIFEST_DIR"));
    // A recipe has its cases in its own file.
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let mut file: ShapeFile = match toml::from_str(&text) {
        Ok(file) => file,
        Err(error) => return vec![Trial::test(kind, move || Err(error.to_string().into()))],
    };
    let shows = shows(&file, kind);
    let mut trials = vec![Trial::test(format!("{kind}: has enough cases"), || Ok(shows?))];
    for case in &mut file.cases {
        for (key, value) in &file.config {
            case.config.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    for case in file.cases.clone() {
        trials.push(Trial::test(format!("{kind}: {}", case.name), move || run(&entry, &case)));
    }
    #[cfg(feature = "json-schema")]
    {
        let cases = file.cases.clone();
        let fits = move || Ok(schema::fits(&entry, &cases)?);
        trials.push(Trial::test(format!("{kind}: its schema is that of its settings"), fits));
    }
    let hold = move || Ok(properties::hold(&entry, &file.cases)?);
    trials.push(Trial::test(format!("{kind}: its properties hold"), hold));
    trials
}

fn shows(file: &ShapeFile, kind: &str) -> Result<(), String> {
    let shaped = file.cases.iter().filter(|case| case.members.iter().any(|m| m.shaped.is_some()));
    match (file.kind == kind, file.cases.len(), shaped.count()) {
        (false, ..) => Err(format!("kind = \"{}\" in the fixtures of {kind}", file.kind)),
        (_, 5.., 3..) => Ok(()),
        (_, cases, shaped) => {
            Err(format!("{cases} cases, {shaped} of them shaped: 5 and 3 are due"))
        }
    }
}

fn built(entry: &ShapeEntry, case: &ShapeCase) -> Result<BuiltShape, String> {
    let built = entry.build(case.config.clone(), case, &[]);
    built.map_err(|BuildError { setting, message, .. }| {
        format!("refused at \"{setting}\": {message}")
    })
}

fn run(entry: &ShapeEntry, case: &ShapeCase) -> Result<(), Failed> {
    if let Some(setting) = &case.refused {
        let built = entry.build(case.config.clone(), case, &[]);
        return match built {
            Err(error) if error.setting == *setting => Ok(()),
            Err(error) => Err(format!("refused at \"{}\": {error}", error.setting).into()),
            Ok(_) => Err(format!("expected {setting} to be refused").into()),
        };
    }
    let built = built(entry, case)?;
    let held: Vec<Held> = case.members.iter().map(Held::new).collect::<Result<_, _>>()?;
    if case.members.is_empty() {
        return Err("the case has no members".into());
    }
    for (at, (member, found)) in case.members.iter().zip(shaped(&built, &held, case)).enumerate() {
        member.agrees(found, case.fault).map_err(|why| format!("member {at}: {why}"))?;
    }
    Ok(())
}

/// What becomes of each member.
fn shaped(built: &BuiltShape, held: &[Held], case: &ShapeCase) -> Vec<Result<Shaped, Fault>> {
    let members: Vec<ShapeMember<'_>> = held.iter().map(Held::member).collect();
    built.shape(&members, &case.state, &mut Meter::default())
}

/// A member with all that it borrows.
struct Held {
    sample: Sample,
    verdict: Verdict,
    names: Vec<String>,
    others: Vec<Option<Verdict>>,
}

impl Held {
    fn new(member: &CaseMember) -> Result<Self, String> {
        let text = member.completion.clone().unwrap_or_else(|| Content::from(""));
        let mut sample = Sample::builder(text).meta(member.meta.clone());
        if let Some(tokens) = member.tokens {
            sample = sample.token_ids(vec![0; tokens]);
        }
        if let Some(reason) = &member.finish_reason {
            sample = sample.finish_reason(reason);
        }
        let sample = sample.reference(member.reference.clone().unwrap_or_default()).build();
        let own = match (member.reward, &member.outcome) {
            (Some(reward), None) => Value::from(reward),
            (None, Some(outcome)) => Value::from(outcome.as_str()),
            _ => return Err("one of reward and outcome is due".to_owned()),
        };
        let verdict = verdict(&own, &member.steps)?;
        let names = member.others.keys().cloned().collect();
        let other = |value: &Value| match value.as_array() {
            Some(steps) => {
                let steps: Vec<f64> = steps.iter().filter_map(Value::as_f64).collect();
                verdict_of(0.0, &steps)
            }
            None => self::verdict(value, &[]),
        };
        let others =
            member.others.values().map(|value| other(value).map(Some)).collect::<Result<_, _>>()?;
        Ok(Self { sample, verdict, names, others })
    }

    fn member(&self) -> ShapeMember<'_> {
        let earlier = Earlier::new(&self.names, &self.others);
        ShapeMember { sample: &self.sample, verdict: &self.verdict, earlier }
    }
}

fn verdict(value: &Value, steps: &[f64]) -> Result<Verdict, String> {
    match (value.as_f64(), value.as_str()) {
        (Some(reward), _) => verdict_of(reward, steps),
        (_, Some("abstained")) => Ok(Verdict::abstained("not asked")),
        (_, Some("failed")) => Ok(Verdict::failed(Fault::new(FaultKind::Upstream, "gone"))),
        _ => Err(format!("{value}: expected a number, abstained or failed")),
    }
}

fn verdict_of(reward: f64, steps: &[f64]) -> Result<Verdict, String> {
    let step = |reward: &f64| Some(Step::new((0, 0), Reward::new(*reward)?));
    let steps: Option<Vec<Step>> = steps.iter().map(step).collect();
    let reward = Reward::new(reward).ok_or("the reward is not finite")?;
    Ok(Verdict { steps: steps.ok_or("a step is not finite")?, ..Verdict::scored(reward) })
}

impl CaseMember {
    fn agrees(&self, found: Result<Shaped, Fault>, whole: Option<FaultKind>) -> Result<(), String> {
        if self.reward.is_none() {
            return found.map(|_| ()).map_err(|fault| fault.to_string());
        }
        let found = match (found, self.fault.or(whole)) {
            (Ok(found), None) => found,
            (Ok(found), Some(_)) if !found.reward.is_finite() => return Ok(()),
            (Err(fault), Some(kind)) if fault.kind == kind => return Ok(()),
            (found, _) => return Err(format!("expected {:?}, got {found:?}", self.fault)),
        };
        let shaped = self.shaped.ok_or("expects nothing")?;
        if !near(found.reward, shaped) {
            return Err(format!("expected {shaped}, got {found:?}"));
        }
        if let Some(wanted) = &self.shaped_steps {
            let steps = found.steps.as_deref().unwrap_or(&self.steps);
            let same = steps.len() == wanted.len();
            if !(same && steps.iter().zip(wanted).all(|(one, other)| near(*one, *other))) {
                return Err(format!("expected steps {wanted:?}, got {steps:?}"));
            }
        }
        for (key, wanted) in &self.notes {
            let note = found.notes.iter().find(|(have, _)| have == key).map(|(_, value)| value);
            if !note.is_some_and(|note| same(note, wanted)) {
                return Err(format!("expected note {key} = {wanted}, got {note:?}"));
            }
        }
        Ok(())
    }
}

fn same(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => near(found, wanted),
        _ => found == wanted,
    }
}

fn near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0)
}

impl Files for ShapeCase {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let text = self.files.get(name).ok_or_else(|| format!("file \"{name}\": there is none"))?;
        Ok(text.as_bytes().to_vec())
    }
}
