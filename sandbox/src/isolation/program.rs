//! Whole programs: text goes in, text comes out, and the host compares.

use super::RunContext;
use super::message::request;
use crate::runtime::{Guest, Run, RunRecord, Setup, Stop, drive};
use crate::value::{PyValue, marshal};

/// Runs a program in a fresh interpreter.
pub fn run_program(python: &Guest, source: &str, stdin: &[u8], context: RunContext<'_>) -> Run {
    let RunContext { limits, seed, expired } = context;
    let setup = Setup { limits, seed, stdin: stdin.to_vec(), ..Setup::default() };
    run_program_with(python, source, setup, expired)
}

/// The same for a program that has more than that, such as files.
pub fn run_program_with(
    python: &Guest,
    source: &str,
    setup: Setup,
    expired: &mut dyn FnMut() -> bool,
) -> Run {
    let mut used = RunRecord::default();
    let length = PyValue::Int(setup.stdin.len().into());
    let work = async {
        let mut instance = python.start(setup).await?;
        let reply = instance.call(request("run", [source.into(), length])).await;
        used = instance.record();
        reply
    };
    let end = match drive(work, expired) {
        // The program could forge the reply, so nothing but its end is taken from it.
        Ok(reply) => Ok(exit_code(&reply)),
        // `os._exit` ends the instance at once.
        Err(Stop::Exit(code)) => Ok(code),
        Err(stop) => Err(stop),
    };
    Run { end, used }
}

fn exit_code(reply: &[u8]) -> i32 {
    let Ok((PyValue::Tuple(items), _)) = marshal::decode(reply) else { return 1 };
    match items.as_slice() {
        [_, _, PyValue::Int(code)] => i32::try_from(code).unwrap_or(1),
        _ => 1,
    }
}
