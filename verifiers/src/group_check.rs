//! The trait that authors of group checks write.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::build_error::BuildError;
use crate::check::{self, Files, RecordedFiles};
use crate::fault::Fault;
use crate::meter::Meter;
use crate::verdict::Verdict;
use crate::verifier::{Built, Group, GroupVerifier, Lane, Spec};

/// A rule-based verifier of groups: it sees all completions of a prompt, after their own verdicts.
/// Its settings are the fields of the type, documented as those of a [`crate::Check`] are.
///
/// Unless its manual says otherwise, the order of the members decides nothing: other rows in
/// another order earn the same rewards.
pub trait GroupCheck: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    /// The id by which a configuration names the check.
    const ID: &'static str;

    /// Raised whenever the same group may get another verdict.
    const VERSION: u32 = 1;

    /// Whether one verdict takes a millisecond or more.
    const SLOW: bool = false;

    /// See [`crate::Check::load`].
    ///
    /// # Errors
    /// What is wrong with the settings, naming the one at fault.
    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let _ = files;
        Ok(())
    }

    /// The other rewards, whose verdicts on the members it reads, that settings name: the setting, and
    /// the reward.
    fn rewards(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Judges a group: one verdict for each member, in their order. Every loop over input pays the
    /// meter, which holds the fuel of all members.
    ///
    /// # Errors
    /// A fault that stopped the check from judging any member.
    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault>;
}

impl<C: GroupCheck> GroupVerifier for C {
    fn verify_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Vec<Verdict> {
        match self.check_group(group, meter) {
            Ok(verdicts) => verdicts
                .into_iter()
                .zip(&group.members)
                .map(|(verdict, member)| verdict.with_unread(member.sample.completion_message()))
                .collect(),
            Err(fault) => vec![Verdict::failed(fault); group.members.len()],
        }
    }
}

/// Builds a group check from settings: fills in defaults, reads files, compiles patterns.
///
/// # Errors
/// An unknown or ill-typed setting, or what [`GroupCheck::load`] refuses.
pub fn build<C: GroupCheck>(settings: Value, files: &dyn Files) -> Result<Built, BuildError> {
    let mut check: C = check::settings(settings)?;
    let recorded = RecordedFiles::new(files, Vec::new());
    check.load(&recorded)?;
    let rewards = check.rewards();
    let spec = Spec {
        reads_verdicts: !rewards.is_empty(),
        rewards,
        ..recorded.spec(C::ID, C::VERSION, &check)?
    };
    Ok(Built { spec, lane: Lane::Group(Box::new(check)), slow: C::SLOW })
}
