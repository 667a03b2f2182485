//! The languages of whole programs: an interpreter reads the source, or a compiler makes a guest
//! of it.

use assay_verifiers::{BuildError, Digest, Files, Meter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "c")]
use super::c::{Compiler, Dialect, Refused};
use super::javascript::JavaScript;
use super::module::{Interpreter as OfUser, Module};
use super::ready::{Ready, Unready};
use crate::Sandbox;
use crate::answer::{Language, unmarked};
use crate::runtime::{Guest, Limits};

/// The language of the programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// Python 3.14.
    #[default]
    Python,
    /// JavaScript, with what programs use of node.
    JavaScript,
    /// TypeScript: the types are removed and not checked, and the rest runs as JavaScript.
    TypeScript,
    /// C17 with GNU extensions, in a build that has it.
    C,
    /// C++20 with GNU extensions, in a build that has it. There are no exceptions: `throw` ends the
    /// program.
    Cpp,
    /// Any language whose interpreter you bring as a `wasm32-wasi` command.
    Wasm(Module),
}

impl Written {
    /// How its blocks are marked in an answer.
    pub(crate) fn language(&self) -> Language {
        match self {
            Self::Python => Language::PYTHON,
            Self::JavaScript => Language::JAVASCRIPT,
            Self::TypeScript => Language::TYPESCRIPT,
            Self::C => Language::C,
            Self::Cpp => Language::CPP,
            Self::Wasm(module) => Language::tagged(&module.tags),
        }
    }
}

/// What runs the programs.
pub(crate) enum Interpreter {
    Python(Guest),
    JavaScript(JavaScript),
    #[cfg(feature = "c")]
    C(Compiler, Dialect),
    OfUser(OfUser),
}

impl Interpreter {
    /// Takes what runs a language from the sandbox, with its name and digest. What the user brings
    /// is read by [`Self::load`].
    pub(crate) fn of(
        language: &Written,
        sandbox: &Sandbox,
    ) -> Result<(Self, Option<(String, Digest)>), BuildError> {
        Ok(match language {
            Written::Python => {
                let python = sandbox.python()?;
                let identity = ("python.wasm".to_owned(), python.digest());
                (Self::Python(python), Some(identity))
            }
            Written::JavaScript | Written::TypeScript => {
                let javascript = JavaScript::new(sandbox)?;
                let identity = (JavaScript::GUEST.to_owned(), javascript.digest());
                let is_typed = *language == Written::TypeScript;
                let javascript = if is_typed { javascript.typed() } else { javascript };
                (Self::JavaScript(javascript), Some(identity))
            }
            #[cfg(feature = "c")]
            Written::C | Written::Cpp => {
                let dialect = if *language == Written::C { Dialect::C } else { Dialect::Cpp };
                let compiler = Compiler::new(sandbox, dialect)?;
                let identity = ("c".to_owned(), compiler.digest());
                (Self::C(compiler, dialect), Some(identity))
            }
            #[cfg(not(feature = "c"))]
            Written::C | Written::Cpp => {
                let why = "this build has no compiler of C: it is built with `--features c`";
                return Err(BuildError::new("language", why));
            }
            Written::Wasm(module) => {
                (Self::OfUser(OfUser::new(module.clone(), sandbox.serial_runtime()?)), None)
            }
        })
    }

    /// Reads the file that the settings name. The caller that hands out files notes its digest.
    pub(crate) fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        match self {
            Self::OfUser(interpreter) => interpreter.load(files, "language.wasm"),
            _ => Ok(()),
        }
    }

    /// Sees that a program that does nothing runs within limits. What is compiled needs next to
    /// nothing of its own.
    pub(crate) fn check_limits(&self, limits: &Limits) -> Result<(), BuildError> {
        match self {
            Self::Python(guest) => Ready::Python(guest, "").check_limits(limits),
            Self::JavaScript(guest) => Ready::JavaScript(guest, "").check_limits(limits),
            #[cfg(feature = "c")]
            Self::C(..) => limits.check(),
            Self::OfUser(_) => limits.check(),
        }
    }

    /// Makes a source ready to run.
    #[cfg_attr(
        not(feature = "c"),
        expect(unused_variables, reason = "compiling alone takes time that the meter limits")
    )]
    pub(crate) fn ready<'a>(
        &'a self,
        source: &'a str,
        meter: &Meter<'_>,
    ) -> Result<Ready<'a>, Unready> {
        let source = unmarked(source);
        match self {
            Self::Python(guest) => Ok(Ready::Python(guest, source)),
            Self::JavaScript(guest) => Ok(Ready::JavaScript(guest, source)),
            #[cfg(feature = "c")]
            Self::C(compiler, dialect) => {
                let program = compiler.compile(*dialect, source, &|| meter.expired());
                let program = program.map_err(|refused| match refused {
                    Refused::Source(why) => Unready::Refused("compile-error", why),
                    Refused::Fault(fault) => Unready::Fault(fault),
                })?;
                Ok(Ready::Program { program, args: vec!["program".to_owned()], head: Vec::new() })
            }
            Self::OfUser(interpreter) => interpreter.ready(source),
        }
    }
}

impl std::fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interpreter")
    }
}
