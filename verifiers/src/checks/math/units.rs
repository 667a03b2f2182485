//! Units that answers carry, their dimensions, and how they convert.

use dashu_ratio::RBig;

use super::number::small;

/// Length, mass, time, money, current, temperature, data.
type Dimensions = [i8; 7];

/// Name, dimensions, and size in base units as a fraction.
type Unit = (&'static str, Dimensions, i64, i64);

const LENGTH: Dimensions = [1, 0, 0, 0, 0, 0, 0];
const AREA: Dimensions = [2, 0, 0, 0, 0, 0, 0];
const VOLUME: Dimensions = [3, 0, 0, 0, 0, 0, 0];
const MASS: Dimensions = [0, 1, 0, 0, 0, 0, 0];
const TIME: Dimensions = [0, 0, 1, 0, 0, 0, 0];
const RATE: Dimensions = [0, 0, -1, 0, 0, 0, 0];
const MONEY: Dimensions = [0, 0, 0, 1, 0, 0, 0];
const CURRENT: Dimensions = [0, 0, 0, 0, 1, 0, 0];
const HEAT: Dimensions = [0, 0, 0, 0, 0, 1, 0];
const DATA: Dimensions = [0, 0, 0, 0, 0, 0, 1];
const SPEED: Dimensions = [1, 0, -1, 0, 0, 0, 0];
const FORCE: Dimensions = [1, 1, -2, 0, 0, 0, 0];
const PRESSURE: Dimensions = [-1, 1, -2, 0, 0, 0, 0];
const ENERGY: Dimensions = [2, 1, -2, 0, 0, 0, 0];
const POWER: Dimensions = [2, 1, -3, 0, 0, 0, 0];
const CHARGE: Dimensions = [0, 0, 1, 0, 1, 0, 0];
const VOLTAGE: Dimensions = [2, 1, -3, 0, -1, 0, 0];
const RESISTANCE: Dimensions = [2, 1, -3, 0, -2, 0, 0];

const UNITS: &[Unit] = &[
    ("in", LENGTH, 254, 10_000),
    ("inch", LENGTH, 254, 10_000),
    ("inches", LENGTH, 254, 10_000),
    ("ft", LENGTH, 3048, 10_000),
    ("foot", LENGTH, 3048, 10_000),
    ("feet", LENGTH, 3048, 10_000),
    ("yd", LENGTH, 9144, 10_000),
    ("yard", LENGTH, 9144, 10_000),
    ("mi", LENGTH, 1_609_344, 1000),
    ("mile", LENGTH, 1_609_344, 1000),
    ("hectare", AREA, 10_000, 1),
    ("ha", AREA, 10_000, 1),
    ("ton", MASS, 1000, 1),
    ("tonne", MASS, 1000, 1),
    ("lb", MASS, 45_359_237, 100_000_000),
    ("pound", MASS, 45_359_237, 100_000_000),
    ("oz", MASS, 45_359_237, 1_600_000_000),
    ("ounce", MASS, 45_359_237, 1_600_000_000),
    ("min", TIME, 60, 1),
    ("minute", TIME, 60, 1),
    ("h", TIME, 3600, 1),
    ("hr", TIME, 3600, 1),
    ("hour", TIME, 3600, 1),
    ("day", TIME, 86_400, 1),
    ("week", TIME, 604_800, 1),
    ("sec", TIME, 1, 1),
    ("cent", MONEY, 1, 100),
    ("dollar", MONEY, 1, 1),
    ("usd", MONEY, 1, 1),
    ("mph", SPEED, 1_609_344, 3_600_000),
    ("kph", SPEED, 1000, 3600),
    ("kmh", SPEED, 1000, 3600),
    ("byte", DATA, 8, 1),
    ("bit", DATA, 1, 1),
];

/// Units that take a prefix, by sign and by name.
const SCALED: &[(&str, &str, Dimensions, i64, i64)] = &[
    ("m", "meter", LENGTH, 1, 1),
    ("m", "metre", LENGTH, 1, 1),
    ("g", "gram", MASS, 1, 1000),
    ("s", "second", TIME, 1, 1),
    ("l", "liter", VOLUME, 1, 1000),
    ("l", "litre", VOLUME, 1, 1000),
    ("n", "newton", FORCE, 1, 1),
    ("pa", "pascal", PRESSURE, 1, 1),
    ("j", "joule", ENERGY, 1, 1),
    ("w", "watt", POWER, 1, 1),
    ("hz", "hertz", RATE, 1, 1),
    ("a", "ampere", CURRENT, 1, 1),
    ("c", "coulomb", CHARGE, 1, 1),
    ("v", "volt", VOLTAGE, 1, 1),
    ("ohm", "ohm", RESISTANCE, 1, 1),
    ("k", "kelvin", HEAT, 1, 1),
];

/// Sign, name and power of ten. The sign of mega would be that of milli: case is not kept.
const PREFIXES: &[(&str, &str, i32)] = &[
    ("k", "kilo", 3),
    ("c", "centi", -2),
    ("m", "milli", -3),
    ("d", "deci", -1),
    ("μ", "micro", -6),
    ("n", "nano", -9),
    ("g", "giga", 9),
    ("h", "hecto", 2),
    ("", "mega", 6),
    ("", "", 0),
];

/// Dimensions and size in base units.
struct Measure {
    dimensions: Dimensions,
    size: RBig,
}

/// Whether a short run of letters is the sign of a unit.
pub(crate) fn known(run: &str) -> bool {
    single(&run.to_ascii_lowercase()).is_some()
}

fn single(name: &str) -> Option<Measure> {
    let stem = name.strip_suffix('s').filter(|stem| stem.len() > 1);
    [Some(name), stem].into_iter().flatten().find_map(exact)
}

fn exact(name: &str) -> Option<Measure> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.0 == name) {
        return Some(Measure { dimensions: unit.1, size: small(unit.2, unit.3) });
    }
    for (sign, long, dimensions, top, below) in SCALED {
        for (prefix, long_prefix, power) in PREFIXES {
            let named = name.strip_prefix(long_prefix) == Some(long)
                || ((!prefix.is_empty() || long_prefix.is_empty())
                    && name.strip_prefix(prefix) == Some(sign));
            if named {
                let ten = small(10, 1).pow(isize::try_from(*power).unwrap_or(0));
                return Some(Measure { dimensions: *dimensions, size: small(*top, *below) * ten });
            }
        }
    }
    None
}

/// `cm^2`, `square meters`, `km per h`, `meters per second squared`; `None` where a word is no unit.
fn measured(text: &str) -> Option<Measure> {
    let mut whole = Measure { dimensions: [0; 7], size: RBig::ONE };
    let mut below = false;
    let mut power = 1i8;
    let text = text.replace('/', " per ").replace('*', " ");
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "per" | "a" | "an" => {
                below = true;
                continue;
            }
            "square" | "sq" => {
                power = 2;
                continue;
            }
            "cubic" | "cu" => {
                power = 3;
                continue;
            }
            _ => {}
        }
        let (name, raised) = word.split_once('^').unwrap_or((word, "1"));
        let mut raised = raised
            .trim_matches(['{', '}'])
            .parse::<i8>()
            .ok()
            .filter(|raised| (-4..=4).contains(raised))?;
        match words.peek() {
            Some(&"squared") => raised = 2,
            Some(&"cubed") => raised = 3,
            _ => {}
        }
        if raised > 1 && matches!(words.peek(), Some(&"squared" | &"cubed")) {
            words.next();
        }
        let unit = single(name)?;
        let times = power * raised * if below { -1 } else { 1 };
        for (sum, dimension) in whole.dimensions.iter_mut().zip(unit.dimensions) {
            *sum = sum.checked_add(dimension.checked_mul(times)?)?;
        }
        whole.size *= unit.size.pow(isize::from(times));
        power = 1;
    }
    Some(whole)
}

/// What one `unit` is in `reference` units: `None` where they measure different things. A unit
/// that is not known is a mere noun, and nouns agree.
pub(super) fn factor(reference: &str, unit: &str) -> Option<RBig> {
    let (Some(want), Some(have)) = (measured(reference), measured(unit)) else {
        return Some(RBig::ONE);
    };
    (want.dimensions == have.dimensions).then(|| have.size / want.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_dimension_convert_and_others_do_not() {
        let cases = [
            ("cm", "mm", Some((1, 10))),
            ("cm^2", "m^2", Some((10_000, 1))),
            ("km per h", "m per s", Some((18, 5))),
            ("square feet", "ft^2", Some((1, 1))),
            ("l", "cm^3", Some((1, 1000))),
            ("ml", "cm^3", Some((1, 1))),
            ("miles per hour", "mph", Some((1, 1))),
            ("meters per second squared", "m per s^2", Some((1, 1))),
            ("kg", "grams", Some((1, 1000))),
            ("hours", "minutes", Some((1, 60))),
            ("dollars", "cents", Some((1, 100))),
            ("kilojoules", "joules", Some((1, 1000))),
            ("apples", "oranges", Some((1, 1))),
            ("cm", "apples", Some((1, 1))),
            ("cm", "s", None),
            ("cm", "cm^2", None),
            ("m per s", "m", None),
            ("kg", "km", None),
        ];
        for (reference, unit, wanted) in cases {
            assert_eq!(
                factor(reference, unit),
                wanted.map(|(top, below)| small(top, below)),
                "{reference} {unit}"
            );
        }
    }
}
