//! Points with signs to choose: `(\pm a, 0, \pm b)` is four points, `\pm(1, 2)` is two.

use super::Builder;
use crate::algebra::negated;
use crate::stop::Stop;
use crate::syntax::{Id, Node};
use crate::values::Value;

/// The most coordinates with independent signs.
const SIGNS_MAX: usize = 5;

impl Builder<'_> {
    /// The points denoted by coordinates with plus-minus signs. `None` without such signs.
    pub(crate) fn points(&mut self, items: &[Id]) -> Result<Option<Value>, Stop> {
        if !self.signed || items.len() < 2 {
            return Ok(None);
        }
        let (mut signed, mut opposed) = (0, false);
        for item in items {
            let mut has = false;
            self.cx.meter.spend(100)?;
            self.tree.visit(*item, &mut |node| {
                if let Node::PlusMinus { minus_first, .. } = node {
                    (has, opposed) = (true, opposed || *minus_first);
                }
            });
            signed += usize::from(has);
        }
        if signed == 0 {
            return Ok(None);
        }
        if signed > SIGNS_MAX {
            return Err(Stop::Cap);
        }
        let mut columns = Vec::with_capacity(items.len());
        for item in items {
            columns.push(match self.value(*item)? {
                Value::List(choices) if choices.len() == 2 => choices,
                Value::Scalar(scalar) => vec![Value::Scalar(scalar)],
                _ => return Err(Stop::Unreadable),
            });
        }
        // With a minus-plus sign, all signs change together.
        let points = if opposed { together(&columns) } else { each(&columns) };
        Ok(Some(Value::List(points.into_iter().map(Value::point).collect())))
    }

    /// A point or a vector, and its opposite.
    pub(crate) fn both_signs(&mut self, at: Id) -> Result<Value, Stop> {
        let upper = self.value(at)?;
        let Value::Tuple { open: '(', close: ')', items } = &upper else {
            return Err(Stop::Unreadable);
        };
        let mut lower = Vec::with_capacity(items.len());
        for item in items {
            let Value::Scalar(scalar) = item else { return Err(Stop::Unreadable) };
            lower.push(Value::plain(negated(&scalar.canon)));
        }
        Ok(Value::List(vec![upper, Value::point(lower)]))
    }
}

/// Every combination of signs.
fn each(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let mut points = vec![Vec::with_capacity(columns.len())];
    for column in columns {
        let longer = |point: &Vec<Value>| {
            let point = point.clone();
            column.iter().map(move |choice| {
                let mut point = point.clone();
                point.push(choice.clone());
                point
            })
        };
        points = points.iter().flat_map(longer).collect::<Vec<_>>();
    }
    points
}

/// All upper signs, and all lower ones.
fn together(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let pick = |first: bool| {
        let choice = |column: &Vec<Value>| {
            if first { column.first().cloned() } else { column.last().cloned() }
        };
        columns.iter().filter_map(choice).collect()
    };
    vec![pick(true), pick(false)]
}
