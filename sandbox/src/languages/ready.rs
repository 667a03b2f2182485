//! Programs that are ready to run.

use assay_verifiers::{BuildError, Fault, Meter};

use super::javascript::JavaScript;
use super::python;
use crate::isolation::run_program_with;
use crate::runtime::{Guest, Limits, MemoryFiles, Program, Run, Setup, Start, drive};

/// What a program is run with.
#[derive(Clone, Copy, Default)]
pub struct Input<'a> {
    /// What it reads.
    pub stdin: &'a str,
    /// Its arguments, without its own name.
    pub args: &'a [String],
    /// The files that it sees, and its own path among them. Without any it can open none.
    pub files: Option<(&'a MemoryFiles, &'a str)>,
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(stdin: &'a str) -> Self {
        Self { stdin, ..Self::default() }
    }
}

/// A program that can be run on any number of inputs.
pub(crate) enum Ready<'a> {
    Python(&'a Guest, &'a str),
    JavaScript(&'a JavaScript, &'a str),
    Program {
        program: Program,
        args: Vec<String>,
        /// What is before the input.
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
    /// Sees that this program, which does nothing, runs within limits. Those that nobody set do.
    pub(crate) fn check_limits(&self, limits: &Limits) -> Result<(), BuildError> {
        if *limits == Limits::default() {
            return Ok(());
        }
        limits.check()?;
        match self.run("", limits, &Meter::default()).end {
            Err(stop) => Err(limits.too_low(&stop)),
            Ok(_) => Ok(()),
        }
    }

    /// Runs the program on an input.
    pub(crate) fn run<'a>(
        &self,
        input: impl Into<Input<'a>>,
        limits: &Limits,
        meter: &Meter<'_>,
    ) -> Run {
        let Input { stdin, args, files } = input.into();
        let (limits, expired) = (limits.clone(), &mut || meter.expired());
        let (files, path) = files.map(|(files, path)| (files.clone(), path)).unzip();
        let stdin = stdin.as_bytes().to_vec();
        match self {
            Self::Python(guest, source) => {
                let setup = Setup { limits, stdin, files, ..Setup::default() };
                match path {
                    Some(path) => {
                        let source = python::started(source, path, args);
                        run_program_with(guest, &source, setup, expired)
                    }
                    None => run_program_with(guest, source, setup, expired),
                }
            }
            Self::JavaScript(guest, source) => {
                let args = args.to_vec();
                let start = Start { limits, stdin, args, files, ..Start::default() };
                drive(guest.run_at(path, source, start), expired).into()
            }
            Self::Program { program, args: own, head } => {
                let args = own.iter().chain(args).cloned().collect();
                let stdin = [head.as_slice(), &stdin].concat();
                let start = Start { limits, seed: 0, stdin, args, files };
                drive(program.run(start), expired).into()
            }
        }
    }
}
