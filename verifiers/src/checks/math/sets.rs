//! Sets as answers write them: conditions joined by words, set builders, whole numbers in a range.

use super::Stop;
use super::ast::{Id, Join, Node, Rel};
use super::build::Builder;
use super::families::{Parameter, Range};
use super::number::whole;
use super::poly::{Canon, Ctx};
use super::value::{Family, Interval, Region, Value};

/// The most whole numbers that a range is written out to.
const MEMBERS_MAX: i64 = 200;

impl Builder<'_, '_, '_> {
    pub(super) fn sequence(&mut self, items: &[Id], join: Join) -> Result<Value, Stop> {
        let values = self.flattened(items)?;
        if let Some(region) = self.each_excluded(items, &values)? {
            return Ok(Value::Region(region));
        }
        if join == Join::Or {
            if let Some(one) = self.one_of(&values)? {
                return Ok(one);
            }
            if let Some(statement) = self.disjunction(items)? {
                return Ok(statement);
            }
        }
        self.joined(values, join)
    }

    /// What several clauses say together.
    pub(super) fn joined(&mut self, values: Vec<Value>, join: Join) -> Result<Value, Stop> {
        if !values.iter().any(|value| matches!(value, Value::Region(_))) {
            return Ok(Value::List(grouped(values)));
        }
        let mut regions = Vec::with_capacity(values.len());
        for value in &values {
            match self.ctx.region(value)? {
                Some(region) => regions.push(region),
                None => return Ok(Value::List(values)),
            }
        }
        let named = regions.iter().filter_map(|region| region.var.as_ref());
        let one_name = named.clone().all(|name| Some(name) == named.clone().next());
        let all_named = named.count() == regions.len();
        if !one_name {
            return Ok(Value::List(values));
        }
        Ok(match join {
            Join::Or => Value::Region(self.folded_regions(regions, false)?),
            // Conditions hold together; intervals that stand side by side are all meant.
            Join::And => Value::Region(self.folded_regions(regions, all_named)?),
            Join::Comma if all_named => {
                let both = self.folded_regions(regions.clone(), true)?;
                let either = self.folded_regions(regions, false)?;
                let everything =
                    matches!(either.parts.as_slice(), [Interval { low: None, high: None, .. }]);
                match (both.parts.is_empty(), everything) {
                    (true, _) => Value::Region(either),
                    (_, true) => Value::Region(both),
                    _ => Value::List(values),
                }
            }
            Join::Comma => Value::List(values),
        })
    }

    fn folded_regions(&mut self, regions: Vec<Region>, both: bool) -> Result<Region, Stop> {
        let mut regions = regions.into_iter();
        let mut whole = regions.next().unwrap_or_else(Region::empty);
        for next in regions {
            whole = if both {
                self.ctx.intersection(&whole, &next)?
            } else {
                self.ctx.union(whole, next)?
            };
        }
        Ok(whole)
    }

    /// `x \neq 0, 2` excludes each of them.
    fn each_excluded(&mut self, items: &[Id], values: &[Value]) -> Result<Option<Region>, Stop> {
        let (Some(first), [Value::Region(region), rest @ ..]) = (items.first(), values) else {
            return Ok(None);
        };
        let excludes = matches!(self.tree.get(*first)?, Node::Chain(_, signs) if signs.as_slice() == [Rel::Unequal]);
        if !excludes
            || rest.is_empty()
            || !rest.iter().all(|value| matches!(value, Value::Scalar(_)))
        {
            return Ok(None);
        }
        let Some(points) = self.ctx.region(&Value::Set(rest.to_vec()))? else { return Ok(None) };
        let outside = self.ctx.complement(&points)?;
        self.ctx.intersection(region, &outside).map(Some)
    }

    pub(super) fn set_builder(&mut self, parts: &[Id]) -> Result<Value, Stop> {
        let tree = self.tree;
        let [subject, conditions] = parts else { return Err(Stop::Unreadable) };
        // {2k + 1 | k in Z}
        if let Node::Chain(sides, signs) = tree.get(*conditions)?
            && let ([name, set], [Rel::In]) = (sides.as_slice(), signs.as_slice())
            && let (Node::Var(name), Some(range)) = (tree.get(*name)?, self.range_of(*set)?)
        {
            let value = self.value(*subject)?;
            let parameters = [Parameter { name: name.clone(), range }];
            let family = self.ctx.family(&value, &parameters)?;
            return family.map(Value::Family).ok_or(Stop::Unreadable);
        }
        let (name, set) = match tree.get(*subject)? {
            Node::Chain(sides, signs) if signs.as_slice() == [Rel::In] => match sides.as_slice() {
                [name, set] => (tree.get(*name)?, Some(*set)),
                _ => return Err(Stop::Unreadable),
            },
            node => (node, None),
        };
        let Node::Var(name) = name else { return Err(Stop::Unreadable) };
        let value = self.conditions(*conditions, name)?;
        let Some(set) = set else { return Ok(value) };
        match (self.range_of(set)?, value) {
            (Some(range), Value::Region(region)) => {
                self.ctx.whole_in(&region, range)?.ok_or(Stop::Unreadable)
            }
            (None, value) if matches!(tree.get(set)?, Node::Reals) => Ok(value),
            (None, Value::Region(region)) => {
                let set = self.value(set)?;
                let set = self.ctx.region(&set)?.ok_or(Stop::Unreadable)?;
                self.ctx.intersection(&region, &set).map(Value::Region)
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// The values of `name` for which conditions hold.
    fn conditions(&mut self, conditions: Id, name: &str) -> Result<Value, Stop> {
        let (label, value) = match self.value(conditions)? {
            Value::Region(region) => (region.var.clone(), Value::Region(region)),
            Value::Relation(relation) => {
                let solution = self.ctx.solution(&relation)?.ok_or(Stop::Unreadable)?;
                (
                    solution.var.clone(),
                    points_of(&solution).map_or(Value::Region(solution), Value::Set),
                )
            }
            Value::Named(named) => match named.value {
                Value::List(items) => (Some(named.label), Value::Set(items)),
                value => (Some(named.label), Value::Set(vec![value])),
            },
            Value::List(items) => {
                let (label, values) = one_label(items).ok_or(Stop::Unreadable)?;
                (Some(label), Value::Set(values))
            }
            _ => return Err(Stop::Unreadable),
        };
        if label.as_deref() == Some(name) { Ok(value) } else { Err(Stop::Unreadable) }
    }

    /// The whole numbers by their usual names.
    fn range_of(&self, set: Id) -> Result<Option<Range>, Stop> {
        Ok(match self.tree.get(set)? {
            Node::Var(name) => match name.as_str() {
                "Z" => Some(Range::Whole),
                "N" => Some(Range::From(1)),
                "N_0" => Some(Range::From(0)),
                _ => None,
            },
            _ => None,
        })
    }
}

impl Ctx<'_, '_> {
    /// The value over whole numbers, where its variable is one of `parameters`.
    pub(super) fn over_whole(
        &mut self,
        value: &Value,
        parameters: &[Parameter],
    ) -> Result<Option<Value>, Stop> {
        if let Value::Region(region) = value
            && let Some(parameter) =
                parameters.iter().find(|known| region.var.as_ref() == Some(&known.name))
        {
            return self.whole_in(region, parameter.range)?.ok_or(Stop::Cap).map(Some);
        }
        Ok(self.family(value, parameters)?.map(Value::Family))
    }

    /// Intervals that stand side by side, as one part of the line.
    pub(super) fn united(&mut self, items: &[Value]) -> Result<Option<Region>, Stop> {
        let mut whole = Region::empty();
        for item in items {
            if !matches!(item, Value::Region(_) | Value::Tuple { .. }) {
                return Ok(None);
            }
            let Some(part) = self.region(item)? else { return Ok(None) };
            whole = self.union(whole, part)?;
        }
        Ok(Some(whole))
    }

    /// The whole numbers in a region: a set, or all from one on.
    fn whole_in(&mut self, region: &Region, range: Range) -> Result<Option<Value>, Stop> {
        let least = match range {
            Range::From(first) => Some(first),
            _ => None,
        };
        let mut members = Vec::new();
        for part in &region.parts {
            let low = match &part.low {
                Some(low) => self.whole_end(low, part.low_closed, true)?,
                None => least,
            };
            let Some(low) = low else { return Ok(None) };
            let low = least.map_or(low, |least| low.max(least));
            let Some(high) = &part.high else {
                if !members.is_empty() {
                    return Ok(None);
                }
                let (period, term) = (Canon::int(1), Canon::int(low));
                let family = Family {
                    var: region.var.clone(),
                    period,
                    terms: vec![term],
                    range: Range::From(low),
                };
                return Ok(Some(Value::Family(family)));
            };
            let Some(high) = self.whole_end(high, part.high_closed, false)? else {
                return Ok(None);
            };
            if high.saturating_sub(low) > MEMBERS_MAX {
                return Ok(None);
            }
            members.extend((low..=high).map(|member| Value::plain(Canon::int(member))));
        }
        Ok(Some(if members.is_empty() {
            Value::Region(Region::empty())
        } else {
            Value::Set(members)
        }))
    }

    /// The first whole number inside of an end.
    fn whole_end(&mut self, end: &Canon, closed: bool, low: bool) -> Result<Option<i64>, Stop> {
        let rounded = self.rounded(end, low)?;
        let Some(near) = rounded.as_rational().as_ref().and_then(whole) else { return Ok(None) };
        let on_it = self.equal(end, &rounded)?;
        let step = i64::from(on_it && !closed);
        Ok(if low { near.checked_add(step) } else { near.checked_sub(step) })
    }
}

/// The points of a region that has nothing else.
pub(super) fn points_of(region: &Region) -> Option<Vec<Value>> {
    let point = |part: &Interval| match (&part.low, &part.high) {
        (Some(low), Some(high)) if low == high => Some(Value::plain(low.clone())),
        _ => None,
    };
    let points: Option<Vec<Value>> = region.parts.iter().map(point).collect();
    points.filter(|points| !points.is_empty())
}

/// The values that carry one label between them, and the label.
fn one_label(items: Vec<Value>) -> Option<(String, Vec<Value>)> {
    let mut label: Option<String> = None;
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let Value::Named(named) = item else { return None };
        if label.get_or_insert_with(|| named.label.clone()) != &named.label {
            return None;
        }
        values.push(named.value);
    }
    Some((label?, values))
}

/// `x = 0, y = 1 or x = 1, y = 0`: one point for each round of the labels. Its parts keep them.
fn grouped(values: Vec<Value>) -> Vec<Value> {
    let labels: Option<Vec<String>> = values
        .iter()
        .map(|value| match value {
            Value::Named(named) if named.parameter.is_none() => Some(named.label.clone()),
            _ => None,
        })
        .collect();
    let Some(labels) = labels else { return values };
    let again = labels.iter().skip(1).position(|label| Some(label) == labels.first());
    let Some(round) =
        again.map(|at| at + 1).filter(|round| *round > 1 && labels.len() % round == 0)
    else {
        return values;
    };
    let Some(first) = labels.get(..round) else { return values };
    if !labels.chunks(round).all(|labels| labels == first) {
        return values;
    }
    let point = |items: &[Value]| Value::Tuple { open: '(', close: ')', items: items.to_vec() };
    values.chunks(round).map(point).collect()
}
