//! Groups: samples of one prompt.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hasher as _};

use assay_verifiers::{Outcome, Sample, Scored};
use rustc_hash::FxHasher;

/// The prompt that samples share: the group that the row names, else the text of the prompt.
pub fn group_key(sample: &Sample) -> &str {
    sample.group().unwrap_or_else(|| sample.prompt())
}

/// The most rows of a group.
pub(super) const GROUP_ROWS_MAX: usize = 65_536;
/// The most bytes of rows of a group in a stream, which are held until it is whole.
const GROUP_BYTES_MAX: usize = 64 << 20;

/// Sees that the rows of a group stand together, in a stream of rows that are not kept.
#[derive(Debug, Default)]
pub struct GroupOrder {
    /// The group in hand.
    pub(super) key: Option<String>,
    /// Samples of the group in hand.
    pub(super) samples: usize,
    /// Bytes of its rows, where they were counted.
    pub(super) bytes: usize,
    /// The keys of all groups so far, as hashes.
    seen: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

impl GroupOrder {
    /// Whether this sample, which is next, begins a group.
    ///
    /// # Errors
    /// Where it belongs to a group before the one in hand.
    pub(super) fn begins(&mut self, sample: &Sample) -> Result<bool, String> {
        let key = group_key(sample);
        if self.key.as_deref() == Some(key) {
            self.samples += 1;
            return Ok(false);
        }
        if !self.seen.insert(self.seen.hasher().hash_one(key)) {
            return Err(format!(
                "group {key:?} was already complete; the rows of a group must stand together"
            ));
        }
        (self.key, self.samples, self.bytes) = (Some(key.to_owned()), 1, 0);
        Ok(true)
    }

    /// Whether the group in hand has room for the row that was looked at last.
    pub(super) fn has_room(&self) -> bool {
        self.samples <= GROUP_ROWS_MAX && self.bytes <= GROUP_BYTES_MAX
    }

    /// What is said of a row too many.
    pub(super) fn too_many(&self) -> String {
        let key = self.key.as_deref().unwrap_or_default();
        format!("group {key:?} has more than {GROUP_ROWS_MAX} rows, or {GROUP_BYTES_MAX} bytes")
    }
}

/// The group of a sample as a number; 0 for one that names neither a group nor a prompt. It is the same on
/// every machine, because shards compare it.
pub(super) fn group_hash(sample: &Sample) -> u64 {
    let key = group_key(sample);
    if key.is_empty() {
        return 0;
    }
    let mut hasher = FxHasher::default();
    hasher.write(key.as_bytes());
    hasher.finish().max(1)
}

/// The members of each group, groups in the order of their first member.
pub fn groups(samples: &[Sample]) -> Vec<Vec<usize>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, sample) in samples.iter().enumerate() {
        let place = *places.entry(group_key(sample)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(members) => members.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// One failure leaves the whole group without a reward.
#[expect(clippy::indexing_slicing, reason = "members are of the scored rows")]
pub(super) fn drop_group(members: &[usize], scored: &mut [Scored]) {
    let failed = |scored: &Scored| matches!(scored.outcome, Outcome::Failed(_));
    if !members.iter().any(|at| failed(&scored[*at])) {
        return;
    }
    for at in members {
        if !failed(&scored[*at]) {
            scored[*at].outcome = Outcome::Abstained("a sample of its group failed".into());
        }
    }
}
