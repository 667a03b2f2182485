//! The diagnosis as people read it: tables, signals, and what could not be had.

use assay::trainer::diagnostics::{
    CorrelationMatrix, DecisionQuality, PartShare, PassCurve, PassPoint,
};

use super::cells::{PAIRS_MAX, amount, names_of, notes, number, section, small};
use super::comparison_text::{against, series};
use super::diagnosis::Diagnosis;
use super::report::RunReport;
use crate::output::{percent, table};
use crate::text::inline;

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
            let opposed = report.discordance_within.get(a).and_then(|row| *row.get(b)?);
            let opposed = opposed.map_or("-".to_owned(), percent);
            rows.push([format!("{}, {}", inline(name), inline(other)), p, s, pw, sw, opposed]);
        }
    }
    let more = rows.len().saturating_sub(PAIRS_MAX);
    rows.truncate(PAIRS_MAX);
    if !rows.is_empty() {
        let header =
            ["correlation", "Pearson", "Spearman", "Pearson within", "Spearman within", "opposed"];
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
    let share = |value: Option<f64>| value.map_or("-".to_owned(), percent);
    text.push_str(&format!(
        "mean length {}, repeated phrases {}, a second problem in {}\n",
        number(length.mean),
        share(report.repetition.as_ref().and_then(|found| found.mean)),
        share(report.second_problem.as_ref().and_then(|found| found.share))
    ));
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
