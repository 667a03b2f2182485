//! A report: one page with the figures of all rows, and some of the rows: every kind of fault, the ends and the
//! middle of the rewards, the groups that differ most, and rows drawn by a fixed seed.

use assay_verifiers::stats::SplitMix64;
use serde_json::{Value, json};

use crate::data::data_rows;
use crate::error::ViewError;
use crate::figures::top;
use crate::index::RunIndex;
use crate::lines::joined;
use crate::opened::{OpenedRun, ViewRun};
use crate::overview::{deviations, widest};
use crate::page::{escaped, page, policy};
use crate::text::cut_value;

/// A report is no larger, whatever the run.
pub const REPORT_BYTES_MAX: usize = 2_000_000;
/// What is said of the configuration may take so much, as it is written in the page.
const ABOUT_BYTES_MAX: usize = 200_000;
/// How long texts may be, from the first that fits.
const CUTS: [usize; 6] = [4096, 2048, 1024, 512, 256, 128];
/// Rows of one kind of fault, at each end of the rewards, and drawn at random.
const OF_FAULT: usize = 2;
const ENDS: usize = 5;
const AT_RANDOM: usize = 120;
/// Groups that are shown whole, and the most rows of one.
const GROUPS: usize = 3;
const GROUP_ROWS: usize = 16;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The report of a run.
///
/// # Errors
/// A folder or data that cannot be read.
pub fn report_html(run: ViewRun) -> Result<String, ViewError> {
    let data = run.data.clone();
    let (run, rows) = std::thread::scope(|scope| {
        let rows = scope.spawn(|| data.map(|data| data_rows(&*data)).transpose());
        (OpenedRun::open(run), joined(rows))
    });
    let mut run = run?;
    if run.data.is_some() {
        run.add_data(&rows?.unwrap_or_default());
    }
    for bytes in CUTS {
        if escaped(&run.about.to_string()).len() <= ABOUT_BYTES_MAX {
            break;
        }
        run.about = cut_value(&run.about, (bytes, bytes / 4));
    }
    let policy = policy("");
    let empty = page(&policy, "").len();
    let drawn = drawn(&run.index);
    let mut whole = String::new();
    for bytes in CUTS {
        let head =
            json!({ "kind": "report", "runs": [run.json()], "cut": bytes, "missing": run.missing });
        let head = escaped(&head.to_string());
        let head = head.strip_suffix('}').unwrap_or(&head);
        let room = REPORT_BYTES_MAX.saturating_sub(empty + head.len() + 100);
        let (rows, is_whole) = fitted(&run, &drawn, (bytes, room))?;
        whole = page(&policy, &format!("{head},\"rows\":[{rows}]}}"));
        if is_whole {
            break;
        }
    }
    Ok(whole)
}

/// The rows, each with its texts cut at `bytes`, as far as there is room; and whether all are there.
fn fitted(
    run: &OpenedRun,
    rows: &[(usize, Vec<String>)],
    (bytes, room): (usize, usize),
) -> Result<(String, bool), ViewError> {
    let (mut all, mut left) = (Vec::new(), room + 1);
    for (at, why) in rows {
        let Some(mut row) = run.row(*at, bytes)? else { continue };
        row.insert("why".to_owned(), json!(why));
        let json = escaped(&Value::Object(row).to_string());
        let rest = left.checked_sub(json.len() + 1);
        let Some(rest) = rest else { return Ok((all.join(","), false)) };
        left = rest;
        all.push(json);
    }
    Ok((all.join(","), true))
}

/// The rows that are shown, and why: those first without which a report must not be.
fn drawn(index: &RunIndex) -> Vec<(usize, Vec<String>)> {
    let (mut first, mut then) = (Vec::new(), Vec::new());
    let mut add = |places: &mut dyn Iterator<Item = usize>, why: &str| {
        for (rank, at) in places.enumerate() {
            if rank == 0 { &mut first } else { &mut then }.push((at, why.to_owned()));
        }
    };
    for kind in &index.faults {
        let why = if kind.part.is_empty() {
            kind.fault.clone()
        } else {
            format!("{}: {}", kind.part, kind.fault)
        };
        add(&mut kind.first.iter().copied().take(OF_FAULT), &why);
    }
    let rewards = || index.total.rewards.iter().copied();
    let places = |top: Vec<(usize, f64)>| top.into_iter().map(|(at, _)| at);
    add(&mut places(top(rewards().map(|reward| -reward), ENDS)), "lowest");
    add(&mut places(top(rewards(), ENDS)), "highest");
    let mut scored: Vec<(usize, f64)> =
        rewards().enumerate().filter(|(_, own)| own.is_finite()).collect();
    let middle = scored.len() / 2;
    if !scored.is_empty() {
        let (_, (at, _), _) =
            scored.select_nth_unstable_by(middle, |a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        add(&mut std::iter::once(*at), "median");
    }
    for (at, rows, _) in widest(&deviations(index), GROUPS) {
        then.extend((at..at + rows.min(GROUP_ROWS)).map(|at| (at, "group".to_owned())));
    }
    let mut random = SplitMix64::of(&[SEED]);
    let mut at_random: Vec<usize> = (0..index.len().min(AT_RANDOM)).collect();
    if index.len() > AT_RANDOM {
        at_random.fill_with(|| random.below(index.len()));
    }
    then.extend(at_random.into_iter().map(|at| (at, "drawn".to_owned())));
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    for (at, why) in first.into_iter().chain(then) {
        match rows.iter_mut().find(|(own, _)| *own == at) {
            Some((_, all)) if all.contains(&why) => {}
            Some((_, all)) => all.push(why),
            None => rows.push((at, vec![why])),
        }
    }
    rows
}

#[cfg(test)]
mod tests;
