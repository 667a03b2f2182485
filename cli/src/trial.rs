//! The plan on the rows as they are, by the way that `assay score` takes, and on answers and cheats made of them.

pub(crate) mod finding;
mod gold;
pub(crate) mod hacks;
pub(crate) mod probe;
pub(crate) mod read;
pub(crate) mod rewards;
pub(crate) mod steps;
pub(crate) mod suites;
pub(crate) mod tally;

use assay::engine::{Applicability, group_key, unshaped};
use assay::verifiers::script::reads_verdicts;
use assay::verifiers::{FaultKind, Lane, Outcome, Reward, Sample, Scored, TrainingState, Verdict};
use assay::{Engine, Plan, ScoreOptions};

use read::Row;
use steps::Steps;

/// Rows on which a model or a judge is asked.
pub(crate) const DEEP_ROWS: usize = 5;
/// The first rows, and the most, that are judged in one go.
const BATCH_ROWS: [usize; 2] = [8, 256];
/// Verdicts of one reward that may run out of fuel, memory or time before the rest of the rows is left out.
pub(crate) const EXHAUSTED_MAX: usize = 8;

/// What became of rows.
pub(crate) struct Trial<'a> {
    pub(crate) rows: Vec<Tried<'a>>,
    /// The reward for which the rest of the rows was left out.
    pub(crate) exhausted: Option<usize>,
    pub(crate) depends: Depends,
    /// Where the training stands.
    pub(crate) training: TrainingState,
}

/// A row, judged.
pub(crate) struct Tried<'a> {
    pub(crate) row: &'a Row,
    /// Along the rewards, as rewards are combined.
    pub(crate) verdicts: Vec<Verdict>,
    /// The same as they were judged, before they were shaped.
    pub(crate) judged: Vec<Option<Verdict>>,
    pub(crate) outcome: Outcome,
    /// Whether models and judges were asked.
    pub(crate) asked: bool,
}

/// Which rewards hang on the answers of models and judges.
pub(crate) struct Depends {
    /// They are the answers.
    pub(crate) awaited: Vec<bool>,
    /// Their `when` reads an answer.
    pub(crate) when: Vec<bool>,
    /// Their verifier does.
    pub(crate) reads: Vec<bool>,
}

impl Depends {
    fn of(plan: &Plan) -> Self {
        let awaited: Vec<bool> =
            plan.rewards.iter().map(|planned| planned.built.lane.is_awaited()).collect();
        let any = awaited.contains(&true);
        let (mut when, mut reads) = (Vec::new(), Vec::new());
        for (at, planned) in plan.rewards.iter().enumerate() {
            let hangs = |other: usize| {
                let told =
                    [&awaited, &when, &reads].map(|all: &Vec<bool>| all.get(other) == Some(&true));
                told.contains(&true)
            };
            let named = |other: &usize| {
                let name = plan.names.get(*other);
                let when = planned.when.as_ref().map(|when| when.script()).zip(name);
                when.is_some_and(|(when, name)| reads_verdicts(when) && when.mentions(name))
            };
            let by_when = (0..at).filter(named).any(hangs);
            let is_group = matches!(planned.built.lane, Lane::Group(_));
            let by_reading = planned.built.spec.reads_verdicts && (0..at).any(hangs);
            when.push(by_when);
            reads.push(by_reading || is_group && any);
        }
        Self { awaited, when, reads }
    }

    /// Whether the verdict of a reward hangs on an answer.
    pub(crate) fn any(&self, at: usize) -> bool {
        [&self.awaited, &self.when, &self.reads].into_iter().any(|all| all.get(at) == Some(&true))
    }
}

impl Tried<'_> {
    /// What reward `at` of the plan gives, before it is shaped.
    pub(crate) fn unshaped(&self, at: usize) -> Option<f64> {
        Some(self.judged.get(at)?.as_ref()?.outcome.reward()?.get())
    }

    /// The same, as rewards are combined.
    pub(crate) fn shaped(&self, at: usize) -> Option<f64> {
        Some(self.verdicts.get(at)?.outcome.reward()?.get())
    }

    /// Whether reward `at` of the plan judges the row.
    pub(crate) fn applicability(&self, plan: &Plan, at: usize, step: u64) -> Applicability {
        let Some(planned) = plan.rewards.get(at) else { return Applicability::NotApplicable };
        let before = |(other, verdict): (usize, &Option<Verdict>)| {
            verdict.clone().filter(|_| other < at || plan.gates.contains(&other))
        };
        let verdicts: Vec<Option<Verdict>> = self.judged.iter().enumerate().map(before).collect();
        plan.applicability(at, planned, &self.row.sample, &verdicts, step)
    }
}

/// Whether the `when` of a reward holds of a sample at a step, as far as the sample alone decides it.
pub(crate) fn applies(plan: &Plan, at: usize, sample: &Sample, step: u64) -> bool {
    let Some(planned) = plan.rewards.get(at) else { return false };
    // One that fails is reported; it must not hide the reward.
    planned.when.as_ref().is_none_or(|when| reads_verdicts(when.script()))
        || plan.applicability(at, planned, sample, &[], step) != Applicability::NotApplicable
}

/// Judges the rows. Models and judges are asked on a few of them if `deep`, else on none.
pub(crate) fn run<'a>(
    engine: &Engine,
    rows: &'a [Row],
    deep: bool,
    training: TrainingState,
    steps: &Steps,
) -> Trial<'a> {
    let plan = engine.plan();
    steps.begin("the rows as they are", rows.len());
    let depends = Depends::of(plan);
    let mut trial = Trial { rows: Vec::new(), exhausted: None, depends, training };
    let mut left = units(plan, rows).into_iter().peekable();
    let [mut most, limit] = BATCH_ROWS;
    while left.peek().is_some() && trial.exhausted.is_none() {
        let mut batch: Vec<&Row> = Vec::new();
        while let Some(unit) =
            left.next_if(|unit| batch.is_empty() || batch.len() + unit.len() <= most)
        {
            batch.extend(unit);
        }
        most = (2 * most).min(limit);
        trial.rows.extend(judged(engine, &batch, false, &trial.training));
        steps.did(batch.len());
        trial.exhausted = exhausted(plan, &trial.rows);
    }
    if deep {
        steps.begin("models and judges", 1);
        trial.ask(engine);
    }
    trial.rows.sort_by_key(|tried| tried.row.number);
    trial
}

/// Rows that must be judged together: each by itself, or groups.
fn units<'a>(plan: &Plan, rows: &'a [Row]) -> Vec<Vec<&'a Row>> {
    if !plan.needs_groups() {
        return rows.iter().map(|row| vec![row]).collect();
    }
    let mut units: Vec<(&str, Vec<&Row>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for row in rows {
        let key = group_key(&row.sample);
        let place = *places.entry(key).or_insert(units.len());
        match units.get_mut(place) {
            Some((_, members)) => members.push(row),
            None => units.push((key, vec![row])),
        }
    }
    units.into_iter().map(|(_, members)| members).collect()
}

fn judged<'a>(
    engine: &Engine,
    rows: &[&'a Row],
    ask: bool,
    training: &TrainingState,
) -> Vec<Tried<'a>> {
    let samples: Vec<Sample> = rows.iter().map(|row| row.sample.clone()).collect();
    let options = ScoreOptions { ask, ..ScoreOptions::at(training.clone()) };
    let scored = engine.score_with(samples, options);
    rows.iter().zip(scored).map(|(row, scored)| tried(row, scored, ask)).collect()
}

fn tried(row: &Row, scored: Scored, asked: bool) -> Tried<'_> {
    let verdicts = scored.verdicts.as_slice().to_vec();
    let before = |verdict: &Verdict| {
        let mut judged = verdict.clone();
        if let Some(reward) = unshaped(verdict).and_then(Reward::new) {
            judged.outcome = Outcome::Scored(reward);
        }
        Some(judged)
    };
    let judged = verdicts.iter().map(before).collect();
    Tried { row, verdicts, judged, outcome: scored.outcome, asked }
}

/// The first reward that runs out of fuel, memory or time again and again.
fn exhausted(plan: &Plan, rows: &[Tried<'_>]) -> Option<usize> {
    let is_out = |at: usize| {
        let verdicts = rows.iter().filter_map(|tried| tried.verdicts.get(at));
        let slow = plan.rewards.get(at).is_some_and(|planned| planned.built.slow);
        verdicts.filter(|verdict| is_exhausted(verdict, slow)).count() >= EXHAUSTED_MAX
    };
    (0..plan.rewards.len()).find(|at| is_out(*at))
}

/// Whether a verdict cost all that it may. Running out of fuel or memory is soon done in verifiers that are not
/// slow.
pub(crate) fn is_exhausted(verdict: &Verdict, slow: bool) -> bool {
    match &verdict.outcome {
        Outcome::Failed(fault) => match fault.kind {
            FaultKind::Timeout => true,
            FaultKind::OutOfFuel | FaultKind::OutOfMemory => slow,
            _ => false,
        },
        _ => false,
    }
}

impl Trial<'_> {
    /// Whether the reward at `at` failed on each row that it judged, and not for what the row holds.
    pub(crate) fn is_spent(&self, at: usize) -> bool {
        let of_rows = [FaultKind::BadInput, FaultKind::BadReference];
        let fails = |verdict: &Verdict| match &verdict.outcome {
            Outcome::Failed(fault) => !of_rows.contains(&fault.kind),
            _ => false,
        };
        let mut judged =
            self.rows.iter().filter_map(|tried| tried.judged.get(at)?.as_ref()).peekable();
        judged.peek().is_some() && judged.all(fails)
    }

    /// Judges so many rows again that every reward that is awaited is asked on a few.
    fn ask(&mut self, engine: &Engine) {
        let plan = engine.plan();
        let wanting = |tried: &Tried<'_>, at: usize| {
            let is_when = self.depends.when.get(at) == Some(&true);
            is_when || tried.applicability(plan, at, self.training.step) == Applicability::Runs
        };
        let mut chosen: Vec<usize> = Vec::new();
        for at in (0..plan.rewards.len()).filter(|at| self.depends.awaited.get(*at) == Some(&true))
        {
            let of_reward =
                |place: &usize| self.rows.get(*place).is_some_and(|tried| wanting(tried, at));
            let have = chosen.iter().filter(|place| of_reward(place)).count();
            let more =
                (0..self.rows.len()).filter(|place| !chosen.contains(place) && of_reward(place));
            let more: Vec<usize> = more.take(DEEP_ROWS.saturating_sub(have)).collect();
            chosen.extend(more);
        }
        let keys: Vec<&str> = chosen
            .iter()
            .filter_map(|place| Some(group_key(&self.rows.get(*place)?.row.sample)))
            .collect();
        let grouped = plan.needs_groups();
        let is_asked = |(place, tried): (usize, &Tried<'_>)| {
            chosen.contains(&place) || grouped && keys.contains(&group_key(&tried.row.sample))
        };
        let asked: Vec<usize> = self
            .rows
            .iter()
            .enumerate()
            .filter(|(place, tried)| is_asked((*place, tried)))
            .map(|(place, _)| place)
            .collect();
        if asked.is_empty() {
            return;
        }
        let rows: Vec<&Row> =
            asked.iter().filter_map(|place| Some(self.rows.get(*place)?.row)).collect();
        for (place, tried) in asked.into_iter().zip(judged(engine, &rows, true, &self.training)) {
            if let Some(slot) = self.rows.get_mut(place) {
                *slot = tried;
            }
        }
    }
}
