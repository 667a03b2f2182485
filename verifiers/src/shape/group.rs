//! What shapes that compare the samples of a prompt share: statistics, and faults of one member.

use super::{ShapeMember, Shaped};
use crate::fault::{Fault, FaultKind};
use crate::training_state::RunningMoments;

/// Numbers of the members, in their order; `None` of those that take no part.
pub(crate) type Numbers = Vec<Option<f64>>;

/// The rewards of the members, as shaped so far.
pub(crate) fn rewards(members: &[ShapeMember<'_>]) -> Numbers {
    members.iter().map(ShapeMember::reward).collect()
}

/// The numbers that are there.
pub(crate) fn known(numbers: &[Option<f64>]) -> Vec<f64> {
    numbers.iter().copied().flatten().collect()
}

/// Mean and standard deviation of the numbers that are there.
pub(crate) fn moments(numbers: &[Option<f64>]) -> RunningMoments {
    RunningMoments::of(numbers.iter().copied().flatten())
}

/// The least and the greatest of the numbers that are there.
pub(crate) fn range(numbers: &[Option<f64>]) -> Option<(f64, f64)> {
    let known = known(numbers);
    let low = known.iter().copied().reduce(f64::min)?;
    Some((low, known.into_iter().reduce(f64::max)?))
}

/// The mean of the numbers that are there. `None` of none.
pub(crate) fn mean(numbers: &[f64]) -> Option<f64> {
    let moments = RunningMoments::of(numbers.iter().copied());
    (moments.count > 0).then_some(moments.mean)
}

/// The number below which a share of the numbers lies, between neighbours by linear interpolation.
/// `None` of none.
pub(crate) fn quantile(numbers: &[f64], share: f64) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = u32::try_from(sorted.len().checked_sub(1)?).ok()?;
    let place = share * f64::from(last);
    let below = place.floor();
    let at = |place: f64| sorted.iter().zip(0_u32..).find(|(_, at)| f64::from(*at) >= place);
    let (low, _) = at(below)?;
    let (high, _) = at(place.ceil())?;
    Some(low + (high - low) * (place - below))
}

/// What a member fails with alone is a message; what stops the whole group is a fault.
///
/// # Errors
/// A fault that is no property of the sample, or of what it was given.
pub(crate) fn of_member<T>(result: Result<T, Fault>) -> Result<Result<T, String>, Fault> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(fault) if fault.kind == FaultKind::OutOfFuel || fault.kind == FaultKind::Internal => {
            Err(fault)
        }
        Err(fault) => Ok(Err(fault.to_string())),
    }
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
    fn quantiles_are_interpolated() {
        let numbers = [4.0, 1.0, 3.0, 2.0];
        for (share, wanted) in [(0.0, 1.0), (0.5, 2.5), (0.8, 3.4), (1.0, 4.0)] {
            let found = quantile(&numbers, share).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(quantile(&[7.0], 0.8), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

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
