//! Units that answers carry, and how they convert.

use dashu_ratio::RBig;

use super::number::small;

/// Name, dimension, and size in the base unit of the dimension as a fraction.
type Unit = (&'static str, &'static str, i64, i64);

const UNITS: &[Unit] = &[
    ("mm", "length", 1, 1000),
    ("cm", "length", 1, 100),
    ("dm", "length", 1, 10),
    ("m", "length", 1, 1),
    ("km", "length", 1000, 1),
    ("meter", "length", 1, 1),
    ("metre", "length", 1, 1),
    ("centimeter", "length", 1, 100),
    ("millimeter", "length", 1, 1000),
    ("kilometer", "length", 1000, 1),
    ("in", "length", 254, 10_000),
    ("inch", "length", 254, 10_000),
    ("inches", "length", 254, 10_000),
    ("ft", "length", 3048, 10_000),
    ("foot", "length", 3048, 10_000),
    ("feet", "length", 3048, 10_000),
    ("yd", "length", 9144, 10_000),
    ("yard", "length", 9144, 10_000),
    ("mile", "length", 1_609_344, 1000),
    ("mi", "length", 1_609_344, 1000),
    ("mg", "mass", 1, 1_000_000),
    ("g", "mass", 1, 1000),
    ("gram", "mass", 1, 1000),
    ("kg", "mass", 1, 1),
    ("kilogram", "mass", 1, 1),
    ("ton", "mass", 1000, 1),
    ("lb", "mass", 45_359_237, 100_000_000),
    ("pound", "mass", 45_359_237, 100_000_000),
    ("oz", "mass", 45_359_237, 1_600_000_000),
    ("ounce", "mass", 45_359_237, 1_600_000_000),
    ("ms", "time", 1, 1000),
    ("s", "time", 1, 1),
    ("sec", "time", 1, 1),
    ("second", "time", 1, 1),
    ("min", "time", 60, 1),
    ("minute", "time", 60, 1),
    ("h", "time", 3600, 1),
    ("hr", "time", 3600, 1),
    ("hour", "time", 3600, 1),
    ("day", "time", 86_400, 1),
    ("week", "time", 604_800, 1),
    ("cent", "money", 1, 100),
    ("dollar", "money", 1, 1),
    ("usd", "money", 1, 1),
    ("ml", "volume", 1, 1000),
    ("l", "volume", 1, 1),
    ("liter", "volume", 1, 1),
    ("litre", "volume", 1, 1),
];

/// Whether a short run of letters is the sign of a unit.
pub(super) fn known(run: &str) -> bool {
    find(run).is_some()
}

fn find(name: &str) -> Option<&'static Unit> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix('s').filter(|stem| stem.len() > 1);
    UNITS.iter().find(|unit| unit.0 == lower).or_else(|| {
        let stem = stem?;
        UNITS.iter().find(|unit| unit.0 == stem)
    })
}

/// What one `unit` is in `reference` units: `None` where they measure different things. A unit
/// that is not known is a mere noun, and nouns agree.
pub(super) fn factor(reference: &str, unit: &str) -> Option<RBig> {
    let split = |text: &str| {
        let (name, power) = text.split_once('^').unwrap_or((text, "1"));
        (name.trim().to_owned(), power.trim().parse::<i32>().unwrap_or(1))
    };
    let ((want, want_power), (have, have_power)) = (split(reference), split(unit));
    let (Some(want), Some(have)) = (find(&want), find(&have)) else { return Some(RBig::ONE) };
    if want.1 != have.1 || want_power != have_power || !(1..=3).contains(&want_power) {
        return None;
    }
    let ratio = small(have.2, have.3) / small(want.2, want.3);
    Some(ratio.pow(isize::try_from(want_power).unwrap_or(1)))
}
