//! Shaping: once everything is judged, the rewards of a call are shaped before they become one.

use std::borrow::Cow;

use assay_verifiers::shape::{BuiltShape, ShapeMember, Shaped};
use assay_verifiers::{Earlier, Fault, Meter, Outcome, Reward, Sample, Verdict};
use serde_json::{Map, Value, json};

use super::call::Call;
use super::core::{Core, Row};
use super::groups::groups;
use super::plan::Planned;
use super::pool::guarded;

/// The verdicts of one reward, along the rows, as they are shaped.
struct Shaping<'a> {
    core: &'a Core,
    planned: &'a Planned,
    samples: &'a [Sample],
    rows: &'a [Row],
    call: &'a Call,
    verdicts: Vec<Verdict>,
    /// What is noted of each, shape by shape.
    notes: Vec<Vec<Value>>,
}

/// Rows that a shape takes together: enough to share what each call costs, few enough for a cache.
const ROWS: usize = 256;

type Notes = Vec<(Cow<'static, str>, Value)>;

impl Core {
    /// Shapes the rewards of samples. All shapes see the verdicts of other rewards as they were
    /// judged, whatever their order.
    #[expect(clippy::indexing_slicing, reason = "a row has a place for each reward")]
    pub(super) fn shape(&self, samples: &[Sample], rows: &mut [Row], call: &Call) {
        let mut shaped = Vec::new();
        for (at, planned) in self.plan.rewards.iter().enumerate() {
            if planned.shapes.is_empty() {
                continue;
            }
            let missing = || Verdict::failed(Fault::internal("no verdict was given"));
            let own = |row: &Row| row.verdicts[at].clone().unwrap_or_else(missing);
            let (verdicts, notes) = (rows.iter().map(own).collect(), vec![Vec::new(); rows.len()]);
            let mut shaping = Shaping { core: self, planned, samples, rows, call, verdicts, notes };
            for shape in &planned.shapes {
                shaping.apply(shape);
            }
            shaped.push((at, shaping.noted()));
        }
        for (at, verdicts) in shaped {
            for (row, verdict) in rows.iter_mut().zip(verdicts) {
                row.verdicts[at] = Some(verdict);
            }
        }
    }
}

impl Shaping<'_> {
    fn apply(&mut self, shape: &BuiltShape) {
        if shape.is_group {
            for members in groups(self.samples) {
                self.apply_to(shape, &members);
            }
        } else {
            let scored: Vec<usize> =
                (0..self.samples.len()).filter(|at| self.is_scored(*at)).collect();
            for places in scored.chunks(ROWS) {
                self.apply_to(shape, places);
            }
        }
    }

    fn is_scored(&self, at: usize) -> bool {
        self.verdicts.get(at).is_some_and(|verdict| verdict.outcome.reward().is_some())
    }

    /// Shapes the rewards of the samples at `places`: a group, or some that are shaped each alone.
    fn apply_to(&mut self, shape: &BuiltShape, places: &[usize]) {
        if !places.iter().any(|at| self.is_scored(*at)) {
            return;
        }
        let shaped = self.shaped(shape, places);
        for (at, shaped) in places.iter().zip(shaped) {
            if let (Some(verdict), Some(notes)) =
                (self.verdicts.get_mut(*at), self.notes.get_mut(*at))
            {
                notes.extend(replace(verdict, shape.kind, shaped));
            }
        }
    }

    /// The verdicts, with what happened to each reward as `shaping` in the evidence.
    fn noted(self) -> Vec<Verdict> {
        let noted = |(mut verdict, notes): (Verdict, Vec<Value>)| {
            if !notes.is_empty() {
                verdict.evidence.push("shaping", notes);
            }
            verdict
        };
        self.verdicts.into_iter().zip(self.notes).map(noted).collect()
    }

    fn shaped(&self, shape: &BuiltShape, places: &[usize]) -> Vec<Result<Shaped, Fault>> {
        let names = &self.core.plan.names;
        let member = |&at: &usize| {
            let (sample, row) = (self.samples.get(at)?, self.rows.get(at)?);
            let (verdict, earlier) = (self.verdicts.get(at)?, Earlier::new(names, &row.verdicts));
            Some(ShapeMember { sample, verdict, earlier })
        };
        let members: Vec<ShapeMember<'_>> = places.iter().filter_map(member).collect();
        let limit = self.core.limit(self.call, self.core.clock.now_ns());
        let fuel = self.planned.fuel.saturating_mul(places.len() as u64);
        let mut meter = Meter::new(fuel).with_cancellation(&limit);
        let shaped = guarded(|| shape.shape(&members, &self.call.training, &mut meter));
        match shaped {
            Ok(shaped) if shaped.len() == places.len() => shaped,
            Ok(shaped) => {
                let why = format!("{} rewards for {} samples", shaped.len(), places.len());
                vec![Err(Fault::internal(why)); places.len()]
            }
            Err(fault) => vec![Err(fault); places.len()],
        }
    }
}

/// Writes what came of a shape into a verdict that holds a reward. Gives the note for its evidence.
fn replace(verdict: &mut Verdict, kind: &str, shaped: Result<Shaped, Fault>) -> Option<Value> {
    let before = verdict.outcome.reward()?.get();
    match shaped.and_then(|shaped| taken(verdict, shaped)) {
        Ok((reward, notes)) => {
            let mut note = Map::new();
            note.insert("kind".to_owned(), kind.into());
            note.insert("before".to_owned(), before.into());
            note.insert("after".to_owned(), reward.get().into());
            note.extend(notes.into_iter().map(|(key, value)| (key.into_owned(), value)));
            Some(Value::Object(note))
        }
        Err(fault) => {
            let why = format!("shape \"{kind}\": {}", fault.why);
            verdict.outcome = Outcome::Failed(Fault::new(fault.kind, why));
            Some(json!({ "kind": kind, "before": before }))
        }
    }
}

/// Takes the rewards over, of the whole and of its steps.
fn taken(verdict: &mut Verdict, shaped: Shaped) -> Result<(Reward, Notes), Fault> {
    let finite = |reward: f64| {
        Reward::new(reward).ok_or_else(|| Fault::trap(format!("the reward became {reward}")))
    };
    let failed = shaped.notes.iter().find(|(key, _)| *key == "failed");
    if let Some((_, why)) = failed.filter(|_| shaped.reward.is_nan()) {
        let why = why.as_str().unwrap_or("the shape does not apply");
        return Err(Fault::bad_input(why.to_owned()));
    }
    let reward = finite(shaped.reward)?;
    for (step, reward) in verdict.steps.iter_mut().zip(shaped.steps.into_iter().flatten()) {
        step.reward = finite(reward)?;
    }
    verdict.outcome = Outcome::Scored(reward);
    Ok((reward, shaped.notes))
}
