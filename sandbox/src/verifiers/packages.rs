//! The packages of a verifier's programs: those that it mounts, and those that are not there.

use std::collections::BTreeSet;

use assay_verifiers::code::Code;
use assay_verifiers::{BuildError, Digest, Fault, Files, Verdict, canonical};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::answer::imports;
use crate::isolation;
use crate::runtime::{Guest, Limits};
use crate::suite_report::{Pay, SuiteReport};

/// Bytes of all packages: every instance is handed them.
const BYTES_MAX: usize = 16 << 20;
/// What pins a package, as in requirements of pip.
const PIN: &str = "#sha256=";

/// Import names, a line each, of packages that programs take for granted and that are in machine code, or
/// large, or need what a sandbox has not. A module that is not among them is not a package that merely lacks
/// here: a program may not name any word to be left out of the judgement.
const KNOWN: &str = include_str!("packages.txt");

/// What becomes of a program that fails because it imports a package that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnMissingPackage {
    /// The verifier abstains.
    #[default]
    Abstain,
    /// It earns 0, as for any other exception.
    Fail,
}

impl OnMissingPackage {
    /// The verdict on a program and its tests, which may import packages that are not there.
    pub(super) fn verdict(
        self,
        report: SuiteReport,
        pay: Pay,
        program: &str,
        tests: &str,
    ) -> Result<Verdict, Fault> {
        let is_known = |name: &&str| KNOWN.lines().any(|known| known == *name);
        let missing = report.missing_module().filter(is_known).map(str::to_owned);
        let Some(name) = missing else { return Ok(report.verdict(pay)) };
        if imports(program).contains(&*name) {
            return Ok(match self {
                Self::Fail => report.verdict(pay),
                Self::Abstain => Verdict::abstained(format!(
                    "the program imports {name}, which is not in the sandbox: see `packages`"
                )),
            }
            .with("missing_package", name));
        }
        if imports(tests).contains(&*name) {
            let why =
                format!("the tests import {name}, which is not in the sandbox: see `packages`");
            return Err(Fault::bad_reference(why));
        }
        Ok(report.verdict(pay))
    }
}

/// Mounts the packages that a setting names: wheels, modules of one file, and names that are there already.
pub(super) fn mount(
    python: &Guest,
    packages: &[String],
    files: &dyn Files,
    limits: &Limits,
) -> Result<Guest, BuildError> {
    let refused = |why: String| BuildError::new("packages", why);
    let (mut mounted, mut named, mut bytes) = (Vec::new(), BTreeSet::new(), 0);
    for package in packages {
        let (file, pin) = match package.split_once(PIN) {
            Some((file, pin)) => (file, Some(pin)),
            None => (package.as_str(), None),
        };
        if ![".whl", ".py"].iter().any(|end| file.ends_with(end)) {
            named.insert(file);
            continue;
        }
        let content = files.read(file).map_err(|why| refused(why).code(Code::UnreadableFile))?;
        let found = canonical::hex(&Digest::from(Sha256::digest(&content)));
        if let Some(pin) = pin.filter(|pin| !pin.eq_ignore_ascii_case(&found)) {
            return Err(refused(format!("{file}: expected the SHA-256 {pin}, found {found}")));
        }
        bytes += content.len();
        if bytes > BYTES_MAX {
            return Err(refused(format!(
                "{file}: all packages together may have {BYTES_MAX} bytes"
            )));
        }
        mounted.push((file.to_owned(), content));
    }
    let (python, has) = if mounted.is_empty() {
        (python.clone(), Vec::new())
    } else {
        isolation::mount(python, mounted, limits).map_err(refused)?
    };
    for name in named {
        if !has.iter().any(|have| have == name) && !isolation::has_module(&python, name, limits) {
            return Err(refused(format!(
                "{name} is not in the sandbox: name its wheel, such as \"wheels/{name}-1.0-py3-none-any.whl\""
            )));
        }
    }
    Ok(python)
}
