//! C and C++: compiled by clang in a process that can read the toolchain and nothing else, into a
//! program that runs in the sandbox as any other.

mod confined;
mod dialect;
mod toolchain;

use assay_verifiers::{BuildError, Digest, Fault, FaultKind};

use self::confined::End;
pub use self::dialect::Dialect;
use self::toolchain::{Headers, Toolchain};
use crate::Sandbox;
use crate::runtime::{Program, Runtime};

/// Bytes of a message of the compiler that are kept.
const MESSAGE_BYTES_MAX: usize = 1000;

/// Why a source has become no program.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The source is at fault: what the compiler says of it.
    Source(String),
    /// A limit of the compiler, or a defect, that says nothing of the source.
    Fault(Fault),
}

/// The compiler. Cheap to clone.
#[derive(Clone)]
pub struct Compiler {
    toolchain: Toolchain,
    runtime: Runtime,
}

impl Compiler {
    /// Takes the compiler from the sandbox, and compiles a first program with it.
    ///
    /// # Errors
    /// A toolchain that is not there, or a machine that cannot confine it.
    pub fn new(sandbox: &Sandbox, dialect: Dialect) -> Result<Self, BuildError> {
        let folder = sandbox.folder("c", "make assets-c")?;
        let toolchain = Toolchain::read(&folder)?;
        // Programs are many and each runs for one sample, so none is kept on the disk.
        let compiler = Self { toolchain, runtime: sandbox.serial_runtime()?.forgetful() };
        let first = compiler.compile(dialect, "int main(void) { return 0; }", &|| false);
        let why = match first {
            Ok(_) => return Ok(compiler),
            Err(Refused::Source(why)) => why,
            Err(Refused::Fault(fault)) => fault.why.into_owned(),
        };
        Err(BuildError::new("language", format!("{}: {why}", folder.display())))
    }

    /// SHA-256 over the files of the toolchain.
    pub fn digest(&self) -> Digest {
        self.toolchain.digest
    }

    /// Compiles a source to a program. `expired` is true once the deadline has passed.
    ///
    /// # Errors
    /// A source that is wrong, or that the compiler could not be done with.
    pub fn compile(
        &self,
        dialect: Dialect,
        source: &str,
        expired: &(dyn Fn() -> bool + Sync),
    ) -> Result<Program, Refused> {
        let object = done(self.object(dialect, source.as_bytes(), expired))?;
        let wasm = done(self.toolchain.link(dialect, &object, expired))?;
        let loaded = Program::load(&self.runtime, "the program", &wasm);
        loaded.map_err(|error| Refused::Source(error.to_string()))
    }

    /// With GCC one header of C++ brings many, so a program may name too few: it is compiled with
    /// all of them first. Where that goes wrong, as where a name of its own is also one of the
    /// library's, it is compiled with what it names.
    fn object(&self, dialect: Dialect, source: &[u8], expired: &(dyn Fn() -> bool + Sync)) -> End {
        if dialect == Dialect::C {
            return self.toolchain.c(source, expired);
        }
        match self.toolchain.cpp(Headers::All, source, expired) {
            End::Failed(_) => self.toolchain.cpp(Headers::Named, source, expired),
            end => end,
        }
    }
}

/// The output of a command, or why there is none.
fn done(end: End) -> Result<Vec<u8>, Refused> {
    let stopped =
        |kind, why: &str| Err(Refused::Fault(Fault::new(kind, format!("compiler: {why}"))));
    match end {
        End::Done(bytes) => Ok(bytes),
        End::Failed(messages) => Err(Refused::Source(shown(&messages))),
        End::TooLarge => Err(Refused::Source("the compiled program is too large".to_owned())),
        End::OutOfTime => stopped(FaultKind::Timeout, "out of time"),
        End::OutOfMemory => stopped(FaultKind::OutOfMemory, "out of memory"),
        End::Broken(why) => stopped(FaultKind::Internal, &why),
    }
}

/// The beginning of the compiler's messages. The source came by standard input.
fn shown(messages: &[u8]) -> String {
    let kept = messages.get(..MESSAGE_BYTES_MAX).unwrap_or(messages);
    String::from_utf8_lossy(kept).replace("<stdin>:", "line ").trim().to_owned()
}
