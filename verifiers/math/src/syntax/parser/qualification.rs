//! What qualifies an answer: "for all x", "where n is whole". Several values, each under a condition
//! of its own, are several answers.

use crate::syntax::parser::prelude::*;

impl Parser<'_, '_> {
    /// Whether the qualification at this place holds another answer than `value`, which is before
    /// it: "12 for n = 1, 35 for n = 2", "12 for n = 1, 35".
    pub(crate) fn is_one_of_cases(&self, value: Id) -> bool {
        if self.peek() != Some(Tok::Stop) {
            return false;
        }
        let mut varies = false;
        self.tree.visit(value, &mut |node| varies |= matches!(node, Node::Var(_)));
        let (_, rest) = self.tokens.split_at(self.at + 1);
        let otherwise = |tok: Tok<'_>| matches!(tok, Tok::Word("otherwise" | "else" | "Otherwise"));
        if rest.iter().any(|token| otherwise(token.tok)) {
            return true;
        }
        let parts: Vec<Part<'_>> = parts(rest.iter().map(|token| token.tok));
        parts.iter().enumerate().any(|(at, part)| {
            let is_last = at + 1 == parts.len();
            part.has_adjacent_numbers()
                || (part.is_qualified && part.states_value(at == 0))
                || (is_last && at > 0 && !varies && part.is_number())
        })
    }
}

/// A part of a qualification between separators.
#[derive(Default)]
struct Part<'a> {
    toks: Vec<Tok<'a>>,
    /// Another qualification follows it.
    is_qualified: bool,
}

/// The parts of a qualification.
fn parts<'a>(toks: impl Iterator<Item = Tok<'a>>) -> Vec<Part<'a>> {
    let mut parts = vec![Part::default()];
    for tok in toks {
        let Some(last) = parts.last_mut() else { break };
        match tok {
            Tok::Stop => {
                last.is_qualified = true;
                parts.push(Part::default());
            }
            Tok::Comma | Tok::Semi | Tok::And | Tok::Or => parts.push(Part::default()),
            tok => last.toks.push(tok),
        }
    }
    parts
}

impl Part<'_> {
    /// "n = 1 35": a condition, and another value after it.
    fn has_adjacent_numbers(&self) -> bool {
        self.toks.windows(2).any(|pair| matches!(pair, [Tok::Num(_), Tok::Num(_)]))
    }

    /// Whether it may be an answer: no condition in words or signs, and more than a letter. The
    /// `first` part is the condition of the answer before it.
    fn states_value(&self, first: bool) -> bool {
        let equates = self.toks.contains(&Tok::Rel(Rel::Equal));
        if first {
            return equates;
        }
        let relates = self.toks.iter().any(|tok| matches!(tok, Tok::Rel(_)));
        let words = self.toks.iter().any(|tok| matches!(tok, Tok::Word(_)));
        let name = matches!(self.toks.as_slice(), [] | [Tok::Letter(_)]);
        equates || !(relates || words || name)
    }

    fn is_number(&self) -> bool {
        let signs = [Tok::Plus, Tok::Minus];
        let size = self.toks.iter().filter(|tok| !signs.contains(tok));
        let mut numbers = 0;
        size.into_iter().all(|tok| {
            numbers += 1;
            matches!(
                tok,
                Tok::Num(_)
                    | Tok::Frac
                    | Tok::Sqrt
                    | Tok::Pi
                    | Tok::Caret
                    | Tok::Percent
                    | Tok::Slash
                    | Tok::LBrace
                    | Tok::RBrace
            )
        }) && numbers > 0
    }
}
