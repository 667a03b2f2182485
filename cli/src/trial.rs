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

use assay::engine::{Applicability, Planned, group_key, groups, unshaped};
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
    /// Along the rewards.
    pub(crate) hangs: Vec<Hangs>,
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

/// How a reward hangs on the answers of models and judges.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hangs {
    /// It is one of the answers.
    is_answer: bool,
    /// Its `when` reads one.
    pub(crate) when: bool,
    /// Its verifier reads one.
    reads: bool,
}

impl Hangs {
    #[expect(clippy::indexing_slicing, reason = "places are of rewards of the plan")]
    fn of(plan: &Plan) -> Vec<Self> {
        let is_answer = |own: &Planned| own.built.lane.is_awaited();
        let own = |own| Self { is_answer: is_answer(own), ..Self::default() };
        let mut all: Vec<Self> = plan.rewards.iter().map(own).collect();
        for (at, planned) in plan.rewards.iter().enumerate() {
            let hangs = |other: usize| all[other].any();
            let named = |other: &usize| {
                let when = planned.when.as_ref().map(|when| when.script());
                when.is_some_and(|own| reads_verdicts(own) && own.mentions(&plan.names[*other]))
            };
            let when = (0..at).filter(named).any(hangs);
            let is_group = matches!(planned.built.lane, Lane::Group(_));
            let reads = planned.built.spec.reads_verdicts && (0..at).any(hangs)
                || is_group && plan.rewards.iter().any(is_answer);
            (all[at].when, all[at].reads) = (when, reads);
        }
        all
    }

    /// Whether its verdict hangs on an answer, whatever its `when` says.
    pub(crate) fn by_verifier(self) -> bool {
        self.is_answer || self.reads
    }

    /// Whether its verdict hangs on an answer.
    pub(crate) fn any(self) -> bool {
        self.by_verifier() || self.when
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

    /// What the row earned.
    pub(crate) fn total(&self) -> Option<f64> {
        self.outcome.reward().map(Reward::get)
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
    let mut trial = Trial { rows: Vec::new(), exhausted: None, hangs: Hangs::of(plan), training };
    let samples: Vec<Sample> = rows.iter().map(|row| row.sample.clone()).collect();
    let alone = || (0..rows.len()).map(|at| vec![at]).collect();
    let units = if plan.needs_groups() { groups(&samples) } else { alone() };
    let mut left = units.into_iter().peekable();
    let [mut most, limit] = BATCH_ROWS;
    while left.peek().is_some() && trial.exhausted.is_none() {
        let mut batch: Vec<&Row> = Vec::new();
        while let Some(unit) =
            left.next_if(|unit| batch.is_empty() || batch.len() + unit.len() <= most)
        {
            batch.extend(unit.iter().filter_map(|at| rows.get(*at)));
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

fn judged<'a>(
    engine: &Engine,
    rows: &[&'a Row],
    asked: bool,
    training: &TrainingState,
) -> Vec<Tried<'a>> {
    let samples: Vec<Sample> = rows.iter().map(|row| row.sample.clone()).collect();
    let options = ScoreOptions { ask: asked, ..ScoreOptions::at(training.clone()) };
    let before = |verdict: &Verdict| {
        let mut judged = verdict.clone();
        if let Some(reward) = unshaped(verdict).and_then(Reward::new) {
            judged.outcome = Outcome::Scored(reward);
        }
        Some(judged)
    };
    let tried = |(row, scored): (&&'a Row, Scored)| {
        let verdicts = scored.verdicts.as_slice().to_vec();
        let judged = verdicts.iter().map(before).collect();
        Tried { row, verdicts, judged, outcome: scored.outcome, asked }
    };
    rows.iter().zip(engine.score_with(samples, options)).map(tried).collect()
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
    let Outcome::Failed(fault) = &verdict.outcome else { return false };
    let is_out = matches!(fault.kind, FaultKind::OutOfFuel | FaultKind::OutOfMemory);
    fault.kind == FaultKind::Timeout || slow && is_out
}

impl Trial<'_> {
    /// Whether the verdict of a reward hangs on an answer of a model or a judge.
    pub(crate) fn hangs(&self, at: usize) -> bool {
        self.hangs.get(at).is_some_and(|own| own.any())
    }

    /// Whether the reward at `at` failed on each row that it judged, and not for what the row holds.
    pub(crate) fn is_spent(&self, at: usize) -> bool {
        let of_rows = [FaultKind::BadInput, FaultKind::BadReference];
        let fails = |verdict: &Verdict| matches!(&verdict.outcome, Outcome::Failed(own) if !of_rows.contains(&own.kind));
        let mut judged =
            self.rows.iter().filter_map(|tried| tried.judged.get(at)?.as_ref()).peekable();
        judged.peek().is_some() && judged.all(fails)
    }

    /// Judges so many rows again that every reward that is awaited is asked on a few.
    fn ask(&mut self, engine: &Engine) {
        let plan = engine.plan();
        let mut chosen: Vec<&Row> = Vec::new();
        for (at, hangs) in self.hangs.iter().enumerate().filter(|(_, own)| own.is_answer) {
            let runs = |own: &&Tried<'_>| {
                hangs.when || own.applicability(plan, at, self.training.step) == Applicability::Runs
            };
            let is_chosen =
                |own: &&Tried<'_>| chosen.iter().any(|row| row.number == own.row.number);
            let (have, more): (Vec<_>, Vec<_>) = self.rows.iter().filter(runs).partition(is_chosen);
            let more = more.into_iter().take(DEEP_ROWS.saturating_sub(have.len()));
            let more: Vec<&Row> = more.map(|own| own.row).collect();
            chosen.extend(more);
        }
        let grouped = plan.needs_groups();
        let is_asked = |row: &&Row| {
            let is_with = |own: &&Row| grouped && group_key(&own.sample) == group_key(&row.sample);
            chosen.iter().any(|own| own.number == row.number || is_with(own))
        };
        let asked: Vec<&Row> = self.rows.iter().map(|tried| tried.row).filter(is_asked).collect();
        let asked = judged(engine, &asked, true, &self.training);
        self.rows.retain(|own| asked.iter().all(|other| other.row.number != own.row.number));
        self.rows.extend(asked);
    }
}
