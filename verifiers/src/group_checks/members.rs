//! What is known of each member of a group before it is compared with the others.

use crate::prelude::*;
use crate::verifier::Member;

/// A value of a member, or the verdict of a member that has none.
pub(super) type Known<T> = Result<T, Verdict>;

/// The verdict of a member that stands alone.
pub(super) fn alone() -> Verdict {
    Verdict::abstained("the group has no other member to compare with")
}

/// Judges the members of which a value is known. The others have their verdicts already, and are
/// no part of any mean, rank or vote.
pub(super) fn among_known<T>(
    known: Vec<Known<T>>,
    judge: impl FnOnce(Vec<T>) -> Result<Vec<Verdict>, Fault>,
) -> Result<Vec<Verdict>, Fault> {
    let (mut values, mut slots) = (Vec::new(), Vec::new());
    for one in known {
        match one {
            Ok(value) => {
                values.push(value);
                slots.push(None);
            }
            Err(verdict) => slots.push(Some(verdict)),
        }
    }
    let mut judged = judge(values)?.into_iter();
    let lost = || Verdict::failed(Fault::internal("a member was not judged"));
    let filled = |slot: Option<Verdict>| slot.or_else(|| judged.next()).unwrap_or_else(lost);
    Ok(slots.into_iter().map(filled).collect())
}

/// What `read` makes of each member. Each has an equal part of the fuel: one that takes more fails
/// alone, and costs the others nothing.
pub(super) fn read_each<T>(
    group: &Group<'_>,
    meter: &mut Meter<'_>,
    mut read: impl FnMut(&Member<'_>, &mut Meter<'_>) -> Result<T, Fault>,
) -> Result<Vec<Known<T>>, Fault> {
    // Half of the fuel is left for the comparison of the members.
    let part = meter.left() / 2 / (group.members.len() as u64).max(1);
    let mut known = Vec::with_capacity(group.members.len());
    for member in &group.members {
        let mut own = Meter::new(part);
        let value = read(member, &mut own);
        meter.spend(own.spent().min(part))?;
        known.push(value.map_err(Verdict::failed));
    }
    Ok(known)
}

/// What the reward called `of` came to for each member. A member on which it abstained is passed
/// over, and one on which it failed fails here too.
///
/// # Errors
/// No reward of this name has a verdict yet.
pub(super) fn rewards(group: &Group<'_>, of: &str) -> Result<Vec<Known<f64>>, Fault> {
    let is_known = group.members.iter().any(|member| member.earlier.get(of).is_some());
    if !is_known && let Some(first) = group.members.first() {
        let names: Vec<&str> = first.earlier.iter().map(|(name, _)| name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let why = format!("no reward called \"{of}\" was judged before; has: {names}");
        return Err(Fault::bad_input(why));
    }
    Ok(group.members.iter().map(|member| reward(member, of)).collect())
}

fn reward(member: &Member<'_>, of: &str) -> Known<f64> {
    match member.earlier.get(of).map(|verdict| &verdict.outcome) {
        Some(Outcome::Scored(reward)) => Ok(reward.get()),
        Some(Outcome::Failed(fault)) => {
            let why = format!("reward \"{of}\" failed: {}", fault.why);
            Err(Verdict::failed(Fault::new(fault.kind, why)))
        }
        Some(Outcome::Abstained(_)) => {
            Err(Verdict::abstained(format!("reward \"{of}\" abstained")))
        }
        None => Err(Verdict::abstained(format!("reward \"{of}\" has no verdict"))),
    }
}

/// A finite reward; the settings of a formula can make it another one.
pub(super) fn scored(value: f64) -> Verdict {
    Reward::new(value).map_or_else(
        || Verdict::failed(Fault::trap(format!("the reward {value} is not finite"))),
        Verdict::scored,
    )
}
