//! What moved from one run to another: support, pass@k, distributions, and the distance as objectives.

use std::collections::{BTreeMap, VecDeque};

use assay::trainer::Groups;
use assay::trainer::diagnostics::{
    ClusteredMean, CorrectCounts, CurveCrossing, Drift, Estimate, NewPhrase, PassCurve,
    PhraseSettings, PromptCounts, RewardDistance, RewardPair, StepInflation, SupportDynamics,
    answer_entropy, correlation_within, crossings, drift, new_phrases, paired_difference,
    pass_at_k, pass_curve, powers_of_two, prompt_counts, reward_distance, step_inflation,
    support_dynamics,
};
use assay::verifiers::stats::mean;
use serde::Serialize;

use super::args::Args;
use super::view::RunView;
use crate::exit::Failure;

/// Bins of a distribution of rewards.
const BINS: usize = 10;
/// Texts of a run that are searched for new phrases.
const TEXTS_MAX: usize = 5_000;

/// What moved. The first run is that of `--against`.
#[derive(Serialize)]
pub(super) struct Comparison {
    pub(super) against: String,
    pub(super) run: String,
    /// Prompts of both runs.
    pub(super) shared_prompts: usize,
    pub(super) only_against: usize,
    pub(super) only_run: usize,
    /// Of shared prompts alone.
    pub(super) pass_at_k: PassComparison,
    pub(super) support: SupportReport,
    /// By reward that both runs have, and `total`.
    pub(super) drift: BTreeMap<String, Drift>,
    /// The same; of the rows that both runs judged. `null` where they did not judge the same rows.
    pub(super) distance: Option<BTreeMap<String, RewardDistance>>,
    /// Every pair of rewards that both runs have: Pearson's correlation within prompts in either run.
    pub(super) part_correlations: Vec<PartCorrelation>,
    pub(super) steps: Option<StepInflation>,
    pub(super) new_phrases: Option<Vec<NewPhrase>>,
    pub(super) missing: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct PassComparison {
    pub(super) against: PassCurve,
    pub(super) run: PassCurve,
    /// The mean over shared prompts of the run's pass@k minus that of the other.
    pub(super) differences: Vec<PassDifference>,
    pub(super) crossings: Vec<CurveCrossing>,
}

#[derive(Serialize)]
pub(super) struct PassDifference {
    pub(super) k: usize,
    #[serde(flatten)]
    pub(super) difference: ClusteredMean,
    pub(super) interval: Option<Estimate>,
}

/// How two parts of a reward went together, and do.
#[derive(Serialize)]
pub(super) struct PartCorrelation {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) against: Option<f64>,
    pub(super) run: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct SupportReport {
    /// The share of the samples above which an answer is in the support.
    above: f64,
    /// One entry a prompt.
    pub(super) by_prompt: SupportDynamics,
    /// One entry for each correct answer of a prompt.
    pub(super) by_answer: Option<SupportDynamics>,
    /// The mean over shared prompts of the entropy of their answers, in nats.
    pub(super) entropy_against: Option<f64>,
    pub(super) entropy_run: Option<f64>,
}

/// The places of a prompt in both runs.
type Shared = Vec<(usize, usize)>;

pub(super) fn compare(
    base: &RunView<'_>,
    run: &RunView<'_>,
    args: &Args,
) -> Result<Comparison, Failure> {
    let places: BTreeMap<&str, usize> =
        run.keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
    let shared: Shared = base
        .keys
        .iter()
        .enumerate()
        .filter_map(|(at, key)| Some((at, *places.get(key.as_str())?)))
        .collect();
    let mut missing = Vec::new();
    if shared.is_empty() {
        missing.push("the runs share no prompt: no support, no differences of pass@k".to_owned());
    }
    if base.grouped_by != run.grouped_by {
        let (a, b) = (base.grouped_by, run.grouped_by);
        missing.push(format!("one run is grouped by {a}, the other by {b}"));
    }
    let distance = distance(base, run, &mut missing)?;
    let phrases = phrases(base, run, &mut missing);
    Ok(Comparison {
        against: base.input.name.clone(),
        run: run.input.name.clone(),
        shared_prompts: shared.len(),
        only_against: base.keys.len() - shared.len(),
        only_run: run.keys.len() - shared.len(),
        pass_at_k: pass(base, run, &shared, args)?,
        support: support(base, run, &shared, args)?,
        drift: drifts(base, run),
        distance,
        part_correlations: part_correlations(base, run)?,
        steps: steps(base, run),
        new_phrases: phrases,
        missing,
    })
}

/// The counts of each group of a run.
fn counts(view: &RunView<'_>) -> Result<Vec<PromptCounts>, Failure> {
    Ok(prompt_counts(&view.groups, &view.correct).map_err(anyhow::Error::from)?)
}

/// The counts of shared prompts.
fn paired(
    base: &RunView<'_>,
    run: &RunView<'_>,
    shared: &Shared,
) -> Result<Vec<(PromptCounts, PromptCounts)>, Failure> {
    let (before, after) = (counts(base)?, counts(run)?);
    let pair = |(a, b): &(usize, usize)| Some((*before.get(*a)?, *after.get(*b)?));
    Ok(shared.iter().filter_map(pair).collect())
}

fn pass(
    base: &RunView<'_>,
    run: &RunView<'_>,
    shared: &Shared,
    args: &Args,
) -> Result<PassComparison, Failure> {
    let pairs = paired(base, run, shared)?;
    let (before, after): (Vec<PromptCounts>, Vec<PromptCounts>) = pairs.iter().copied().unzip();
    let least = |counts: &[PromptCounts]| counts.iter().map(|c| c.samples).max().unwrap_or(0);
    let most = least(&before).min(least(&after));
    let ks = if args.k.is_empty() { powers_of_two(most) } else { args.k.clone() };
    let (before, after) =
        (pass_curve(&before, &ks, args.resampling()), pass_curve(&after, &ks, args.resampling()));
    let difference = |k: &usize| {
        let both = |(a, b): &(PromptCounts, PromptCounts)| {
            Some((pass_at_k(a.samples, a.correct, *k)?, pass_at_k(b.samples, b.correct, *k)?))
        };
        let pairs: Vec<(f64, f64)> = pairs.iter().filter_map(both).collect();
        let difference = paired_difference(&pairs)?;
        let interval = difference.interval(args.level);
        Some(PassDifference { k: *k, difference, interval })
    };
    Ok(PassComparison {
        differences: ks.iter().filter_map(difference).collect(),
        crossings: crossings(&before, &after),
        against: before,
        run: after,
    })
}

fn support(
    base: &RunView<'_>,
    run: &RunView<'_>,
    shared: &Shared,
    args: &Args,
) -> Result<SupportReport, Failure> {
    let pairs = paired(base, run, shared)?;
    let case = |(a, b): &(PromptCounts, PromptCounts)| CorrectCounts {
        base: a.correct,
        base_samples: a.samples,
        trained: b.correct,
        trained_samples: b.samples,
    };
    let by_prompt: Vec<CorrectCounts> = pairs.iter().map(case).collect();
    let by_answer: Option<Vec<Vec<CorrectCounts>>> =
        shared.iter().map(|(a, b)| correct_answers(base, *a, run, *b)).collect();
    let by_answer = by_answer.filter(|_| !shared.is_empty()).map(|cases| cases.concat());
    let entropy = |view: &RunView<'_>, groups: Vec<usize>| {
        let own = |group: usize| {
            answer_entropy(view.clusters(group)?.iter().map(|(_, cluster)| cluster.count))
        };
        mean(groups.into_iter().filter_map(own))
    };
    Ok(SupportReport {
        above: args.support_above,
        by_prompt: support_dynamics(&by_prompt, args.support_above),
        by_answer: by_answer.map(|cases| support_dynamics(&cases, args.support_above)),
        entropy_against: entropy(base, shared.iter().map(|(a, _)| *a).collect()),
        entropy_run: entropy(run, shared.iter().map(|(_, b)| *b).collect()),
    })
}

/// How often each correct answer of a prompt was given by both. An answer is correct where most of the
/// samples that gave it are.
fn correct_answers(
    base: &RunView<'_>,
    base_group: usize,
    run: &RunView<'_>,
    run_group: usize,
) -> Option<Vec<CorrectCounts>> {
    let (before, after) = (base.clusters(base_group)?, run.clusters(run_group)?);
    let samples = |clusters: &[(Option<&str>, assay::trainer::diagnostics::AnswerCluster)]| {
        clusters.iter().map(|(_, cluster)| cluster.count).sum::<usize>()
    };
    let (base_samples, trained_samples) = (samples(&before), samples(&after));
    let mut cases: BTreeMap<&str, CorrectCounts> = BTreeMap::new();
    let none = CorrectCounts { base_samples, trained_samples, ..CorrectCounts::default() };
    for (answer, cluster) in before.iter().filter(|(_, cluster)| cluster.value > 0.5) {
        let Some(answer) = answer else { continue };
        cases.entry(*answer).or_insert(none).base = cluster.count;
    }
    for (answer, cluster) in after.iter().filter(|(_, cluster)| cluster.value > 0.5) {
        let Some(answer) = answer else { continue };
        cases.entry(*answer).or_insert(none).trained = cluster.count;
    }
    Some(cases.into_values().collect())
}

/// The rewards that both runs have, and the totals.
fn drifts(base: &RunView<'_>, run: &RunView<'_>) -> BTreeMap<String, Drift> {
    let after = run.series();
    let own = |(name, before): (&str, &[f64])| {
        let (_, after) = after.iter().find(|(other, _)| *other == name)?;
        Some((name.to_owned(), drift(before, after, BINS)))
    };
    base.series().into_iter().filter_map(own).collect()
}

fn part_correlations(
    base: &RunView<'_>,
    run: &RunView<'_>,
) -> Result<Vec<PartCorrelation>, Failure> {
    let (before, after) = (base.series(), run.series());
    let shared: Vec<_> = before
        .iter()
        .filter_map(|(name, own)| Some((*name, *own, after.iter().find(|(n, _)| n == name)?.1)))
        .collect();
    let mut found = Vec::new();
    for (at, (first, a, b)) in shared.iter().enumerate() {
        for (second, c, d) in shared.iter().skip(at + 1) {
            let own = |view: &RunView<'_>, x: &[f64], y: &[f64]| {
                correlation_within(&view.groups, x, y).map_err(anyhow::Error::from)
            };
            found.push(PartCorrelation {
                first: (*first).to_owned(),
                second: (*second).to_owned(),
                against: own(base, a, c)?.pearson,
                run: own(run, b, d)?.pearson,
            });
        }
    }
    Ok(found)
}

/// The distances of the rewards as objectives. They want the same completions.
fn distance(
    base: &RunView<'_>,
    run: &RunView<'_>,
    missing: &mut Vec<String>,
) -> Result<Option<BTreeMap<String, RewardDistance>>, Failure> {
    let inputs = |view: &RunView<'_>| {
        view.input.manifest.as_ref().map(|manifest| manifest.identity.inputs.clone())
    };
    match (inputs(base), inputs(run)) {
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) => {
            missing.push("the runs scored other data: no distance of their rewards".to_owned());
            return Ok(None);
        }
        _ => missing.push(
            "a run without a manifest does not say what it scored: the distance takes rows of one id \
             to be the same completion"
                .to_owned(),
        ),
    }
    let mut places: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    for (row, id) in run.input.rows.ids.iter().enumerate() {
        places.entry(id).or_default().push_back(row);
    }
    let mut other = |id: &String| places.get_mut(id.as_str()).and_then(VecDeque::pop_front);
    let pairs: Vec<(usize, usize)> = base
        .input
        .rows
        .ids
        .iter()
        .enumerate()
        .filter_map(|(row, id)| Some((row, other(id)?)))
        .collect();
    if pairs.is_empty() {
        missing.push("the runs share no row: no distance of their rewards".to_owned());
        return Ok(None);
    }
    let group_of = groups_of_rows(base);
    let groups = Groups::by_key(pairs.iter().map(|(row, _)| group_of.get(*row).copied()));
    let after = run.series();
    let mut found = BTreeMap::new();
    for (name, before) in base.series() {
        let Some((_, after)) = after.iter().find(|(other, _)| *other == name) else { continue };
        #[expect(clippy::indexing_slicing, reason = "a series has a number for every row")]
        let take = |values: &[f64], row: usize| values[row];
        let first: Vec<f64> = pairs.iter().map(|(row, _)| take(before, *row)).collect();
        let second: Vec<f64> = pairs.iter().map(|(_, row)| take(after, *row)).collect();
        let pair = RewardPair { groups: &groups, first: &first, second: &second, reference: None };
        found.insert(name.to_owned(), reward_distance(&pair).map_err(anyhow::Error::from)?);
    }
    Ok(Some(found))
}

fn groups_of_rows(view: &RunView<'_>) -> Vec<usize> {
    let mut found = vec![0; view.input.rows.len()];
    for (group, members) in view.groups.iter().enumerate() {
        for row in members.rows() {
            if let Some(own) = found.get_mut(row) {
                *own = group;
            }
        }
    }
    found
}

fn steps(base: &RunView<'_>, run: &RunView<'_>) -> Option<StepInflation> {
    let own = |view: &RunView<'_>| -> Vec<usize> {
        view.input.rows.steps.iter().flatten().copied().collect()
    };
    let (before, after) = (own(base), own(run));
    (!before.is_empty() && !after.is_empty()).then(|| step_inflation(&before, &after))
}

fn phrases(
    base: &RunView<'_>,
    run: &RunView<'_>,
    missing: &mut Vec<String>,
) -> Option<Vec<NewPhrase>> {
    let (Some(before), Some(after)) = (base.data(), run.data()) else {
        missing.push("new phrases want the data of both runs (--with)".to_owned());
        return None;
    };
    let most = before.len().max(after.len());
    // Every n-th row, so that all prompts of a long run have a part.
    let step = most.div_ceil(TEXTS_MAX).max(1);
    if step > 1 {
        missing.push(format!("new phrases are of one in {step} rows"));
    }
    let before: Vec<&str> =
        before.iter().step_by(step).flatten().map(|row| row.completion.as_str()).collect();
    let after = after.iter().zip(&run.input.rows.total).step_by(step);
    let after: Vec<(&str, f64)> = after
        .filter_map(|(row, reward)| Some((row.as_ref()?.completion.as_str(), *reward)))
        .collect();
    Some(new_phrases(&before, &after, PhraseSettings::default()))
}
