//! The diagnosis of one run.

use std::collections::BTreeMap;

use assay::trainer::diagnostics::{
    AnswerCluster, CalibrationReport, DecisionQuality, Discriminability, DiscriminabilitySettings,
    FaultShares, JudgedDecision, LengthBias, RowFaults, answer_entropy, correlation, correlations,
    correlations_within, decision_quality, discriminability, duplicate_ngrams, fault_shares,
    format_only_share, has_second_problem, length_bias, majority_at_k, order_agreement,
    part_shares, pass_curve, powers_of_two, probability_calibration, prompt_counts, resampled,
    wilson,
};
use assay::verifiers::stats::{self, float};

use super::args::Args;
use super::data::DataRow;
use super::report::{
    AnswerReport, LengthReport, MajorityPoint, Outcomes, RepetitionReport, RunReport,
    SecondProblemReport,
};
use super::signals;
use super::view::{RunView, named};
use crate::exit::Failure;

/// The most samples of a prompt for which a vote of fewer than all is counted: the work grows with the
/// third power.
const VOTES_MAX: usize = 64;
/// Words of the phrases whose repetition is counted.
const NGRAM: usize = 4;
/// Bins of a calibration curve.
const BINS: usize = 10;

pub(super) fn report(view: &RunView<'_>, args: &Args) -> Result<RunReport, Failure> {
    let rows = &view.input.rows;
    let mut missing = view.missing.clone();
    let counts = prompt_counts(&view.groups, &view.correct).map_err(anyhow::Error::from)?;
    let most = counts.iter().map(|counts| counts.samples).max().unwrap_or_default();
    let ks = if args.k.is_empty() { powers_of_two(most) } else { args.k.clone() };
    let pass_at_k = pass_curve(&counts, &ks, args.resampling());
    let beyond: Vec<String> = ks.iter().filter(|k| **k > most).map(ToString::to_string).collect();
    if !beyond.is_empty() {
        missing.push(format!(
            "pass@{}: no prompt has more than {most} judged samples",
            beyond.join(", pass@")
        ));
    }
    let all = |of: fn(usize, usize) -> bool| {
        counts.iter().filter(|c| c.samples > 1 && of(c.samples, c.correct)).count()
    };
    let series = view.series();
    let faults = faults(view)?;
    let mut report = RunReport {
        run: view.input.name.clone(),
        verdicts_sha256: view.input.manifest.as_ref().and_then(|m| m.verdicts_sha256.clone()),
        rows: rows.len(),
        prompts: view.groups.len(),
        grouped_by: view.grouped_by,
        correct: args.correct.clone(),
        above: args.above,
        labelled_by: view.labelled_by.clone(),
        labels: view.unread_labels(),
        outcomes: outcomes(view),
        mean_reward: mean(&rows.total),
        mean_trusted: if view.trusted { mean_label(&view.labels) } else { None },
        pass_at_1_wilson: (most == 1)
            .then(|| wilson(counts.iter().map(|c| c.correct).sum(), pass_at_k.samples, args.level))
            .flatten(),
        pass_at_k,
        answers: answers(view, &ks, args),
        groups: groups(view, &series)?,
        all_correct: all(|samples, correct| samples == correct),
        all_wrong: all(|_, correct| correct == 0),
        correlations: correlations(&series),
        correlations_within: correlations_within(&view.groups, &series)
            .map_err(anyhow::Error::from)?,
        discordance_within: discordance(view, &series)?,
        parts: part_shares(&view.groups, &view.parts()).map_err(anyhow::Error::from)?,
        length: length(view, &series)?,
        steps: steps(view)?,
        repetition: repetition(view),
        second_problem: second_problem(view),
        format_only_share: format_only(view),
        fault_prompts: faults.worst.iter().map(|worst| prompt_name(view, worst.group)).collect(),
        faults,
        verifier_quality: quality(view),
        calibration: calibration(view, args)?,
        signals: Vec::new(),
        missing: Vec::new(),
    };
    missing.extend(unsaid(view, &report));
    report.signals = signals::signals(&report);
    report.missing = missing;
    Ok(report)
}

/// What could not be had for want of data, one line each.
fn unsaid(view: &RunView<'_>, report: &RunReport) -> Vec<String> {
    let mut missing = Vec::new();
    if view.data().is_none() {
        missing.push("--with DATA was not given: no lengths, no texts, no prompts".to_owned());
    }
    if report.answers.is_none() {
        missing.push(
            "no reward extracts answers: no majority, no entropy of answers, no share of \
                      what the format earns"
                .to_owned(),
        );
    }
    if report.steps.is_none() {
        missing.push("no reward gives steps: nothing is said of their number".to_owned());
    }
    let unweighted = view.input.rewards().filter(|name| view.weight(name).is_none());
    let unweighted: Vec<&str> = unweighted.collect();
    if !unweighted.is_empty() {
        missing.push(format!("no fixed weight is known of {}: 1 is taken", unweighted.join(", ")));
    }
    let combine = view.input.config.get("combine");
    let setting = |key: &str| combine.and_then(|combine| combine.get(key)?.as_str());
    let other =
        [("how", "weighted_sum"), ("normalise", "none")].into_iter().find_map(|(key, plain)| {
            setting(key).filter(|value| *value != plain).map(|value| format!("{key} = \"{value}\""))
        });
    missing.extend(other.map(|other| {
        format!("`parts` are those of the weighted sum; the run has {other}, which it is not")
    }));
    missing
}

fn mean(values: &[f64]) -> Option<f64> {
    stats::mean(values.iter().filter(|value| value.is_finite()))
}

fn mean_label(labels: &[Option<bool>]) -> Option<f64> {
    let values: Vec<f64> =
        labels.iter().flatten().map(|label| f64::from(u8::from(*label))).collect();
    mean(&values)
}

fn outcomes(view: &RunView<'_>) -> Outcomes {
    let rows = &view.input.rows;
    Outcomes {
        scored: rows.total.iter().filter(|reward| reward.is_finite()).count(),
        abstained: rows.abstained,
        failed: rows.faults.iter().flatten().count(),
    }
}

/// What the rows of a group share, as people read it.
fn prompt_name(view: &RunView<'_>, group: usize) -> String {
    let name = view.keys.get(group).map(|key| key.trim_start_matches('\u{0}'));
    let name: String = name.unwrap_or_default().chars().take(80).collect();
    name
}

fn answers(view: &RunView<'_>, ks: &[usize], args: &Args) -> Option<AnswerReport> {
    let found = view.answers.as_ref()?;
    let by_group: Vec<Vec<AnswerCluster>> = (0..view.groups.len())
        .filter_map(|group| {
            let clusters = view.clusters(group)?;
            Some(clusters.into_iter().map(|(_, cluster)| cluster).collect())
        })
        .collect();
    let sought = found.texts.iter().zip(&found.sought).filter(|(_, sought)| **sought);
    let answered: Vec<f64> =
        sought.map(|(answer, _)| f64::from(u8::from(answer.is_some()))).collect();
    let entropies: Vec<f64> = by_group
        .iter()
        .filter_map(|clusters| answer_entropy(clusters.iter().map(|cluster| cluster.count)))
        .collect();
    let point = |k: &usize| {
        let vote = |clusters: &Vec<AnswerCluster>| {
            let samples: usize = clusters.iter().map(|cluster| cluster.count).sum();
            let counted = samples <= VOTES_MAX || *k == samples || *k == 1;
            counted.then(|| majority_at_k(clusters, *k)).flatten()
        };
        let values: Vec<f64> = by_group.iter().filter_map(vote).collect();
        let statistic = |drawn: &[usize]| {
            mean(&drawn.iter().filter_map(|at| values.get(*at).copied()).collect::<Vec<_>>())
        };
        let estimate = resampled(values.len(), args.resampling(), statistic)?;
        Some(MajorityPoint { k: *k, estimate, prompts: values.len() })
    };
    Some(AnswerReport {
        reward: found.reward.clone(),
        answered: mean(&answered),
        entropy: mean(&entropies),
        majority_at_k: ks.iter().filter_map(point).collect(),
    })
}

fn groups(
    view: &RunView<'_>,
    series: &[(&str, &[f64])],
) -> Result<BTreeMap<String, Discriminability>, Failure> {
    let mut found = BTreeMap::new();
    for (name, rewards) in series {
        let labels = if is_label(view, name) { &[][..] } else { &view.labels };
        let settings = DiscriminabilitySettings::default();
        let own = discriminability(&view.groups, rewards, labels, settings);
        found.insert((*name).to_owned(), own.map_err(anyhow::Error::from)?);
    }
    Ok(found)
}

/// Whether a reward is what the labels are made of: it agrees with itself.
fn is_label(view: &RunView<'_>, name: &str) -> bool {
    view.labelled_by.as_deref().and_then(|by| by.strip_prefix("reward ")) == Some(name)
}

fn length(view: &RunView<'_>, series: &[(&str, &[f64])]) -> Result<Option<LengthReport>, Failure> {
    let Some(rows) = view.data() else { return Ok(None) };
    let has_tokens = rows.iter().flatten().all(|row| row.tokens.is_some());
    let unit = if has_tokens { "tokens" } else { "characters" };
    let length = |row: &Option<DataRow>| {
        let Some(row) = row else { return f64::NAN };
        let characters = || row.completion.chars().count();
        float(if has_tokens { row.tokens.unwrap_or_default() } else { characters() })
    };
    let lengths: Vec<f64> = rows.iter().map(length).collect();
    let mut by_reward = BTreeMap::new();
    for (name, rewards) in series {
        let labels = if is_label(view, name) { &[][..] } else { &view.labels };
        let bias = length_bias(&view.groups, &lengths, rewards, labels);
        by_reward.insert((*name).to_owned(), bias.map_err(anyhow::Error::from)?);
    }
    Ok(Some(LengthReport { unit, mean: mean(&lengths), by_reward }))
}

fn steps(view: &RunView<'_>) -> Result<Option<LengthBias>, Failure> {
    let rows = &view.input.rows;
    if rows.steps.iter().all(Option::is_none) {
        return Ok(None);
    }
    let steps: Vec<f64> = rows.steps.iter().map(|steps| steps.map_or(f64::NAN, float)).collect();
    let bias = length_bias(&view.groups, &steps, &rows.total, &view.labels);
    Ok(Some(bias.map_err(anyhow::Error::from)?))
}

fn repetition(view: &RunView<'_>) -> Option<RepetitionReport> {
    let share = |row: &Option<DataRow>| {
        row.as_ref().and_then(|row| duplicate_ngrams(&row.completion, NGRAM)).unwrap_or(f64::NAN)
    };
    let shares: Vec<f64> = view.data()?.iter().map(share).collect();
    let with_reward = correlation(&shares, &view.input.rows.total);
    Some(RepetitionReport { words: NGRAM, mean: mean(&shares), with_reward })
}

fn second_problem(view: &RunView<'_>) -> Option<SecondProblemReport> {
    let has = |row: &Option<DataRow>| match row {
        Some(row) => f64::from(u8::from(has_second_problem(&row.completion))),
        None => f64::NAN,
    };
    let found: Vec<f64> = view.data()?.iter().map(has).collect();
    let with_reward = correlation(&found, &view.input.rows.total);
    Some(SecondProblemReport { share: mean(&found), with_reward })
}

fn discordance(
    view: &RunView<'_>,
    series: &[(&str, &[f64])],
) -> Result<Vec<Vec<Option<f64>>>, Failure> {
    let cell = |first: &[f64], second: &[f64]| {
        let found = order_agreement(&view.groups, first, second).map_err(anyhow::Error::from)?;
        Ok(found.discordance)
    };
    series
        .iter()
        .map(|(_, first)| series.iter().map(|(_, second)| cell(first, second)).collect())
        .collect()
}

fn format_only(view: &RunView<'_>) -> Option<f64> {
    let answers = view.answers.as_ref()?;
    let rows = view.input.rows.total.iter().zip(&answers.texts).zip(&answers.sought);
    let sought = rows.filter(|(_, sought)| **sought);
    let (rewards, has): (Vec<f64>, Vec<bool>) =
        sought.map(|((reward, answer), _)| (*reward, answer.is_some())).unzip();
    format_only_share(&rewards, &has, 0.0)
}

fn faults(view: &RunView<'_>) -> Result<FaultShares, Failure> {
    let rows = &view.input.rows;
    let row = |(at, total): (usize, &Option<_>)| RowFaults {
        total: *total,
        rewards: rows
            .rewards
            .iter()
            .filter_map(|column| Some((column.name.as_str(), column.faults.get(at).copied()??)))
            .collect(),
    };
    let faults: Vec<RowFaults<'_>> = rows.faults.iter().enumerate().map(row).collect();
    Ok(fault_shares(&view.groups, &faults).map_err(anyhow::Error::from)?)
}

fn quality(view: &RunView<'_>) -> Option<BTreeMap<String, DecisionQuality>> {
    if !view.trusted {
        return None;
    }
    let stratum = |row: usize| {
        let data = view.data().and_then(|rows| rows.get(row)?.as_ref());
        data.and_then(|data| data.stratum.as_deref()).unwrap_or_default()
    };
    let rows = view.correct.iter().zip(&view.labels).enumerate();
    let decisions: Vec<JudgedDecision<'_>> = rows
        .filter_map(|(row, (accepted, label))| {
            Some(JudgedDecision { accepted: *accepted, correct: (*label)?, stratum: stratum(row) })
        })
        .collect();
    Some(decision_quality(&decisions))
}

fn calibration(view: &RunView<'_>, args: &Args) -> Result<Option<CalibrationReport>, Failure> {
    let Some(name) = &args.probability else { return Ok(None) };
    let confidences = &named(view.input, name)?.rewards;
    if view.labelled_by.is_none() || is_label(view, name) {
        return Err(Failure::usage(format!(
            "--probability {name}: no labels but its own; --correct NAME, --trusted NAME or --label \
             COLUMN gives them"
        )));
    }
    Ok(Some(probability_calibration(confidences, &view.labels, BINS)))
}
