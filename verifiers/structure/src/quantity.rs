//! Quantities: a number and a unit, as a value in SI base units with its dimension.

use std::ops::Range;

use crate::{has_word, number};

/// A quantity in SI base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its value in base units.
    pub value: f64,
    /// The exponents of metre, kilogram, second, ampere, kelvin, mole, candela, bit, radian, currency.
    pub dimension: Dimension,
}

/// Exponents of base units.
pub type Dimension = [i8; 10];

/// How much of a base unit something is, and what is added (for temperatures).
type Unit = (&'static str, f64, f64, Dimension);

const M: Dimension = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const KG: Dimension = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
const S: Dimension = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
const A: Dimension = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const K: Dimension = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
const MOL: Dimension = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
const CD: Dimension = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
const BIT: Dimension = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
const RAD: Dimension = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
const MOLAR: Dimension = [-3, 0, 0, 0, 0, 1, 0, 0, 0, 0];
const NONE: Dimension = [0; 10];
const fn si(m: i8, kg: i8, s: i8, a: i8) -> Dimension {
    [m, kg, s, a, 0, 0, 0, 0, 0, 0]
}

/// Units that take prefixes (SI Brochure, 9th edition; the gram stands for the kilogram).
#[rustfmt::skip]
const PREFIXED: [Unit; 28] = [
    ("m metre metres meter meters", 1.0, 0.0, M), ("g gram grams gramme grammes", 1e-3, 0.0, KG),
    ("s sec secs second seconds", 1.0, 0.0, S), ("A amp amps ampere amperes", 1.0, 0.0, A),
    ("K kelvin kelvins", 1.0, 0.0, K), ("mol mole moles", 1.0, 0.0, MOL), ("cd candela", 1.0, 0.0, CD),
    ("Hz hertz", 1.0, 0.0, si(0, 0, -1, 0)), ("N newton newtons", 1.0, 0.0, si(1, 1, -2, 0)),
    ("Pa pascal pascals", 1.0, 0.0, si(-1, 1, -2, 0)), ("J joule joules", 1.0, 0.0, si(2, 1, -2, 0)),
    ("W watt watts", 1.0, 0.0, si(2, 1, -3, 0)), ("C coulomb coulombs", 1.0, 0.0, si(0, 0, 1, 1)),
    ("V volt volts", 1.0, 0.0, si(2, 1, -3, -1)), ("F farad farads", 1.0, 0.0, si(-2, -1, 4, 2)),
    ("Ω ohm ohms Ohm", 1.0, 0.0, si(2, 1, -3, -2)), ("T tesla", 1.0, 0.0, si(0, 1, -2, -1)),
    ("Wb weber", 1.0, 0.0, si(2, 1, -2, -1)), ("H henry", 1.0, 0.0, si(2, 1, -2, -2)),
    ("L l litre litres liter liters", 1e-3, 0.0, si(3, 0, 0, 0)), ("eV", 1.602_176_634e-19, 0.0, si(2, 1, -2, 0)),
    ("cal calorie calories", 4.184, 0.0, si(2, 1, -2, 0)), ("bar bars", 1e5, 0.0, si(-1, 1, -2, 0)),
    ("bit bits b", 1.0, 0.0, BIT), ("B byte bytes", 8.0, 0.0, BIT), ("Wh", 3600.0, 0.0, si(2, 1, -2, 0)),
    ("rad radian radians", 1.0, 0.0, RAD), ("S siemens", 1.0, 0.0, si(-2, -1, 3, 2)),
];

/// Units without prefixes: SI Brochure, table 8; NIST Special Publication 811, appendix B.
#[rustfmt::skip]
const PLAIN: [Unit; 45] = [
    ("min minute minutes mins", 60.0, 0.0, S), ("h hr hrs hour hours", 3600.0, 0.0, S),
    ("d day days", 86_400.0, 0.0, S), ("week weeks wk", 604_800.0, 0.0, S),
    ("°C ℃ degC celsius Celsius", 1.0, 273.15, K), ("°F ℉ degF fahrenheit Fahrenheit", 5.0 / 9.0, 459.67 * 5.0 / 9.0, K),
    ("in inch inches ″", 0.0254, 0.0, M), ("ft foot feet", 0.3048, 0.0, M), ("yd yard yards", 0.9144, 0.0, M),
    ("mi mile miles", 1609.344, 0.0, M), ("nmi", 1852.0, 0.0, M), ("ly lightyear lightyears", 9.460_730_472_580_8e15, 0.0, M),
    ("au AU", 1.495_978_707e11, 0.0, M), ("pc parsec parsecs", 3.085_677_581_491_367e16, 0.0, M), ("Å angstrom", 1e-10, 0.0, M),
    ("lb lbs pound pounds", 0.453_592_37, 0.0, KG), ("oz ounce ounces", 0.028_349_523_125, 0.0, KG),
    ("t tonne tonnes", 1000.0, 0.0, KG), ("ton tons", 907.184_74, 0.0, KG), ("stone", 6.350_293_18, 0.0, KG),
    ("u Da amu", 1.660_539_066_6e-27, 0.0, KG), ("mph", 0.447_04, 0.0, si(1, 0, -1, 0)), ("kph", 1.0 / 3.6, 0.0, si(1, 0, -1, 0)),
    ("kn knot knots", 1852.0 / 3600.0, 0.0, si(1, 0, -1, 0)), ("ha hectare hectares", 1e4, 0.0, si(2, 0, 0, 0)),
    ("acre acres", 4_046.856_422_4, 0.0, si(2, 0, 0, 0)), ("gal gallon gallons", 3.785_411_784e-3, 0.0, si(3, 0, 0, 0)),
    ("qt quart quarts", 9.463_529_46e-4, 0.0, si(3, 0, 0, 0)), ("pt pint pints", 4.731_764_73e-4, 0.0, si(3, 0, 0, 0)),
    ("cup cups", 2.365_882_365e-4, 0.0, si(3, 0, 0, 0)), ("atm", 101_325.0, 0.0, si(-1, 1, -2, 0)),
    ("mmHg torr", 133.322_387_415, 0.0, si(-1, 1, -2, 0)), ("psi", 6_894.757_293_168, 0.0, si(-1, 1, -2, 0)),
    ("hp horsepower", 745.699_871_582_270_2, 0.0, si(2, 1, -3, 0)), ("BTU btu", 1_055.055_852_62, 0.0, si(2, 1, -2, 0)),
    ("° deg degree degrees", std::f64::consts::PI / 180.0, 0.0, RAD), ("rpm", std::f64::consts::PI / 30.0, 0.0, [0, 0, -1, 0, 0, 0, 0, 0, 1, 0]),
    ("% percent", 0.01, 0.0, NONE), ("$ dollar dollars USD usd", 1.0, 0.0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ("€ euro euros EUR eur", 1.0, 0.0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]), ("£ GBP gbp", 1.0, 0.0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 3]),
    ("G gauss", 1e-4, 0.0, si(0, 1, -2, -1)), ("M molar", 1e3, 0.0, MOLAR), ("mM millimolar", 1.0, 0.0, MOLAR),
    ("µM μM micromolar", 1e-3, 0.0, MOLAR),
];

/// Prefixes by sign and by name. Currencies are dimensions of their own: none is worth another.
#[rustfmt::skip]
const PREFIXES: [(&str, &str, f64); 20] = [
    ("da", "deca", 1e1), ("h", "hecto", 1e2), ("k", "kilo", 1e3), ("M", "mega", 1e6), ("G", "giga", 1e9),
    ("T", "tera", 1e12), ("P", "peta", 1e15), ("E", "exa", 1e18), ("d", "deci", 1e-1), ("c", "centi", 1e-2),
    ("m", "milli", 1e-3), ("µ", "micro", 1e-6), ("μ", "micro", 1e-6), ("n", "nano", 1e-9), ("p", "pico", 1e-12),
    ("f", "femto", 1e-15), ("Ki", "kibi", 1024.0), ("Mi", "mebi", 1_048_576.0), ("Gi", "gibi", 1_073_741_824.0),
    ("Ti", "tebi", 1_099_511_627_776.0),
];

/// The quantity that a text is: a number, then a unit (`3 km/h`, `9.81 m s^-2`, `$5`, `12 µF`), or a number
/// alone. `None` where anything else stands there, or the unit is not known. Linear in the text.
pub fn read(text: &str) -> Option<Quantity> {
    let text = text.trim().trim_end_matches('.').trim_end();
    let formula = text.strip_prefix('$').and_then(|inner| inner.strip_suffix('$'));
    let text = formula.unwrap_or(text);
    let (span, number): (Range<usize>, f64) = number::first(text, 0)?;
    let (before, unit) = (plain(&text[..span.start]), plain(&text[span.end..]));
    let sign = if before.ends_with(['-', '−']) { -1.0 } else { 1.0 };
    let before = before.trim().trim_end_matches(['-', '−']);
    let (scale, unit) = scaled(unit.trim(), !before.is_empty());
    let unit = match before {
        "" => unit,
        sign if ["$", "€", "£"].contains(&sign) && unit.is_empty() => sign,
        _ => return None,
    };
    let (factor, offset, dimension) = unit_of(of_degrees(unit).unwrap_or(unit))?;
    Some(Quantity { value: sign * number * scale * factor + offset, dimension })
}

/// The scale at the start of a unit (`million km`), behind a currency also as a letter (`$5M`), and the rest.
fn scaled(unit: &str, is_money: bool) -> (f64, &str) {
    const SCALES: [(&str, &str, f64); 4] = [
        ("thousand", "k", 1e3),
        ("million millions", "m mn", 1e6),
        ("billion billions", "b bn", 1e9),
        ("trillion trillions", "tn", 1e12),
    ];
    let (first, rest) = unit.split_once(' ').unwrap_or((unit, ""));
    let word = first.to_lowercase();
    let has = |(words, letters, _): &&(&str, &str, f64)| {
        has_word(words, &word) || is_money && has_word(letters, &word)
    };
    SCALES.iter().find(has).map_or((1.0, unit), |(_, _, scale)| (*scale, rest.trim_start()))
}

/// The unit of a temperature in words: `degrees Celsius`, `deg F`, `° C`.
fn of_degrees(unit: &str) -> Option<&'static str> {
    let (first, scale) = unit.split_once(' ')?;
    has_word("degrees degree deg °", first).then_some(())?;
    match scale.trim().to_lowercase().as_str() {
        "c" | "celsius" | "centigrade" => Some("°C"),
        "f" | "fahrenheit" => Some("°F"),
        "k" | "kelvin" => Some("K"),
        _ => None,
    }
}

/// A text beside a number without the markup of LaTeX.
fn plain(text: &str) -> String {
    text.replace("\\,", " ")
        .replace("\\ ", " ")
        .replace("\\text", "")
        .replace("\\mathrm", "")
        .replace("\\times", "×")
        .replace(['{', '}'], "")
        .replace("\\%", "%")
        .replace("^\\circ", "°")
        .replace("\\circ", "°")
        .replace("\\mu", "µ")
}

/// The factor, the offset and the dimension of a unit: factors side by side, with `·`, `*`, `/`, "per",
/// and exponents (`^2`, `²`, `-1`, "square", "cubic").
fn unit_of(text: &str) -> Option<(f64, f64, Dimension)> {
    let (mut factor, mut dimension, mut offset) = (1.0, NONE, 0.0);
    let (mut below, mut count, mut power_next) = (false, 0, 1);
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        if "/·⋅*×() ".contains(first) {
            below |= first == '/';
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest
            .find(|c: char| !(c.is_alphabetic() || "°%$€£″℃℉".contains(c)) || "²³".contains(c))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        rest = behind;
        match name {
            "" => return None,
            "per" if count > 0 => below = true,
            "square" | "sq" => power_next = 2,
            "cubic" => power_next = 3,
            name => {
                let (own, shift, exponents) = named(name)?;
                let (power, behind) = exponent(rest)?;
                rest = behind;
                let power =
                    power * std::mem::replace(&mut power_next, 1) * if below { -1 } else { 1 };
                factor *= own.powi(i32::from(power));
                for (sum, exponent) in dimension.iter_mut().zip(exponents) {
                    *sum = i8::try_from(i32::from(*sum) + i32::from(exponent) * i32::from(power))
                        .ok()?;
                }
                count += 1;
                // A temperature has an offset where it stands alone.
                offset = if count == 1 && power == 1 { shift } else { 0.0 };
            }
        }
    }
    Some((factor, offset, dimension))
}

fn named(name: &str) -> Option<(f64, f64, Dimension)> {
    let has = |unit: &Unit, name: &str| unit.0.split(' ').any(|one| one == name);
    let find = |name: &str, units: &[Unit]| {
        units.iter().find(|unit| has(unit, name)).map(|unit| (unit.1, unit.2, unit.3))
    };
    let whole = || find(name, &PREFIXED).or_else(|| find(name, &PLAIN));
    let prefixed = || {
        PREFIXES.iter().find_map(|(sign, word, scale)| {
            // A sign goes with a sign, a name with a name.
            let with = |prefix: &str, fits: fn(usize) -> bool| {
                let unit = name.strip_prefix(prefix).filter(|unit| fits(unit.len()))?;
                let (factor, offset, dimension) = find(unit, &PREFIXED)?;
                Some((factor * scale, offset, dimension))
            };
            with(sign, |length| length <= 3).or_else(|| with(word, |length| length >= 3))
        })
    };
    let lower =
        || find(&name.to_lowercase(), &PREFIXED).or_else(|| find(&name.to_lowercase(), &PLAIN));
    whole().or_else(prefixed).or_else(|| if name.len() > 3 { lower() } else { None })
}

/// The exponent at the start, 1 where there is none, and what follows.
fn exponent(text: &str) -> Option<(i8, &str)> {
    for (sign, power) in [("²", 2), ("³", 3), ("⁻¹", -1), ("⁻²", -2), ("⁻³", -3)] {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((power, rest));
        }
    }
    let (marked, text) = text
        .strip_prefix('^')
        .or_else(|| text.strip_prefix("**"))
        .map_or((false, text), |rest| (true, rest));
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (!marked && sign == 0).then_some((1, text));
    }
    Some((text[..sign + digits].parse().ok()?, &text[sign + digits..]))
}
