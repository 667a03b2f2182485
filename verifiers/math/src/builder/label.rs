//! The names that stand for a value: variables, functions, segments and ratios of lengths.

use super::Builder;
use crate::stop::Stop;
use crate::syntax::{Id, Node};

impl Builder<'_> {
    /// A name that stands alone, with its parameter where it is a function.
    pub(crate) fn label(&self, id: Id) -> Result<Option<(String, Option<String>)>, Stop> {
        Ok(match self.tree.get(id)? {
            // An accent is not part of the name of an answer.
            Node::Var(name) => Some((name.rsplit(' ').next().unwrap_or(name).to_owned(), None)),
            Node::Words(name) => Some((name.clone(), None)),
            Node::Call(name, args) => match args.as_slice() {
                [arg] => match self.tree.get(*arg)? {
                    Node::Var(parameter) => Some((name.clone(), Some(parameter.clone()))),
                    Node::Num(value, _) => Some((format!("{name}({value})"), None)),
                    _ => None,
                },
                _ => None,
            },
            Node::Ratio(parts, _) => {
                let mut names = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.tree.get(*part)? {
                        Node::Var(name) => names.push(name.clone()),
                        _ => names.extend(self.segment(*part)?),
                    }
                }
                (names.len() == parts.len()).then(|| (names.join(":"), None))
            }
            _ => self.segment(id)?.map(|name| (name, None)),
        })
    }

    /// The capital before the brackets of a point: `P(1, 2)`.
    pub(crate) fn point_name(&self, factors: &[Id]) -> Result<Option<String>, Stop> {
        let [name, point] = factors else { return Ok(None) };
        Ok(match (self.tree.get(*name)?, self.tree.get(*point)?) {
            (Node::Var(name), Node::Group { open: '(', close: ')', items })
                if items.len() > 1
                    && name.len() == 1
                    && name.starts_with(|c: char| c.is_ascii_uppercase()) =>
            {
                Some(name.clone())
            }
            _ => None,
        })
    }

    /// `AB`, `|AB|`, `\frac{AB}{CD}`: a length, or a ratio of lengths, named by points.
    fn segment(&self, id: Id) -> Result<Option<String>, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Mul(points) if points.len() > 1 => {
                let mut name = String::new();
                for point in points {
                    match self.tree.get(*point)? {
                        // `m\angle ABC`: the measure of an angle has the name of the angle.
                        Node::Var(letter) if name.is_empty() && letter == "m" => {}
                        Node::Var(shape)
                            if name.is_empty()
                                && matches!(shape.as_str(), "angle" | "triangle") => {}
                        Node::Var(letter)
                            if letter.len() == 1
                                && letter.starts_with(|c: char| c.is_ascii_uppercase()) =>
                        {
                            name.push_str(letter);
                        }
                        Node::Mul(_) if name.is_empty() => match self.segment(*point)? {
                            Some(points) => name = points,
                            None => return Ok(None),
                        },
                        _ => return Ok(None),
                    }
                }
                (!name.is_empty()).then_some(name)
            }
            Node::Fun("abs", inner) => match inner.as_slice() {
                [inner] => self.segment(*inner)?,
                _ => None,
            },
            Node::Div(top, below) => self
                .segment(*top)?
                .zip(self.segment(*below)?)
                .map(|(top, below)| format!("{top}/{below}")),
            _ => None,
        })
    }
}
