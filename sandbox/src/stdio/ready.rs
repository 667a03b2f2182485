//! Programs that are ready to run.

use assay_verifiers::{Fault, Meter};

use crate::isolation::{RunContext, run_program};
use crate::languages::javascript::JavaScript;
use crate::runtime::{Guest, Limits, Program, Run, Start, drive};

/// A program that can be run on any number of inputs.
pub(crate) enum Ready<'a> {
    Python(&'a Guest, &'a str),
    JavaScript(&'a JavaScript, &'a str),
    Program {
        program: Program,
        args: Vec<String>,
        /// What stands before the input.
        head: Vec<u8>,
    },
}

/// Why a source cannot be run.
pub(crate) enum Unready {
    /// The source is invalid: a word for the evidence, and what is wrong with it.
    Refused(&'static str, String),
    /// Whether it is valid could not be found out.
    Fault(Fault),
}

impl Ready<'_> {
    /// Runs the program on an input.
    pub(crate) fn run(&self, stdin: &str, limits: &Limits, meter: &Meter<'_>) -> Run {
        let (limits, expired) = (limits.clone(), &mut || meter.expired());
        let stdin = stdin.as_bytes();
        match self {
            Self::Python(guest, source) => {
                run_program(guest, source, stdin, RunContext { limits, seed: 0, expired })
            }
            Self::JavaScript(guest, source) => {
                let start = Start { limits, stdin: stdin.to_vec(), ..Start::default() };
                drive(guest.run(source, start), expired).into()
            }
            Self::Program { program, args, head } => {
                let stdin = [head.as_slice(), stdin].concat();
                let start = Start { limits, seed: 0, stdin, args: args.clone() };
                drive(program.run(start), expired).into()
            }
        }
    }
}
