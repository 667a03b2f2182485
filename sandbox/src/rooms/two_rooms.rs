//! Assertion-style tests: the candidate in one room, its tests in the other.

use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::{self, Reply, lossy, optional, request, text};
use super::solver::{Load, Solver};
use super::wire::{self, Plain};
use super::{Room, Terms};
use crate::runtime::{Clock, Guest, Instance, Invoke, Limits, Setup, Stop, drive};

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
pub struct Task<'a> {
    /// The candidate's program.
    pub candidate: &'a str,
    /// Code that runs before the candidate's, in its room.
    pub preamble: Option<&'a str>,
    /// Names that programs take for granted are there: `math`, `re`, `typing` and their like.
    /// The harnesses that most examples were run by had them.
    pub common_imports: bool,
    /// The prompt, where it is code: its helpers are there for the tests.
    pub prompt: Option<&'a str>,
    /// Code that runs before the tests, in their room.
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
}

/// What the rooms came to.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Each assertion that was reached, in order.
    pub tests: Vec<TestResult>,
    /// What ended the tests, or kept them from running.
    pub error: Option<String>,
    /// Why the tests are no tests.
    pub broken: Option<String>,
    /// The rule that the candidate's room broke.
    pub poisoned: Option<String>,
    /// Which room was stopped, and by what.
    pub stop: Option<(Room, Stop)>,
    /// The tests came to their end.
    pub finished: bool,
    /// Times that the tests reached the candidate.
    pub crossings: u64,
    /// Fuel of both rooms.
    pub fuel: u64,
    /// The most memory of a room.
    pub memory_bytes_peak: usize,
    /// What the candidate wrote to standard output.
    pub stdout: Vec<u8>,
    /// What the candidate wrote to standard error.
    pub stderr: Vec<u8>,
    /// Candidate and tests shared a room.
    pub shared_room: bool,
    /// Why two rooms could not judge the tests, where they could not.
    pub why_shared: Option<String>,
    /// Assertions that are written down in the tests.
    pub asserts: usize,
}

/// What follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// All tests passed.
    Passed,
    /// The candidate failed.
    Failed,
    /// The tests cannot judge anybody.
    BadTests(String),
    /// The time was up, or we failed.
    Stopped(Stop),
}

impl Judged {
    /// Whether the candidate passed, failed, or was not judged.
    pub fn ruling(&self) -> Ruling {
        if let Some((_, stop @ (Stop::Deadline | Stop::Internal(_)))) = &self.stop {
            return Ruling::Stopped(stop.clone());
        }
        if let Some(why) = &self.broken {
            return Ruling::BadTests(why.clone());
        }
        if let (Some((Room::Judge, stop)), 0) = (&self.stop, self.crossings) {
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
        let Some(result) = wire::decode(reply).ok().and_then(|(reply, _)| self.take(reply)) else {
            let why = "the judge's room gave no result".to_owned();
            // In a shared room the candidate can write what it likes into the result.
            if self.shared_room {
                self.error = Some(why);
            } else {
                self.stop = Some((Room::Judge, Stop::Internal(why)));
            }
            return;
        };
        self.finished = result;
    }

    fn take(&mut self, reply: Plain) -> Option<bool> {
        let Plain::Tuple(items) = reply else { return None };
        let [_, Plain::List(tests), error, broken, poisoned, Plain::Int(crossings)] =
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

    /// What the reading of the tests came to.
    fn take_plan(&mut self, reply: &[u8]) -> Result<(), Stop> {
        let unread = || Stop::Internal("the tests' room gave no plan".to_owned());
        let Ok((Plain::Tuple(items), _)) = wire::decode(reply) else { return Err(unread()) };
        let [_, Plain::Bool(is_shared), why, broken, Plain::Int(asserts)] = items.as_slice() else {
            return Err(unread());
        };
        self.shared_room = *is_shared;
        self.why_shared = said(why);
        self.broken = said(broken);
        self.asserts = usize::try_from(asserts).map_err(|_| unread())?;
        Ok(())
    }

    fn count(&mut self, instance: &Instance) {
        self.fuel = self.fuel.saturating_add(instance.fuel_spent());
        self.memory_bytes_peak = self.memory_bytes_peak.max(instance.memory_bytes_peak());
    }

    fn stopped(&mut self, room: Room, stop: Stop) {
        self.stop.get_or_insert((room, stop));
    }
}

/// Runs the tests against the candidate.
pub fn judge(python: &Guest, task: &Task<'_>, terms: Terms<'_>) -> Judged {
    let mut judged = Judged::default();
    let Terms { limits, seed, expired } = terms;
    let rooms = Rooms { python, task, limits: &limits, seed, clock: Clock::new() };
    if let Err(stop) = drive(rooms.judge(&mut judged), expired) {
        judged.stopped(Room::Candidate, stop);
    }
    judged
}

/// What the rooms of a task are made of.
struct Rooms<'a> {
    python: &'a Guest,
    task: &'a Task<'a>,
    limits: &'a Limits,
    seed: u64,
    clock: Clock,
}

impl Rooms<'_> {
    /// The tests are read first, in their own room: nothing of the candidate decides how it is
    /// judged.
    async fn judge(&self, judged: &mut Judged) -> Result<(), Stop> {
        let held = Held::default();
        let mut room = self
            .python
            .start(Setup {
                limits: self.limits.clone(),
                clock: self.clock.clone(),
                seed: self.seed,
                invoke: Some(held.answers()),
                ..Setup::default()
            })
            .await?;
        match room.call(request("plan", self.plan())).await {
            Ok(reply) => judged.take_plan(&reply)?,
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => judged.broken = Some(format!("the tests cannot be read: {stop}")),
        }
        if judged.broken.is_some() {
            judged.count(&room);
            Ok(())
        } else if judged.shared_room {
            self.shared(room, judged).await
        } else {
            self.separate(room, &held, judged).await
        }
    }

    async fn separate(&self, room: Instance, held: &Held, judged: &mut Judged) -> Result<(), Stop> {
        let (clock, allow_nan) = (self.clock.clone(), self.task.allow_nan);
        let mut solver =
            Solver::start(self.python, self.limits, clock, self.seed, allow_nan).await?;
        let load = load(self.task);
        let solver = match solver.ask(request("load", load.plain())).await?.0 {
            Reply::Value(_) => {
                held.put(solver);
                self.tests(room, held, judged).await?
            }
            reply => {
                judged.count(&room);
                let is_setup = load.is_blamed(&reply, self.python, self.limits).await?;
                not_loaded(reply, is_setup, judged);
                Some(solver)
            }
        };
        if let Some(solver) = solver {
            judged.count(solver.instance());
            judged.stdout = solver.instance().stdout().take();
            judged.stderr = solver.instance().stderr().take();
            judged.poisoned = solver.poisoned.or_else(|| judged.poisoned.take());
            if let Some(stop) = solver.stop {
                // The judge's room may have been stopped by what this one did.
                judged.stop = Some((Room::Candidate, stop));
            }
        }
        Ok(())
    }

    /// Runs the tests in their room, and gives the candidate's room back.
    async fn tests(
        &self,
        mut room: Instance,
        held: &Held,
        judged: &mut Judged,
    ) -> Result<Option<Solver>, Stop> {
        let outcome = room.call(request("judge", self.arguments())).await;
        judged.count(&room);
        match outcome {
            Ok(reply) => judged.read(&reply),
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => judged.stopped(Room::Judge, stop),
        }
        let solver = held.take();
        if let (Some(_), Some(solver)) = (&judged.stop, &solver) {
            judged.crossings = solver.crossings;
        }
        Ok(solver)
    }

    async fn shared(&self, mut room: Instance, judged: &mut Judged) -> Result<(), Stop> {
        let given = load(self.task).plain().into_iter().chain(self.arguments());
        let outcome = room.call(request("shared", given)).await;
        judged.count(&room);
        judged.stdout = room.stdout().take();
        judged.stderr = room.stderr().take();
        match outcome {
            Ok(reply) => match message::read(&reply) {
                reply @ (Reply::Raised(_) | Reply::BadSetup(_)) => {
                    let load = load(self.task);
                    let is_setup = load.is_blamed(&reply, self.python, self.limits).await?;
                    not_loaded(reply, is_setup, judged);
                }
                Reply::Bad(why) if why.starts_with("the program ends itself") => {
                    judged.error = Some(why);
                }
                _ => judged.read(&reply),
            },
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => judged.stopped(Room::Candidate, stop),
        }
        Ok(())
    }

    /// What the tests are read with.
    fn plan(&self) -> [Plain; 5] {
        let entry_points = self.task.entry_points.iter().map(|name| text(name)).collect();
        [
            text(self.task.isolation.name()),
            optional(self.task.prompt),
            optional(self.task.setup),
            text(self.task.test),
            Plain::List(entry_points),
        ]
    }

    /// What the tests are run with.
    fn arguments(&self) -> [Plain; 5] {
        let entry_points = self.task.entry_points.iter().map(|name| text(name)).collect();
        [
            text(self.task.test),
            Plain::List(entry_points),
            Plain::Bool(self.task.stop_at_first),
            Plain::Bool(self.task.copy_back),
            Plain::Bool(self.task.allow_nan),
        ]
    }
}

/// Why a program did not load, or (`is_setup`) the code that precedes it.
fn not_loaded(reply: Reply, is_setup: bool, judged: &mut Judged) {
    match reply {
        Reply::BadSetup(why) if is_setup => {
            judged.broken = Some(format!("the setup does not run: {why}"));
        }
        Reply::Raised(why) | Reply::BadSetup(why) => {
            judged.error = Some(format!("the program does not load: {why}"));
        }
        Reply::Bad(why) => judged.error = Some(why),
        Reply::Value(_) | Reply::Ended => judged.error = Some("no reply to a load".to_owned()),
    }
}

fn load<'a>(task: &Task<'a>) -> Load<'a> {
    Load { setup: task.preamble, program: task.candidate, has_common_imports: task.common_imports }
}

fn test_result(row: &Plain) -> Option<TestResult> {
    let Plain::Tuple(row) = row else { return None };
    let [Plain::Int(line), name, Plain::Int(runs), Plain::Int(failures), error] = row.as_slice()
    else {
        return None;
    };
    Some(TestResult {
        line: u32::try_from(line).ok()?,
        text: lossy(name),
        runs: u64::try_from(runs).ok()?,
        failures: u64::try_from(failures).ok()?,
        error: said(error),
    })
}

fn said(value: &Plain) -> Option<String> {
    (*value != Plain::None).then(|| lossy(value))
}

/// The candidate's room, lent to the judge's for the time of a crossing.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Option<Solver>>>);

impl Held {
    fn take(&self) -> Option<Solver> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, solver: Solver) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(solver);
    }

    fn answers(&self) -> Invoke {
        let held = self.clone();
        Box::new(move |message| {
            let held = held.clone();
            Box::pin(async move {
                let lost = || Stop::Internal("a crossing began inside another".to_owned());
                let mut solver = held.take().ok_or_else(lost)?;
                let reply = solver.cross(message).await;
                held.put(solver);
                reply
            })
        })
    }
}
