//! The report as text.

use super::{Finding, Report, RewardOnData, RewardReport};
use crate::cli::output::count;
use crate::cli::text::inline;

/// Findings that are shown; `--json` lists more.
const SHOWN_MAX: usize = 10;

pub(super) fn text(report: &Report) -> String {
    let mut text = format!("configuration  ok, {} rewards\n", report.rewards.len());
    if let Some(data) = &report.data {
        text.push_str(&format!("data           {} rows", count(data.rows)));
        if data.unreadable > 0 {
            text.push_str(&format!(", {} cannot be read", count(data.unreadable)));
        }
        text.push('\n');
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
    for reward in &report.rewards {
        text.push_str(&reward_text(reward));
    }
    text.push_str(if report.ok { "\nok\n" } else { "\nnot ok\n" });
    text
}

fn reward_text(reward: &RewardReport) -> String {
    let mut text = format!("\n{}  ({})\n", inline(&reward.name), reward.verifier);
    match &reward.cases {
        Some(cases) => {
            let (failed, tried) = (cases.failed.len(), cases.tried);
            text.push_str(&format!("  its own hack cases   {failed} of {tried} paid\n"));
            for failed in &cases.failed {
                text.push_str(&format!("    {}\n", inline(&failed.text())));
            }
        }
        None => text.push_str("  its own hack cases   none\n"),
    }
    if let Some(data) = &reward.data {
        text.push_str(&on_data(data));
    }
    text
}

fn on_data(data: &RewardOnData) -> String {
    if !data.uses_reference {
        return "  does not use the reference: gold answers and hacks say nothing about it\n"
            .into();
    }
    let mut text = format!(
        "  gold answers         {} of {} accepted\n",
        count(data.gold_accepted),
        count(data.gold_rows)
    );
    text.push_str(&findings(&data.gold_rejected, data.gold_rows - data.gold_accepted));
    let (paid, tried) = (count(data.hacks_paid), count(data.hacks_tried));
    text.push_str(&format!("  hacks made of them   {paid} of {tried} paid\n"));
    text.push_str(&findings(&data.paid, data.hacks_paid));
    text
}

fn findings(findings: &[Finding], all: u64) -> String {
    let line = |finding: &Finding| {
        let hack = finding.hack.map(|hack| format!(" [{hack}]")).unwrap_or_default();
        let (id, completion) = (inline(&finding.id), shortened(&inline(&finding.completion)));
        format!("    row {} {id}{hack}: {completion} -> {}\n", finding.row, finding.verdict)
    };
    let mut text: String = findings.iter().take(SHOWN_MAX).map(line).collect();
    let shown = findings.len().min(SHOWN_MAX) as u64;
    if all > shown {
        text.push_str(&format!("    and {} more: --json lists them\n", count(all - shown)));
    }
    text
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
