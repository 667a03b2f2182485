//! Call-style tests: the host calls a function with given arguments and compares what it returns.

use super::RunContext;
use super::candidate::{CandidateInstance, Load};
use super::marks::unmarked;
use super::message::{Reply, request};
use crate::runtime::{Guest, GuestClock, Limits, RunRecord, Stop, drive};
use crate::value::{Arguments, PyValue, marshal};

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// It returned this.
    Returned(PyValue),
    /// It returned nothing, and left this of its first argument.
    Left(PyValue),
    /// It returned something that is not plain data, such as an object of the program's own class.
    NotPlain,
    /// It raised this.
    Raised(String),
    /// It broke a rule, or was stopped.
    Refused(String),
    /// It was not made, because an operation before it on the same object raised.
    NotReached,
}

/// What all calls came to.
#[derive(Clone, Debug, Default)]
pub struct CallsRun {
    /// One for each call that was made.
    pub results: Vec<CallResult>,
    /// Why the program could not be loaded.
    pub error: Option<String>,
    /// Why the setup could not run.
    pub broken: Option<String>,
    /// What stopped the instance.
    pub stop: Option<Stop>,
    /// What the instance used and wrote.
    pub used: RunRecord,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerb<'a> {
    /// The function that is asked for.
    Answer,
    /// The class that is asked for: it makes the object of the operations that follow.
    Make,
    /// This method of that object.
    Operate(&'a str),
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
    /// The harnesses with which most data sets were labelled had them.
    pub common_imports: bool,
    /// A result may be not a number.
    pub allow_nan: bool,
}

/// Calls a function of a program with each of the arguments, in one fresh interpreter.
pub fn run_calls<'a>(
    python: &Guest,
    callee: Callee<'_>,
    calls: impl IntoIterator<Item = &'a Arguments>,
    context: RunContext<'_>,
) -> CallsRun {
    let answers = calls.into_iter().map(|arguments| (CallVerb::Answer, arguments));
    run_operations(python, callee, answers, context)
}

/// Makes each of the calls, in one fresh interpreter. After a call of a class or of a method that raised, the
/// operations on that object are not made.
pub fn run_operations<'a>(
    python: &Guest,
    callee: Callee<'_>,
    calls: impl IntoIterator<Item = (CallVerb<'a>, &'a Arguments)>,
    context: RunContext<'_>,
) -> CallsRun {
    let RunContext { limits, seed, expired } = context;
    let mut run = CallsRun::default();
    let work = async {
        let clock = GuestClock::new();
        let mut candidate =
            CandidateInstance::start(python, &limits, clock, seed, callee.allow_nan).await?;
        run.load(python, &callee, &limits, &mut candidate).await?;
        if run.error.is_none() && run.broken.is_none() {
            let mut is_lost = false;
            for (verb, call) in calls {
                is_lost &= matches!(verb, CallVerb::Operate(_));
                if is_lost {
                    run.results.push(CallResult::NotReached);
                    continue;
                }
                let result = one(&mut candidate, verb, callee.entry_point, call).await?;
                is_lost = verb != CallVerb::Answer && matches!(result, CallResult::Raised(_));
                run.results.push(result);
            }
        }
        run.used = candidate.instance().record();
        run.stop = candidate.stop;
        Ok(())
    };
    if let Err(stop) = drive(work, expired) {
        run.stop = Some(stop);
    }
    run
}

impl CallsRun {
    async fn load(
        &mut self,
        python: &Guest,
        callee: &Callee<'_>,
        limits: &Limits,
        candidate: &mut CandidateInstance,
    ) -> Result<(), Stop> {
        let load = Load {
            setup: callee.setup,
            program: callee.source,
            has_common_imports: callee.common_imports,
        };
        let reply = candidate.ask(request("load", load.arguments())).await?.0;
        let is_setup = load.is_blamed(&reply, python, limits).await?;
        match reply {
            Reply::Value(_) => {}
            Reply::BadSetup(why) if is_setup => self.broken = Some(why),
            Reply::Raised(why) | Reply::Bad(why) | Reply::Exits(why) | Reply::BadSetup(why) => {
                self.error = Some(why);
            }
            Reply::Ended => self.error = Some("no reply to a load".to_owned()),
        }
        Ok(())
    }
}

async fn one(
    candidate: &mut CandidateInstance,
    verb: CallVerb<'_>,
    entry_point: &str,
    call: &Arguments,
) -> Result<CallResult, Stop> {
    let (verb, name) = match verb {
        CallVerb::Answer => ("answer", entry_point),
        CallVerb::Make => ("make", entry_point),
        CallVerb::Operate(name) => ("operate", name),
    };
    let kwargs = call.kwargs.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let arguments =
        PyValue::Tuple(vec![name.into(), PyValue::Tuple(call.args.clone()), PyValue::dict(kwargs)]);
    let message = request("do", [verb.into(), PyValue::Int(0.into()), arguments]);
    let (reply, bytes) = candidate.ask(message).await?;
    Ok(match reply {
        Reply::Value(_) => returned(&bytes),
        Reply::Raised(why) => CallResult::Raised(why),
        Reply::Bad(why) | Reply::Exits(why) => CallResult::Refused(why),
        Reply::Ended | Reply::BadSetup(_) => {
            CallResult::Refused("a reply does not fit its request".to_owned())
        }
    })
}

fn returned(bytes: &[u8]) -> CallResult {
    let value = match marshal::decode(bytes) {
        Ok((PyValue::Tuple(items), _)) => match <[PyValue; 3]>::try_from(items) {
            Ok([_, PyValue::Int(marked), value]) if marked == 0.into() => Some(value),
            Ok([_, _, value]) => unmarked(value),
            Err(_) => None,
        },
        Ok(_) => None,
        Err(error) => return CallResult::Refused(error.to_string()),
    };
    match value {
        Some(PyValue::Tuple(items)) => match <[PyValue; 2]>::try_from(items) {
            Ok([PyValue::Bool(true), value]) => CallResult::Left(value),
            Ok([_, value]) => CallResult::Returned(value),
            Err(_) => CallResult::Refused("a reply does not fit its request".to_owned()),
        },
        _ => CallResult::NotPlain,
    }
}
