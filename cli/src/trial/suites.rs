//! Suites of tests: those that a program passes which solves nothing.

use std::collections::HashMap;

use assay::verifiers::{Digest, FaultKind, Outcome, Trivial, Verdict, Verifier};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use super::finding::LISTED_MAX;
use super::probe::{Probe, is_full};
use super::read::Row;
use super::steps::Steps;
use crate::verdict;

/// What came of the suites of one reward.
#[derive(Default, Serialize)]
pub(crate) struct SuitesReport {
    /// Different suites; rows may share one.
    pub(crate) suites: u64,
    /// Programs that solve nothing and were run on one.
    pub(crate) tried: u64,
    /// Suites that at least one of them passes.
    pub(crate) weak: u64,
    pub(crate) weak_suites: Vec<Weak>,
    /// Suites that cannot judge any program.
    pub(crate) broken: u64,
    pub(crate) broken_suites: Vec<Broken>,
    /// Suites of assertions that run in a room of their own.
    pub(crate) separate: u64,
    /// Suites that share the room of the program, which is weaker.
    pub(crate) shared: u64,
    pub(crate) shared_suites: Vec<Shared>,
}

/// A suite that shares the room of the program.
#[derive(Serialize)]
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) row: u64,
    pub(crate) rows: u64,
    /// What in it two rooms cannot judge.
    pub(crate) why: String,
}

/// A suite that programs pass which solve nothing.
#[derive(Serialize)]
pub(crate) struct Weak {
    /// The first row that has it.
    pub(crate) id: String,
    pub(crate) row: u64,
    /// How many rows have it.
    pub(crate) rows: u64,
    /// What the programs do that pass.
    pub(crate) passed: Vec<String>,
}

/// A suite that cannot judge any program.
#[derive(Serialize)]
pub(crate) struct Broken {
    pub(crate) id: String,
    pub(crate) row: u64,
    pub(crate) rows: u64,
    pub(crate) verdict: String,
}

/// Tests, the first row that has them, and how many do.
struct Suite<'a> {
    row: &'a Row,
    rows: u64,
    trivial: Trivial,
}

/// Runs programs that solve nothing on every suite, and gives back the rows that have none.
/// `None` where no row has one.
pub(crate) fn verify<'a>(
    probe: &Probe<'_>,
    verifier: &dyn Verifier,
    rows: &[&'a Row],
    steps: &Steps,
) -> (Option<SuitesReport>, Vec<&'a Row>) {
    let (suites, rest) = suites(verifier, rows);
    if suites.is_empty() {
        return (None, rest);
    }
    let verdicts = |suite: &Suite<'_>| -> Vec<Verdict> {
        let completions = suite.trivial.completions.iter().take_while(|_| !probe.is_over());
        let reference = suite.row.sample.reference();
        let verdict =
            |(_, text): &(String, String)| probe.verdict(&suite.row.sample, text, reference);
        let verdicts = completions.map(verdict).collect();
        steps.did(1);
        verdicts
    };
    let name = &probe.planned.name;
    steps.begin(format!("programs that solve nothing for {name}, suites"), suites.len());
    let found: Vec<Vec<Verdict>> = suites.par_iter().map(verdicts).collect();
    let mut report = SuitesReport::default();
    for (suite, verdicts) in suites.iter().zip(&found) {
        report.add(suite, verdicts);
    }
    (Some(report), rest)
}

/// The different suites, in the order of their first rows, and the rows without one.
fn suites<'a>(verifier: &dyn Verifier, rows: &[&'a Row]) -> (Vec<Suite<'a>>, Vec<&'a Row>) {
    let mut known: HashMap<Digest, usize> = HashMap::new();
    let (mut suites, mut rest) = (Vec::<Suite<'_>>::new(), Vec::new());
    for &row in rows {
        let Some(trivial) = verifier.trivial(&row.sample) else {
            rest.push(row);
            continue;
        };
        let at = *known.entry(trivial.tests).or_insert(suites.len());
        match suites.get_mut(at) {
            Some(suite) => suite.rows += 1,
            None => suites.push(Suite { row, rows: 1, trivial }),
        }
    }
    (suites, rest)
}

impl SuitesReport {
    fn add(&mut self, suite: &Suite<'_>, verdicts: &[Verdict]) {
        let (id, row, rows) = (suite.row.sample.id().to_owned(), suite.row.number, suite.rows);
        self.suites += 1;
        self.tried += verdicts.len() as u64;
        self.add_room(suite, verdicts);
        let named = suite.trivial.completions.iter().zip(verdicts);
        let passed: Vec<String> = named
            .filter(|(_, verdict)| is_full(verdict))
            .map(|((name, _), _)| name.clone())
            .collect();
        if !passed.is_empty() {
            self.weak += 1;
            if self.weak_suites.len() < LISTED_MAX {
                self.weak_suites.push(Weak { id, row, rows, passed });
            }
        } else if let Some(first) = verdicts.first()
            && verdicts.iter().all(blames_tests)
        {
            self.broken += 1;
            if self.broken_suites.len() < LISTED_MAX {
                let verdict = verdict::outcome(&first.outcome);
                self.broken_suites.push(Broken { id, row, rows, verdict });
            }
        }
    }
}

impl SuitesReport {
    /// The isolation follows from the tests alone, so any verdict has it.
    fn add_room(&mut self, suite: &Suite<'_>, verdicts: &[Verdict]) {
        let told = |key| verdicts.iter().find_map(|verdict| verdict.evidence.get(key)?.as_str());
        match told("room") {
            Some("shared") => {
                self.shared += 1;
                if self.shared_suites.len() < LISTED_MAX {
                    let (id, row) = (suite.row.sample.id().to_owned(), suite.row.number);
                    let why = told("why_shared").unwrap_or("isolation = \"shared\"").to_owned();
                    self.shared_suites.push(Shared { id, row, rows: suite.rows, why });
                }
            }
            Some(_) => self.separate += 1,
            None => {}
        }
    }
}

fn blames_tests(verdict: &Verdict) -> bool {
    matches!(&verdict.outcome, Outcome::Failed(fault) if fault.kind == FaultKind::BadReference)
}
