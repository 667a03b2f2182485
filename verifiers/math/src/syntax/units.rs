//! Units that answers carry, their dimensions, and how they convert.

use dashu_ratio::RBig;

use super::nouns;
use super::unit_table::{
    AREA, Dimensions, HEAT, KINDS, LENGTH, MONEY, PREFIXES, SCALED, UNITS, VOLUME,
};
use crate::number::small;

/// The most words of a unit.
const WORDS_MAX: usize = 6;

/// Dimensions and size in base units, and the kind of a currency or scale.
#[derive(Clone)]
struct Measure {
    dimensions: Dimensions,
    kind: u8,
    size: RBig,
}

/// Whether a short run of letters is the sign of a unit.
pub fn known(run: &str) -> bool {
    single(&run.to_ascii_lowercase()).is_some()
}

/// The name of a unit that takes a prefix, by its sign.
pub(crate) fn long_name(sign: &str) -> Option<&'static str> {
    let sign = sign.to_ascii_lowercase();
    SCALED.iter().find(|unit| unit.0 == sign).map(|unit| unit.1)
}

/// Whether a text is a unit, or begins or ends with one.
pub(crate) fn is_measure(text: &str) -> bool {
    within(text).is_some()
}

/// Whether a unit is one of money.
pub(crate) fn is_money(unit: &str) -> bool {
    measured(unit).is_some_and(|measure| measure.dimensions == MONEY)
}

/// How many of `unit` make one of `whole`, where both are known and have the same dimension.
pub(crate) fn ratio(unit: &str, whole: &str) -> Option<RBig> {
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

/// `cm^2`, `square meters`, `km per h`, `meters per second squared`; `None` where a word is no
/// unit.
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

/// What one `unit` is in `reference` units: `None` where they do not convert.
pub(crate) fn factor(reference: &str, unit: &str) -> Option<RBig> {
    match (within(reference), within(unit)) {
        (Some(want), Some(have)) => {
            // Pounds as a currency, and not as a weight.
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

/// Whether a noun may denote a unit: "units", of the same power.
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
