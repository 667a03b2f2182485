//! Sets of real numbers as unions of intervals: union, intersection, complement.

use std::cmp::Ordering;

use crate::algebra::{Canon, Context, order};
use crate::stop::Stop;

/// A union of intervals on the real line, in ascending order.
#[derive(Clone, Debug)]
pub struct Region {
    /// The variable that ranges over it, where it was named.
    pub(crate) var: Option<String>,
    pub(crate) parts: Vec<Interval>,
}

/// An interval. `None` is an infinite end.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    pub(crate) low: Option<Canon>,
    pub(crate) high: Option<Canon>,
    pub(crate) low_closed: bool,
    pub(crate) high_closed: bool,
}

impl Interval {
    /// All numbers above an end.
    pub(crate) fn above(low: Canon, closed: bool) -> Self {
        Self { low: Some(low), high: None, low_closed: closed, high_closed: false }
    }

    /// All numbers below an end.
    pub(crate) fn below(high: Canon, closed: bool) -> Self {
        Self { low: None, high: Some(high), low_closed: false, high_closed: closed }
    }

    /// One number.
    pub(crate) fn point(at: Canon) -> Self {
        Self { low: Some(at.clone()), high: Some(at), low_closed: true, high_closed: true }
    }
}

impl From<Interval> for Region {
    fn from(part: Interval) -> Self {
        Self { var: None, parts: vec![part] }
    }
}

impl Region {
    pub(crate) fn everything() -> Self {
        let all = Interval { low: None, high: None, low_closed: false, high_closed: false };
        Self { var: None, parts: vec![all] }
    }

    pub(crate) fn empty() -> Self {
        Self { var: None, parts: Vec::new() }
    }
}

/// The most intervals of one set.
const PARTS_MAX: usize = 200;

/// The union; overlapping and adjacent intervals are merged.
pub(crate) fn union(cx: &mut Context, a: Region, b: Region) -> Result<Region, Stop> {
    let var = a.var.or(b.var);
    let mut parts = a.parts;
    for part in b.parts {
        parts = insert(cx, parts, part)?;
    }
    if parts.len() > PARTS_MAX { Err(Stop::Cap) } else { Ok(Region { var, parts }) }
}

/// Inserts an interval into sorted ones.
fn insert(cx: &mut Context, parts: Vec<Interval>, new: Interval) -> Result<Vec<Interval>, Stop> {
    let mut new = new;
    let mut before = Vec::with_capacity(parts.len() + 1);
    let mut after = Vec::new();
    for part in parts {
        if apart(cx, &part, &new)? {
            before.push(part);
        } else if apart(cx, &new, &part)? {
            after.push(part);
        } else {
            new = hull(cx, &part, &new)?;
        }
    }
    before.push(new);
    before.extend(after);
    Ok(before)
}

/// Whether `a` ends before `b` starts, with a gap between them.
fn apart(cx: &mut Context, a: &Interval, b: &Interval) -> Result<bool, Stop> {
    let (Some(end), Some(start)) = (&a.high, &b.low) else { return Ok(false) };
    Ok(match order(cx, end, start)? {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => !a.high_closed && !b.low_closed,
        Some(Ordering::Greater) => false,
        None => return Err(Stop::Cap),
    })
}

fn hull(cx: &mut Context, a: &Interval, b: &Interval) -> Result<Interval, Stop> {
    let (low, low_closed) =
        outer(cx, (&a.low, a.low_closed), (&b.low, b.low_closed), Ordering::Less)?;
    let (high, high_closed) =
        outer(cx, (&a.high, a.high_closed), (&b.high, b.high_closed), Ordering::Greater)?;
    Ok(Interval { low, high, low_closed, high_closed })
}

fn outer(
    cx: &mut Context,
    a: End<'_>,
    b: End<'_>,
    want: Ordering,
) -> Result<(Option<Canon>, bool), Stop> {
    let (Some(one), Some(two)) = (a.0, b.0) else { return Ok((None, false)) };
    Ok(match order(cx, one, two)?.ok_or(Stop::Cap)? {
        Ordering::Equal => (a.0.clone(), a.1 || b.1),
        found if found == want => (a.0.clone(), a.1),
        _ => (b.0.clone(), b.1),
    })
}

pub(crate) fn intersection(cx: &mut Context, a: &Region, b: &Region) -> Result<Region, Stop> {
    if a.parts.len().saturating_mul(b.parts.len()) > PARTS_MAX {
        return Err(Stop::Cap);
    }
    let var = a.var.clone().or_else(|| b.var.clone());
    let mut parts = Vec::new();
    for one in &a.parts {
        for two in &b.parts {
            parts.extend(overlap(cx, one, two)?);
        }
    }
    Ok(Region { var, parts })
}

fn overlap(cx: &mut Context, a: &Interval, b: &Interval) -> Result<Option<Interval>, Stop> {
    let (low, low_closed) =
        inner(cx, (&a.low, a.low_closed), (&b.low, b.low_closed), Ordering::Greater)?;
    let (high, high_closed) =
        inner(cx, (&a.high, a.high_closed), (&b.high, b.high_closed), Ordering::Less)?;
    if let (Some(from), Some(to)) = (&low, &high) {
        let empty = match order(cx, from, to)? {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => !(low_closed && high_closed),
            _ => false,
        };
        if empty {
            return Ok(None);
        }
    }
    Ok(Some(Interval { low, high, low_closed, high_closed }))
}

fn inner(
    cx: &mut Context,
    a: End<'_>,
    b: End<'_>,
    want: Ordering,
) -> Result<(Option<Canon>, bool), Stop> {
    Ok(match (a.0, b.0) {
        (None, _) => (b.0.clone(), b.1),
        (_, None) => (a.0.clone(), a.1),
        (Some(one), Some(two)) => match order(cx, one, two)?.ok_or(Stop::Cap)? {
            Ordering::Equal => (a.0.clone(), a.1 && b.1),
            found if found == want => (a.0.clone(), a.1),
            _ => (b.0.clone(), b.1),
        },
    })
}

/// The complement in the real numbers.
pub(crate) fn complement(cx: &mut Context, region: &Region) -> Result<Region, Stop> {
    let mut rest = Region { var: region.var.clone(), ..Region::everything() };
    for part in &region.parts {
        let below = part.low.clone().map(|low| Interval::below(low, !part.low_closed));
        let above = part.high.clone().map(|high| Interval::above(high, !part.high_closed));
        let parts = below.into_iter().chain(above).collect();
        rest = intersection(cx, &rest, &Region { var: None, parts })?;
    }
    Ok(rest)
}

/// An end of an interval, and whether it belongs to it.
type End<'a> = (&'a Option<Canon>, bool);
