//! Calendar dates: several written forms, one date.

use crate::fold::{fold, words};
use crate::has_word;

/// A date of the Gregorian calendar. A month may lack its day, and a year its month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year, from 1 on.
    pub year: i32,
    /// From 1 to 12.
    pub month: Option<u32>,
    /// From 1 on.
    pub day: Option<u32>,
}

/// What a text may mean as a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// No date.
    None,
    /// One date.
    One(Date),
    /// Several: the order of day and month, or the century, is open.
    Several(Vec<Date>),
}

impl Date {
    /// A date that the calendar has.
    pub fn new(year: i32, month: Option<u32>, day: Option<u32>) -> Option<Self> {
        let is_good = match (month, day) {
            (None, None) => true,
            (Some(month), None) => (1..=12).contains(&month),
            (Some(month), Some(day)) => day >= 1 && day <= days_in(year, month)?,
            (None, Some(_)) => false,
        };
        (is_good && (1..=9999).contains(&year)).then_some(Self { year, month, day })
    }

    /// Days since 1 March of the year 0; the middle of a month or a year that is not said more closely.
    pub fn days(self) -> i64 {
        let month = self.month.unwrap_or(7);
        let day = self.day.unwrap_or(if self.month.is_some() { 15 } else { 1 });
        let year = i64::from(self.year) - i64::from(month < 3);
        let shifted = i64::from((month + 9) % 12);
        365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + i64::from(day)
            - 1
    }
}

fn days_in(year: i32, month: u32) -> Option<u32> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(28 + u32::from(is_leap)),
        _ => None,
    }
}

/// Names of months by their beginnings, folded without accents: English, German, French, Spanish,
/// Portuguese, Italian, Dutch. A name is known by what it starts with, and its length tells it from
/// other words.
const MONTHS: [&str; 12] = [
    " january jan januar janvier janv enero ene janeiro gennaio gen januari ",
    " february feb februar fevrier fev febrero fevereiro febbraio februari ",
    " march mar marz maerz mars marzo marco maart mrt ",
    " april apr avril avr abril abr aprile ",
    " may mai mayo maio maggio mei mag ",
    " june jun juni juin junio junho giugno giu ",
    " july jul juli juillet juil julio julho luglio lug ",
    " august aug aout agosto ago augustus ",
    " september sep sept septembre septiembre setembro settembre set ",
    " october oct oktober okt octobre octubre outubro ottobre ott out ",
    " november nov novembre noviembre novembro ",
    " december dec dezember dez decembre diciembre dic dezembro dicembre ",
];

/// Names of days and words that stand within dates.
const FILLERS: &str = " the of de del den am on le el at in monday tuesday wednesday thursday friday \
     saturday sunday mon tue tues wed thu thur thurs fri sat sun montag dienstag mittwoch donnerstag \
     freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles \
     jueves viernes sabado domingo ad ce utc gmt z ";

/// A part of a text that may be a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A number, with its digits.
    Number(u32, usize),
    Month(u32),
}

/// Reads a text that is a date and nothing else, but the name of its day, a time behind it, and words
/// such as "of". `day_first` says how `3/4/2021` is meant; without it such a date has two readings. A
/// year of two digits is of either century. With dots, the day comes first. Linear in the text.
pub fn read(text: &str, day_first: Option<bool>) -> Reading {
    let folded = fold(text.trim().trim_end_matches('.'), false);
    let folded =
        without_time(&folded).replace(['年', '月', '년', '월'], "-").replace(['日', '일'], " ");
    let Some(parts) = parts(folded.trim_end_matches(['-', ' '])) else { return Reading::None };
    let (has_dots, has_slashes) = (folded.contains('.'), folded.contains(['/', '-']));
    let is_small = |digits: usize| digits <= 2;
    let one = |year: Digits, month: u32, day: Option<u32>| vec![(year, Some(month), day)];
    let meant: Vec<(Digits, Option<u32>, Option<u32>)> = match *parts.as_slice() {
        [Part::Number(all, 8)] => one((all / 10_000, 4), all / 100 % 100, Some(all % 100)),
        [Part::Number(year, 4)] => vec![((year, 4), None, None)],
        [Part::Month(month), Part::Number(year, 4)]
        | [Part::Number(year, 4), Part::Month(month)] => one((year, 4), month, None),
        [Part::Number(year, 4), Part::Number(month, two)]
        | [Part::Number(month, two), Part::Number(year, 4)]
            if is_small(two) && (has_slashes || has_dots) =>
        {
            one((year, 4), month, None)
        }
        [Part::Number(day, two), Part::Month(month), Part::Number(year, digits)]
        | [Part::Month(month), Part::Number(day, two), Part::Number(year, digits)]
        | [Part::Number(year, digits @ 4), Part::Month(month), Part::Number(day, two)]
            if is_small(two) =>
        {
            one((year, digits), month, Some(day))
        }
        [Part::Number(year, 4), Part::Number(month, a), Part::Number(day, b)]
            if is_small(a) && is_small(b) =>
        {
            one((year, 4), month, Some(day))
        }
        [Part::Number(one, a), Part::Number(two, b), Part::Number(year, digits)]
            if is_small(a) && is_small(b) =>
        {
            let order = if has_dots { Some(true) } else { day_first };
            // Where one order gives no date, the other one is meant.
            let is_date = |month, day| Date::new(2000, Some(month), Some(day)).is_some();
            let day_month = (order != Some(false) || !is_date(one, two)).then_some((two, one));
            let month_day = (order != Some(true) || !is_date(two, one)).then_some((one, two));
            let orders = day_month.into_iter().chain(month_day);
            orders.map(|(month, day)| ((year, digits), Some(month), Some(day))).collect()
        }
        _ => Vec::new(),
    };
    let dates = meant.into_iter().flat_map(|(year, month, day)| {
        years(year).into_iter().filter_map(move |year| Date::new(year, month, day))
    });
    let mut found: Vec<Date> = dates.collect();
    found.sort();
    found.dedup();
    match found.as_slice() {
        [] => Reading::None,
        [one] => Reading::One(*one),
        _ => Reading::Several(found),
    }
}

/// A number, and how many digits it is written with.
type Digits = (u32, usize);

/// The years that digits may mean.
fn years((year, digits): Digits) -> Vec<i32> {
    let year = i32::try_from(year).unwrap_or(i32::MAX);
    match digits {
        4 => vec![year],
        2 => vec![1900 + year, 2000 + year],
        _ => Vec::new(),
    }
}

/// A date without the time behind it: `2021-03-04T10:20:30Z`.
fn without_time(text: &str) -> &str {
    let Some(colon) = text.find(':') else { return text };
    let head = text[..colon].trim_end_matches(|c: char| c.is_ascii_digit());
    head.strip_suffix('t')
        .filter(|head| head.ends_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(head)
        .trim_end_matches([' ', ','])
}

fn parts(text: &str) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    // "5.3.2021" is no decimal.
    let spaced = text.replace(['.', '/', '-', ','], " ");
    for (_, word) in words(&spaced) {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = word.split_at(digits);
        if digits == 0 {
            let month = MONTHS.iter().position(|names| has_word(names, word));
            match month.and_then(|month| u32::try_from(month + 1).ok()) {
                Some(month) => found.push(Part::Month(month)),
                None if has_word(FILLERS, word) => {}
                None => return None,
            }
        } else if digits <= 8 && ["", "st", "nd", "rd", "th", "er", "o", "a"].contains(&rest) {
            found.push(Part::Number(number.parse().ok()?, digits));
        } else {
            return None;
        }
        if found.len() > 3 {
            return None;
        }
    }
    Some(found)
}
