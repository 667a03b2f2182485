//! Runs the gold queries and the candidate, and says how they compare.

use assay_verifiers::{Fault, FaultKind, Meter};

use super::compare::{Match, Rules, Semantics, compare};
use super::connection::{QueryConnection, QueryError, QueryLimits, QueryRun, units_of};
use super::database::Database;
use super::guard::Reads;
use super::lex;
use super::table::Table;

/// What decides how queries are run and compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct GradeRules {
    pub(super) semantics: Semantics,
    pub(super) tolerance: f64,
    pub(super) ops_max: u64,
    pub(super) rows_max: usize,
    pub(super) must_read: bool,
}

/// The result of a gold query.
#[derive(Debug)]
pub(super) struct GoldAnswer<'a> {
    pub(super) sql: &'a str,
    pub(super) table: Table,
    pub(super) reads: Reads,
    units: u64,
}

/// Runs every gold query. One that does not run is the fault of the row.
pub(super) fn answers<'a>(
    database: &Database,
    queries: &[&'a str],
    rules: GradeRules,
    meter: &mut Meter<'_>,
) -> Result<Vec<GoldAnswer<'a>>, Fault> {
    let mut answers = Vec::with_capacity(queries.len());
    for (sql, at) in queries.iter().zip(1..) {
        let ran = run(database, sql, meter.left().min(units_of(rules.ops_max)), rules, meter)?;
        let table = ran.result.map_err(|stop| broken(at, &stop, ran.units, rules))?;
        answers.push(GoldAnswer { sql, table, reads: ran.reads, units: ran.units });
    }
    Ok(answers)
}

fn broken(at: usize, stop: &QueryError, units: u64, rules: GradeRules) -> Fault {
    let advice = match stop.reason {
        "out-of-ops" if units >= units_of(rules.ops_max) => "; raise ops_max and fuel",
        "out-of-ops" => "; raise fuel",
        "not-deterministic" => "; the clock can be set with now",
        "too-many-rows" => "; raise rows_max",
        _ => "",
    };
    Fault::bad_reference(format!("gold query {at}: {}: {}{advice}", stop.reason, stop.why))
}

/// Runs the candidate, which must have at least twice the fuel that the dearest gold query took
/// before running out counts against it.
pub(super) fn candidate(
    database: &Database,
    sql: &str,
    answers: &[GoldAnswer<'_>],
    rules: GradeRules,
    meter: &mut Meter<'_>,
) -> Result<QueryRun, Fault> {
    // What is kept back pays for the comparison.
    let left = meter.left() - meter.left() / 8;
    let limit = left.min(units_of(rules.ops_max));
    let ran = run(database, sql, limit, rules, meter)?;
    let dearest = answers.iter().map(|answer| answer.units).max().unwrap_or_default();
    let is_out = matches!(&ran.result, Err(stop) if stop.reason == "out-of-ops");
    if is_out && limit == left && limit < dearest.saturating_mul(2) {
        let why = format!(
            "{limit} units are left for the candidate, a gold query took {dearest}; raise fuel"
        );
        return Err(Fault::new(FaultKind::OutOfFuel, why));
    }
    Ok(ran)
}

fn run(
    database: &Database,
    sql: &str,
    units: u64,
    rules: GradeRules,
    meter: &mut Meter<'_>,
) -> Result<QueryRun, Fault> {
    let limits = QueryLimits { units, rows_max: rules.rows_max };
    let ran = database
        .with_connection(|connection: &QueryConnection| connection.run(sql, limits))
        .map_err(|why| Fault::internal(format!("the database cannot be opened: {why}")))?;
    // A query may overdraw by what its last step cost, which is not a fault of the verdict.
    meter.spend(ran.units.min(meter.left()))?;
    Ok(ran)
}

/// How the candidate compares with each gold query that it has matched on all databases so far.
/// `standing` loses those that it does not match.
pub(super) fn matches(
    answers: &[GoldAnswer<'_>],
    ran: &QueryRun,
    standing: &mut [bool],
    rules: GradeRules,
    meter: &mut Meter<'_>,
) -> Result<Vec<(usize, Match)>, Fault> {
    let mut matches = Vec::new();
    for (at, (answer, stands)) in answers.iter().zip(standing).enumerate() {
        if !*stands {
            continue;
        }
        *stands = false;
        if let Ok(found) = &ran.result {
            let compared = against(answer, found, &ran.reads, rules, meter)?;
            *stands = matches!(compared, Match::Equal(_));
            matches.push((at, compared));
        }
    }
    Ok(matches)
}

/// How the candidate compares with one gold query.
fn against(
    answer: &GoldAnswer<'_>,
    found: &Table,
    reads: &Reads,
    rules: GradeRules,
    meter: &mut Meter<'_>,
) -> Result<Match, Fault> {
    let comparison = Rules {
        semantics: rules.semantics,
        tolerance: rules.tolerance,
        is_ordered: lex::is_ordered(answer.sql),
    };
    let compared = compare(&answer.table, found, comparison, meter)?;
    let refused = match compared {
        Match::Equal(_) if rules.must_read => unread(answer, found, reads),
        _ => None,
    };
    Ok(refused.map_or(compared, |reason| Match::Unequal { reason, missing: None, surplus: None }))
}

/// Why a candidate with the right rows may not have got them from the tables.
fn unread(answer: &GoldAnswer<'_>, found: &Table, reads: &Reads) -> Option<&'static str> {
    let tables = |reads: &Reads| reads.iter().map(|(table, _)| table.clone()).collect::<Vec<_>>();
    let (wanted, read) = (tables(&answer.reads), tables(reads));
    match () {
        () if wanted.is_empty() => None,
        () if read.is_empty() => Some("reads-no-table"),
        // No rows are the easiest rows to guess.
        () if found.cells.is_empty() && !read.iter().any(|table| wanted.contains(table)) => {
            Some("reads-other-tables")
        }
        () => None,
    }
}
