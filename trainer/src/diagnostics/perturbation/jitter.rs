//! Numbers that are a little off.

use assay_verifiers::stats::{SplitMix64, fnv1a};

/// The text with another last digit in the whole part of each number. Equal numbers stay equal, marks
/// between thousands and decimals stay as they are, and labels of steps ("Step 2", "3." at the start
/// of a line) are not touched.
pub(super) fn numbers(text: &str, seed: u64) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|char: char| char.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        changed.push_str(before);
        let length = number.find(|char: char| !is_within(char)).unwrap_or(number.len());
        let (number, after) = number.split_at(length);
        // A comma or a dot after the number is of the sentence.
        let own = number.trim_end_matches([',', '.']).len();
        let (number, mark) = number.split_at(own);
        if is_label(&changed, mark, after) || is_part_of_word(&changed) {
            changed.push_str(number);
        } else {
            changed.push_str(&off(number, seed));
        }
        changed.push_str(mark);
        rest = after;
    }
    changed.push_str(rest);
    changed
}

fn is_within(char: char) -> bool {
    char.is_ascii_digit() || char == ',' || char == '.'
}

fn is_part_of_word(before: &str) -> bool {
    before.ends_with(|char: char| char.is_alphabetic() || char == '_')
}

fn is_label(before: &str, mark: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let words = line.trim_start_matches(['#', '*', ' ']).to_lowercase();
    let starts = words.is_empty() && (mark == "." || after.starts_with([')', ':']));
    starts || words.trim_end() == "step"
}

fn off(number: &str, seed: u64) -> String {
    let whole = number.split('.').next().unwrap_or_default();
    let Some(place) = whole.rfind(|char: char| char.is_ascii_digit()) else {
        return number.to_owned();
    };
    let (head, tail) = number.split_at(place);
    let digit = tail.bytes().next().map_or(0, |byte| usize::from(byte.saturating_sub(b'0')));
    let mut random = SplitMix64::of(&[seed, fnv1a(0, number)]);
    let mut other = (digit + 1 + random.scaled_below(9)) % 10;
    // A lone 0 would turn a quotient into nonsense, which is another kind of change.
    if other == 0 && !head.contains(|char: char| char.is_ascii_digit()) {
        other = if digit == 9 { 1 } else { digit + 1 };
    }
    format!("{head}{other}{}", &tail[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_stay_equal() {
        let changed = numbers("7 + 7 = 1,214.50, so 7.", 1);
        let digit = changed.chars().next().unwrap();
        assert!(digit != '7' && digit != '0', "{changed}");
        assert!(changed.starts_with(&format!("{digit} + {digit} = 1,21")), "{changed}");
        assert!(changed.ends_with(&format!(".50, so {digit}.")), "{changed}");
        assert!(!changed.contains("1,214"), "{changed}");
    }

    #[test]
    fn labels_and_names_are_not_numbers() {
        for text in
            ["Step 2: so", "1. First\n2) Second\n**3:** Third", "x_1 and b2b", "### Step 12"]
        {
            assert_eq!(numbers(text, 1), text);
        }
        assert_ne!(numbers("2 pens", 1), "2 pens");
    }
}
