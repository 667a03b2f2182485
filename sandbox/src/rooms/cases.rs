//! Call-style tests: the host calls a function with given arguments and compares what it returns.

use super::marks::unmarked;
use super::message::{Reply, request, text};
use super::solver::{Load, Solver};
use super::wire::{self, Plain};
use super::{Room, Terms};
use crate::runtime::{Clock, Guest, Limits, Stop, drive};

/// One call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// Arguments by position.
    pub args: Vec<Plain>,
    /// Arguments by name.
    pub kwargs: Vec<(String, Plain)>,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseResult {
    /// It returned this.
    Returned(Plain),
    /// It returned something that is not plain, such as an object of a class of its own.
    NotPlain,
    /// It raised this.
    Raised(String),
    /// It broke a rule, or was stopped.
    Refused(String),
}

/// What all calls came to.
#[derive(Clone, Debug, Default)]
pub struct CaseRun {
    /// One for each call, as far as they went.
    pub results: Vec<CaseResult>,
    /// Why the program could not be loaded.
    pub error: Option<String>,
    /// Why the setup could not run.
    pub broken: Option<String>,
    /// What stopped the room.
    pub stop: Option<(Room, Stop)>,
    /// Fuel that was used.
    pub fuel: u64,
    /// The most memory.
    pub memory_bytes_peak: usize,
    /// What the program wrote to standard output.
    pub stdout: Vec<u8>,
    /// What the program wrote to standard error.
    pub stderr: Vec<u8>,
}

/// A program whose function is called.
#[derive(Clone, Copy, Debug)]
pub struct Callee<'a> {
    /// The program.
    pub source: &'a str,
    /// Code that runs before it.
    pub setup: Option<&'a str>,
    /// The function, or the method of a class named `Solution`.
    pub entry_point: &'a str,
    /// Names that programs take for granted are there: `math`, `re`, `typing` and their like.
    /// The harnesses that most examples were run by had them.
    pub common_imports: bool,
    /// A result may be not a number.
    pub allow_nan: bool,
}

/// Calls a function of a program with each case, in one fresh interpreter.
pub fn call_cases(python: &Guest, callee: Callee<'_>, calls: &[Call], terms: Terms<'_>) -> CaseRun {
    let Terms { limits, seed, expired } = terms;
    let mut run = CaseRun::default();
    let work = async { all(python, callee, calls, &limits, seed, &mut run).await };
    if let Err(stop) = drive(work, expired) {
        run.stop = Some((Room::Candidate, stop));
    }
    run
}

async fn all(
    python: &Guest,
    callee: Callee<'_>,
    calls: &[Call],
    limits: &Limits,
    seed: u64,
    run: &mut CaseRun,
) -> Result<(), Stop> {
    let clock = Clock::new();
    let mut solver = Solver::start(python, limits, clock, seed, callee.allow_nan).await?;
    let load = Load {
        setup: callee.setup,
        program: callee.source,
        has_common_imports: callee.common_imports,
    };
    let reply = solver.ask(request("load", load.plain())).await?.0;
    let is_setup = load.is_blamed(&reply, python, limits).await?;
    match reply {
        Reply::Value(_) => {
            for call in calls {
                let result = one(&mut solver, callee.entry_point, call).await?;
                run.results.push(result);
            }
        }
        Reply::BadSetup(why) if is_setup => run.broken = Some(why),
        Reply::Raised(why) | Reply::Bad(why) | Reply::BadSetup(why) => run.error = Some(why),
        Reply::Ended => run.error = Some("no reply to a load".to_owned()),
    }
    let instance = solver.instance();
    run.fuel = instance.fuel_spent();
    run.memory_bytes_peak = instance.memory_bytes_peak();
    run.stdout = instance.stdout().take();
    run.stderr = instance.stderr().take();
    run.stop = solver.stop.map(|stop| (Room::Candidate, stop));
    Ok(())
}

async fn one(solver: &mut Solver, entry: &str, call: &Call) -> Result<CaseResult, Stop> {
    let kwargs = call.kwargs.iter().map(|(name, value)| (text(name), value.clone())).collect();
    let arguments = Plain::Tuple(vec![
        text(entry),
        Plain::Tuple(call.args.clone()),
        Plain::Dict(kwargs),
        Plain::Bool(false),
    ]);
    let message = request("do", [text("call"), Plain::Int(0.into()), arguments]);
    let (reply, bytes) = solver.ask(message).await?;
    Ok(match reply {
        Reply::Value(_) => returned(&bytes),
        Reply::Raised(why) => CaseResult::Raised(why),
        Reply::Bad(why) => CaseResult::Refused(why),
        Reply::Ended | Reply::BadSetup(_) => {
            CaseResult::Refused("a reply does not fit its request".to_owned())
        }
    })
}

fn returned(bytes: &[u8]) -> CaseResult {
    let value = match wire::decode(bytes) {
        Ok((Plain::Tuple(items), _)) => match <[Plain; 3]>::try_from(items) {
            Ok([_, Plain::Int(marked), value]) if marked == 0.into() => Some(value),
            Ok([_, _, value]) => unmarked(value),
            Err(_) => None,
        },
        Ok(_) => None,
        Err(error) => return CaseResult::Refused(error.to_string()),
    };
    value.map_or(CaseResult::NotPlain, CaseResult::Returned)
}
