//! Timelines: events with dates, in order.

use crate::answer::{self, Rules, normalised};
use crate::assignment;
use crate::date::{self, Date, Reading};

/// An event, and when it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it was.
    pub date: Date,
    /// What it was, as words.
    pub words: Vec<String>,
}

const RULES: Rules = Rules { accents: false, articles: false };

/// The event that a line has: a date at its start or in brackets at its end, then words. Linear in the
/// line. `None` where either lacks, or the date has several readings.
pub fn event(line: &str, day_first: Option<bool>) -> Option<Event> {
    let line =
        line.trim().trim_start_matches(['-', '*', '•', '|', ' ']).trim_end_matches(['|', ' ']);
    let numbered = line
        .split_once(['.', ')'])
        .filter(|(head, _)| head.len() <= 3 && head.bytes().all(|byte| byte.is_ascii_digit()));
    let line = numbered.map_or(line, |(_, rest)| rest.trim_start()).replace(['*', '_'], "");
    let marks = [": ", " - ", " – ", " — ", "|", "\t", ", "];
    let head = marks.iter().filter_map(|mark| {
        line.match_indices(mark)
            .find_map(|(at, _)| of(&line[..at], &line[at + mark.len()..], day_first))
    });
    let tail = || {
        let (words, date) = line.trim_end_matches('.').strip_suffix(')')?.rsplit_once('(')?;
        of(date, words, day_first)
    };
    head.into_iter().next().or_else(tail)
}

fn of(date: &str, text: &str, day_first: Option<bool>) -> Option<Event> {
    let Reading::One(date) = date::read(date, day_first) else { return None };
    let words = normalised(text, RULES);
    (!words.is_empty()).then_some(Event { date, words })
}

/// How well a timeline agrees with another one. Each part is from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The harmonic mean of precision and recall of events.
    pub events: f64,
    /// The share of pairs of events that come in the right order.
    pub order: f64,
    /// The mean closeness of dates: 1 at the same day, 0 from `span_days` on.
    pub distance: f64,
}

/// How alike two events are. Below one half they are different ones.
fn likeness(one: &Event, two: &Event) -> f64 {
    Some(answer::likeness(&one.words, &two.words)).filter(|share| *share >= 0.5).unwrap_or(0.0)
}

/// Compares events, in the order in which they are given. Each is assigned to the wanted one that it is
/// most like. Pays the words of each pair, and the assignment.
///
/// # Errors
/// What `pay` refuses.
pub fn compare<E>(
    given: &[Event],
    wanted: &[Event],
    span_days: f64,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Agreement, E> {
    let count =
        |events: &[Event]| events.iter().map(|event| event.words.len() as u64 + 1).sum::<u64>();
    pay(count(given).saturating_mul(count(wanted)))?;
    let weights: Vec<f64> =
        given.iter().flat_map(|one| wanted.iter().map(|two| likeness(one, two))).collect();
    #[expect(clippy::indexing_slicing, reason = "the assignment asks for places below both counts")]
    let weight = |row: usize, column: usize| weights[row * wanted.len() + column];
    let pairs = assignment::best(given.len(), wanted.len(), &weight, pay)?;
    let matched: Vec<(&Event, &Event)> = given
        .iter()
        .zip(pairs)
        .filter_map(|(event, column)| Some((event, wanted.get(column?)?)))
        .collect();
    pay((matched.len() as u64).saturating_pow(2))?;
    let (mut right, mut all) = (0_u32, 0_u32);
    for (at, (_, first)) in matched.iter().enumerate() {
        for (_, second) in matched.iter().skip(at + 1) {
            all += 1;
            right += u32::from(first.date.days() <= second.date.days());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "days and counts are far below 2^53")]
    let close = |(one, two): &(&Event, &Event)| {
        let off = (one.date.days() - two.date.days()).abs() as f64;
        (1.0 - off / span_days).max(if off == 0.0 { 1.0 } else { 0.0 })
    };
    #[expect(clippy::cast_precision_loss, reason = "days and counts are far below 2^53")]
    let (found, events) = (matched.len() as f64, (given.len() + wanted.len()) as f64);
    let distance =
        if matched.is_empty() { 0.0 } else { matched.iter().map(close).sum::<f64>() / found };
    let order = if all == 0 {
        f64::from(u8::from(!matched.is_empty()))
    } else {
        f64::from(right) / f64::from(all)
    };
    Ok(Agreement { events: if events > 0.0 { 2.0 * found / events } else { 0.0 }, order, distance })
}
