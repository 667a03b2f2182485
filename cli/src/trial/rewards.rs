//! What came of each reward on rows: verdicts, hack cases, right answers and cheats made of them.

use assay::Registry;
use assay::engine::Planned;
use assay::verifiers::Lane;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use super::finding::{ECHO, Finding, list};
use super::hacks::{self, FixtureReport};
use super::probe::Probe;
use super::read::Row;
use super::steps::Steps;
use super::suites::{self, SuitesReport};
use super::tally::{self, RowsTally};
use super::{Trial, applies, gold};

/// What was found of one reward.
#[derive(Serialize)]
pub(crate) struct RewardReport {
    pub(crate) name: String,
    pub(crate) verifier: String,
    /// What came of it on the rows as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<RowsTally>,
    /// The hack cases of its fixture file. What a setting of the configuration pays for is a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cases: Option<FixtureReport>,
    /// Its own right answers, and cheats made of them; none without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<RewardOnData>,
}

#[derive(Default, Serialize)]
pub(crate) struct RewardOnData {
    /// Whether taking the reference away changes any verdict. Where it does not, the reward
    /// judges form, and neither gold answers nor cheats say anything about it.
    pub(crate) uses_reference: bool,
    /// Rows to which the verifier applies, with a reference of which a gold answer can be made.
    pub(crate) gold_rows: u64,
    /// Those of them whose gold answer earned full reward.
    pub(crate) gold_accepted: u64,
    pub(crate) gold_rejected: Vec<Finding>,
    /// Cheats that were tried.
    pub(crate) hacks_tried: u64,
    /// Those that earned full reward.
    pub(crate) hacks_paid: u64,
    pub(crate) paid: Vec<Finding>,
    /// Prompts that happen to end with the answer, so few that nobody cheats with them: they are not among
    /// `paid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) echoes_by_chance: Option<u64>,
    /// Answers, cheats and programs on which the verifier ran out of fuel, memory or time. After a few of them no
    /// more are tried.
    pub(crate) probes_exhausted: u64,
    /// Where the reference is tests: whether they test anything. Gold answers and cheats cannot be
    /// made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suites: Option<SuitesReport>,
}

/// One prompt in so many may hold its answer by chance.
const ECHO_SHARE: u64 = 100;

impl RewardReport {
    /// Whether it judges answers: it hangs on the reference, and right answers are paid.
    pub(crate) fn judges_answers(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.uses_reference && data.gold_accepted > 0)
    }

    pub(crate) fn ok(&self) -> bool {
        self.data.as_ref().is_none_or(|data| {
            let right = data.hacks_paid == 0 && data.gold_accepted == data.gold_rows;
            let broken = data.suites.as_ref().map_or(0, |suites| suites.broken);
            (!data.uses_reference || right) && broken == 0
        })
    }
}

/// One row of one reward.
struct RowFound {
    gold: Option<gold::Gold>,
    hacks_tried: u64,
    paid: Vec<Finding>,
}

/// What came of every reward of the plan.
pub(crate) fn of_plan(
    engine: &assay::Engine,
    registry: &Registry,
    trial: &Trial<'_>,
    rows: Option<&[Row]>,
    steps: &Steps,
) -> Vec<RewardReport> {
    let plan = engine.plan();
    let all = rows.unwrap_or_default();
    let reward = |(at, planned): (usize, &Planned)| {
        let probe = Probe::new(engine, trial, at, planned);
        RewardReport {
            name: planned.name.clone(),
            verifier: planned.built.spec.id.to_string(),
            rows: (!all.is_empty()).then(|| tally::of_reward(plan, trial, at)),
            cases: hacks::fixture(&probe, registry, all),
            data: rows.and_then(|rows| on_data(&probe, trial, rows, steps)),
        }
    };
    plan.rewards.iter().enumerate().map(reward).collect()
}

/// `None` for verifiers that run elsewhere: a model or a judge is not asked by the thousand.
fn on_data(
    probe: &Probe<'_>,
    trial: &Trial<'_>,
    rows: &[Row],
    steps: &Steps,
) -> Option<RewardOnData> {
    let Lane::Compute(verifier) = &probe.planned.built.lane else { return None };
    let (plan, step) = (probe.engine.plan(), trial.training.step);
    let applies = |row: &&Row| applies(plan, probe.at, &row.sample, step);
    let rows: Vec<&Row> = rows.iter().filter(applies).collect();
    let name = &probe.planned.name;
    let (suites, rows) = suites::verify(probe, &**verifier, &rows, steps);
    let answers = hacks::answers(probe, &rows);
    steps.begin(format!("right answers and cheats for {name}, rows"), rows.len());
    let one = |row: &&Row| {
        let gold = gold::verify(probe, row);
        let (hacks_tried, paid) = hacks::verify(probe, row, &answers);
        steps.did(1);
        RowFound { gold, hacks_tried, paid }
    };
    // The order of the rows survives, so the report does not depend on the number of threads.
    let found: Vec<RowFound> = rows.par_iter().map(one).collect();
    Some(RewardOnData { suites, probes_exhausted: probe.exhausted(), ..sum(found) })
}

fn sum(found: Vec<RowFound>) -> RewardOnData {
    let (mut sum, tried) = (RewardOnData::default(), found.len() as u64);
    for row in found {
        sum.uses_reference |= row.gold.as_ref().is_some_and(|gold| gold.uses_reference);
        if let Some(judged) = row.gold.and_then(|gold| gold.judged) {
            sum.gold_rows += 1;
            match judged {
                Ok(()) => sum.gold_accepted += 1,
                Err(finding) => list(&mut sum.gold_rejected, finding),
            }
        }
        sum.hacks_tried += row.hacks_tried;
        for finding in row.paid {
            sum.hacks_paid += 1;
            list(&mut sum.paid, finding);
        }
    }
    // An answer that says `n` stands at the end of one prompt in hundreds.
    let is_echo = |finding: &Finding| finding.hack == Some(ECHO);
    let echoes = sum.paid.iter().filter(|finding| is_echo(finding)).count() as u64;
    if echoes > 0 && echoes * ECHO_SHARE <= tried {
        sum.paid.retain(|finding| !is_echo(finding));
        sum.hacks_paid -= echoes;
        sum.echoes_by_chance = Some(echoes);
    }
    sum
}
