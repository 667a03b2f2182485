//! Times of day without "am" and "pm": ratios by their form.

use crate::syntax::ast::ClockForm;
use crate::syntax::token::{Tok, Token};

/// What the tokens of a ratio are as a time of day.
pub(super) fn of(tokens: &[Token<'_>]) -> ClockForm {
    let [Token { tok: Tok::Num(hours), .. }, rest @ ..] = tokens else { return ClockForm::None };
    let are_minutes = rest.chunks(2).all(|part| {
        matches!(part, [Token { tok: Tok::Colon, .. }, Token { tok: Tok::Num(digits), .. }]
            if digits.len() == 2 && digits.parse().is_ok_and(|count: u32| count < 60))
    });
    match hours.parse::<u32>() {
        Ok(hour) if are_minutes && hour <= 24 && hours.len() <= 2 && rest.len() <= 4 => {
            let is_half = (1..=12).contains(&hour) && !hours.starts_with('0');
            if is_half { ClockForm::Half } else { ClockForm::Day }
        }
        _ => ClockForm::None,
    }
}
