//! `timeline`: events with dates, in order, as the reference has them.

use assay_structure::timeline::{Event, compare, event};

use crate::prelude::*;
use crate::text_parts::{share, shown};

/// How well a timeline agrees with that of the reference.
///
/// An event is a line: a date, a colon or a dash, and words; or words, and the date in brackets. The
/// reference is a text of such lines, or a list of them or of objects with `date` and `event`. Events
/// are assigned by their words. The reward is F1 of events, times the mean of two shares: of pairs that
/// come in the right order, and of how near their dates are.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Timeline {
    /// So many days off, a date is worth nothing.
    #[default(365.0)]
    span_days: f64,
    /// In `3/4/2021` the day comes first. Without it such a line is no event.
    day_first: Option<bool>,
    /// The dates count beside the order by this share.
    #[default(0.5)]
    date_share: f64,
}

/// The most events of a timeline.
const EVENTS_MAX: usize = 500;

impl Check for Timeline {
    const ID: &'static str = "timeline";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(self.span_days >= 1.0 && self.span_days.is_finite()) {
            return Err(BuildError::new("span_days", "at least one day"));
        }
        let is_share = (0.0..=1.0).contains(&self.date_share);
        if is_share { Ok(()) } else { Err(BuildError::new("date_share", "a share is from 0 to 1")) }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let mut wanted = self.wanted(reference, meter)?;
        // A reference may list its events in any order.
        wanted.sort_by_key(|event| event.date.days());
        let text = shown(sample, meter)?;
        let given = self.events(&text, meter)?;
        if given.is_empty() || given.len() > EVENTS_MAX {
            let reason = if given.is_empty() { "nothing-found" } else { "too-many" };
            return Ok(Verdict::graded(false).because(reason));
        }
        let found = compare(&given, &wanted, self.span_days, &mut |units| meter.spend(units))?;
        let quality = (1.0 - self.date_share) * found.order + self.date_share * found.distance;
        let verdict = share(found.events * quality).with("events", found.events);
        Ok(verdict.with("order", found.order).with("distance", found.distance).because("compared"))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let text = sample.reference()?.as_str()?;
        let dated =
            |line: &'_ str| Some((event(line, self.day_first)?.date.days(), line.to_owned()));
        let mut lines: Vec<(i64, String)> = text.lines().filter_map(dated).collect();
        lines.sort_by_key(|(days, _)| *days);
        Some(vec![lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")])
    }
}

impl Timeline {
    fn events(&self, text: &str, meter: &mut Meter<'_>) -> Result<Vec<Event>, Fault> {
        meter.spend(1000 * text.len() as u64)?;
        Ok(text.lines().filter_map(|line| event(line, self.day_first)).collect())
    }

    fn wanted(&self, reference: &Value, meter: &mut Meter<'_>) -> Result<Vec<Event>, Fault> {
        let line = |value: &Value| match value {
            Value::String(line) => Some(line.clone()),
            value => {
                let date = crate::sample::value_text(value.get("date")?).into_owned();
                Some(format!("{date}: {}", value.get("event")?.as_str()?))
            }
        };
        let lines: Option<Vec<String>> = match reference {
            Value::Array(values) => values.iter().map(line).collect(),
            Value::String(text) => Some(
                text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
            ),
            _ => None,
        };
        if lines.as_ref().is_some_and(|lines| lines.len() > EVENTS_MAX) {
            let why = format!("the reference lists more than {EVENTS_MAX} events");
            return Err(Fault::bad_reference(why));
        }
        let lines = lines.filter(|lines| !lines.is_empty());
        let lines = lines.ok_or_else(|| Fault::bad_reference("the reference lists no events"))?;
        let mut events = Vec::with_capacity(lines.len());
        for line in lines {
            match self.events(&line, meter)?.pop() {
                Some(event) => events.push(event),
                None => {
                    return Err(Fault::bad_reference(format!(
                        "\"{line}\" is no date with an event"
                    )));
                }
            }
        }
        Ok(events)
    }
}
