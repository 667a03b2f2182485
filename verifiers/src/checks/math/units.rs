//! Units that answers carry, their dimensions, and how they convert.

use dashu_ratio::RBig;

use super::nouns;
use super::number::small;

/// More words are no unit.
const WORDS_MAX: usize = 6;

/// Length, mass, time, money, current, temperature, data, months.
type Dimensions = [i8; 8];

/// Name, dimensions, and size in base units as a fraction.
type Unit = (&'static str, Dimensions, i64, i64);

const LENGTH: Dimensions = [1, 0, 0, 0, 0, 0, 0, 0];
const AREA: Dimensions = [2, 0, 0, 0, 0, 0, 0, 0];
const VOLUME: Dimensions = [3, 0, 0, 0, 0, 0, 0, 0];
const MASS: Dimensions = [0, 1, 0, 0, 0, 0, 0, 0];
const TIME: Dimensions = [0, 0, 1, 0, 0, 0, 0, 0];
const RATE: Dimensions = [0, 0, -1, 0, 0, 0, 0, 0];
const MONEY: Dimensions = [0, 0, 0, 1, 0, 0, 0, 0];
const CURRENT: Dimensions = [0, 0, 0, 0, 1, 0, 0, 0];
const HEAT: Dimensions = [0, 0, 0, 0, 0, 1, 0, 0];
const DATA: Dimensions = [0, 0, 0, 0, 0, 0, 1, 0];
const MONTHS: Dimensions = [0, 0, 0, 0, 0, 0, 0, 1];
const SPEED: Dimensions = [1, 0, -1, 0, 0, 0, 0, 0];
const FORCE: Dimensions = [1, 1, -2, 0, 0, 0, 0, 0];
const PRESSURE: Dimensions = [-1, 1, -2, 0, 0, 0, 0, 0];
const ENERGY: Dimensions = [2, 1, -2, 0, 0, 0, 0, 0];
const POWER: Dimensions = [2, 1, -3, 0, 0, 0, 0, 0];
const CHARGE: Dimensions = [0, 0, 1, 0, 1, 0, 0, 0];
const VOLTAGE: Dimensions = [2, 1, -3, 0, -1, 0, 0, 0];
const RESISTANCE: Dimensions = [2, 1, -3, 0, -2, 0, 0, 0];

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
    ("month", MONTHS, 1, 1),
    ("year", MONTHS, 12, 1),
    ("yr", MONTHS, 12, 1),
    ("decade", MONTHS, 120, 1),
    ("century", MONTHS, 1200, 1),
    ("centuries", MONTHS, 1200, 1),
    ("acre", AREA, 40_468_564_224, 10_000_000),
    ("gallon", VOLUME, 3_785_411_784, 1_000_000_000_000),
    ("gal", VOLUME, 3_785_411_784, 1_000_000_000_000),
    ("quart", VOLUME, 946_352_946, 1_000_000_000_000),
    ("qt", VOLUME, 946_352_946, 1_000_000_000_000),
    ("pint", VOLUME, 473_176_473, 1_000_000_000_000),
    ("pt", VOLUME, 473_176_473, 1_000_000_000_000),
    ("cup", VOLUME, 2_365_882_365, 10_000_000_000_000),
    ("mph", SPEED, 1_609_344, 3_600_000),
    ("kph", SPEED, 1000, 3600),
    ("kmh", SPEED, 1000, 3600),
    ("byte", DATA, 8, 1),
    ("bit", DATA, 1, 1),
    ("kb", DATA, 8_000, 1),
    ("mb", DATA, 8_000_000, 1),
    ("gb", DATA, 8_000_000_000, 1),
    ("tb", DATA, 8_000_000_000_000, 1),
];

/// Units of a kind of their own, by name: kind, and size as a fraction. Euros are no dollars.
const KINDS: &[(&str, u8, i64, i64)] = &[
    ("dollar", 1, 1, 1),
    ("usd", 1, 1, 1),
    ("buck", 1, 1, 1),
    ("cent", 1, 1, 100),
    ("penny", 1, 1, 100),
    ("pennies", 1, 1, 100),
    ("euro", 2, 1, 1),
    ("eur", 2, 1, 1),
    ("gbp", 3, 1, 1),
    ("pence", 3, 1, 100),
    ("yen", 4, 1, 1),
    ("jpy", 4, 1, 1),
    ("yuan", 5, 1, 1),
    ("rmb", 5, 1, 1),
    ("cny", 5, 1, 1),
    ("rupee", 6, 1, 1),
    ("rs", 6, 1, 1),
    ("inr", 6, 1, 1),
    ("paise", 6, 1, 100),
    ("ruble", 7, 1, 1),
    ("kopeck", 7, 1, 100),
    ("won", 8, 1, 1),
    ("peso", 9, 1, 1),
    ("franc", 10, 1, 1),
    ("celsius", 20, 1, 1),
    ("fahrenheit", 21, 1, 1),
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
    ("rad", "radian", [0; 8], 1, 1),
    ("wh", "watthour", ENERGY, 3600, 1),
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

/// Dimensions and size in base units, and the kind of a currency or scale.
#[derive(Clone)]
struct Measure {
    dimensions: Dimensions,
    kind: u8,
    size: RBig,
}

/// Whether a short run of letters is the sign of a unit.
pub(crate) fn known(run: &str) -> bool {
    single(&run.to_ascii_lowercase()).is_some()
}

/// The name of a unit that takes a prefix, by its sign.
pub(super) fn long_name(sign: &str) -> Option<&'static str> {
    let sign = sign.to_ascii_lowercase();
    SCALED.iter().find(|unit| unit.0 == sign).map(|unit| unit.1)
}

/// Whether a text is a unit, or begins or ends with one.
pub(super) fn is_measure(text: &str) -> bool {
    within(text).is_some()
}

/// Whether a unit is one of money.
pub(super) fn is_money(unit: &str) -> bool {
    measured(unit).is_some_and(|measure| measure.dimensions == MONEY)
}

/// How many of `unit` make one of `whole`, where both are known and measure the same.
pub(super) fn ratio(unit: &str, whole: &str) -> Option<RBig> {
    let (unit, whole) = (measured(unit)?, measured(whole)?);
    same(&unit, &whole).then(|| whole.size / unit.size)
}

fn same(one: &Measure, two: &Measure) -> bool {
    one.dimensions == two.dimensions && one.kind == two.kind
}

fn single(name: &str) -> Option<Measure> {
    let stem = name.strip_suffix('s').filter(|stem| stem.len() > 1);
    [Some(name), stem].into_iter().flatten().find_map(exact)
}

fn exact(name: &str) -> Option<Measure> {
    if let Some((_, kind, top, below)) = KINDS.iter().find(|unit| unit.0 == name) {
        let dimensions = if *kind < 20 { MONEY } else { HEAT };
        return Some(Measure { dimensions, kind: *kind, size: small(*top, *below) });
    }
    if let Some(unit) = UNITS.iter().find(|unit| unit.0 == name) {
        return Some(Measure { dimensions: unit.1, kind: 0, size: small(unit.2, unit.3) });
    }
    for (sign, long, dimensions, top, below) in SCALED {
        for (prefix, long_prefix, power) in PREFIXES {
            let named = name.strip_prefix(long_prefix) == Some(long)
                || ((!prefix.is_empty() || long_prefix.is_empty())
                    && name.strip_prefix(prefix) == Some(sign));
            if named {
                let ten = small(10, 1).pow(isize::try_from(*power).unwrap_or(0));
                let size = small(*top, *below) * ten;
                return Some(Measure { dimensions: *dimensions, kind: 0, size });
            }
        }
    }
    None
}

/// `cm^2`, `square meters`, `km per h`, `meters per second squared`; `None` where a word is no unit.
fn measured(text: &str) -> Option<Measure> {
    let mut whole = Measure { dimensions: [0; 8], kind: 0, size: RBig::ONE };
    let mut below = false;
    let (mut power, mut named) = (1i8, false);
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
        named = true;
        whole.kind = whole.kind.max(unit.kind);
        whole.size *= unit.size.pow(isize::from(times));
        power = 1;
    }
    named.then_some(whole)
}

/// The first words of a text that are a unit, or else the last ones: "cm long", "total hours".
fn within(text: &str) -> Option<Measure> {
    let words: Vec<&str> = text.split_whitespace().take(WORDS_MAX).collect();
    let pieces = (1..=words.len()).rev().map(|end| words.get(..end));
    let tails = (1..words.len()).map(|from| words.get(from..));
    pieces.chain(tails).flatten().find_map(|piece| measured(&piece.join(" ")))
}

/// What one `unit` is in `reference` units: `None` where they measure or count different things.
pub(super) fn factor(reference: &str, unit: &str) -> Option<RBig> {
    match (within(reference), within(unit)) {
        (Some(want), Some(have)) => {
            // Pounds of money, which are no pounds of weight.
            let pounds = |one: &str, two: &Measure| one.starts_with("pound") && two.kind == 3;
            if pounds(reference, &have) || pounds(unit, &want) {
                return Some(RBig::ONE);
            }
            let same = same(&want, &have) && nouns::agree_behind(reference, unit);
            same.then(|| have.size / want.size)
        }
        (None, None) => nouns::agree(reference, unit).then_some(RBig::ONE),
        (Some(measure), None) => counts(unit, &measure).then_some(RBig::ONE),
        (None, Some(measure)) => counts(reference, &measure).then_some(RBig::ONE),
    }
}

/// Whether a noun may stand for a unit: "units", of the same power.
fn counts(noun: &str, measure: &Measure) -> bool {
    let power = nouns::power(noun);
    let powers =
        [LENGTH, AREA, VOLUME].iter().position(|dimensions| *dimensions == measure.dimensions);
    nouns::is_general(noun) && (power == 1 || powers.is_none_or(|at| at + 1 == power))
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
            ("apples", "oranges", None),
            ("cm", "apples", None),
            ("apples", "red apples", Some((1, 1))),
            ("cm", "units", Some((1, 1))),
            ("cm long", "mm", Some((1, 10))),
            ("euro", "dollars", None),
            ("yen", "yen", Some((1, 1))),
            ("gbp", "pounds", Some((1, 1))),
            ("years", "months", Some((1, 12))),
            ("megawatt", "kw", Some((1, 1000))),
            ("celsius", "fahrenheit", None),
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
