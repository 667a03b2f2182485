//! Rules of reasoning-gym for answers that are numbers, times and other amounts.

use serde_json::Value;

use super::words::contained_share;
use crate::entry::{Judged, Marked, Puzzle};
use crate::number::{DecimalNumber, Ratio, count, float, integer};

/// A decimal with commas, or else the share of a text that contains the published one.
pub(super) fn decimal_or_contained(puzzle: &Puzzle<'_>) -> Judged {
    let (gold, answer) = (puzzle.gold()?.replace(',', ""), puzzle.answer.replace(',', ""));
    let wanted = DecimalNumber::parse(&gold).ok_or("the reference is not a number")?;
    if puzzle.answer.is_empty() {
        return Ok(Marked::wrong(0.0));
    }
    if DecimalNumber::parse(&answer).is_some_and(|own| own == wanted) {
        return Ok(Marked::exact(true));
    }
    Ok(Marked::wrong(contained_share(&answer, &gold)))
}

/// An equal decimal.
pub(super) fn decimal(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = DecimalNumber::parse(&puzzle.gold()?).ok_or("the reference is not a number")?;
    Ok(Marked::exact(DecimalNumber::parse(puzzle.answer).is_some_and(|own| own == wanted)))
}

/// A decimal that differs by at most one unit of the last place.
pub(super) fn decimal_near(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = Ratio::parse(&puzzle.gold()?).ok_or("the reference is not a number")?;
    let range = puzzle.list("difficulty.decimal_places");
    let places = range.ok().and_then(|range| range.get(1)?.as_u64()).map_or(3, |most| most.min(30));
    let inverse = (0..places).fold(1_i128, |inverse, _| inverse.saturating_mul(10));
    let own = Ratio::parse(puzzle.answer);
    Ok(Marked::exact(own.is_some_and(|own| own.is_near(wanted, inverse))))
}

/// The first number of an answer.
pub(super) fn first_number(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = float(&puzzle.gold()?).ok_or("the reference is not a number")?;
    let Some(own) = number_in(puzzle.answer).and_then(float) else {
        return Ok(Marked::wrong(0.0));
    };
    let right = (own - wanted).abs() <= 0.0;
    Ok(Marked::floor(right, 0.01))
}

/// The first run of digits that is a word, with a fraction, and a sign behind a letter.
fn number_in(text: &str) -> Option<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends_word = |at: usize| !text[at..].starts_with(is_word);
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|off| at + off) {
        let past = |from: usize| {
            from + text[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - from)
        };
        let whole = past(start);
        let before = text[..start].chars().next_back();
        let signed = before == Some('-') && text[..start - 1].ends_with(is_word);
        if signed || !before.is_some_and(is_word) {
            let start = if signed { start - 1 } else { start };
            if text[whole..].starts_with('.') {
                let end = past(whole + 1);
                if end > whole + 1 && ends_word(end) {
                    return Some(&text[start..end]);
                }
            }
            if ends_word(whole) {
                return Some(&text[start..whole]);
            }
        }
        at = whole;
    }
    None
}

/// Equal to three significant digits.
pub(super) fn three_digits(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = DecimalNumber::parse(&puzzle.gold()?).ok_or("the reference is not a number")?;
    let own = DecimalNumber::parse(puzzle.answer);
    Ok(Marked::floor(own.is_some_and(|own| own.rounded(3) == wanted.rounded(3)), 0.01))
}

/// A fraction in lowest terms, as `a/b` or `\frac{a}{b}`.
pub(super) fn fraction(puzzle: &Puzzle<'_>) -> Judged {
    let terms = (puzzle.number("simplified_numerator")?, puzzle.number("simplified_denominator")?);
    let given = (puzzle.number("numerator")?, puzzle.number("denominator")?);
    let Some((above, below)) = terms_of(puzzle.answer.trim().trim_matches('$').trim()) else {
        return Ok(Marked::wrong(0.01));
    };
    let is = |own: i128, other: i64| own == i128::from(other);
    if is(above, terms.0) && is(below, terms.1) {
        return Ok(Marked::exact(true));
    }
    let kept = is(above, given.0) || is(below, given.1);
    Ok(Marked::wrong(if kept { 0.1 } else { 0.05 }))
}

fn terms_of(text: &str) -> Option<(i128, i128)> {
    let latex = || {
        let lower = text.get(..6)?.to_ascii_lowercase();
        let skip = if lower.starts_with("\\frac") { 5 } else { 6 };
        let rest = (skip == 5 || lower == "\\dfrac").then(|| text[skip..].trim_start())?;
        let (above, rest) = rest.strip_prefix('{')?.split_once('}')?;
        let (below, _) = rest.trim_start().strip_prefix('{')?.split_once('}')?;
        let digits = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_digit());
        if digits(above) && digits(below) { integer(above).zip(integer(below)) } else { None }
    };
    latex().or_else(|| {
        let (above, below) = text.split_once('/')?;
        integer(above).zip(integer(below))
    })
}

/// A number within a hundredth.
pub(super) fn number_format(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = puzzle.part("solution")?.as_f64();
    let wanted = wanted.ok_or("`solution` of the metadata is not a number")?;
    let own = float(&puzzle.answer.replace(',', ""));
    Ok(Marked::exact(own.is_some_and(|own| (own - wanted).abs() < 1e-2)))
}

/// A whole number in any base of Python's literals.
pub(super) fn any_base(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = based(&puzzle.gold()?).ok_or("the reference is not a whole number")?;
    Ok(Marked::exact(based(puzzle.answer) == Some(wanted)))
}

fn based(text: &str) -> Option<i128> {
    let text = text.trim().to_ascii_lowercase();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let radix = [("0x", 16), ("0b", 2), ("0o", 8)];
    let found = radix.iter().find_map(|(mark, radix)| Some((digits.strip_prefix(mark)?, *radix)));
    let (digits, radix) = found.unwrap_or((digits, 10));
    let leads = radix == 10 && digits.len() > 1 && digits.starts_with('0');
    if leads || !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    i128::from_str_radix(&digits.replace('_', ""), radix).ok()?.checked_mul(sign)
}

/// Prime factors between `×`.
pub(super) fn factors(puzzle: &Puzzle<'_>) -> Judged {
    let read = |text: &str| -> Option<Vec<i128>> {
        let mut factors: Vec<i128> = text
            .split('×')
            .filter(|one| !one.trim().is_empty())
            .map(integer)
            .collect::<Option<_>>()?;
        factors.sort_unstable();
        Some(factors)
    };
    let product = |list: &[i128]| list.iter().try_fold(1_i128, |all, one| all.checked_mul(*one));
    let wanted = read(&puzzle.gold()?).ok_or("the reference is not factors")?;
    let Some(own) = read(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    let equal = product(&own).is_some() && product(&own) == product(&wanted);
    Ok(Marked::floor(own == wanted, if equal { 0.5 } else { 0.01 }))
}

/// Days of the week, counts, and leap years.
pub(super) fn calendar(puzzle: &Puzzle<'_>) -> Judged {
    const DAYS: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let (gold, answer) = (puzzle.gold()?, puzzle.answer.trim());
    match puzzle.text("task")? {
        "weekday_offset" | "weekday_of_date" | "weekday_of_date_from_first_date" => {
            let is_named = DAYS.iter().any(|day| day.eq_ignore_ascii_case(answer));
            let floor = match (DAYS.contains(&answer), is_named) {
                (true, _) => 0.1,
                (false, true) => 0.05,
                (false, false) => 0.0,
            };
            let right = answer.eq_ignore_ascii_case(&gold) && is_named;
            Ok(Marked { published: if answer == gold { 1.0 } else { floor }, right })
        }
        "count_business_days" | "count_days" | "recurring_event_day" => {
            let wanted = integer(&gold).ok_or("the reference is not a whole number")?;
            let Some(own) = integer(answer) else { return Ok(Marked::wrong(0.0)) };
            let ratio = Ratio::whole(own).minus(Ratio::whole(wanted));
            let off = ratio.and_then(|off| off.over(Ratio::whole(wanted))).map(Ratio::float);
            // A negative reference turns the sign of the error.
            let off = if wanted < 0 { off.map(|off| -off.abs()) } else { off.map(f64::abs) };
            let published =
                off.map_or(f64::from(u8::from(own == wanted)), |off| (-5.0 * off).exp());
            Ok(Marked { published, right: own == wanted })
        }
        "is_leap_year" => Ok(Marked::exact(answer.to_lowercase() == gold.to_lowercase())),
        other => Err(format!("`task` of the metadata is \"{other}\"")),
    }
}

/// Durations: what is near earns a share.
pub(super) fn interval(puzzle: &Puzzle<'_>) -> Judged {
    let kind = puzzle.text("task_type")?;
    let most =
        |key: &str, default: i64| puzzle.number(&format!("difficulty.{key}")).unwrap_or(default);
    let days = most("max_date_difference_days", 100);
    let (read, range): (fn(&str) -> Option<f64>, i64) = if kind == "date" {
        (|text| days_of(text.split_whitespace().next()?), days)
    } else if kind.starts_with("time") {
        (seconds_of, most("max_time_difference_seconds", 86_400))
    } else {
        let read = |text: &str| {
            let days = days_of(text.split(" days,").next()?)?;
            Some(days * 86_400.0 + seconds_of(text.split(',').nth(1)?)?)
        };
        (read, days.saturating_mul(86_400))
    };
    let wanted = read(&puzzle.gold()?).ok_or("the reference is not a duration")?;
    let Some(own) = read(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    let off = (own - wanted).abs();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 seconds")]
    let published = (1.0 - off / range as f64).max(0.0);
    Ok(Marked { published, right: off <= 0.0 })
}

fn days_of(text: &str) -> Option<f64> {
    Some(Ratio::whole(integer(text)?).float())
}

/// The seconds of `H:MM`, `H:MM:SS` or `H:MM:SS.mmm`.
fn seconds_of(text: &str) -> Option<f64> {
    let mut parts = text.trim().split(':');
    let mut next = || days_of(parts.next()?);
    let minutes = next()? * 3600.0 + next()? * 60.0;
    Some(
        minutes
            + match parts.next() {
                None => 0.0,
                Some(seconds) => match seconds.split_once('.') {
                    Some((whole, part)) => days_of(whole)? + days_of(part)? / 1000.0,
                    None => days_of(seconds)?,
                },
            },
    )
}

/// A complex number: what is near earns more.
pub(super) fn complex(puzzle: &Puzzle<'_>) -> Judged {
    let result: Option<Vec<f64>> = puzzle.list("result")?.iter().map(Value::as_f64).collect();
    let Some(&[real, imaginary]) = result.as_deref() else {
        return Err("`result` of the metadata is not two numbers".to_owned());
    };
    let Some(own) = complex_of(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    let distance = (own.0 - real).hypot(own.1 - imaginary);
    Ok(Marked { published: (-distance).exp().min(1.0), right: distance < 1e-6 })
}

fn complex_of(text: &str) -> Option<(f64, f64)> {
    let text = text.replace(' ', "").to_lowercase();
    let mut text = text.as_str();
    while let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        text = inner;
    }
    let text = text.replace('i', "j");
    let Some(rest) = text.strip_suffix('j') else { return Some((float(&text)?, 0.0)) };
    let factor = |text: &str| match text {
        "" | "+" => Some(1.0),
        "-" => Some(-1.0),
        text => float(text),
    };
    let sign = rest
        .char_indices()
        .skip(1)
        .filter(|(at, c)| matches!(c, '+' | '-') && !rest[..*at].ends_with('e'));
    match sign.last() {
        Some((at, _)) => Some((float(&rest[..at])?, factor(&rest[at..])?)),
        None => Some((0.0, factor(rest)?)),
    }
}

/// Roots between commas: what is near earns more, what lacks or is too much costs.
pub(super) fn roots(puzzle: &Puzzle<'_>) -> Judged {
    let read = |text: &str| {
        let mut roots: Vec<f64> = text.split(',').filter_map(float).collect();
        roots.sort_unstable_by(f64::total_cmp);
        roots
    };
    let (mut wanted, own) = (read(&puzzle.gold()?), read(puzzle.answer));
    if wanted.len() > 100 {
        return Err("the reference has more than 100 roots".to_owned());
    }
    if wanted.is_empty() {
        return Ok(Marked::floor(own.is_empty(), 0.0));
    }
    let (due, mut reward, mut near) = (wanted.len(), 0.0, true);
    for root in own.iter().take(due) {
        let distance = |other: &f64| (root - other).abs();
        let distances = wanted.iter().map(distance).enumerate();
        let best = distances.min_by(|(_, one), (_, two)| one.total_cmp(two));
        let Some((best, _)) = best else { break };
        let off = distance(&wanted.remove(best));
        near = near && off <= 2e-4;
        reward += (-10.0 * off).exp();
    }
    let matched = own.len().min(due);
    if matched > 0 {
        reward /= count(matched);
    }
    let published = (reward - 0.5 * count(due.abs_diff(own.len()))).max(0.0);
    Ok(Marked { published, right: near && own.len() == due })
}

/// A count: one that is near earns a share of 0.8.
pub(super) fn near_count(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = integer(&puzzle.gold()?).ok_or("the reference is not a whole number")?;
    let Some(own) = integer(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    let off = own.abs_diff(wanted);
    let share = 0.8 * (1.0 - f64::from(u8::try_from(off.min(5)).unwrap_or(5)) / 5.0);
    Ok(Marked::floor(off == 0, share))
}

/// A probability as a fraction or a decimal. Digits that are right at first earn a share.
pub(super) fn probability(puzzle: &Puzzle<'_>) -> Judged {
    let read = |text: &str| -> Option<f64> {
        let text = text.replace(',', "");
        match text.split_once('/') {
            Some((above, below)) => {
                let is_sound = below.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
                let (above, below) = (integer(above)?, integer(below).filter(|_| is_sound)?);
                Some(Ratio::new(above, below)?.float())
            }
            None => float(&text),
        }
    };
    let wanted = read(&puzzle.gold()?).ok_or("the reference is not a probability")?;
    let Some(own) = read(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    if (own - wanted).abs() <= 1e-4 {
        return Ok(Marked::exact(true));
    }
    let (own, wanted) = (ten_digits(own), ten_digits(wanted));
    let hits = own.bytes().zip(wanted.bytes()).take_while(|(one, two)| one == two).count();
    Ok(Marked::wrong(count(hits) / count(own.len().min(wanted.len()))))
}

/// A float to ten significant digits, as `%.10g` writes it.
fn ten_digits(value: f64) -> String {
    let scientific = format!("{value:.9e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
            .to_owned()
    };
    if (-4..10).contains(&exponent) {
        let places = usize::try_from(9 - exponent).unwrap_or(0);
        return trim(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
}

/// Angles, orthocentres, and radii of incircles.
pub(super) fn geometry(puzzle: &Puzzle<'_>) -> Judged {
    let rounded = |value: f64, scale: f64| (value * scale).round_ties_even() / scale;
    let equal =
        |one: f64, two: f64, scale| (rounded(one, scale) - rounded(two, scale)).abs() <= 0.0;
    match puzzle.text("task_type")? {
        "angle_measure" => {
            let wanted = float(&puzzle.gold()?.replace('°', ""));
            let wanted = wanted.ok_or("the reference is not an angle")?;
            Ok(match float(&puzzle.answer.replace('°', "")) {
                Some(own) => Marked::floor(equal(own, wanted, 100.0), 0.05),
                None => Marked::wrong(0.01),
            })
        }
        "orthocenter" => {
            let term = |text: &str| match text.split_once('/') {
                Some((above, below)) => Some(Ratio::new(integer(above)?, integer(below)?)?.float()),
                None => float(text),
            };
            let wanted: Option<Vec<f64>> = puzzle.texts("ortho")?.into_iter().map(term).collect();
            let Some(&[x, y]) = wanted.as_deref() else {
                return Err("`ortho` of the metadata is not a point".to_owned());
            };
            let mut parts = puzzle.answer.split(',');
            let mut next = |mark| float(&parts.next()?.replace(mark, ""));
            let own = next('(').zip(next(')'));
            let right = own.is_some_and(|own| equal(own.0, x, 1e3) && equal(own.1, y, 1e3));
            Ok(Marked::floor(right, 0.01))
        }
        "incircle_radius" => {
            let gold = puzzle.gold()?;
            let wanted = float(&gold).ok_or("the reference is not a radius")?;
            let right = float(puzzle.answer).is_some_and(|own| equal(own, wanted, 1e3));
            let published = if puzzle.answer == gold { 1.0 } else { 0.01 };
            Ok(Marked { published, right })
        }
        other => Err(format!("`task_type` of the metadata is \"{other}\"")),
    }
}

/// Numbers in order, each within 1.
pub(super) fn sorted_numbers(puzzle: &Puzzle<'_>) -> Judged {
    let number = |value: &Value| match value {
        Value::String(text) => float(text),
        Value::Bool(bit) => Some(f64::from(u8::from(*bit))),
        value => value.as_f64(),
    };
    let read = |text: &str| -> Option<Vec<f64>> {
        let value: Value = serde_json::from_str(&text.replace('\'', "\"")).ok()?;
        value.as_array()?.iter().map(number).collect()
    };
    let wanted = read(&puzzle.gold()?).ok_or("the reference is not a list of numbers")?;
    let ascending = puzzle.text("direction")? == "ascending";
    let Some(own) = read(puzzle.answer) else { return Ok(Marked::wrong(0.0)) };
    let sorted = own.is_sorted_by(|one, two| if ascending { one <= two } else { one >= two });
    let off = own.iter().zip(&wanted).map(|(one, two)| (one - two).abs()).fold(0.0, f64::max);
    let is_sorted = sorted && own.len() == wanted.len();
    let published = f64::from(u8::from(is_sorted && off <= 1.0));
    Ok(Marked { published, right: is_sorted && off <= 0.0 })
}
