//! Chains that put several terms in order: `a < b = c` says the same as `c = b > a`.

use super::Stop;
use super::ast::{Id, Rel};
use super::build::Builder;
use super::compare::{Comparer, Judged, Rung, both};
use super::poly::Canon;
use super::value::{Rank, Value};

impl Builder<'_, '_, '_> {
    /// A chain of terms that rises or falls throughout. `None` where it turns.
    pub(super) fn ranks(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Option<Value>, Stop> {
        let rises = signs.iter().any(|sign| matches!(sign, Rel::Less | Rel::LessEqual));
        let falls = signs.iter().any(|sign| matches!(sign, Rel::More | Rel::MoreEqual));
        let Some((first, rest)) = sides.split_first() else { return Ok(None) };
        if rises == falls {
            return Ok(None);
        }
        let mut ranks = vec![Rank { terms: vec![self.canon(*first)?], strict: true }];
        for (side, sign) in rest.iter().zip(signs) {
            let term = self.canon(*side)?;
            match (sign, ranks.last_mut()) {
                (Rel::Equal, Some(rank)) => rank.terms.push(term),
                (Rel::Less | Rel::More, _) => ranks.push(Rank { terms: vec![term], strict: true }),
                (Rel::LessEqual | Rel::MoreEqual, _) => {
                    ranks.push(Rank { terms: vec![term], strict: false });
                }
                _ => return Ok(None),
            }
        }
        if falls {
            // Whether a step is strict is said of its upper end.
            let steps: Vec<bool> = ranks.iter().skip(1).rev().map(|rank| rank.strict).collect();
            ranks.reverse();
            for (rank, strict) in ranks.iter_mut().zip([true].into_iter().chain(steps)) {
                rank.strict = strict;
            }
        }
        Ok(Some(Value::Ranks(ranks)))
    }
}

impl Comparer<'_, '_, '_> {
    pub(super) fn ranks(&mut self, one: &[Rank], two: &[Rank]) -> Result<Judged, Stop> {
        if one.len() != two.len() {
            return Ok(Judged::Unequal);
        }
        let mut whole = Judged::Equal(Rung::Polynomial);
        for (one, two) in one.iter().zip(two) {
            if one.strict != two.strict {
                return Ok(Judged::Unequal);
            }
            whole = both(whole, self.same_terms(&one.terms, &two.terms)?);
        }
        Ok(whole)
    }

    /// Equal terms stand in any order.
    fn same_terms(&mut self, one: &[Canon], two: &[Canon]) -> Result<Judged, Stop> {
        let plain = |terms: &[Canon]| {
            Value::Set(terms.iter().map(|term| Value::plain(term.clone())).collect())
        };
        self.compare(&plain(one), &plain(two))
    }
}
