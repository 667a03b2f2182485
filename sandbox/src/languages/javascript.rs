//! JavaScript: `QuickJS` as a guest, with what programs use of node around it.

use assay_verifiers::{BuildError, Digest};

use crate::Sandbox;
use crate::runtime::{Program, Run, Start, Stop};

/// The interpreter. Cheap to clone.
#[derive(Clone)]
pub struct JavaScript {
    program: Program,
    /// The path of a program that has no other, by whose ending the guest knows whether it has types.
    main: &'static str,
}

impl JavaScript {
    /// The name of the guest.
    pub const GUEST: &str = "javascript.wasm";

    /// Takes the interpreter from the sandbox.
    ///
    /// # Errors
    /// A guest that is not there or cannot be loaded.
    pub fn new(sandbox: &Sandbox) -> Result<Self, BuildError> {
        Ok(Self { program: sandbox.program(Self::GUEST)?, main: "/main.js" })
    }

    /// The same for programs in TypeScript.
    #[must_use]
    pub fn typed(self) -> Self {
        Self { main: "/main.ts", ..self }
    }

    /// SHA-256 of the guest.
    pub fn digest(&self) -> Digest {
        self.program.digest()
    }

    /// Runs `source` as node would: a script, unless only a module can be meant. `start` says what
    /// the program reads, the arguments that it gets beyond its own name, and the files that it
    /// finds. It ends with exit code 1 where an error or a broken promise is not caught.
    ///
    /// # Errors
    /// [`Stop::Internal`] where it could not be started at all.
    pub async fn run(&self, source: &str, start: Start) -> Result<Run, Stop> {
        self.run_at(None, source, start).await
    }

    /// The same for a program that may be at a path among its files.
    ///
    /// # Errors
    /// As [`JavaScript::run`].
    pub async fn run_at(
        &self,
        path: Option<&str>,
        source: &str,
        start: Start,
    ) -> Result<Run, Stop> {
        let path = format!("/{}", path.unwrap_or(self.main).trim_start_matches('/'));
        let args = std::iter::once(path).chain(start.args).collect();
        let stdin = input(source, &start.stdin)?;
        self.program.run(Start { stdin, args, ..start }).await
    }
}

/// The stack that a program may use, in its own memory, of the 8 MiB that it has there: a function calls
/// itself 12,000 times, and 11,000 times in node.
/// `WebAssembly` keeps another beside it, of 256 MiB, which its functions fill three times as fast at most:
/// this much ends in a `RangeError` long before that one ends the guest.
const STACK_BYTES: usize = 4 << 20;

/// The guest reads first how much stack there is and how long the program is, each as four bytes
/// with the lowest first, and then the program.
fn input(source: &str, stdin: &[u8]) -> Result<Vec<u8>, Stop> {
    let number = |bytes: usize| u32::try_from(bytes).map(u32::to_le_bytes);
    let head = [number(STACK_BYTES), number(source.len())];
    let [Ok(stack), Ok(length)] = head else { return Err(Stop::TooLarge) };
    Ok([stack.as_slice(), &length, source.as_bytes(), stdin].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_stands_before_what_it_reads() {
        let input = input("é;", b"in").unwrap();
        assert_eq!(input.split_at(4).1, b"\x03\0\0\0\xc3\xa9;in");
    }
}
