//! Rows that a reward calls right earn nothing: another reward takes it from each of them.
//!
//! Looks at the totals of right rows, of which there must be several. Fix: `how = "weighted_sum"` adds a penalty to what
//! else is earned; under a sum, a weight above 0, or one that takes less away.

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> Option<Finding> {
    let judges = tested.judges().into_iter().filter(|at| tested.weight(*at) > 0.0);
    judges.filter(|_| tested.is_whole()).find_map(|at| taken(tested, at))
}

/// The reward that takes it from each of the rows that another one calls right.
fn taken(tested: Tested<'_>, at: usize) -> Option<Finding> {
    let right: Vec<_> = tested.earned(at).filter(|(_, own, _)| *own >= 1.0).collect();
    let first = right.first().filter(|_| right.len() > 1)?.0.row.number;
    let takes = |other: &usize| {
        let takes = |own: f64| own * tested.weight(*other) < 0.0 || own <= 0.0;
        *other != at && right.iter().all(|(own, ..)| own.shaped(*other).is_some_and(takes))
    };
    let names = &tested.plan().names;
    let other = (0..names.len()).find(takes)?;
    let (weight, name) = (tested.weight(other), names.get(other)?.as_str());
    let says = if weight < 0.0 { "takes" } else { "factor" };
    let found = Finding::new((other, "weight"), says).with("weight", weight).with("name", name);
    let found = found.with("judge", names.get(at)?.as_str());
    let is_nothing = right.iter().all(|(.., total)| *total <= 0.0);
    is_nothing.then(|| found.with("rows", right.len()).with("row", first))
}
