//! Clauses side by side: lists, conditions that hold together, alternatives.

use super::Builder;
use crate::sets::{Interval, Region, complement, intersection, union};
use crate::stop::Stop;
use crate::syntax::{Id, Join, Node, Rel};
use crate::values::{Value, is_close, region_of};

impl Builder<'_> {
    pub(crate) fn sequence(&mut self, items: &[Id], join: Join) -> Result<Value, Stop> {
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

    /// The value of several clauses: a region where they are conditions, else a list.
    pub(crate) fn joined(&mut self, values: Vec<Value>, join: Join) -> Result<Value, Stop> {
        if !values.iter().any(|value| matches!(value, Value::Region(_))) {
            return Ok(Value::List(grouped(values)));
        }
        let mut regions = Vec::with_capacity(values.len());
        for value in &values {
            match region_of(self.cx, value)? {
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
        if self.is_hedge(&regions)? {
            // As a list they would be united where they are compared.
            return Ok(Value::point(values));
        }
        Ok(match join {
            Join::Or => Value::Region(self.folded_regions(regions, false)?),
            // Conditions are intersected; intervals side by side are united.
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

    /// Whether one alternative holds all of another: "[1, 2] or [1, 2)" offers two answers.
    fn is_hedge(&mut self, regions: &[Region]) -> Result<bool, Stop> {
        let mut regions = regions.iter();
        let mut whole = regions.next().cloned().unwrap_or_else(Region::empty);
        for next in regions {
            let (within, around) = (self.is_within(next, &whole)?, self.is_within(&whole, next)?);
            if within != around {
                return Ok(true);
            }
            whole = union(self.cx, whole, next.clone())?;
        }
        Ok(false)
    }

    fn is_within(&mut self, inner: &Region, outer: &Region) -> Result<bool, Stop> {
        let outside = complement(self.cx, outer)?;
        Ok(intersection(self.cx, inner, &outside)?.parts.is_empty())
    }

    fn folded_regions(&mut self, regions: Vec<Region>, both: bool) -> Result<Region, Stop> {
        let mut regions = regions.into_iter();
        let mut whole = regions.next().unwrap_or_else(Region::empty);
        for next in regions {
            whole = if both {
                intersection(self.cx, &whole, &next)?
            } else {
                union(self.cx, whole, next)?
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
        let Some(points) = region_of(self.cx, &Value::Set(rest.to_vec()))? else { return Ok(None) };
        let outside = complement(self.cx, &points)?;
        intersection(self.cx, region, &outside).map(Some)
    }

    /// The value of alternatives that are equal: "75% or 3/4". `None` where they differ.
    fn one_of(&mut self, values: &[Value]) -> Result<Option<Value>, Stop> {
        let [first @ Value::Scalar(one), rest @ ..] = values else { return Ok(None) };
        for value in rest {
            let Value::Scalar(other) = value else { return Ok(None) };
            if self.cx.has_variable(&one.canon)
                || self.cx.has_variable(&other.canon)
                || !is_close(self.cx, one, other, Rel::Equal)?
            {
                return Ok(None);
            }
        }
        Ok(Some(first.clone()))
    }

    /// "p or q" is a statement, not a list of two values.
    fn disjunction(&self, items: &[Id]) -> Result<Option<Value>, Stop> {
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            let Node::Var(name) = self.tree.get(*item)? else { return Ok(None) };
            names.push(name.as_str());
        }
        names.sort_unstable();
        Ok(Some(Value::Text(names.join(" or "))))
    }
}

/// `x = 0, y = 1 or x = 1, y = 0`: a point for each repetition of the labels, which its parts keep.
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
    values.chunks(round).map(|items| Value::point(items.to_vec())).collect()
}
