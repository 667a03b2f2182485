//! Vectors and matrices: scaled, added, turned over; and values that branch on conditions.

use super::Stop;
use super::ast::{Id, Join, Node};
use super::build::Builder;
use super::lexer::Tok;
use super::parser::Parser;
use super::poly::{Canon, Ctx};
use super::value::{Region, Relation, Scalar, Value};

mod products;

/// The most branches of one value.
const BRANCHES_MAX: usize = 50;

impl Builder<'_, '_, '_> {
    /// Whether a node is a vector or a matrix, or arithmetic with one.
    pub(super) fn is_array(&self, id: Id) -> Result<bool, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Matrix(_) => true,
            Node::Group { open: '(', close: ')', items } => items.len() > 1,
            Node::Neg(inner) | Node::Div(inner, _) => self.is_array(*inner)?,
            Node::Pow(base, exponent) => {
                let turned = matches!(self.tree.get(*exponent)?, Node::Var(name) if name == "T");
                if turned { self.is_array(*base)? } else { self.is_matrix(*base)? }
            }
            Node::Mul(parts) | Node::Add(parts) => {
                for part in parts {
                    if self.is_array(*part)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }

    /// The value of arithmetic with one.
    pub(super) fn array(&mut self, id: Id) -> Result<Value, Stop> {
        let tree = self.tree;
        match tree.get(id)? {
            Node::Neg(inner) => {
                let inner = self.value(*inner)?;
                self.ctx.scaled_array(&inner, &Canon::int(-1))
            }
            Node::Div(inner, below) => {
                let (inner, below) = (self.value(*inner)?, self.canon(*below)?);
                let scale = self.ctx.div(&Canon::int(1), &below)?;
                self.ctx.scaled_array(&inner, &scale)
            }
            Node::Pow(base, exponent) => match self.value(*base)? {
                Value::Matrix(rows) => match self.tree.get(*exponent)? {
                    Node::Var(name) if name == "T" => turned(&rows).map(Value::Matrix),
                    _ => {
                        let exponent = self.canon(*exponent)?;
                        self.ctx.matrix_power(&rows, &exponent)
                    }
                },
                Value::Tuple { items, .. } => {
                    Ok(Value::Matrix(items.into_iter().map(|item| vec![item]).collect()))
                }
                _ => Err(Stop::Unreadable),
            },
            Node::Mul(factors) => {
                let (mut scale, mut array) = (Canon::int(1), None);
                for factor in factors {
                    if self.is_array(*factor)? {
                        let factor = self.value(*factor)?;
                        array = Some(match array {
                            Some(before) => self.ctx.array_product(&before, &factor)?,
                            None => factor,
                        });
                    } else {
                        let factor = self.canon(*factor)?;
                        scale = self.ctx.mul(&scale, &factor)?;
                    }
                }
                self.ctx.scaled_array(&array.ok_or(Stop::Unreadable)?, &scale)
            }
            Node::Add(terms) => {
                let mut sum = None;
                for term in terms {
                    let term = self.value(*term)?;
                    sum = Some(match sum {
                        Some(sum) => self.ctx.added_arrays(&sum, &term)?,
                        None => term,
                    });
                }
                sum.ok_or(Stop::Unreadable)
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// Branches, or clauses that hold together where none has a condition.
    pub(super) fn cases(&mut self, branches: &[(Id, Option<Id>)]) -> Result<Value, Stop> {
        let mut values = Vec::with_capacity(branches.len());
        for (value, condition) in branches {
            let value = self.value(*value)?;
            let condition = match condition {
                Some(condition) => Some(self.value(*condition)?),
                None => None,
            };
            values.push((value, condition));
        }
        self.ctx.close_cases(&mut values)?;
        if values.iter().any(|(_, condition)| condition.is_some()) {
            return Ok(Value::Cases(values));
        }
        self.joined(values.into_iter().map(|(value, _)| value).collect(), Join::And)
    }
}

impl Ctx<'_, '_> {
    /// Gives the branch without a condition what the others leave, where that is known.
    fn close_cases(&mut self, branches: &mut [(Value, Option<Value>)]) -> Result<(), Stop> {
        let Some(((_, last @ None), others)) = branches.split_last_mut() else { return Ok(()) };
        let mut taken = Region::empty();
        for (_, condition) in others.iter() {
            let Some(Value::Region(region)) = condition else { return Ok(()) };
            if taken.var.is_some() && taken.var != region.var {
                return Ok(());
            }
            taken = self.union(taken, region.clone())?;
        }
        if taken.var.is_some() {
            *last = Some(Value::Region(self.complement(&taken)?));
        }
        Ok(())
    }

    /// A value with one variable called by another name. `None` for values that keep theirs.
    pub(super) fn renamed_value(
        &mut self,
        value: &Value,
        from: &str,
        to: &str,
    ) -> Result<Option<Value>, Stop> {
        Ok(Some(match value {
            Value::Scalar(scalar) => {
                let canon = self.renamed(&scalar.canon, from, to)?;
                Value::Scalar(Box::new(Scalar { canon, ..scalar.as_ref().clone() }))
            }
            Value::Region(region) if region.var.as_deref() == Some(from) => {
                Value::Region(Region { var: Some(to.to_owned()), ..region.clone() })
            }
            Value::Relation(relation) => Value::Relation(Relation {
                left: self.renamed(&relation.left, from, to)?,
                ..*relation
            }),
            Value::Cases(branches) => {
                let mut renamed = Vec::with_capacity(branches.len());
                for (value, condition) in branches {
                    let Some(value) = self.renamed_value(value, from, to)? else { return Ok(None) };
                    let condition = match condition {
                        Some(condition) => match self.renamed_value(condition, from, to)? {
                            None => return Ok(None),
                            known => known,
                        },
                        None => None,
                    };
                    renamed.push((value, condition));
                }
                Value::Cases(renamed)
            }
            _ => return Ok(None),
        }))
    }

    fn scaled_array(&mut self, array: &Value, scale: &Canon) -> Result<Value, Stop> {
        self.meter.spend(20)?;
        Ok(match array {
            Value::Scalar(scalar) => Value::plain(self.mul(&scalar.canon, scale)?),
            Value::Tuple { open: '(', close: ')', items } => {
                let items = items.iter().map(|item| self.scaled_array(item, scale));
                Value::Tuple { open: '(', close: ')', items: items.collect::<Result<_, _>>()? }
            }
            Value::Matrix(rows) => {
                let mut scaled = Vec::with_capacity(rows.len());
                for row in rows {
                    let row = row.iter().map(|item| self.scaled_array(item, scale));
                    scaled.push(row.collect::<Result<Vec<_>, _>>()?);
                }
                Value::Matrix(scaled)
            }
            _ => return Err(Stop::Unreadable),
        })
    }

    fn added_arrays(&mut self, one: &Value, two: &Value) -> Result<Value, Stop> {
        self.meter.spend(20)?;
        Ok(match (one, two) {
            (Value::Scalar(one), Value::Scalar(two)) => {
                Value::plain(self.add(&one.canon, &two.canon)?)
            }
            (
                Value::Tuple { open: '(', items: one, .. },
                Value::Tuple { open: '(', items: two, .. },
            ) => Value::Tuple { open: '(', close: ')', items: self.added_items(one, two)? },
            (Value::Matrix(one), Value::Matrix(two)) if one.len() == two.len() => {
                let rows = one.iter().zip(two).map(|(one, two)| self.added_items(one, two));
                Value::Matrix(rows.collect::<Result<_, _>>()?)
            }
            _ => return Err(Stop::Unreadable),
        })
    }

    fn added_items(&mut self, one: &[Value], two: &[Value]) -> Result<Vec<Value>, Stop> {
        if one.len() != two.len() {
            return Err(Stop::Unreadable);
        }
        one.iter().zip(two).map(|(one, two)| self.added_arrays(one, two)).collect()
    }
}

/// Rows for columns.
fn turned(rows: &[Vec<Value>]) -> Result<Vec<Vec<Value>>, Stop> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width)
        .map(|at| rows.iter().map(|row| row.get(at).cloned().ok_or(Stop::Unreadable)).collect())
        .collect()
}

impl Parser<'_, '_> {
    /// `\begin{cases} x, & x > 0 \\ 0, & \text{otherwise} \end{cases}`.
    pub(super) fn cases(&mut self) -> Result<Id, Stop> {
        let (mut branches, mut all) = (Vec::new(), Vec::new());
        while !self.eat(Tok::End) {
            if self.eat(Tok::Row) {
                continue;
            }
            if branches.len() >= BRANCHES_MAX {
                return Err(Stop::Cap);
            }
            let value = self.nested(Self::clause)?;
            all.push(value);
            self.eat(Tok::Comma);
            let marked = self.eat(Tok::Amp);
            let condition = if marked || matches!(self.peek(), Some(Tok::Word(_) | Tok::Stop)) {
                self.condition()?
            } else {
                None
            };
            all.extend(condition);
            branches.push((value, condition));
        }
        self.node(Node::Cases(branches), &all)
    }

    /// What a branch depends on; `None` where it is "otherwise".
    fn condition(&mut self) -> Result<Option<Id>, Stop> {
        while matches!(
            self.peek(),
            Some(Tok::Word("if" | "If" | "when" | "When") | Tok::Stop | Tok::Comma)
        ) {
            self.at += 1;
        }
        if let Some(Tok::Word(word)) = self.peek()
            && matches!(word.to_ascii_lowercase().as_str(), "otherwise" | "else")
        {
            self.at += 1;
            return Ok(None);
        }
        let mut items = vec![self.nested(Self::clause)?];
        let mut join = Join::Comma;
        while let Some(found) = self.separator() {
            if matches!(self.peek(), None | Some(Tok::Row | Tok::End)) {
                break;
            }
            if found != Join::Comma {
                join = found;
            }
            items.push(self.nested(Self::clause)?);
        }
        match items.as_slice() {
            [only] => Ok(Some(*only)),
            _ => self.node(Node::Seq(items.clone(), join), &items).map(Some),
        }
    }
}
