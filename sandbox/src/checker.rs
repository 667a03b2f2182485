//! Checkers: programs that come with the tests of a task and judge what a program printed, where more than one
//! output is right.

use assay_verifiers::{Fault, Meter};

use crate::answer::unmarked;
use crate::compare::Difference;
use crate::languages::{Input, Ready};
use crate::runtime::{Guest, Limits, MemoryFiles};
use crate::stdio::{is_exception, last_line};
use crate::suite::StdioCase;
use crate::suite_run::fault;

/// The files that a checker reads, in the order of its arguments, and its own.
const FILES: [&str; 3] = ["/input.txt", "/expected.txt", "/output.txt"];
const OWN: &str = "/checker.py";
/// Exit codes that refuse an output: wrong answer and presentation error.
const REFUSED: [i32; 2] = [1, 2];

/// The checker of a row.
pub(crate) struct Checker<'a> {
    pub(crate) python: &'a Guest,
    pub(crate) source: &'a str,
}

impl Checker<'_> {
    /// Judges what a program printed; full credit alone is right. A checker that does not accept the expected
    /// output either judges nothing.
    ///
    /// # Errors
    /// A checker that fails, or refuses the expected output.
    pub(crate) fn judge(
        &self,
        case: &StdioCase,
        got: &[u8],
        meter: &Meter<'_>,
    ) -> Result<Option<Difference>, Fault> {
        let said = self.run(case, got, meter)?;
        if said == Ok(1.0) {
            return Ok(None);
        }
        match self.run(case, case.stdout.as_bytes(), meter)? {
            Ok(1.0) => Ok(Some(match said {
                Ok(_) => Difference::new("checker", 1, &case.stdout, &String::from_utf8_lossy(got)),
                Err(why) => Difference::new("checker-failed", 1, "", &why),
            })),
            Ok(credit) => {
                let why = format!("checker: gives the expected output {credit}, not 1");
                Err(Fault::bad_reference(why))
            }
            Err(why) => Err(Fault::bad_reference(format!("checker: {why}"))),
        }
    }

    /// The credit from 0 to 1, or why there is none.
    fn run(
        &self,
        case: &StdioCase,
        got: &[u8],
        meter: &Meter<'_>,
    ) -> Result<Result<f64, String>, Fault> {
        let files = MemoryFiles::default();
        for (name, bytes) in FILES.iter().zip([case.stdin.as_bytes(), case.stdout.as_bytes(), got])
        {
            let put = files.put(name, bytes);
            put.map_err(|why| Fault::bad_reference(format!("checker: {name}: {why}")))?;
        }
        let input =
            Input { stdin: "", args: &FILES.map(str::to_owned), files: Some((&files, OWN)) };
        let run =
            Ready::Python(self.python, unmarked(self.source)).run(input, &Limits::judging(), meter);
        if let Some(fault) = run.end.as_ref().err().and_then(fault) {
            return Err(fault);
        }
        let printed = String::from_utf8_lossy(&run.used.stdout).into_owned();
        let error = last_line(&run.used.stderr);
        Ok(match run.end {
            Ok(0) => credit(&printed),
            Ok(code) if REFUSED.contains(&code) && !is_exception(&error) => Ok(0.0),
            Ok(code) => Err(format!("ends with exit code {code}: {error}")),
            Err(stop) => Err(format!("is stopped: {stop}")),
        })
    }
}

/// What a checker printed that ended well: a number on its last line; nothing is right.
fn credit(printed: &str) -> Result<f64, String> {
    let Some(last) = printed.lines().map(str::trim).rfind(|line| !line.is_empty()) else {
        return Ok(1.0);
    };
    let credit = last.parse().ok().filter(|credit| (0.0..=1.0).contains(credit));
    credit.ok_or_else(|| {
        let shown: String = last.chars().take(80).collect();
        format!("its last line is {shown:?}, not a number from 0 to 1")
    })
}
