//! One program, run once: for callers that want to know what it did and judge nothing.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use assay_verifiers::{BuildError, Fault, Meter};

use crate::Sandbox;
pub use crate::languages::{Input, Written};
use crate::languages::{Interpreter, Ready, Unready};
use crate::runtime::{Limits, Run};

/// What runs the programs of a language.
pub struct Executor(Interpreter);

/// A program that is ready to run.
pub struct Executable<'a>(Ready<'a>);

/// Why a source is not a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Uncompiled {
    /// The source is at fault: what the compiler says of it.
    Source(String),
    /// Whether the source is at fault could not be found out.
    Fault(Fault),
}

/// An executor, and what it was made for.
type Made = (Weak<Sandbox>, Written, Arc<Executor>);

/// What was made for the sandboxes that there are: a compiler tries itself out when it is made.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

impl Executor {
    /// What runs a language in this sandbox. It is made when it is first asked for, which may take
    /// seconds.
    ///
    /// # Errors
    /// A guest or a compiler that is not there or cannot be loaded.
    pub fn of(sandbox: &Arc<Sandbox>, language: &Written) -> Result<Arc<Self>, BuildError> {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(sandbox, ..)| sandbox.strong_count() > 0);
        let is_it =
            |(owner, of, _): &&Made| of == language && owner.as_ptr() == Arc::as_ptr(sandbox);
        if let Some((_, _, executor)) = made.iter().find(is_it) {
            return Ok(Arc::clone(executor));
        }
        let (interpreter, _) = Interpreter::of(language, sandbox)?;
        let executor = Arc::new(Self(interpreter));
        made.push((Arc::downgrade(sandbox), language.clone(), Arc::clone(&executor)));
        Ok(executor)
    }

    /// Makes a source ready to run. The meter says when the time for that is up.
    ///
    /// # Errors
    /// A source that is wrong, or that the compiler could not be done with.
    pub fn compile<'a>(
        &'a self,
        source: &'a str,
        meter: &Meter<'_>,
    ) -> Result<Executable<'a>, Uncompiled> {
        self.0.ready(source, meter).map(Executable).map_err(|unready| match unready {
            Unready::Refused(_, why) => Uncompiled::Source(why),
            Unready::Fault(fault) => Uncompiled::Fault(fault),
        })
    }
}

impl Executable<'_> {
    /// Runs the program in a fresh instance. The meter says when the time for that is up.
    pub fn run(&self, input: Input<'_>, limits: &Limits, meter: &Meter<'_>) -> Run {
        self.0.run(input, limits, meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_and_not_kept() {
        let sandbox = Arc::new(Sandbox::default());
        for _ in 0..2 {
            let error = Executor::of(&sandbox, &Written::JavaScript).err().unwrap();
            assert!(error.to_string().contains("make assets"), "{error}");
        }
    }
}
