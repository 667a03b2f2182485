//! Answers that other settings would make right although they are wrong by a little: such settings are no advice.

use super::read::Row;

/// Most decimals of an answer that is rounded.
const DECIMALS_MAX: usize = 12;

/// Whether an answer that `verifier` takes with the settings `added` is no near miss, but says what the reference says.
pub(super) fn says_the_same(row: &Row, (own, verifier): (&str, &str), added: &str) -> bool {
    let Some(reference) = row.sample.reference_text() else { return true };
    let (reference, completion) = (reference.trim(), row.sample.completion());
    if added.starts_with("relative") {
        return is_rounded(reference, completion);
    }
    if added.starts_with("decimal_comma") && !has_decimal_comma(reference, completion) {
        return false;
    }
    if added.starts_with("multiple") && is_letter(reference) {
        return false;
    }
    match (own, verifier) {
        // One letter stands in every text, and in capitals at the beginning of many.
        (_, "contains") if is_letter(reference) => false,
        // An index is no letter.
        ("math" | "exact" | "number", "choice") => reference.contains(char::is_alphabetic),
        // A number in another unit is another answer.
        ("math" | "exact", "number") => units(reference).all(|unit| has_word(completion, unit)),
        _ => true,
    }
}

fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    matches!((chars.next(), chars.next()), (Some(char), None) if char.is_alphabetic())
}

/// The words of a reference, without tags and what LaTeX calls by name.
fn units(reference: &str) -> impl Iterator<Item = &str> {
    let is_part = |char: char| char.is_alphabetic() || char == '\\';
    let parts = reference.split('<').enumerate().map(|(at, part)| {
        let behind = part.split_once('>').filter(|_| at > 0);
        behind.map_or(part, |(_, behind)| behind)
    });
    let words = parts.flat_map(move |part| part.split(move |char| !is_part(char)));
    words.filter(|word| !word.is_empty() && !word.starts_with('\\'))
}

fn has_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|char: char| !char.is_alphabetic());
    words.any(|own| own.eq_ignore_ascii_case(word))
}

/// Whether one of two numbers is the other one, rounded.
fn is_rounded(reference: &str, completion: &str) -> bool {
    let Ok(wanted) = reference.parse::<f64>() else { return false };
    let of_reference = decimals(reference);
    let equal = |one: f64, other: f64, decimals: usize| {
        let exponent = i32::try_from(decimals.min(DECIMALS_MAX)).unwrap_or_default();
        (one - other).abs() <= 0.5 * 10_f64.powi(-exponent) + f64::EPSILON * one.abs()
    };
    let is_part = |char: char| char.is_ascii_digit() || ".,-".contains(char);
    let numbers = completion.split(|char| !is_part(char)).map(|part| part.replace(',', ""));
    numbers.map(|part| part.trim_end_matches(['.', '-']).to_owned()).any(|part| {
        let (own, fewer) = (part.parse::<f64>(), decimals(&part).min(of_reference));
        // Without decimals on either side the numbers are whole, and not the same.
        let is_value = decimals(&part).max(of_reference) > fewer;
        is_value && own.is_ok_and(|own| equal(wanted, own, fewer))
    })
}

/// Digits behind the point.
fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, behind)| behind.len())
}

/// Whether a comma stands before decimals, and not before thousands.
fn has_decimal_comma(reference: &str, completion: &str) -> bool {
    let is_decimal = |text: &str| {
        text.match_indices(',').any(|(at, _)| {
            let (before, behind) = (text.get(..at), text.get(at + 1..));
            let digits = behind.unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count();
            before.is_some_and(|before| before.ends_with(|char: char| char.is_ascii_digit()))
                && digits > 0
                && digits != 3
        })
    };
    is_decimal(reference) || is_decimal(completion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_decimals_of_one_of_them() {
        for (reference, completion, is_same) in [
            ("3.14159", "It is 3.14.", true),
            ("3.14", "It is 3.14159", true),
            ("101", "The answer is 100.", false),
            ("3.14", "It is 3.15", false),
            ("2.5", "about 3", true),
            ("1234.56", "1,234.6", true),
        ] {
            assert_eq!(is_rounded(reference, completion), is_same, "{reference} {completion}");
        }
    }

    #[test]
    fn commas_before_three_digits_are_thousands() {
        for (text, is_decimal) in
            [("3,5", true), ("1,000", false), ("1,000,25", true), ("a, b", false)]
        {
            assert_eq!(has_decimal_comma(text, "1"), is_decimal, "{text}");
        }
    }
}
