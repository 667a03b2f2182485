//! The units that answers carry, as tables: dimensions, sizes, prefixes.

/// Length, mass, time, money, current, temperature, data, months.
pub(crate) type Dimensions = [i8; 8];
/// Name, dimensions, and size in base units as a fraction.
type Unit = (&'static str, Dimensions, i64, i64);
pub(crate) const LENGTH: Dimensions = [1, 0, 0, 0, 0, 0, 0, 0];
pub(crate) const AREA: Dimensions = [2, 0, 0, 0, 0, 0, 0, 0];
pub(crate) const VOLUME: Dimensions = [3, 0, 0, 0, 0, 0, 0, 0];
const MASS: Dimensions = [0, 1, 0, 0, 0, 0, 0, 0];
const TIME: Dimensions = [0, 0, 1, 0, 0, 0, 0, 0];
const RATE: Dimensions = [0, 0, -1, 0, 0, 0, 0, 0];
pub(crate) const MONEY: Dimensions = [0, 0, 0, 1, 0, 0, 0, 0];
const CURRENT: Dimensions = [0, 0, 0, 0, 1, 0, 0, 0];
pub(crate) const HEAT: Dimensions = [0, 0, 0, 0, 0, 1, 0, 0];
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
pub(crate) const UNITS: &[Unit] = &[
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
/// Currencies and temperature scales by name: kind, and size as a fraction. Kinds do not convert.
pub(crate) const KINDS: &[(&str, u8, i64, i64)] = &[
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
pub(crate) const SCALED: &[(&str, &str, Dimensions, i64, i64)] = &[
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
/// Sign, name and power of ten. Mega has no sign: without case it would be that of milli.
pub(crate) const PREFIXES: &[(&str, &str, i32)] = &[
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
