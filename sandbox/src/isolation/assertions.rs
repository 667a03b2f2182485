//! Assertion-style tests: the candidate in one instance, its tests in the other.

use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::{CandidateInstance, Load};
use super::message::{self, Reply, lossy, request};
use super::{RunContext, Side};
use crate::answer::unmarked;
use crate::runtime::{Guest, GuestClock, Instance, Invoke, Limits, RunRecord, Setup, Stop, drive};
use crate::value::{PyValue, marshal};

/// Where tests and candidate run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In two rooms, where these can judge the tests, as is known from the tests alone; else in one.
    #[default]
    Auto,
    /// In two rooms.
    Separate,
    /// In one. It is weaker: the candidate can reach what judges it.
    Shared,
}

impl Isolation {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Separate => "separate",
            Self::Shared => "shared",
        }
    }
}

/// A candidate and the tests that it must pass.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that a task may change")]
pub struct AssertionTask<'a> {
    /// The candidate's program.
    pub candidate: &'a str,
    /// Code that runs before the candidate's, in its instance.
    pub preamble: Option<&'a str>,
    /// Names that programs take for granted are there: `math`, `re`, `typing` and their like.
    /// The harnesses with which most data sets were labelled had them.
    pub common_imports: bool,
    /// The prompt, where it is code: the tests may use its helpers.
    pub prompt: Option<&'a str>,
    /// Code that runs before the tests, in their instance.
    pub setup: Option<&'a str>,
    /// The tests.
    pub test: &'a str,
    /// Names of the candidate that the tests are about. Without any, the names that the tests use
    /// and do not define are looked for in the candidate's program.
    pub entry_points: &'a [String],
    /// Arguments that the candidate changes are changed for the tests too. Tests that compare an
    /// argument after the call need it; a candidate can then cheat tests that reuse arguments.
    pub copy_back: bool,
    /// A result may be not a number.
    pub allow_nan: bool,
    /// Where tests and candidate run.
    pub isolation: Isolation,
    /// The first failure ends the tests.
    pub stop_at_first: bool,
}

/// What became of one assertion, or of one test function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Its line in the tests; 0 where it has a name.
    pub line: u32,
    /// Its first line of code, or its name.
    pub text: String,
    /// How often it was reached.
    pub runs: u64,
    /// How often it failed.
    pub failures: u64,
    /// Its first failure.
    pub error: Option<String>,
    /// What it compared when it failed first.
    pub told: Told,
}

/// What a failed test compared, as texts; each is missing where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What the candidate was asked: `add(1, 2)`.
    pub input: Option<String>,
    /// What was expected: `3`, or in words.
    pub expected: Option<String>,
    /// What came instead.
    pub got: Option<String>,
}

/// What both sides came to.
#[derive(Clone, Debug, Default)]
pub struct AssertionRun {
    /// Each assertion that was reached, in order.
    pub tests: Vec<TestResult>,
    /// What ended the tests, or kept them from running.
    pub error: Option<String>,
    /// Why the tests are invalid.
    pub broken: Option<String>,
    /// The rule that the candidate's instance broke.
    pub poisoned: Option<String>,
    /// Which side was stopped, and by what.
    pub stop: Option<(Side, Stop)>,
    /// The tests ran to their end.
    pub finished: bool,
    /// Calls of the tests into the candidate's instance.
    pub crossings: u64,
    /// Fuel and memory of both instances, and the output of the candidate's.
    pub used: RunRecord,
    /// Candidate and tests shared an instance.
    pub shared_room: bool,
    /// Why the tests cannot run apart from the candidate, where they cannot.
    pub why_shared: Option<String>,
    /// Assertions in the source of the tests.
    pub asserts: usize,
}

/// What follows from a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// All tests passed.
    Passed,
    /// The candidate failed.
    Failed,
    /// The tests are at fault, whatever the candidate.
    BadTests(String),
    /// The deadline passed, or the sandbox failed.
    Stopped(Stop),
}

impl AssertionRun {
    /// What the run says of the candidate.
    pub fn ruling(&self) -> Ruling {
        if let Some((_, stop @ (Stop::Deadline | Stop::Internal(_)))) = &self.stop {
            return Ruling::Stopped(stop.clone());
        }
        if let Some(why) = &self.broken {
            return Ruling::BadTests(why.clone());
        }
        if let (Some((Side::Tests, stop)), 0) = (&self.stop, self.crossings) {
            return Ruling::BadTests(format!("the tests do not end: {stop}"));
        }
        let is_clean = self.stop.is_none() && self.poisoned.is_none() && self.error.is_none();
        let is_right = self.tests.iter().all(|test| test.failures == 0);
        let is_tested = !self.tests.is_empty();
        if is_clean && is_right && is_tested && self.finished {
            Ruling::Passed
        } else {
            Ruling::Failed
        }
    }

    fn read(&mut self, reply: &[u8]) {
        let Some(result) = marshal::decode(reply).ok().and_then(|(reply, _)| self.take(reply))
        else {
            let why = "the judge's room gave no result".to_owned();
            // In a shared instance the candidate can write what it likes into the result.
            if self.shared_room {
                self.error = Some(why);
            } else {
                self.stop = Some((Side::Tests, Stop::Internal(why)));
            }
            return;
        };
        self.finished = result;
    }

    fn take(&mut self, reply: PyValue) -> Option<bool> {
        let PyValue::Tuple(items) = reply else { return None };
        let [_, PyValue::List(tests), error, broken, poisoned, PyValue::Int(crossings)] =
            items.as_slice()
        else {
            return None;
        };
        self.tests = tests.iter().map(test_result).collect::<Option<_>>()?;
        self.error = said(error);
        self.broken = said(broken);
        self.poisoned = self.poisoned.take().or_else(|| said(poisoned));
        self.crossings = u64::try_from(crossings).ok()?;
        Some(true)
    }

    /// Takes the result of analysing the tests.
    fn take_plan(&mut self, reply: &[u8]) -> Result<(), Stop> {
        let unread = || Stop::Internal("the tests' room gave no plan".to_owned());
        let Ok((PyValue::Tuple(items), _)) = marshal::decode(reply) else { return Err(unread()) };
        let [_, PyValue::Bool(is_shared), why, broken, PyValue::Int(asserts)] = items.as_slice()
        else {
            return Err(unread());
        };
        self.shared_room = *is_shared;
        self.why_shared = said(why);
        self.broken = said(broken);
        self.asserts = usize::try_from(asserts).map_err(|_| unread())?;
        Ok(())
    }

    fn stopped(&mut self, side: Side, stop: Stop) {
        self.stop.get_or_insert((side, stop));
    }
}

/// Runs the tests against the candidate.
pub fn run_assertions(
    python: &Guest,
    task: &AssertionTask<'_>,
    context: RunContext<'_>,
) -> AssertionRun {
    let mut run = AssertionRun::default();
    let RunContext { limits, seed, expired } = context;
    let runner = Runner { python, task, limits: &limits, seed, clock: GuestClock::new() };
    if let Err(stop) = drive(runner.run(&mut run), expired) {
        run.stopped(Side::Candidate, stop);
    }
    run
}

/// Starts and drives the instances of a task.
struct Runner<'a> {
    python: &'a Guest,
    task: &'a AssertionTask<'a>,
    limits: &'a Limits,
    seed: u64,
    clock: GuestClock,
}

impl Runner<'_> {
    /// The tests are analysed first, in their own instance, so that the candidate cannot influence
    /// how it is tested.
    async fn run(&self, run: &mut AssertionRun) -> Result<(), Stop> {
        let slot = CandidateSlot::default();
        let mut tests = self
            .python
            .start(Setup {
                limits: self.limits.clone(),
                clock: self.clock.clone(),
                seed: self.seed,
                invoke: Some(slot.answers()),
                ..Setup::default()
            })
            .await?;
        match tests.call(request("plan", self.plan())).await {
            Ok(reply) => run.take_plan(&reply)?,
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => run.broken = Some(format!("the tests cannot be read: {stop}")),
        }
        if run.broken.is_some() {
            run.used.count(&tests.record());
            Ok(())
        } else if run.shared_room {
            self.shared(tests, run).await
        } else {
            self.separate(tests, &slot, run).await
        }
    }

    async fn separate(
        &self,
        tests: Instance,
        slot: &CandidateSlot,
        run: &mut AssertionRun,
    ) -> Result<(), Stop> {
        let (clock, allow_nan) = (self.clock.clone(), self.task.allow_nan);
        let mut candidate =
            CandidateInstance::start(self.python, self.limits, clock, self.seed, allow_nan).await?;
        let load = load(self.task);
        let candidate = match candidate.ask(request("load", load.arguments())).await?.0 {
            Reply::Value(_) => {
                slot.put(candidate);
                self.tests(tests, slot, run).await?
            }
            reply => {
                run.used.count(&tests.record());
                let is_setup = load.is_blamed(&reply, self.python, self.limits).await?;
                not_loaded(reply, is_setup, run);
                Some(candidate)
            }
        };
        if let Some(candidate) = candidate {
            run.used.follow(candidate.instance().record());
            run.poisoned = candidate.poisoned.or_else(|| run.poisoned.take());
            if let Some(stop) = candidate.stop {
                // The tests' side may have been stopped by what this one did.
                run.stop = Some((Side::Candidate, stop));
            }
        }
        Ok(())
    }

    /// Runs the tests in their instance, and returns the candidate's.
    async fn tests(
        &self,
        mut tests: Instance,
        slot: &CandidateSlot,
        run: &mut AssertionRun,
    ) -> Result<Option<CandidateInstance>, Stop> {
        let outcome = tests.call(request("judge", self.arguments())).await;
        run.used.count(&tests.record());
        match outcome {
            Ok(reply) => run.read(&reply),
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => run.stopped(Side::Tests, stop),
        }
        let candidate = slot.take();
        if let (Some(_), Some(candidate)) = (&run.stop, &candidate) {
            run.crossings = candidate.crossings;
        }
        Ok(candidate)
    }

    async fn shared(&self, mut tests: Instance, run: &mut AssertionRun) -> Result<(), Stop> {
        let given = load(self.task).arguments().into_iter().chain(self.arguments());
        let outcome = tests.call(request("shared", given)).await;
        run.used.follow(tests.record());
        match outcome {
            Ok(reply) => match message::read(&reply) {
                reply @ (Reply::Raised(_) | Reply::BadSetup(_)) => {
                    let load = load(self.task);
                    let is_setup = load.is_blamed(&reply, self.python, self.limits).await?;
                    not_loaded(reply, is_setup, run);
                }
                Reply::Exits(why) => run.error = Some(why),
                _ => run.read(&reply),
            },
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => run.stopped(Side::Candidate, stop),
        }
        Ok(())
    }

    /// The arguments of `plan`, which analyses the tests.
    fn plan(&self) -> [PyValue; 5] {
        [
            self.task.isolation.name().into(),
            self.task.prompt.map(unmarked).into(),
            self.task.setup.map(unmarked).into(),
            unmarked(self.task.test).into(),
            self.entry_points(),
        ]
    }

    /// The arguments of `judge`, which runs the tests.
    fn arguments(&self) -> [PyValue; 5] {
        [
            unmarked(self.task.test).into(),
            self.entry_points(),
            PyValue::Bool(self.task.stop_at_first),
            PyValue::Bool(self.task.copy_back),
            PyValue::Bool(self.task.allow_nan),
        ]
    }

    fn entry_points(&self) -> PyValue {
        PyValue::List(self.task.entry_points.iter().map(|name| name.as_str().into()).collect())
    }
}

/// Why a program did not load, or (`is_setup`) the code that precedes it.
fn not_loaded(reply: Reply, is_setup: bool, run: &mut AssertionRun) {
    match reply {
        Reply::BadSetup(why) if is_setup => {
            run.broken = Some(format!("the setup does not run: {why}"));
        }
        Reply::Raised(why) | Reply::BadSetup(why) => {
            run.error = Some(format!("the program does not load: {why}"));
        }
        Reply::Bad(why) | Reply::Exits(why) => run.error = Some(why),
        Reply::Value(_) | Reply::Ended => run.error = Some("no reply to a load".to_owned()),
    }
}

fn load<'a>(task: &AssertionTask<'a>) -> Load<'a> {
    Load { setup: task.preamble, program: task.candidate, has_common_imports: task.common_imports }
}

fn test_result(row: &PyValue) -> Option<TestResult> {
    let PyValue::Tuple(row) = row else { return None };
    let [PyValue::Int(line), name, PyValue::Int(runs), PyValue::Int(failures), error, told] =
        row.as_slice()
    else {
        return None;
    };
    Some(TestResult {
        line: u32::try_from(line).ok()?,
        text: lossy(name),
        runs: u64::try_from(runs).ok()?,
        failures: u64::try_from(failures).ok()?,
        error: said(error),
        told: told_of(told).unwrap_or_default(),
    })
}

fn told_of(value: &PyValue) -> Option<Told> {
    let PyValue::Tuple(items) = value else { return None };
    let [input, expected, got] = items.as_slice() else { return None };
    Some(Told { input: said(input), expected: said(expected), got: said(got) })
}

fn said(value: &PyValue) -> Option<String> {
    (*value != PyValue::None).then(|| lossy(value))
}

/// The candidate's instance, lent to the tests' side for the time of a crossing.
#[derive(Clone, Default)]
struct CandidateSlot(Arc<Mutex<Option<CandidateInstance>>>);

impl CandidateSlot {
    fn take(&self) -> Option<CandidateInstance> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, candidate: CandidateInstance) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(candidate);
    }

    fn answers(&self) -> Invoke {
        let slot = self.clone();
        Box::new(move |message| {
            let slot = slot.clone();
            Box::pin(async move {
                let lost = || Stop::Internal("a crossing began inside another".to_owned());
                let mut candidate = slot.take().ok_or_else(lost)?;
                let reply = candidate.cross(message).await;
                slot.put(candidate);
                reply
            })
        })
    }
}
