//! Dates and times of day, as they are written in answers.

use crate::settings::Dates;

/// A date, or a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    /// Year, where it is named; month; day, where it is named.
    Date { year: Option<u32>, month: u32, day: Option<u32> },
    /// Seconds since midnight.
    Time(u32),
}

const HOUR: u32 = 60 * 60;

const MONTHS: [&str; 12] = crate::words::list(
    "january february march april may june july august september october november december",
);
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// The longest text that is read as a date.
const BYTES_MAX: usize = 60;
/// The longest text that is read as noon or midnight.
const NOON_MAX: usize = 24;

/// The date or time that a text denotes.
pub(crate) fn read(text: &str, dates: Dates) -> Option<Calendar> {
    if text.len() > BYTES_MAX || !may_be(text.as_bytes()) {
        return None;
    }
    let plain: String = text
        .chars()
        .map(|c| {
            if matches!(c, '$' | '{' | '}' | '\\' | ',' | '~') {
                ' '
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect();
    let plain = plain.replace(" !", "").replace("text", " ").replace("mathrm", " ");
    time(&plain).or_else(|| named_month(&plain)).or_else(|| numeric(&plain, dates))
}

/// Whether a month, a half of the day or two signs between numbers are in it.
fn may_be(text: &[u8]) -> bool {
    let holds = |word: &str| {
        text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let signs = text.iter().filter(|byte| matches!(byte, b'-' | b'/' | b'.')).count();
    let letters = text.iter().any(u8::is_ascii_alphabetic);
    if letters && text.len() <= NOON_MAX && ["noon", "midnight"].into_iter().any(holds) {
        return true;
    }
    text.iter().any(u8::is_ascii_digit)
        && (signs >= 2
            || letters
                && (["am", "pm", "a.m", "p.m"].into_iter().any(holds)
                    || MONTHS.iter().filter_map(|name| name.get(..3)).any(holds)))
}

/// `3:30 pm`, `3 p.m.`, `noon`; a time without "am" or "pm" is read as a ratio.
fn time(text: &str) -> Option<Calendar> {
    let plain = text.replace('.', "");
    match plain.trim().trim_start_matches("12").trim_start_matches(":00").trim() {
        "noon" => return Some(Calendar::Time(12 * HOUR)),
        "midnight" => return Some(Calendar::Time(0)),
        _ => {}
    }
    let (clock, afternoon) =
        match (plain.trim().strip_suffix("am"), plain.trim().strip_suffix("pm")) {
            (Some(clock), _) => (clock, false),
            (_, Some(clock)) => (clock, true),
            _ => return None,
        };
    let mut parts = clock.split(':').map(|part| part.trim().parse::<u32>().ok());
    let hours = parts.next()??;
    let (minutes, seconds) = (parts.next().unwrap_or(Some(0))?, parts.next().unwrap_or(Some(0))?);
    if !(1..=12).contains(&hours) || minutes > 59 || seconds > 59 || parts.next().is_some() {
        return None;
    }
    let hours = hours % 12 + if afternoon { 12 } else { 0 };
    Some(Calendar::Time(hours * HOUR + minutes * 60 + seconds))
}

/// `January 5, 2021`, `5 Jan 2021`, `the 5th of January`, with or without the day of the week.
fn named_month(text: &str) -> Option<Calendar> {
    let (mut month, mut numbers) = (None, Vec::new());
    for word in text.split_whitespace() {
        let word = word.trim_matches('.');
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let tail = &word[digits.len()..];
        if !digits.is_empty() && matches!(tail, "" | "st" | "nd" | "rd" | "th") {
            numbers.push(digits.parse::<u32>().ok()?);
        } else if let Some(at) = MONTHS
            .iter()
            .position(|name| *name == word || (word.len() >= 3 && name.get(..3) == Some(word)))
        {
            if month.replace(u32::try_from(at).ok()? + 1).is_some() {
                return None;
            }
        } else if !DAYS.contains(&word) && !matches!(word, "the" | "of" | "on" | "in" | "sept") {
            return None;
        }
    }
    let month = month?;
    let (year, day) = match numbers.as_slice() {
        [day, year] | [year, day] if valid(month, *day) && *year > 31 => (Some(*year), Some(*day)),
        [day] if valid(month, *day) => (None, Some(*day)),
        [year] if *year > 31 => (Some(*year), None),
        _ => return None,
    };
    Some(Calendar::Date { year, month, day })
}

/// `2021-01-05`, `2021/1/5`, `1/5/2021`, `05.01.2021`. With dots the day comes first; else the setting
/// says so, unless only one order is a date.
fn numeric(text: &str, dates: Dates) -> Option<Calendar> {
    let text = text.replace(' ', "");
    let sign = text.chars().find(|c| !c.is_ascii_digit());
    let parts: Vec<&str> = text.split(sign.filter(|c| matches!(c, '-' | '/' | '.'))?).collect();
    let [Some(one), Some(two), Some(three)] = [0, 1, 2].map(|at| parts.get(at)?.parse().ok())
    else {
        return None;
    };
    if parts.len() != 3 {
        return None;
    }
    let date = |year, month, day| {
        valid(month, day).then_some(Calendar::Date { year: Some(year), month, day: Some(day) })
    };
    let long = |at: usize| parts.get(at).is_some_and(|part| part.len() == 4);
    match (long(0), long(2)) {
        (true, false) => date(one, two, three),
        (false, true) if sign == Some('.') => date(three, two, one),
        (false, true) => {
            let (months, days) = (date(three, one, two), date(three, two, one));
            if dates == Dates::DayFirst { days.or(months) } else { months.or(days) }
        }
        _ => None,
    }
}

fn valid(month: u32, day: u32) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The normalised text.
pub(crate) fn show(value: Calendar) -> String {
    match value {
        Calendar::Time(time) => {
            let (minutes, seconds) = (time / 60 % 60, time % 60);
            let seconds = if seconds > 0 { format!(":{seconds:02}") } else { String::new() };
            format!("{:02}:{minutes:02}{seconds}", time / HOUR)
        }
        Calendar::Date { year, month, day } => {
            let year = year.map_or_else(|| "????".into(), |year| format!("{year:04}"));
            let day = day.map_or_else(|| "??".into(), |day| format!("{day:02}"));
            format!("{year}-{month:02}-{day}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_in_their_many_ways() {
        let fifth = Calendar::Date { year: Some(2021), month: 1, day: Some(5) };
        for text in [
            "2021-01-05",
            "$2021$-01-05",
            "January 5, 2021",
            "Jan. 5th 2021",
            "5 January 2021",
            "Tuesday, January 5, 2021",
            "05.01.2021",
        ] {
            assert_eq!(read(text, Dates::default()), Some(fifth), "{text}");
        }
        assert_eq!(read("1/5/2021", Dates::MonthFirst), Some(fifth));
        assert_eq!(read("5/1/2021", Dates::DayFirst), Some(fifth));
        for (text, hours, minutes) in [
            ("3:30 PM", 15, 30),
            ("12 a.m.", 0, 0),
            ("5:30 p.m", 17, 30),
            ("1:05:00 AM", 1, 5),
            ("12:00 noon", 12, 0),
            ("midnight", 0, 0),
        ] {
            let time = Calendar::Time(hours * HOUR + minutes * 60);
            assert_eq!(read(text, Dates::default()), Some(time), "{text}");
        }
        for text in [
            "2021",
            "1/5",
            "30 February 2021",
            "3:30",
            "13 pm",
            "5 apples in May",
            "1/2/3",
            "x-1-2",
        ] {
            assert_eq!(read(text, Dates::default()), None, "{text}");
        }
    }
}
