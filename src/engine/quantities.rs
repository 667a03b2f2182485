//! Numbers and amounts that stand in texts: `50%`, `1_000`, `10s`, `64MB`.

/// A number that stands in a text, as `0.5`, `50%` or `1_000`.
pub(super) fn number(text: &str) -> Option<String> {
    let text = text.trim().replace('_', "");
    let (digits, per_cent) =
        text.strip_suffix('%').map_or((text.as_str(), false), |rest| (rest.trim(), true));
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some(format!("{:?}", if per_cent { value / 100.0 } else { value }))
}

/// What units come to in the unit that the end of a key names.
const UNITS: [(&str, &[(&str, f64)]); 3] = [
    (
        "_ms",
        &[
            ("ms", 1.0),
            ("s", 1e3),
            ("sec", 1e3),
            ("seconds", 1e3),
            ("m", 6e4),
            ("min", 6e4),
            ("h", 3.6e6),
        ],
    ),
    (
        "_mb",
        &[("mb", 1.0), ("mib", 1.0), ("m", 1.0), ("gb", 1024.0), ("gib", 1024.0), ("g", 1024.0)],
    ),
    (
        "bytes_max",
        &[
            ("b", 1.0),
            ("k", 1024.0),
            ("kb", 1024.0),
            ("kib", 1024.0),
            ("m", 1_048_576.0),
            ("mb", 1_048_576.0),
            ("mib", 1_048_576.0),
            ("g", 1_073_741_824.0),
            ("gb", 1_073_741_824.0),
            ("gib", 1_073_741_824.0),
        ],
    ),
];

/// An integer that stands in a text, as `1_000`, `10s` or `64MB`.
pub(super) fn quantity(key: &str, text: &str) -> Option<String> {
    let text = text.trim().replace(['_', ','], "").to_ascii_lowercase();
    let end = text.find(|char: char| !(char.is_ascii_digit() || char == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let value: f64 = digits.parse().ok()?;
    let factor = match unit.trim() {
        "" => 1.0,
        unit => {
            let (_, units) = UNITS.iter().find(|(ending, _)| key.ends_with(ending))?;
            units.iter().find(|(name, _)| *name == unit)?.1
        }
    };
    let whole = value * factor;
    (whole.fract() == 0.0 && whole < 9e15).then(|| format!("{whole:.0}"))
}
