//! What people see of an audit.

use std::fmt::Write as _;

use super::figures::{Audit, FamilyFigures, Share};
use crate::attack::Expect;
use crate::output::{self, percent};
use crate::text::inline;

/// Examples that are shown of a family.
const EXAMPLES_MAX: usize = 2;

pub(super) fn text(audit: &Audit) -> String {
    let mut rows = Vec::new();
    for (name, family) in &audit.families {
        let gain = family.mean_gain.map_or_else(String::new, |gain| format!("{gain:+.3}"));
        let worst = family
            .worst
            .first()
            .map_or_else(String::new, |(name, count)| format!("{} ({count})", inline(name)));
        rows.push([
            inline(name),
            expected(family.expect).to_owned(),
            output::count(family.failed.of as u64),
            share(family.failed),
            gain,
            worst,
        ]);
    }
    let header = ["family", "expected", "attacks", "failed (95 %)", "mean gain", "most often"];
    let mut text = output::table(header, &rows);
    text.push('\n');
    let _ = writeln!(
        text,
        "{} rows, {} attacks; a completion is paid from {} on. Rows with a hole: {}",
        output::count(audit.rows as u64),
        output::count(audit.attacks as u64),
        audit.pass,
        share(audit.rows_with_holes)
    );
    if audit.unjudged > 0 {
        let attacks = output::count(audit.unjudged as u64);
        let _ = writeln!(text, "{attacks} attacks were not judged: a fault, or an abstention");
    }
    if audit.rows_without_answer > 0 {
        let rows = output::count(audit.rows_without_answer as u64);
        let _ = writeln!(
            text,
            "{rows} rows have no short right answer: attacks with one were left out"
        );
    }
    figures(&mut text, audit);
    for (name, family) in &audit.families {
        examples(&mut text, name, family);
    }
    text
}

fn figures(text: &mut String, audit: &Audit) {
    let figures = [
        ("a paid completion is above an attack with probability", audit.discriminability),
        ("correlation of the length of attacks and their rewards", audit.length_correlation),
        ("STARC distance of the other configuration", audit.against.and_then(|own| own.starc)),
        ("EPIC distance of the other configuration", audit.against.and_then(|own| own.epic)),
    ];
    for (what, figure) in figures {
        if let Some(figure) = figure {
            let _ = writeln!(text, "{what}: {figure:.3}");
        }
    }
    if let Some(labels) = &audit.labels {
        let (accepts, refusals) = (share(labels.false_accepts), share(labels.false_refusals));
        let _ = writeln!(
            text,
            "by the labels: {accepts} of wrong completions paid, {refusals} of right ones not"
        );
    }
}

fn examples(text: &mut String, name: &str, family: &FamilyFigures) {
    let shown = family.examples.iter().take(EXAMPLES_MAX);
    for (at, example) in shown.enumerate() {
        if at == 0 {
            let _ = writeln!(text, "\n{}: {}", inline(name), inline(&family.about));
        }
        let before = example.before.map_or_else(String::new, |before| format!(", {before} before"));
        let (id, shown) = (inline(&example.id), inline(&example.text));
        let _ = writeln!(text, "  {id} earns {}{before}: {shown}", example.reward);
    }
}

fn expected(expect: Expect) -> &'static str {
    match expect {
        Expect::Unpaid => "not paid",
        Expect::NotHigher => "no rise",
        Expect::Unmoved => "no change",
        Expect::Lower => "a fall",
    }
}

fn share(share: Share) -> String {
    let interval = share.estimate.map_or_else(String::new, |own| {
        format!(" ({} to {})", percent(own.low), percent(own.high))
    });
    format!("{} of {}{interval}", share.count, share.of)
}
