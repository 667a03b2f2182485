//! Suites of tests: those that a program passes which solves nothing.

use std::collections::HashMap;

use assay::verifiers::{Digest, FaultKind, Outcome, Trivial, Verdict, Verifier};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;
use serde_json::{Value, json};

use super::probe::{Probe, is_full};
use super::read::{LISTED_MAX, Row};
use super::steps::Steps;
use crate::verdict;

/// What came of the suites of one reward.
#[derive(Default, Serialize)]
pub(crate) struct SuitesReport {
    /// Different suites; rows may share one.
    suites: u64,
    /// Programs that solve nothing and were run on one.
    tried: u64,
    /// Suites that at least one of them passes.
    weak: u64,
    weak_suites: Vec<Value>,
    /// Suites that cannot judge any program.
    pub(crate) broken: u64,
    broken_suites: Vec<Value>,
    /// Suites of assertions that run in a room of their own.
    separate: u64,
    /// Suites that share the room of the program, which is weaker.
    shared: u64,
    shared_suites: Vec<Value>,
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
        self.suites += 1;
        self.tried += verdicts.len() as u64;
        // The isolation follows from the tests alone, so any verdict has it.
        let noted = |key| verdicts.iter().find_map(|own| own.evidence.get(key)?.as_str());
        match noted("room") {
            Some("shared") => {
                let why = noted("why_shared").unwrap_or("isolation = \"shared\"");
                self.shared += 1;
                suite.tell(&mut self.shared_suites, "why", why);
            }
            own => self.separate += u64::from(own.is_some()),
        }
        let named = suite.trivial.completions.iter().zip(verdicts);
        let passed = named.filter(|(_, own)| is_full(own)).map(|((name, _), _)| name.as_str());
        let passed: Vec<&str> = passed.collect();
        if !passed.is_empty() {
            self.weak += 1;
            suite.tell(&mut self.weak_suites, "passed", passed);
        } else if let Some(first) = verdicts.first()
            && verdicts.iter().all(blames_tests)
        {
            self.broken += 1;
            suite.tell(&mut self.broken_suites, "verdict", verdict::outcome(&first.outcome));
        }
    }
}

impl Suite<'_> {
    /// The first row that has it, how many have it, and what the programs do that pass (`passed`), why no program can be judged
    /// (`verdict`), or what in it two rooms cannot judge (`why`).
    fn tell(&self, list: &mut Vec<Value>, what: &str, told: impl Into<Value>) {
        if list.len() < LISTED_MAX {
            let (id, row) = (self.row.sample.id(), self.row.number);
            list.push(json!({"id": id, "row": row, "rows": self.rows, what: told.into()}));
        }
    }
}

fn blames_tests(verdict: &Verdict) -> bool {
    matches!(&verdict.outcome, Outcome::Failed(fault) if fault.kind == FaultKind::BadReference)
}
