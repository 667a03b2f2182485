//! `assay diff`: what moved between two runs, and why.

mod config;
mod moves;
mod pairs;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay::verifiers::Scored;
use clap::Args as ClapArgs;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::text::inline;
use config::Changes;
use moves::Move;
use pairs::{Pair, Pairs};
use run::Run;

/// What moved between two runs, and why.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run before
    run_a: PathBuf,
    /// The run after
    run_b: PathBuf,
    /// Rows that are named for each cause
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Report {
    equal: bool,
    /// `bytes`, `order` or `id`: how rows were brought together.
    matched_by: &'static str,
    rows_a: u64,
    rows_b: u64,
    /// Rows of both runs whose total or whose verdicts differ.
    moved: u64,
    /// Those of them whose total went up, went down, or came or went.
    up: u64,
    down: u64,
    came_or_went: u64,
    only_in_a: u64,
    only_in_b: u64,
    /// What differs between the configurations.
    config: Vec<String>,
    /// What moved, the most frequent first.
    causes: Vec<Cause>,
}

#[derive(Serialize)]
struct Cause {
    #[serde(flatten)]
    what: Move,
    /// What differs in the configuration of the reward.
    because: Vec<String>,
    rows: u64,
    /// Some of the rows.
    ids: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (a, b) = (Run::open(&args.run_a)?, Run::open(&args.run_b)?);
    let changes = config::changes(&a.config, &b.config);
    let report = if run::same_bytes(&a, &b)? {
        Report { equal: true, matched_by: "bytes", ..Report::new(&a, &b, &changes) }
    } else {
        compare(args, &a, &b, &changes)?
    };
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&text(args, &report));
    }
    Ok(if report.equal { Exit::Ok } else { Exit::Threshold })
}

fn compare(args: &Args, a: &Run, b: &Run, changes: &Changes) -> Result<Report, Failure> {
    let mut report = Report::new(a, b, changes);
    let mut causes = BTreeMap::new();
    let mut pairs = Pairs::new(a.rows()?, b.rows()?);
    for pair in &mut pairs {
        let (id, moves) = match pair? {
            Pair::Both(rows) => {
                let (a, b) = *rows;
                let moves = moves::moves(&a, &b);
                report.count(&a, &b, &moves);
                (a.id, moves)
            }
            Pair::OnlyA(row) => {
                report.only_in_a += 1;
                (row.id, vec![Move::only("a")])
            }
            Pair::OnlyB(row) => {
                report.only_in_b += 1;
                (row.id, vec![Move::only("b")])
            }
        };
        for what in moves {
            let (rows, ids): &mut (u64, Vec<String>) = causes.entry(what).or_default();
            *rows += 1;
            if ids.len() < args.limit {
                ids.push(id.clone());
            }
        }
    }
    report.matched_by = if pairs.by_id() { "id" } else { "order" };
    (report.rows_a, report.rows_b) = pairs.rows();
    report.equal = causes.is_empty();
    let cause = |(what, (rows, ids)): (Move, (u64, Vec<String>))| Cause {
        because: what.reward.as_ref().map(|name| changes.of_reward(name)).unwrap_or_default(),
        what,
        rows,
        ids,
    };
    report.causes = causes.into_iter().map(cause).collect();
    report.causes.sort_by_key(|cause| std::cmp::Reverse(cause.rows));
    Ok(report)
}

impl Report {
    fn new(a: &Run, b: &Run, changes: &Changes) -> Self {
        Self {
            equal: false,
            matched_by: "order",
            rows_a: a.manifest.rows.unwrap_or_default(),
            rows_b: b.manifest.rows.unwrap_or_default(),
            moved: 0,
            up: 0,
            down: 0,
            came_or_went: 0,
            only_in_a: 0,
            only_in_b: 0,
            config: changes.all(),
            causes: Vec::new(),
        }
    }

    fn count(&mut self, a: &Scored, b: &Scored, moves: &[Move]) {
        self.moved += u64::from(!moves.is_empty());
        match (a.reward(), b.reward()) {
            (Some(a), Some(b)) if a < b => self.up += 1,
            (Some(a), Some(b)) if a > b => self.down += 1,
            (Some(_), None) | (None, Some(_)) => self.came_or_went += 1,
            _ => {}
        }
    }
}

fn text(args: &Args, report: &Report) -> String {
    let mut text = format!(
        "a  {}: {} rows\nb  {}: {} rows\n",
        args.run_a.display(),
        count(report.rows_a),
        args.run_b.display(),
        count(report.rows_b)
    );
    for change in &report.config {
        text.push_str(&format!("configuration: {}\n", inline(change)));
    }
    if report.matched_by == "id" {
        text.push_str("the rows are in another order; they were matched by id\n");
    }
    if report.equal {
        text.push_str("equal\n");
        return text;
    }
    let Report { moved, up, down, came_or_went, .. } = *report;
    text.push_str(&format!(
        "\n{} rows moved; totals: {} up, {} down, {} came or went\n",
        count(moved),
        count(up),
        count(down),
        count(came_or_went)
    ));
    for cause in &report.causes {
        text.push_str(&format!("\n{:>8}  {}\n", count(cause.rows), inline(&cause.what.text())));
        for because in &cause.because {
            text.push_str(&format!("{:>8}  {}\n", "", inline(because)));
        }
        let ids: Vec<String> = cause.ids.iter().map(|id| inline(id)).collect();
        let more = if cause.rows > ids.len() as u64 { ", ..." } else { "" };
        if !ids.is_empty() {
            text.push_str(&format!("{:>8}  {}{more}\n", "", ids.join(", ")));
        }
    }
    text
}
