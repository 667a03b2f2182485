//! Units that answers carry, their dimensions, and how they convert.

use dashu_ratio::RBig;

use super::measure::Measure;
use super::nouns;
use super::unit_reader::read;
use super::unit_table::{self, MONEY, is_usual};
use crate::number::small;

/// The most words before a unit.
const WORDS_MAX: usize = 6;

/// What a number of one unit is in another: times the factor and a power of pi, plus the shift.
#[derive(Debug, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) factor: RBig,
    pub(crate) pi: i8,
    pub(crate) shift: RBig,
}

impl Conversion {
    pub(crate) const NONE: Self = Self { factor: RBig::ONE, pi: 0, shift: RBig::ZERO };
}

/// Whether a run of letters is a unit rather than variables side by side.
pub fn known(run: &str) -> bool {
    let upper = run.bytes().any(|byte| byte.is_ascii_uppercase());
    ((run.len() != 2 || is_usual(run)) && unit_table::sign(run).is_some())
        || unit_table::name(run).is_some()
        || ((run.len() > 2 || upper || run.starts_with('k') || matches!(run, "hz" | "pa"))
            && unit_table::sign(run).is_none()
            && unit_table::loose_sign(run).is_some())
}

/// The unit that follows a value in a text: `} mA`, `$ km/h`. "5 in the
/// end" is not an inch.
pub fn behind(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(['}', '$', ' ', '~']);
    let rest = rest.strip_prefix("\\)").unwrap_or(rest);
    let found = read(rest.trim_start(), 0)?;
    let (unit, tail) = rest.trim_start().split_at_checked(found.end)?;
    let preposition = matches!(unit, "in" | "as" | "am" | "pm")
        && tail.trim_start().starts_with(|c: char| c.is_alphanumeric());
    (!preposition).then_some(unit)
}

/// Whether a text is a unit, or begins or ends with one.
pub(crate) fn is_measure(text: &str) -> bool {
    within(text).is_some()
}

/// Whether a text is the scale of a temperature.
pub(crate) fn is_scale(text: &str) -> bool {
    within(text).is_some_and(|measure| measure.unit.zero != RBig::ZERO)
}

/// Whether a unit is one of money.
pub(crate) fn is_money(unit: &str) -> bool {
    measured(unit).is_some_and(|measure| *measure.dimensions() == MONEY)
}

/// How many of `unit` make one of `whole`, where both are known and have the same dimension.
pub(crate) fn ratio(unit: &str, whole: &str) -> Option<RBig> {
    let (unit, whole) = (measured(unit)?, measured(whole)?);
    let one = conversion(&unit, &whole)?;
    (one.pi == 0 && one.shift == RBig::ZERO).then_some(one.factor)
}

/// What a number of `have` is in `want`.
fn conversion(want: &Measure, have: &Measure) -> Option<Conversion> {
    let (want, have) = (&want.unit, &have.unit);
    // A turn is 2 pi radians.
    let (turns, pi) = match (have.kind, want.kind) {
        ("turn", "angle") => (small(2, 1), 1),
        ("angle", "turn") => (small(1, 2), -1),
        ("", _) | (_, "") => (RBig::ONE, 0),
        (one, two) if one == two => (RBig::ONE, 0),
        _ => return None,
    };
    (want.dimensions == have.dimensions).then(|| Conversion {
        factor: &have.size * turns / &want.size,
        pi: have.pi - want.pi + pi,
        shift: (&have.zero - &want.zero) / &want.size,
    })
}

/// A text that is a unit and nothing else.
fn measured(text: &str) -> Option<Measure> {
    let found = read(text, open_braces(text))?;
    let rest = text.get(found.end..)?;
    rest.chars().all(|c| c.is_whitespace() || matches!(c, '}' | '.')).then_some(found.measure)
}

/// How many braces of a text were opened before it.
fn open_braces(text: &str) -> usize {
    let (mut open, mut before) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => before += 1,
            b'}' => open -= 1,
            _ => {}
        }
    }
    before
}

/// The beginning of a text that is a unit, or else its last words: "cm long", "total hours".
pub(crate) fn within(text: &str) -> Option<Measure> {
    if let Some(found) = read(text, open_braces(text)) {
        return Some(found.measure);
    }
    let words = text.match_indices(' ').take(WORDS_MAX);
    words.filter_map(|(at, _)| text.get(at + 1..)).find_map(measured)
}

/// What a number of `unit` is in `reference` units: `None` where they do not convert.
pub(crate) fn convert(reference: &str, unit: &str) -> Option<Conversion> {
    match (within(reference), within(unit)) {
        (Some(want), Some(have)) => {
            // Pounds as a currency, and not as a weight.
            let pounds =
                |one: &str, two: &Measure| one.starts_with("pound") && two.unit.kind == "sterling";
            if pounds(reference, &have) || pounds(unit, &want) {
                return Some(Conversion::NONE);
            }
            conversion(&want, &have).filter(|_| nouns::agree_behind(reference, unit))
        }
        (None, None) => nouns::agree(reference, unit).then_some(Conversion::NONE),
        (Some(measure), None) => counts(unit, &measure).then_some(Conversion::NONE),
        (None, Some(measure)) => counts(reference, &measure).then_some(Conversion::NONE),
    }
}

/// Whether a noun may denote a unit: "units", of the same power.
fn counts(noun: &str, measure: &Measure) -> bool {
    let power = nouns::power(noun);
    let length = |power: i8| [power, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let powers = (1..=3).find(|power| *measure.dimensions() == length(*power));
    nouns::is_general(noun)
        && (power == 1 || powers.is_none_or(|have| usize::try_from(have) == Ok(power)))
}

#[cfg(test)]
mod tests {
    use super::super::unit_table::Dimensions;
    use super::*;

    /// The dimensions and the size of a text that is a unit.
    fn size_of(text: &str) -> Option<(Dimensions, RBig, RBig)> {
        let measure = measured(text)?;
        Some((*measure.dimensions(), measure.unit.size.clone(), measure.unit.zero))
    }

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
            ("celsius", "fahrenheit", Some((5, 9))),
            ("rpm", "Hz", Some((60, 1))),
            ("cm", "s", None),
            ("cm", "cm^2", None),
            ("m per s", "m", None),
            ("kg", "km", None),
        ];
        for (reference, unit, wanted) in cases {
            assert_eq!(
                convert(reference, unit).map(|found| found.factor),
                wanted.map(|(top, below)| small(top, below)),
                "{reference} {unit}"
            );
        }
    }

    #[test]
    fn units_are_read_however_they_are_written() {
        for (text, like) in [
            (r"\mu m", "micrometers"),
            (r"\mu\text{m}", "um"),
            (r"k\Omega", "kiloohm"),
            (r"\,\mathrm{k}\Omega", "kohm"),
            ("kg m/s^2", "newton"),
            (r"\mathrm{kg\cdot m\cdot s^{-2}}", "N"),
            (r"\kilo\metre\per\second", "km/s"),
            (r"\frac{\text{m}}{\text{s}}", "m s^-1"),
            ("ms^{-1}", "meters per second"),
            ("J/(kg K)", "J kg^-1 K^-1"),
            ("J/kg·K", "J/kg/K"),
            ("Jkg^{-1}K^{-1}", "J/(kg*K)"),
            ("Nm", "newton-meter"),
            ("kilowatt-hours", "kWh"),
            ("square feet", "ft^2"),
            ("sq. ft", "ft2"),
            ("feet per second squared", "ft/s^2"),
            ("light-years", "ly"),
            (r"^\circ\text{C}", "degrees Celsius"),
            ("miles an hour", "mph"),
            ("KM", "km"),
            ("MHz", "megahertz"),
            (r"\cubic\centi\metre", "mL"),
            ("m s-1", "m/s"),
            ("pounds per square inch", "psi"),
        ] {
            let (one, two) = (size_of(text), size_of(like));
            assert!(one.is_some() && one == two, "{text} {one:?} {like} {two:?}");
        }
    }

    #[test]
    fn what_is_no_unit_is_none() {
        for text in ["apples", "x", "m/x", r"\alpha", "", "}", "(m", r"m^{1/2}", "2", "mq"] {
            assert_eq!(size_of(text), None, "{text}");
        }
    }
}
