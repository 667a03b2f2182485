//! Dates and times of day, as they are written in answers.

/// A date, or a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    /// Year, where it is named; month; day, where it is named.
    Date { year: Option<u32>, month: u32, day: Option<u32> },
    /// Minutes since midnight.
    Time(u32),
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// The longest text that is read as a date.
const BYTES_MAX: usize = 60;

/// The date or time that a text denotes; two dates where day and month may be exchanged.
pub(crate) fn read(text: &str) -> Vec<Calendar> {
    if text.len() > BYTES_MAX || !may_be(text.as_bytes()) {
        return Vec::new();
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
    let plain = plain.replace("text", " ").replace("mathrm", " ");
    if let Some(time) = time(&plain) {
        return vec![time];
    }
    if let Some(date) = named_month(&plain) {
        return vec![date];
    }
    numeric(&plain)
}

/// Whether a month, a half of the day or two signs between numbers stand in it.
fn may_be(text: &[u8]) -> bool {
    let holds = |word: &str| {
        text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let signs = text.iter().filter(|byte| matches!(byte, b'-' | b'/' | b'.')).count();
    let letters = text.iter().any(u8::is_ascii_alphabetic);
    text.iter().any(u8::is_ascii_digit)
        && (signs >= 2
            || letters
                && (["am", "pm", "a.m", "p.m"].into_iter().any(holds)
                    || MONTHS.iter().filter_map(|name| name.get(..3)).any(holds)))
}

/// `3:30 pm`, `3 p.m.`; a time without "am" or "pm" is read as a ratio.
fn time(text: &str) -> Option<Calendar> {
    let plain = text.replace('.', "");
    let (clock, afternoon) =
        match (plain.trim().strip_suffix("am"), plain.trim().strip_suffix("pm")) {
            (Some(clock), _) => (clock, false),
            (_, Some(clock)) => (clock, true),
            _ => return None,
        };
    let (hours, minutes) = clock.trim().split_once(':').unwrap_or((clock.trim(), "00"));
    let (hours, minutes): (u32, u32) = (hours.trim().parse().ok()?, minutes.trim().parse().ok()?);
    if !(1..=12).contains(&hours) || minutes > 59 {
        return None;
    }
    Some(Calendar::Time((hours % 12 + if afternoon { 12 } else { 0 }) * 60 + minutes))
}

/// `January 5, 2021`, `5 Jan 2021`, `the 5th of January`, with or without the day of the week.
fn named_month(text: &str) -> Option<Calendar> {
    let (mut month, mut numbers) = (None, Vec::new());
    for word in text.split_whitespace() {
        let word = word.trim_matches('.');
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let tail = word.get(digits.len()..).unwrap_or_default();
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

/// `2021-01-05`, `2021/1/5`, `1/5/2021`, `05.01.2021`.
fn numeric(text: &str) -> Vec<Calendar> {
    let text = text.replace(' ', "");
    let Some(sign) =
        text.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))
    else {
        return Vec::new();
    };
    let parts: Vec<&str> = text.split(sign).collect();
    let [Ok(one), Ok(two), Ok(three)] =
        [0, 1, 2].map(|at| parts.get(at).copied().unwrap_or("").parse::<u32>())
    else {
        return Vec::new();
    };
    if parts.len() != 3 {
        return Vec::new();
    }
    let date = |year, month, day| {
        valid(month, day).then_some(Calendar::Date { year: Some(year), month, day: Some(day) })
    };
    let long = |at: usize| parts.get(at).is_some_and(|part| part.len() == 4);
    let found = match (long(0), long(2)) {
        (true, false) => [date(one, two, three), None],
        (false, true) if sign == '.' => [date(three, two, one), None],
        (false, true) => [date(three, one, two), date(three, two, one)],
        _ => [None, None],
    };
    found.into_iter().flatten().collect()
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
        Calendar::Time(minutes) => format!("{:02}:{:02}", minutes / 60, minutes % 60),
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
            assert_eq!(read(text), [fifth], "{text}");
        }
        assert!(read("1/5/2021").contains(&fifth) && read("5/1/2021").contains(&fifth));
        assert_eq!(read("3:30 PM"), [Calendar::Time(15 * 60 + 30)]);
        assert_eq!(read("12 a.m."), [Calendar::Time(0)]);
        assert_eq!(read("5:30 p.m"), [Calendar::Time(17 * 60 + 30)]);
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
            assert_eq!(read(text), [], "{text}");
        }
    }
}
