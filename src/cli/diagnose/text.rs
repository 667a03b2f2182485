//! The diagnosis as people read it: tables, signals, and what could not be had.

use assay::trainer::diagnostics::{
    CorrelationMatrix, DecisionQuality, PartShare, PassCurve, PassPoint, SupportDynamics,
};

use super::against::{Comparison, PassDifference};
use super::diagnosis::Diagnosis;
use super::report::RunReport;
use super::series::{Series, SeriesPoint};

use super::view::TOTAL;
use crate::cli::output::{count, percent, table};
use crate::cli::text::inline;

/// Pairs of rewards that are shown.
const PAIRS_MAX: usize = 45;
/// Phrases that are shown.
const PHRASES_MAX: usize = 5;

pub(super) fn text(diagnosis: &Diagnosis<'_>) -> String {
    let mut text = String::new();
    for (at, report) in diagnosis.runs.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        one(&mut text, report);
    }
    for comparison in diagnosis.against {
        text.push('\n');
        against(&mut text, comparison);
    }
    if let Some(found) = diagnosis.series {
        text.push('\n');
        series(&mut text, found);
    }
    text
}

fn one(text: &mut String, report: &RunReport) {
    let RunReport { rows, prompts, outcomes, .. } = report;
    text.push_str(&format!(
        "{}: {} rows ({} scored, {} abstained, {} failed), {} prompts by {}\n",
        inline(&report.run),
        amount(*rows),
        amount(outcomes.scored),
        amount(outcomes.abstained),
        amount(outcomes.failed),
        amount(*prompts),
        report.grouped_by
    ));
    let correct = report
        .correct
        .as_ref()
        .map_or("the combined reward".to_owned(), |name| format!("reward {}", inline(name)));
    text.push_str(&format!("correct: {correct} above {}\n", report.above));
    if let Some(by) = &report.labelled_by {
        text.push_str(&format!("held against: {}\n", inline(by)));
    }
    pass(text, &report.pass_at_k);
    if let Some(wilson) = report.pass_at_1_wilson {
        let ends = format!("{} to {}", percent(wilson.low), percent(wilson.high));
        text.push_str(&format!("one sample a prompt: {}, Wilson {ends}\n", percent(wilson.value)));
    }
    answers(text, report);
    groups(text, report);
    correlations(text, report);
    parts(text, report);
    length(text, report);
    quality(text, report);
    faults(text, report);
    signals(text, report);
    notes(text, &report.missing);
}

fn pass(text: &mut String, curve: &PassCurve) {
    let row = |point: &PassPoint| {
        let estimate = point.estimate;
        [
            point.k.to_string(),
            number(Some(estimate.value)),
            number(Some(estimate.low)),
            number(Some(estimate.high)),
            number(point.standard_error),
            amount(point.prompts),
        ]
    };
    let rows: Vec<[String; 6]> = curve.points.iter().map(row).collect();
    if !rows.is_empty() {
        section(text, &table(["k", "pass@k", "low", "high", "error", "prompts"], &rows));
    }
    if let Some(mean) = curve.mean {
        let error = number(mean.standard_error);
        text.push_str(&format!(
            "mean@n {}, error {error} clustered by prompt, {} judged samples\n",
            number(Some(mean.mean)),
            amount(mean.rows)
        ));
    }
}

fn answers(text: &mut String, report: &RunReport) {
    let Some(answers) = &report.answers else { return };
    let votes: Vec<String> = answers
        .majority_at_k
        .iter()
        .map(|point| format!("maj@{} {}", point.k, number(Some(point.estimate.value))))
        .collect();
    text.push_str(&format!(
        "answers of {}: {} answered, entropy {}; {}\n",
        answers.reward.as_deref().map_or("the first reward that extracts one".to_owned(), inline),
        answers.answered.map_or("-".to_owned(), percent),
        number(answers.entropy),
        votes.join(", ")
    ));
}

fn groups(text: &mut String, report: &RunReport) {
    let names = names_of(report.groups.keys());
    let row = |name: &&str| {
        let own = report.groups.get(*name).copied().unwrap_or_default();
        [
            inline(name),
            own.zero_variance_share.map_or("-".to_owned(), percent),
            amount(own.of_one),
            number(own.standard_deviation),
            number(own.distinct),
            number(own.effective_levels),
            number(own.pairwise_auc),
            number(own.contrast),
        ]
    };
    let rows: Vec<[String; 8]> = names.iter().map(row).collect();
    let header =
        ["reward", "zero variance", "of one", "std", "distinct", "levels", "AUC", "contrast"];
    section(text, &table(header, &rows));
    let (right, wrong) = (amount(report.all_correct), amount(report.all_wrong));
    text.push_str(&format!("prompts all correct: {right}, all wrong: {wrong}\n"));
}

/// The combined reward first.
fn names_of<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_by_key(|name| *name != TOTAL);
    names
}

fn correlations(text: &mut String, report: &RunReport) {
    let mut rows = Vec::new();
    let (all, within) = (&report.correlations, &report.correlations_within);
    for (a, name) in all.names.iter().enumerate() {
        for (b, other) in all.names.iter().enumerate().skip(a + 1) {
            let cell = |matrix: &CorrelationMatrix| {
                let of = |rows: &[Vec<Option<f64>>]| number(rows.get(a).and_then(|r| *r.get(b)?));
                (of(&matrix.pearson), of(&matrix.spearman))
            };
            let ((p, s), (pw, sw)) = (cell(all), cell(within));
            rows.push([format!("{}, {}", inline(name), inline(other)), p, s, pw, sw]);
        }
    }
    let more = rows.len().saturating_sub(PAIRS_MAX);
    rows.truncate(PAIRS_MAX);
    if !rows.is_empty() {
        let header = ["correlation", "Pearson", "Spearman", "Pearson within", "Spearman within"];
        section(text, &table(header, &rows));
    }
    if more > 0 {
        text.push_str(&format!("{} more pairs: --json lists them\n", amount(more)));
    }
}

fn parts(text: &mut String, report: &RunReport) {
    if report.parts.len() < 2 {
        return;
    }
    let row = |part: &PartShare| {
        [
            inline(&part.name),
            part.weight.to_string(),
            number(part.mean),
            part.size_share.map_or("-".to_owned(), percent),
            part.variance_share.map_or("-".to_owned(), percent),
            part.variance_share_within.map_or("-".to_owned(), percent),
        ]
    };
    let rows: Vec<[String; 6]> = report.parts.iter().map(row).collect();
    let header = ["part", "weight", "mean", "of size", "of variance", "within prompts"];
    section(text, &table(header, &rows));
}

fn length(text: &mut String, report: &RunReport) {
    let Some(length) = &report.length else { return };
    let row = |name: &&str| {
        let own = length.by_reward.get(*name).copied().unwrap_or_default();
        [
            inline(name),
            number(own.overall.pearson),
            number(own.within_groups.pearson),
            number(own.within_groups.spearman),
            small(own.within_groups.slope),
            small(own.slope_at_fixed_correctness),
        ]
    };
    let rows: Vec<[String; 6]> = names_of(length.by_reward.keys()).iter().map(row).collect();
    let first = format!("length in {}", length.unit);
    let header =
        [first.as_str(), "Pearson", "within", "Spearman within", "slope within", "slope at label"];
    section(text, &table(header, &rows));
    let repeated = report.repetition.as_ref().and_then(|found| found.mean);
    let repeated = repeated.map_or("-".to_owned(), percent);
    text.push_str(&format!("mean length {}, repeated phrases {repeated}\n", number(length.mean)));
}

fn quality(text: &mut String, report: &RunReport) {
    if let Some(quality) = &report.verifier_quality {
        let row = |(name, own): (&String, &DecisionQuality)| {
            let rate = own.false_accept_rate;
            [
                inline(name),
                number(own.precision),
                number(own.recall),
                number(rate.map(|rate| rate.value)),
                number(rate.map(|rate| rate.high)),
                amount(own.false_accepts),
                amount(own.not_judged),
            ]
        };
        let rows: Vec<[String; 7]> = quality.iter().map(row).collect();
        let header = [
            "decisions",
            "precision",
            "recall",
            "false accept rate",
            "up to",
            "false accepts",
            "not judged",
        ];
        section(text, &table(header, &rows));
    }
    if let Some(own) = &report.calibration {
        text.push_str(&format!(
            "calibration: error {}, Brier {}, NLL {}, AUROC {}, AURC {}, {} rows\n",
            number(own.expected_error),
            number(own.brier),
            number(own.negative_log_likelihood),
            number(own.auroc),
            number(own.risk_coverage_area),
            amount(own.rows)
        ));
    }
}

fn faults(text: &mut String, report: &RunReport) {
    let faults = &report.faults;
    if faults.failed == 0 && faults.by_reward.is_empty() {
        return;
    }
    let share = faults.share.map_or("-".to_owned(), percent);
    text.push_str(&format!(
        "\nfaults: {share} of rows, in {} of {} prompts, {} of them whole; clustering {}\n",
        amount(faults.groups_with),
        amount(faults.groups),
        amount(faults.groups_whole),
        number(faults.clustering)
    ));
    for (name, kinds) in &faults.by_reward {
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, rows)| format!("{kind} {}", amount(*rows))).collect();
        text.push_str(&format!("  {}: {}\n", inline(name), kinds.join(", ")));
    }
}

fn signals(text: &mut String, report: &RunReport) {
    let raised: Vec<_> = report.signals.iter().filter(|signal| signal.raised).collect();
    text.push_str(&format!(
        "\nsignals: {} of {} beyond their limit\n",
        raised.len(),
        report.signals.len()
    ));
    for signal in raised {
        let (name, means) = (signal.name, signal.means);
        let value = number(Some(signal.value));
        text.push_str(&format!("  {name} {value} (limit {}): {means}\n", signal.limit));
    }
}

fn against(text: &mut String, found: &Comparison) {
    text.push_str(&format!(
        "{} against {}: {} shared prompts\n",
        inline(&found.run),
        inline(&found.against),
        amount(found.shared_prompts)
    ));
    let pass = &found.pass_at_k;
    let value = |curve: &PassCurve, k: usize| {
        number(curve.points.iter().find(|point| point.k == k).map(|point| point.estimate.value))
    };
    let row = |own: &PassDifference| {
        let ends = own.interval.map(|interval| (interval.low, interval.high));
        [
            own.k.to_string(),
            value(&pass.against, own.k),
            value(&pass.run, own.k),
            number(Some(own.difference.mean)),
            number(ends.map(|(low, _)| low)),
            number(ends.map(|(_, high)| high)),
        ]
    };
    let rows: Vec<[String; 6]> = pass.differences.iter().map(row).collect();
    if !rows.is_empty() {
        section(text, &table(["k", "against", "run", "difference", "low", "high"], &rows));
    }
    for crossing in &pass.crossings {
        let above = if crossing.second_is_above { "the run" } else { "the other" };
        let (from, to, at) = (crossing.from, crossing.to, crossing.at);
        text.push_str(&format!("the curves cross between k {from} and {to} (about {at:.1}): {above} is above from there\n"));
    }
    support(text, found);
    moved(text, found);
    notes(text, &found.missing);
}

fn support(text: &mut String, found: &Comparison) {
    let row = |name: &str, own: &SupportDynamics| {
        [
            name.to_owned(),
            amount(own.preserved),
            amount(own.expanded),
            amount(own.shrunk),
            amount(own.neither),
            number(own.retention),
            number(own.discovery),
            number(own.dynamic_score),
            number(own.net_change),
        ]
    };
    let mut rows = vec![row("by prompt", &found.support.by_prompt)];
    rows.extend(found.support.by_answer.iter().map(|own| row("by answer", own)));
    let header = ["support", "kept", "new", "lost", "neither", "SRR", "NDR", "SDS", "NSCR"];
    section(text, &table(header, &rows));
    if let (Some(before), Some(after)) = (found.support.entropy_against, found.support.entropy_run)
    {
        text.push_str(&format!("entropy of answers {before:.4} -> {after:.4}\n"));
    }
}

fn moved(text: &mut String, found: &Comparison) {
    let row = |name: &&str| {
        let own = found.drift.get(*name).copied().unwrap_or_default();
        let distance = found.distance.as_ref().and_then(|distances| distances.get(*name));
        [
            inline(name),
            signed(own.mean_shift),
            number(own.kolmogorov_smirnov),
            number(own.jensen_shannon),
            number(own.stability_index),
            number(distance.and_then(|distance| distance.starc)),
            number(distance.and_then(|distance| distance.epic)),
        ]
    };
    let rows: Vec<[String; 7]> = names_of(found.drift.keys()).iter().map(row).collect();
    let header = ["reward", "mean shift", "KS", "JS", "PSI", "STARC", "EPIC"];
    section(text, &table(header, &rows));
    if let Some(steps) = found.steps {
        let (before, after) = (number(steps.before), number(steps.now));
        let (one, two) = (number(steps.single_before), number(steps.single_now));
        text.push_str(&format!("steps {before} -> {after}, of one step {one} -> {two}\n"));
    }
    for phrase in found.new_phrases.iter().flatten().take(PHRASES_MAX) {
        let (before, now) = (percent(phrase.before), percent(phrase.now));
        let reward = number(Some(phrase.reward_correlation));
        let words = inline(&phrase.phrase);
        text.push_str(&format!("new phrase, {before} -> {now}, correlation {reward}: {words}\n"));
    }
}

fn series(text: &mut String, found: &Series) {
    let row = |point: &SeriesPoint| {
        let told = match (point.state.hacked, point.state.diverges) {
            (true, _) => "hacked",
            (false, true) => "diverges",
            (false, false) => "",
        };
        [
            inline(&point.run),
            number(point.proxy),
            number(point.trusted),
            signed(point.state.gap),
            signed(point.state.proxy_slope),
            signed(point.state.trusted_slope),
            told.to_owned(),
        ]
    };
    let rows: Vec<[String; 7]> = found.points.iter().map(row).collect();
    let header = ["point", "reward", "trusted", "gap", "slope", "trusted slope", "alarm"];
    text.push_str(&table(header, &rows));
    text.push('\n');
}

fn section(text: &mut String, table: &str) {
    text.push('\n');
    text.push_str(table);
    text.push('\n');
}

fn notes(text: &mut String, missing: &[String]) {
    for note in missing {
        text.push_str(&format!("not told: {}\n", inline(note)));
    }
}

fn amount(rows: usize) -> String {
    count(rows as u64)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

fn signed(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.4}"))
}

/// A slope, which may be small: a character earns little.
fn small(value: Option<f64>) -> String {
    match value {
        Some(value) if value != 0.0 && value.abs() < 1e-3 => format!("{value:.2e}"),
        other => number(other),
    }
}
