//! The trait of checks that run programs, and what they share.

use std::sync::Arc;

use assay_verifiers::check::build_with;
#[cfg(feature = "wasm")]
use assay_verifiers::from_value;
use assay_verifiers::{BuildError, Built, Check, Digest, Files};
#[cfg(feature = "wasm")]
use serde::{Deserialize as _, Deserializer, de::Error as _};
use serde_json::Value;

#[cfg(feature = "wasm")]
use super::packages;
use crate::Sandbox;
#[cfg(feature = "wasm")]
use crate::languages::Ready;
#[cfg(feature = "wasm")]
use crate::runtime::Limits;

/// A check that runs programs: it takes from the sandbox what it needs, once, when it is built.
pub trait Sandboxed: Check {
    /// Takes guests from the sandbox. Returns their digests by name: the same program may behave
    /// otherwise under another guest, so they are part of what the verifier is.
    ///
    /// # Errors
    /// A guest that is not there or cannot be loaded.
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        let _ = sandbox;
        Ok(Vec::new())
    }
}

/// The limits that are given, over those of code that judges.
#[cfg(feature = "wasm")]
pub(super) fn over_judge_limits<'de, D: Deserializer<'de>>(given: D) -> Result<Limits, D::Error> {
    let given = serde_json::Map::deserialize(given)?;
    let mut all = serde_json::to_value(Limits::judging()).map_err(D::Error::custom)?;
    if let Value::Object(all) = &mut all {
        all.extend(given);
    }
    from_value(&all).map_err(D::Error::custom)
}

/// The Python guest of a verifier, which it takes from the sandbox when it is built.
#[cfg(feature = "wasm")]
#[derive(Debug, Default)]
pub(super) struct Python(Option<crate::runtime::Guest>);

#[cfg(feature = "wasm")]
impl Python {
    /// Takes it for programs that run within these limits.
    pub(super) fn enter(
        &mut self,
        sandbox: &Sandbox,
        limits: &Limits,
    ) -> Result<Vec<(String, Digest)>, BuildError> {
        let guest = sandbox.python()?;
        Ready::Python(&guest, "").check_limits(limits)?;
        let identity = ("python.wasm".to_owned(), guest.digest());
        self.0 = Some(guest);
        Ok(vec![identity])
    }

    /// Mounts the packages that the setting names.
    pub(super) fn load<C: Check>(
        &mut self,
        packages: &[String],
        files: &dyn Files,
        limits: &Limits,
    ) -> Result<(), BuildError> {
        if packages.is_empty() {
            return Ok(());
        }
        let python = self.guest::<C>().map_err(|fault| BuildError::new("", fault.why))?;
        let python = packages::mount(python, packages, files, limits)?;
        Ready::Python(&python, "").check_limits(limits)?;
        self.0 = Some(python);
        Ok(())
    }

    pub(super) fn guest<C: Check>(&self) -> Result<&crate::runtime::Guest, assay_verifiers::Fault> {
        let unset = || assay_verifiers::Fault::internal(format!("{} was not loaded", C::ID));
        self.0.as_ref().ok_or_else(unset)
    }
}

#[cfg_attr(
    not(any(feature = "sql", feature = "wasm")),
    expect(dead_code, reason = "without features there is no verifier")
)]
pub(super) fn build<C: Sandboxed>(
    sandbox: &Arc<Sandbox>,
    settings: Value,
    files: &dyn Files,
) -> Result<Built, BuildError> {
    build_with(settings, files, |check: &mut C| check.enter(sandbox))
}
