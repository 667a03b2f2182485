//! Whole programs: text goes in, text comes out, and the host compares.

use super::Terms;
use super::message::{request, text};
use super::wire::{self, Plain};
use crate::runtime::{Guest, Setup, Stop, drive};

/// What became of a program.
#[derive(Clone, Debug, Default)]
pub struct ProgramRun {
    /// Its exit code, where it came to an end of its own.
    pub exit: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// What stopped it.
    pub stop: Option<Stop>,
    /// Fuel that it used.
    pub fuel: u64,
    /// The most memory that it had.
    pub memory_bytes_peak: usize,
}

/// Runs a program in a fresh interpreter.
pub fn run_program(python: &Guest, source: &str, stdin: &[u8], terms: Terms<'_>) -> ProgramRun {
    let Terms { limits, seed, expired } = terms;
    let mut run = ProgramRun::default();
    let length = Plain::Int(stdin.len().into());
    let stdin = stdin.to_vec();
    let work = async {
        let setup = Setup { limits, seed, stdin, ..Setup::default() };
        let mut room = python.start(setup).await?;
        let reply = room.call(request("run", [text(source), length])).await;
        run.fuel = room.fuel_spent();
        run.memory_bytes_peak = room.memory_bytes_peak();
        run.stdout = room.stdout().take();
        run.stderr = room.stderr().take();
        reply
    };
    match drive(work, expired) {
        // The reply says nothing that the program could not say otherwise: it ended.
        Ok(reply) => run.exit = Some(exit_code(&reply)),
        // So does `os._exit`, which ends the room at once.
        Err(Stop::Exit(code)) => run.exit = Some(code),
        Err(stop) => run.stop = Some(stop),
    }
    run
}

fn exit_code(reply: &[u8]) -> i32 {
    let Ok((Plain::Tuple(items), _)) = wire::decode(reply) else { return 1 };
    match items.as_slice() {
        [_, _, Plain::Int(code)] => i32::try_from(code).unwrap_or(1),
        _ => 1,
    }
}
