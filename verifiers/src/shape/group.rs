//! What shapes that compare the samples of a prompt share: statistics, and faults of one member.

use super::{ShapeMember, Shaped};
use crate::fault::{Fault, FaultKind};
use crate::stats::bounds;
use crate::training_state::RunningMoments;

/// Numbers of the members, in their order; `None` of those that take no part.
pub(crate) type Numbers = Vec<Option<f64>>;

/// The rewards of the members, as shaped so far.
pub(crate) fn rewards(members: &[ShapeMember<'_>]) -> Numbers {
    members.iter().map(ShapeMember::reward).collect()
}

/// Mean and standard deviation of the numbers that are there.
pub(crate) fn moments(numbers: &[Option<f64>]) -> RunningMoments {
    RunningMoments::of(numbers.iter().copied().flatten())
}

/// The least and the greatest of the numbers that are there.
pub(crate) fn range(numbers: &[Option<f64>]) -> Option<(f64, f64)> {
    bounds(numbers.iter().flatten())
}

/// The mean of the numbers that are there. `None` of none.
pub(crate) fn mean(numbers: &[f64]) -> Option<f64> {
    let moments = RunningMoments::of(numbers.iter().copied());
    (moments.count > 0).then_some(moments.mean)
}

/// What a member fails with alone is a message; what stops the whole group is a fault.
///
/// # Errors
/// A fault that is no property of the sample, or of what it was given.
pub(crate) fn of_member<T>(result: Result<T, Fault>) -> Result<Result<T, String>, Fault> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(fault) if is_ours(&fault) => Err(fault),
        Err(fault) => Ok(Err(fault.to_string())),
    }
}

/// Whether a fault stops the whole group.
pub(crate) fn is_ours(fault: &Fault) -> bool {
    fault.kind == FaultKind::OutOfFuel || fault.kind == FaultKind::Internal
}

/// Shapes every member that has a reward.
pub(crate) fn each(
    members: &[ShapeMember<'_>],
    mut shape: impl FnMut(usize, &ShapeMember<'_>, f64) -> Shaped,
) -> Vec<Shaped> {
    let one = |(at, member): (usize, &ShapeMember<'_>)| match member.reward() {
        Some(reward) => shape(at, member, reward),
        None => Shaped::ignored(),
    };
    members.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_row_is_that_of_its_member() {
        assert_eq!(
            of_member::<()>(Err(Fault::bad_input("no"))),
            Ok(Err("BadInput: no".to_owned()))
        );
        assert!(of_member::<()>(Err(Fault::internal("no"))).is_err());
        assert_eq!(of_member(Ok(1)), Ok(Ok(1)));
    }
}
