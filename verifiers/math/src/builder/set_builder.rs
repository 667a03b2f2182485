//! Sets by their conditions: `\{x \mid x > 2\}`, `\{2k + 1 \mid k \in \mathbb{Z}\}`.

use super::Builder;
use crate::sets::{Parameter, Range, intersection, solve};
use crate::stop::Stop;
use crate::syntax::{Id, Node, Rel};
use crate::values::{Value, family_of, integers_in, points_of, region_of};

impl Builder<'_> {
    pub(crate) fn set_builder(&mut self, parts: &[Id]) -> Result<Value, Stop> {
        let tree = self.tree;
        let [subject, conditions] = parts else { return Err(Stop::Unreadable) };
        // {2k + 1 | k in Z}
        if let Node::Chain(sides, signs) = tree.get(*conditions)?
            && let ([name, set], [Rel::In]) = (sides.as_slice(), signs.as_slice())
            && let (Node::Var(name), Some(range)) = (tree.get(*name)?, self.range_of(*set)?)
        {
            let value = self.value(*subject)?;
            let parameters = [Parameter { name: name.clone(), range }];
            let family = family_of(self.cx, &value, &parameters)?;
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
                integers_in(self.cx, &region, range)?.ok_or(Stop::Unreadable)
            }
            (None, value) if matches!(tree.get(set)?, Node::Reals) => Ok(value),
            (None, Value::Region(region)) => {
                let set = self.value(set)?;
                let set = region_of(self.cx, &set)?.ok_or(Stop::Unreadable)?;
                intersection(self.cx, &region, &set).map(Value::Region)
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// The values of `name` for which conditions hold.
    fn conditions(&mut self, conditions: Id, name: &str) -> Result<Value, Stop> {
        let (label, value) = match self.value(conditions)? {
            Value::Region(region) => (region.var.clone(), Value::Region(region)),
            Value::Relation(relation) => {
                let solution = solve::solution(self.cx, &relation)?.ok_or(Stop::Unreadable)?;
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

    /// The range of integers that a set denotes by its usual name.
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

/// The values of items that all have the same label, and the label.
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
