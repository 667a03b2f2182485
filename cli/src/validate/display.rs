//! The report as text.

use annotate_snippets::Level;

use super::report::Report;
use crate::output::count;
use crate::text::inline;
use crate::trial::DEEP_ROWS;
use crate::trial::finding::Finding;
use crate::trial::rewards::{RewardOnData, RewardReport};
use crate::trial::suites::SuitesReport;
use crate::trial::tally::RowsTally;

/// Findings that are shown; `--json` lists more.
const SHOWN_MAX: usize = 10;

pub(super) fn text(report: &Report) -> String {
    let errors = match report.errors.len() {
        0 => "ok".to_owned(),
        1 => "1 error".to_owned(),
        errors => format!("{errors} errors"),
    };
    let mut text = format!("configuration  {errors}, {} rewards\n", report.rewards.len());
    if let Some(data) = &report.data {
        text.push_str(&format!("data           {} rows", count(data.rows)));
        if data.unreadable > 0 {
            text.push_str(&format!(", {} cannot be read", count(data.unreadable)));
        }
        text.push_str(if data.partial {
            ", the first ones: `--limit N` reads more\n"
        } else {
            "\n"
        });
        for error in data.errors.iter().take(SHOWN_MAX) {
            text.push_str(&format!("  {error}\n"));
        }
        if !data.missing_columns.is_empty() {
            let missing = inline(&data.missing_columns.join(", "));
            text.push_str(&format!("  no row has: {missing}\n"));
        } else if data.without_reference > 0 {
            let rows = count(data.without_reference);
            text.push_str(&format!("  {rows} rows have no reference\n"));
        }
    }
    let errors = report.errors.iter().map(|error| error.text(Level::ERROR));
    for problem in errors.chain(report.warnings.iter().map(|own| own.text(Level::WARNING))) {
        text.push_str(&format!("\n{problem}"));
    }
    for reward in &report.rewards {
        text.push_str(&reward_text(reward));
    }
    if let Some(combined) = &report.combined {
        text.push_str(&format!("\ncombined\n{}", on_rows(combined)));
    }
    text.push_str(if report.ok { "\nok" } else { "\nnot ok" });
    if let Some(data) = report.data.as_ref().filter(|data| data.partial) {
        let rows = count(data.rows);
        text.push_str(&format!(
            ", as far as the first {rows} rows say: the others were not looked at, `--limit N` takes N of them"
        ));
    }
    text + "\n"
}

fn reward_text(reward: &RewardReport) -> String {
    let mut text = format!("\n{}  ({})\n", inline(&reward.name), reward.verifier);
    text.push_str(&reward.rows.as_ref().map(on_rows).unwrap_or_default());
    match &reward.cases {
        Some(cases) => {
            let (failed, tried) = (cases.failed.len(), cases.tried);
            text.push_str(&format!("  its own hack cases   {failed} of {tried} paid\n"));
            for failed in &cases.failed {
                text.push_str(&format!("    {}\n", inline(&failed.text())));
            }
            for by in &cases.by_settings {
                let (paid, settings) = (count(by.paid), inline(&by.settings.join(", ")));
                text.push_str(&format!("    {paid} more by your `{settings}`: a warning\n"));
            }
        }
        None => text.push_str("  its own hack cases   none\n"),
    }
    if let Some(data) = &reward.data {
        text.push_str(&on_data(data));
    }
    text
}

/// What came of the rows, the reasons of those without a reward, and what was left out.
fn on_rows(tally: &RowsTally) -> String {
    let told = [
        (tally.scored, "scored"),
        (tally.abstained, "abstained"),
        (tally.failed, "failed"),
        (tally.not_applicable, "not applicable"),
        (tally.when_failed, "undecided by `when`"),
        (tally.behind_gate, "behind a gate"),
        (tally.not_asked, "not asked"),
    ];
    let told = told.iter().filter(|(rows, _)| *rows > 0);
    let told: Vec<String> = told.map(|(rows, what)| format!("{} {what}", count(*rows))).collect();
    if told.is_empty() {
        return String::new();
    }
    let mut text = format!("  on the rows          {}\n", told.join(", "));
    if let Some(first) = &tally.first_abstained {
        let (id, why) = (inline(&first.id), inline(&first.reason));
        text.push_str(&format!("    abstained, first row {} {id}: {why}\n", first.row));
    }
    if tally.not_asked > 0 {
        text.push_str(&format!(
            "    models and judges are asked with --deep, on {DEEP_ROWS} rows each\n"
        ));
    }
    text
}

fn on_data(data: &RewardOnData) -> String {
    let mut text = data.suites.as_ref().map(on_suites).unwrap_or_default();
    if data.suites.is_none() || data.gold_rows > 0 {
        text.push_str(&on_answers(data));
    }
    if data.probes_exhausted > 0 {
        let probes = count(data.probes_exhausted);
        text.push_str(&format!(
            "  out of its limits    {probes} of what was tried: the rest may be left out\n"
        ));
    }
    text
}

fn on_suites(report: &SuitesReport) -> String {
    let (weak, broken, suites) = (count(report.weak), count(report.broken), count(report.suites));
    let mut text =
        format!("  tests                {weak} of {suites} passed by programs that solve nothing");
    text.push_str(if report.weak > 0 { ": a warning\n" } else { "\n" });
    for weak in report.weak_suites.iter().take(SHOWN_MAX) {
        let passed = inline(&weak.passed.join(", "));
        text.push_str(&format!("    {} {passed}\n", place(&weak.id, weak.row, weak.rows)));
    }
    text.push_str(&more(report.weak_suites.len(), report.weak));
    if report.broken > 0 {
        text.push_str(&format!("  broken tests         {broken} of {suites}\n"));
        for broken in report.broken_suites.iter().take(SHOWN_MAX) {
            let verdict = inline(&broken.verdict);
            text.push_str(&format!(
                "    {} {verdict}\n",
                place(&broken.id, broken.row, broken.rows)
            ));
        }
        text.push_str(&more(report.broken_suites.len(), report.broken));
    }
    text.push_str(&on_rooms(report));
    text
}

/// Which rooms judge, where tests assert.
fn on_rooms(report: &SuitesReport) -> String {
    if report.separate + report.shared == 0 {
        return String::new();
    }
    let (separate, shared) = (count(report.separate), count(report.shared));
    let mut text = format!("  rooms                {separate} separate, {shared} shared\n");
    for shared in report.shared_suites.iter().take(SHOWN_MAX) {
        let why = inline(&shared.why);
        text.push_str(&format!("    {} {why}\n", place(&shared.id, shared.row, shared.rows)));
    }
    text.push_str(&more(report.shared_suites.len(), report.shared));
    text
}

fn place(id: &str, row: u64, rows: u64) -> String {
    let also = if rows > 1 { format!(" and {} more", count(rows - 1)) } else { String::new() };
    format!("row {row} {}{also}:", inline(id))
}

fn on_answers(data: &RewardOnData) -> String {
    if !data.uses_reference {
        return "  does not use the reference: gold answers and hacks say nothing about it\n"
            .into();
    }
    let accepted = match data.gold_rows {
        0 => "none can be made of the references".to_owned(),
        rows => format!("{} of {} accepted", count(data.gold_accepted), count(rows)),
    };
    let mut text = format!("  gold answers         {accepted}\n");
    text.push_str(&findings(&data.gold_rejected, data.gold_rows - data.gold_accepted));
    if data.gold_rows > 0 && data.gold_accepted == 0 {
        text.push_str(
            "    help: no reference earns full reward as its own answer: is it the right column in [data], \
             and this the verifier for it? (`assay list`)\n",
        );
    }
    let (paid, tried) = (count(data.hacks_paid), count(data.hacks_tried));
    text.push_str(&format!("  hacks made of them   {paid} of {tried} paid\n"));
    text.push_str(&findings(&data.paid, data.hacks_paid));
    if let Some(echoes) = data.echoes_by_chance {
        let prompts = count(echoes);
        text.push_str(&format!(
            "    {prompts} more by the prompt alone, which is right by chance\n"
        ));
    }
    if data.hacks_paid > 0 {
        text.push_str(
            "    help: a verifier that reads the final answer alone pays for fewer of them than one that finds the \
             answer wherever it stands (exact, number, math, choice)\n",
        );
    }
    text
}

fn findings(findings: &[Finding], all: u64) -> String {
    let line = |finding: &Finding| {
        let hack = finding.hack.map(|hack| format!(" [{hack}]")).unwrap_or_default();
        let (id, completion) = (inline(&finding.id), shortened(&inline(&finding.completion)));
        format!("    row {} {id}{hack}: {completion} -> {}\n", finding.row, finding.verdict)
    };
    let mut text: String = findings.iter().take(SHOWN_MAX).map(line).collect();
    text.push_str(&more(findings.len(), all));
    text
}

fn more(listed: usize, all: u64) -> String {
    match all - listed.min(SHOWN_MAX) as u64 {
        0 => String::new(),
        more => format!("    and {} more: --json lists them\n", count(more)),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
