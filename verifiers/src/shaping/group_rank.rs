//! `group_rank`: the place of a reward among those of its group.

use crate::shape::group;
use crate::shape::prelude::*;

/// `(rank - 1) / (n - 1)`: 0 for the least of the `n` rewards of the group, 1 for the greatest; equal
/// ones share the mean of their ranks. A sample that is alone earns 1/2.
///
/// Between 0 and 1 comes out. Source: the rank unit of a weighted sum of parts, mean ranks as in
/// Spearman's correlation.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupRank {}

impl Shape for GroupRank {
    const KIND: &'static str = "group_rank";

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let rewards = group::known(&group::rewards(members));
        let size = rewards.len() as u64;
        meter.spend(size.saturating_mul(size))?;
        let share = |reward: f64| {
            let count = |is: fn(f64, f64) -> bool| {
                let found = rewards.iter().filter(|other| is(**other, reward)).count();
                f64::from(u32::try_from(found).unwrap_or(u32::MAX))
            };
            let (below, above) = (count(|other, own| other < own), count(|other, own| other > own));
            // The mean rank of a tie: as many are below as rank above its first half.
            let others = count(|_, _| true) - 1.0;
            if others < 1.0 { 0.5 } else { (below + (others - above)) / (2.0 * others) }
        };
        Ok(group::each(members, |_, _, reward| Shaped::new(share(reward))))
    }
}
