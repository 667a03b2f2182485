//! The units that answers carry, as a table that is read once: `units.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use dashu_ratio::RBig;

use crate::number::small;

/// Metre, kilogram, second, ampere, kelvin, mole, candela, bit, month, money.
pub(crate) type Dimensions = [i8; 10];
const BASES: [&str; 10] = ["m", "kg", "s", "A", "K", "mol", "cd", "bit", "month", "money"];
pub(crate) const MONEY: Dimensions = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// Sign, name and power of ten.
const PREFIXES: [(&str, &str, isize); 26] = [
    ("k", "kilo", 3),
    ("c", "centi", -2),
    ("m", "milli", -3),
    ("µ", "micro", -6),
    ("n", "nano", -9),
    ("M", "mega", 6),
    ("d", "deci", -1),
    ("h", "hecto", 2),
    ("G", "giga", 9),
    ("p", "pico", -12),
    ("f", "femto", -15),
    ("T", "tera", 12),
    ("u", "micro", -6),
    ("da", "deka", 1),
    ("da", "deca", 1),
    ("a", "atto", -18),
    ("P", "peta", 15),
    ("E", "exa", 18),
    ("z", "zepto", -21),
    ("y", "yocto", -24),
    ("Z", "zetta", 21),
    ("Y", "yotta", 24),
    ("r", "ronto", -27),
    ("q", "quecto", -30),
    ("R", "ronna", 27),
    ("Q", "quetta", 30),
];
/// Two letters after a number that are a unit, and no variables side by side: these, and a prefix
/// before a sign, each from its list.
#[rustfmt::skip]
const USUAL: [&str; 18] = [
    "in", "ft", "yd", "mi", "ha", "lb", "oz", "hr", "qt", "pt", "kb", "mb", "gb", "tb", "yr", "Pa", "Hz", "eV",
];
const USUAL_PREFIXES: &str = "kcmnMdGu";
const USUAL_SIGNS: &str = "mgslLNJWACVK";

/// A unit in base units: dimensions, size, the power of pi in it, and its kind.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) dimensions: Dimensions,
    pub(crate) size: RBig,
    pub(crate) pi: i8,
    pub(crate) kind: &'static str,
    /// Where its scale begins, in base units: that of degrees Celsius at 273.15.
    pub(crate) zero: RBig,
}

/// A unit by one of its forms, and whether the form takes prefixes.
struct Form {
    unit: usize,
    scales: bool,
}

#[derive(Default)]
struct Table {
    units: Vec<Unit>,
    signs: HashMap<&'static str, Form>,
    names: HashMap<String, Form>,
    /// Signs in lower case, where only one has these letters.
    loose: HashMap<String, Option<&'static str>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    let lines = include_str!("units.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        table.add(line);
    }
    table
});

impl Table {
    fn add(&mut self, line: &'static str) {
        let mut fields = line.split('|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (dimensions, size, signs, names) = (next(), next(), next(), next());
        let (size, pi) = number(size);
        let mut unit =
            Unit { dimensions: dimensions_of(dimensions), size, pi, kind: "", zero: RBig::ZERO };
        for extra in fields {
            match extra.split_once(' ') {
                Some(("kind", kind)) => unit.kind = kind,
                Some(("zero", zero)) => unit.zero = -number(zero).0 * &unit.size,
                _ => {}
            }
        }
        let at = self.units.len();
        self.units.push(unit);
        for form in forms(signs) {
            let (sign, scales) = form.strip_prefix('+').map_or((form, false), |sign| (sign, true));
            let loose = self.loose.entry(sign.to_lowercase()).or_insert(Some(sign));
            *loose = loose.filter(|have| *have == sign);
            self.signs.insert(sign, Form { unit: at, scales });
        }
        for form in forms(names) {
            let (name, scales) = form.strip_prefix('+').map_or((form, false), |name| (name, true));
            self.names.insert(name.replace('_', " "), Form { unit: at, scales });
        }
    }

    /// The unit with this sign, in its own case, and whether it takes prefixes.
    fn sign(&self, sign: &str) -> Option<(&Unit, bool)> {
        let form = self.signs.get(sign)?;
        Some((self.units.get(form.unit)?, form.scales))
    }

    /// The unit with this sign in any case, where no other has it.
    fn loose(&self, sign: &str) -> Option<(&Unit, bool)> {
        self.sign(sign).or_else(|| self.sign((*self.loose.get(&sign.to_lowercase())?)?))
    }

    fn name(&self, name: &str) -> Option<(&Unit, bool)> {
        let form = self.names.get(name).or_else(|| {
            let one = name.strip_suffix('s').filter(|one| one.len() > 2)?;
            self.names.get(one)
        })?;
        Some((self.units.get(form.unit)?, form.scales))
    }
}

fn forms(field: &'static str) -> impl Iterator<Item = &'static str> {
    field.split(' ').filter(|form| !form.is_empty() && *form != "-")
}

/// A decimal, perhaps over another one, and the power of pi in it.
fn number(text: &str) -> (RBig, i8) {
    let (top, below) = text.split_once('/').unwrap_or((text, "1"));
    let part = |text: &str| match text {
        "pi" => (RBig::ONE, 1),
        text => (decimal(text), 0),
    };
    let ((top, over), (below, under)) = (part(top), part(below));
    (top / below, over - under)
}

fn decimal(text: &str) -> RBig {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let places = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let whole = digits.replace('.', "").parse::<i64>().unwrap_or_default();
    let power = exponent.parse::<isize>().unwrap_or_default();
    small(whole, 1) * small(10, 1).pow(power - isize::try_from(places).unwrap_or_default())
}

fn dimensions_of(text: &str) -> Dimensions {
    let mut dimensions = Dimensions::default();
    for factor in text.split(' ') {
        let (base, power) = factor.split_once('^').unwrap_or((factor, "1"));
        let at = BASES.iter().position(|have| *have == base);
        if let Some(dimension) = at.and_then(|at| dimensions.get_mut(at)) {
            *dimension = power.parse().unwrap_or_default();
        }
    }
    dimensions
}

/// Dimensions as a product of base units.
pub(crate) fn spelled(dimensions: &Dimensions) -> String {
    let factors = BASES.iter().zip(dimensions).filter(|(_, power)| **power != 0);
    factors.map(|(base, power)| format!("{base}^{power}")).collect::<Vec<_>>().join(" ")
}

fn scaled((unit, scales): (&Unit, bool), ten: isize) -> Option<Unit> {
    let size = &unit.size * small(10, 1).pow(ten);
    (scales && unit.zero == RBig::ZERO).then(|| Unit { size, ..unit.clone() })
}

/// The unit with this sign, which may have a prefix.
pub(crate) fn sign(run: &str) -> Option<Unit> {
    if let Some((unit, _)) = TABLE.sign(run) {
        return Some(unit.clone());
    }
    let prefixed = PREFIXES
        .iter()
        .find_map(|(prefix, _, ten)| scaled(TABLE.sign(run.strip_prefix(prefix)?)?, *ten));
    // kgs, lbs, hrs
    let lower = |one: &&str| one.len() > 1 && one.bytes().all(|byte| byte.is_ascii_lowercase());
    let one = || run.strip_suffix('s').filter(lower).and_then(sign);
    prefixed.or_else(one)
}

/// The unit with this name in any case, in the singular or the plural, perhaps with a prefix.
pub(crate) fn name(run: &str) -> Option<Unit> {
    let run = run.to_lowercase();
    if let Some((unit, _)) = TABLE.name(&run) {
        return Some(unit.clone());
    }
    PREFIXES.iter().find_map(|(_, prefix, ten)| {
        scaled(TABLE.name(run.strip_prefix(prefix)?.trim_start_matches([' ', '-']))?, *ten)
    })
}

/// The unit with this sign in another case: KM, Khz. The m of milli and the M of mega stay apart.
pub(crate) fn loose_sign(run: &str) -> Option<Unit> {
    if run.len() < 2 {
        return None;
    }
    // Two capitals are rather points: PT, IN.
    let points = run.len() == 2 && run.bytes().all(|byte| byte.is_ascii_uppercase());
    if let Some((unit, _)) = TABLE.loose(run).filter(|_| !points) {
        return Some(unit.clone());
    }
    let first = run.chars().next()?;
    let (prefix, rest) = (first.to_ascii_lowercase(), run.get(first.len_utf8()..)?);
    let prefix = match first {
        'm' | 'M' => first,
        'g' | 'G' | 't' | 'T' if run.len() > 2 => first.to_ascii_uppercase(),
        _ if "kc".contains(prefix) || (run.len() > 2 && "dhnuµ".contains(prefix)) => prefix,
        _ => return None,
    };
    let prefix = PREFIXES.iter().find(|have| have.0.chars().eq([prefix]))?;
    scaled(
        TABLE.loose(rest).filter(|(_, scales)| *scales).or_else(|| {
            let small = TABLE.sign(&rest.to_ascii_lowercase())?;
            Some(small)
        })?,
        prefix.2,
    )
}

/// The long prefix that a name is: kilo.
pub(crate) fn is_prefix(name: &str) -> bool {
    PREFIXES.iter().any(|have| have.1.eq_ignore_ascii_case(name))
}

/// Whether a letter may be a prefix.
pub(crate) fn is_prefix_sign(sign: &str) -> bool {
    PREFIXES.iter().any(|have| have.0 == sign)
}

/// Whether two letters are a unit that is tight after its number.
pub(crate) fn is_usual(run: &str) -> bool {
    let capitals = run.bytes().all(|byte| byte.is_ascii_uppercase());
    (capitals && matches!(run, "MW" | "MJ" | "MV" | "GW" | "GJ"))
        || USUAL.contains(&run)
        || !capitals
            && matches!(run.as_bytes(), [prefix, sign]
            if USUAL_PREFIXES.contains(char::from(*prefix)) && USUAL_SIGNS.contains(char::from(*sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_unit() {
        for unit in &TABLE.units {
            assert!(unit.size > RBig::ZERO, "{unit:?}");
        }
        let mixed = TABLE.names.keys().find(|name| **name != name.to_lowercase());
        assert_eq!(mixed, None);
    }

    #[test]
    fn signs_keep_their_case_and_names_do_not() {
        let size = |unit: Option<Unit>| unit.map(|unit| unit.size.to_f64_fast());
        assert_eq!(size(sign("mW")), Some(1e-3));
        assert_eq!(size(sign("MW")), Some(1e6));
        assert_eq!(size(name("Megawatts")), Some(1e6));
        assert_eq!(size(loose_sign("KW")), Some(1e3));
        assert_eq!(size(sign("mmin")), None);
    }
}
