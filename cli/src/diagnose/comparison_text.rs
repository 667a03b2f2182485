//! What moved between runs, as people read it.

use assay::trainer::diagnostics::{PassCurve, SupportDynamics};

use super::against::{Comparison, PartCorrelation, PassDifference};
use super::cells::{PAIRS_MAX, amount, names_of, notes, number, section, signed};
use super::series::{Series, SeriesPoint};
use crate::output::{percent, table};
use crate::text::inline;

/// Phrases that are shown.
const PHRASES_MAX: usize = 5;

pub(super) fn against(text: &mut String, found: &Comparison) {
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
    let row = |pair: &PartCorrelation| {
        let names = format!("{}, {}", inline(&pair.first), inline(&pair.second));
        let change = pair.against.zip(pair.run).map(|(before, after)| after - before);
        [names, number(pair.against), number(pair.run), signed(change)]
    };
    let rows: Vec<[String; 4]> = found.part_correlations.iter().take(PAIRS_MAX).map(row).collect();
    if !rows.is_empty() {
        section(text, &table(["Pearson within", "against", "run", "change"], &rows));
    }
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

pub(super) fn series(text: &mut String, found: &Series) {
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
