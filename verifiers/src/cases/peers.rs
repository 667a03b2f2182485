//! The group around the sample of a case, and what other rewards said of each member.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Map;

use crate::prelude::*;
use crate::sample::Content;
use crate::verifier::{Earlier, Lane, Member};

/// Another member of the group of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Text, or a list of messages.
    pub completion: Content,
    /// The other columns of its row.
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// What other rewards said of it.
    #[serde(default)]
    pub earlier: BTreeMap<String, EarlierVerdict>,
}

/// The outcomes that carry no reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unscored {
    /// The check does not apply.
    Abstained,
    /// The sample could not be judged.
    Failed,
}

/// What another reward said of a sample.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum EarlierVerdict {
    /// The reward that it gave.
    Scored(f64),
    /// It gave none. A failure is out of fuel.
    Unscored(Unscored),
}

impl EarlierVerdict {
    fn verdict(self) -> Verdict {
        match self {
            Self::Scored(reward) => Reward::new(reward).map_or_else(
                || Verdict::failed(Fault::bad_input("the reward of the case is not finite")),
                Verdict::scored,
            ),
            Self::Unscored(Unscored::Abstained) => Verdict::abstained("the case says so"),
            Self::Unscored(Unscored::Failed) => {
                Verdict::failed(Fault::new(FaultKind::OutOfFuel, "the case says so"))
            }
        }
    }
}

/// A member, and what other rewards said of it.
pub(super) type Row<'a> = (Sample, &'a BTreeMap<String, EarlierVerdict>);

/// The sample of a case among its peers.
pub(super) struct JudgedCase {
    samples: Vec<Sample>,
    /// The names of all other rewards.
    names: Vec<String>,
    verdicts: Vec<Vec<Option<Verdict>>>,
    /// Which of the samples is judged.
    place: usize,
}

impl JudgedCase {
    /// A sample, the other members, and how many of those come before it.
    pub(super) fn new(own: Row<'_>, peers: Vec<Row<'_>>, place: usize) -> Self {
        let mut members = peers;
        let place = place.min(members.len());
        members.insert(place, own);
        let names: BTreeSet<&String> =
            members.iter().flat_map(|(_, earlier)| earlier.keys()).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let of_member = |earlier: &BTreeMap<String, EarlierVerdict>| {
            names.iter().map(|name| Some(earlier.get(name)?.verdict())).collect()
        };
        let verdicts = members.iter().map(|(_, earlier)| of_member(earlier)).collect();
        let samples = members.into_iter().map(|(sample, _)| sample).collect();
        Self { samples, names, verdicts, place }
    }

    /// What `lane` says of the sample that is judged.
    pub(super) fn verdict(&self, lane: &Lane) -> Result<Verdict, BuildError> {
        let missing = || BuildError::new("", "the verifier gave no verdict on the sample");
        let members = self.samples.iter().zip(&self.verdicts);
        let members: Vec<Member<'_>> = members
            .map(|(sample, known)| Member { sample, earlier: Earlier::new(&self.names, known) })
            .collect();
        let own = members.get(self.place).copied().ok_or_else(missing)?;
        let fuel = Meter::DEFAULT_FUEL.saturating_mul(members.len() as u64);
        let (group, mut meter) = (Group { members }, Meter::new(fuel));
        let of_group = |mut verdicts: Vec<Verdict>| {
            let fits = verdicts.len() == self.samples.len();
            fits.then(|| verdicts.swap_remove(self.place)).ok_or_else(missing)
        };
        match lane {
            Lane::Compute(verifier) => Ok(verifier.verify(own.sample, own.earlier, &mut meter)),
            Lane::Awaited(verifier) => {
                let pending = Arc::clone(verifier).verify(own.sample, own.earlier, &mut meter);
                Ok(pollster::block_on(pending))
            }
            Lane::Group(verifier) => of_group(verifier.verify_group(&group, &mut meter)),
            Lane::AwaitedGroup(verifier) => {
                let pending = Arc::clone(verifier).verify_group(&group, &mut meter);
                of_group(pollster::block_on(pending))
            }
        }
    }
}
