//! Congruences: "congruent to 2 or 3 modulo 4", `n \equiv 2 \pmod 4`.

use dashu_ratio::RBig;

use super::pieces;
use super::pieces::{Piece, letter};
use super::quantifiers::TEXT_MAX;
use crate::number::small;
use crate::sets::{Family, family};

/// The largest modulus, in digits.
const DIGITS_MAX: usize = 9;

/// `n \equiv 2, 3 \pmod 4`, "congruent to 2 or 3 modulo 4".
pub(crate) fn congruence(text: &str) -> Option<Family> {
    // Other words before it, such as "not", change what it says.
    const SAID: &[&str] =
        &["those", "all", "integers", "numbers", "that", "are", "is", "which", "the", "any"];
    if text.len() > TEXT_MAX || !text.contains("mod") {
        return None;
    }
    let pieces = pieces::pieces(text);
    let at = pieces
        .iter()
        .position(|piece| piece.is(&["\\pmod", "\\mod", "\\bmod", "mod", "modulo"]))?;
    let (modulus, behind) = number(&pieces, at + 1)?;
    if !pieces.get(behind..)?.iter().all(|piece| piece.is(&[")", "."])) {
        return None;
    }
    let head = pieces.get(..at)?;
    let sign = head.iter().rposition(|piece| piece.is(&["\\equiv", "≡", "congruent"]))?;
    let (names, words): (Vec<&Piece<'_>>, Vec<&Piece<'_>>) =
        head.get(..sign)?.iter().partition(|piece| letter(piece).is_some());
    if names.len() > 1 || !words.iter().all(|word| word.is(SAID)) {
        return None;
    }
    let var = names.first().and_then(|name| letter(name));
    let mut remainders = Vec::new();
    let mut next = sign + 1;
    while next < head.len() {
        let piece = head.get(next)?;
        if piece.is(&["to", "or", "and", ",", "either", "("]) {
            next += 1;
            continue;
        }
        let (value, after) = number(head, next)?;
        remainders.push(value);
        next = after;
    }
    if remainders.is_empty() { None } else { family::residues(var, &modulus, remainders) }
}

/// An integer, perhaps negative, and the piece after it.
fn number(pieces: &[Piece<'_>], at: usize) -> Option<(RBig, usize)> {
    let negative = pieces.get(at)?.is(&["-", "−"]);
    let at = at + usize::from(negative);
    let digits = pieces.get(at).filter(|piece| piece.text.len() <= DIGITS_MAX)?;
    let value: i64 = digits.text.parse().ok()?;
    Some((small(if negative { -value } else { value }, 1), at + 1))
}
