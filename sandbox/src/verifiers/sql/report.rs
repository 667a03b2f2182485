//! What a verdict shows of a run.

use assay_verifiers::prelude::*;

use super::compare::Match;
use super::connection::QueryRun;
use super::grade::GoldAnswer;
use super::table::Table;

/// Notes the result of the candidate, and the gold query that it matches or comes closest to.
pub(super) fn run(
    verdict: Verdict,
    ran: &QueryRun,
    answers: &[GoldAnswer<'_>],
    matches: &[(usize, Match)],
) -> Verdict {
    let verdict = verdict.with("ops", ran.ops);
    let found = match &ran.result {
        Ok(found) => found,
        Err(stop) => return verdict.with("error", stop.why.as_str()).because(stop.reason),
    };
    let verdict = verdict.with("rows", found.rows()).with("columns", found.columns);
    let closest = matches
        .iter()
        .min_by_key(|(at, compared)| (distance(answers.get(*at), found, compared), *at));
    let Some((at, compared)) = closest else { return verdict };
    let Some(answer) = answers.get(*at) else { return verdict };
    let verdict = verdict
        .with("gold", *at)
        .with("gold_rows", answer.table.rows())
        .with("gold_columns", answer.table.columns);
    match *compared {
        Match::Equal(reason) => verdict.because(reason),
        Match::Unequal { reason, missing, surplus } => {
            let Some(row) = missing.into_iter().chain(surplus).min() else {
                return verdict.because(reason);
            };
            let shown =
                |table: &Table, row: Option<usize>| row.map_or(Value::Null, |row| table.shown(row));
            verdict
                // The first row that the candidate lacks, and the first that the gold lacks.
                .with("row", row)
                .with("expected", shown(&answer.table, missing))
                .with("found", shown(found, surplus))
                .because(reason)
        }
    }
}

/// A match first, then a table of the same shape, then any.
fn distance(answer: Option<&GoldAnswer<'_>>, found: &Table, compared: &Match) -> u8 {
    let is_alike = answer.is_some_and(|answer| {
        answer.table.columns == found.columns && answer.table.rows() == found.rows()
    });
    match compared {
        Match::Equal(_) => 0,
        Match::Unequal { .. } if is_alike => 1,
        Match::Unequal { .. } => 2,
    }
}
