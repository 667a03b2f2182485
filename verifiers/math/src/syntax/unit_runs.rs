//! Runs of letters as units: a sign, a name, or signs side by side.

use super::measure::Measure;
use super::unit_table::{loose_sign, name, sign};

/// The longest run of signs side by side, in bytes: `kgms`.
const RUN_MAX: usize = 8;

/// The unit that a run of letters is, or where it is alone the product of the signs in it, of
/// which the last has the power: `Nm`, `kgms^{-2}`.
pub(crate) fn resolved(run: &str, power: i8, whole: bool) -> Option<Measure> {
    if let ("ms", true) = (run, power < 0) {
        return product_of("m", "s", power);
    }
    let plural = power == 1 || !run.ends_with('s');
    let exact = sign(run).filter(|_| plural || sign(run.trim_end_matches('s')).is_none());
    if let Some(unit) = exact.or_else(|| name(run)) {
        return Measure::of(unit).raised(power);
    }
    if !whole {
        return None;
    }
    let loose = || loose_sign(run).and_then(|unit| Measure::of(unit).raised(power));
    let apart = || {
        let several = power != 1 || !run.chars().all(|c| c.is_ascii_lowercase());
        let several = several || run.starts_with("kg") || run.starts_with("mol");
        let ends = run.char_indices().skip(1).map(|(at, _)| at).collect::<Vec<_>>();
        let pairs = ends.into_iter().rev().filter_map(|at| run.split_at_checked(at));
        let mut pairs = pairs.filter(|_| several && run.len() <= RUN_MAX);
        pairs.find_map(|(left, right)| product_of(left, right, power))
    };
    if run.starts_with(['K', 'C']) { loose().or_else(apart) } else { apart().or_else(loose) }
}

pub(crate) fn product_of(left: &str, right: &str, power: i8) -> Option<Measure> {
    if [left, right].iter().any(|sign| matches!(*sign, "M" | "B" | "b" | "u")) {
        return None;
    }
    let left = Measure::of(sign(left)?);
    let right = match sign(right) {
        Some(unit) if right != "ms" || power > 0 => Measure::of(unit).raised(power)?,
        _ => resolved(right, power, right.len() > 1)?,
    };
    left.times(&right)
}
