//! Rules of reasoning-gym for answers that are texts and lists of words.

use serde_json::Value;

use crate::entry::{Judged, Marked, Puzzle};
use crate::number::count;

/// The words of word ladders: a line for each length from 3 to 5, sorted, without separators.
const WORDS: &str = include_str!("../../data/words.txt");

/// Equal, or else the share that the published answer has of one that contains it.
pub(super) fn contained(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let right = puzzle.answer.trim() == gold.trim();
    if puzzle.answer == gold {
        return Ok(Marked::exact(true));
    }
    let share = if puzzle.answer.is_empty() { 0.0 } else { contained_share(puzzle.answer, &gold) };
    Ok(Marked { published: share, right })
}

/// The share of the characters of a text that another one has which it contains.
pub(super) fn contained_share(text: &str, part: &str) -> f64 {
    if text.contains(part) {
        count(part.chars().count()) / count(text.chars().count())
    } else {
        0.0
    }
}

/// Equal after both are folded; what differs earns `floor`.
pub(super) fn same(puzzle: &Puzzle<'_>, fold: fn(&str) -> String, floor: f64) -> Judged {
    Ok(Marked::floor(fold(puzzle.answer) == fold(&puzzle.gold()?), floor))
}

/// As it is.
pub(super) fn verbatim(text: &str) -> String {
    text.to_owned()
}

/// In small letters, without blanks around it.
pub(super) fn trimmed(text: &str) -> String {
    text.trim().to_lowercase()
}

/// In small letters, in one line.
pub(super) fn one_line(text: &str) -> String {
    text.to_lowercase().replace('\n', "")
}

/// In small letters, without spaces.
pub(super) fn spaceless(text: &str) -> String {
    trimmed(&text.replace(' ', ""))
}

/// With one space between words.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The bit of a circuit: blanks around it cost their share.
pub(super) fn circuit(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let right = puzzle.answer.trim() == gold;
    let published = if right { contained_share(puzzle.answer, &gold) } else { 0.0 };
    Ok(Marked { published, right })
}

/// Published: any answer is true. Right: the word of the published answer.
pub(super) fn halting(puzzle: &Puzzle<'_>) -> Judged {
    let gold = match puzzle.reference {
        Value::Bool(gold) => if *gold { "true" } else { "false" }.to_owned(),
        _ => puzzle.gold()?.to_lowercase(),
    };
    let truthy = gold != "false" || !matches!(puzzle.reference, Value::Bool(_));
    let published = f64::from(u8::from(truthy != puzzle.answer.is_empty()));
    Ok(Marked { published, right: trimmed(puzzle.answer) == gold })
}

/// Words in their places.
pub(super) fn letter_jumble(puzzle: &Puzzle<'_>) -> Judged {
    let (gold, answer) = (trimmed(&puzzle.gold()?), trimmed(puzzle.answer));
    let words: Vec<&str> = gold.split_whitespace().collect();
    let given: Vec<&str> = answer.split_whitespace().collect();
    let hits = words.iter().zip(&given).filter(|(one, two)| one == two).count();
    Ok(Marked { published: count(hits) / count(words.len().max(1)), right: words == given })
}

/// Words in their places, as many as there are.
pub(super) fn sentence(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?.to_lowercase();
    let answer = puzzle.answer.to_lowercase();
    let (words, given): (Vec<&str>, Vec<&str>) =
        (gold.split_whitespace().collect(), answer.split_whitespace().collect());
    if words.len() != given.len() {
        return Ok(Marked::wrong(0.05));
    }
    let hits = words.iter().zip(&given).filter(|(one, two)| one == two).count();
    Ok(Marked { published: count(hits) / count(words.len().max(1)), right: words == given })
}

/// Sorted words between commas.
pub(super) fn word_sorting(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = puzzle.texts("sorted_words")?;
    if wanted.is_empty() {
        return Err("`sorted_words` of the metadata is empty".to_owned());
    }
    if puzzle.answer.is_empty() {
        return Ok(Marked::wrong(0.0));
    }
    let mut given: Vec<&str> = puzzle.answer.split(',').map(str::trim).collect();
    let right = given == wanted;
    let hits = wanted.iter().zip(&given).filter(|(one, two)| one == two).count();
    let share = count(hits) / count(wanted.len());
    let mut sorted = wanted.clone();
    sorted.sort_unstable();
    given.sort_unstable();
    Ok(Marked { published: if given == sorted { share.max(0.2) } else { share }, right })
}

/// Letters in their places. Python's sum of shares is kept to the bit, because 1 is special.
pub(super) fn spell_backward(puzzle: &Puzzle<'_>) -> Judged {
    let (gold, answer) = (puzzle.gold()?.to_lowercase(), puzzle.answer.to_lowercase());
    if gold == answer {
        return Ok(Marked::exact(true));
    }
    let length = count(gold.chars().count());
    let hits = gold.chars().zip(answer.chars()).filter(|(one, two)| one == two).count();
    let share = (0..hits).fold(0.0, |sum, _| sum + 1.0 / length);
    Ok(Marked::wrong(if (share - 1.0_f64).abs() > 0.0 { share } else { 0.8 }))
}

/// A tenth for each letter in its place.
pub(super) fn figlet(puzzle: &Puzzle<'_>) -> Judged {
    let (gold, answer) = (trimmed(&puzzle.gold()?), spaceless(puzzle.answer));
    let hits = gold.chars().zip(answer.chars()).filter(|(one, two)| one == two).count();
    let right = gold == answer;
    Ok(Marked { published: if right { 1.0 } else { (count(hits) * 0.1).min(1.0) }, right })
}

/// Characters in their places, where there are as many.
pub(super) fn emoji(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let (length, given) = (gold.chars().count(), puzzle.answer.chars().count());
    if gold == puzzle.answer || length != given || length == 0 {
        return Ok(Marked::floor(gold == puzzle.answer, 0.01));
    }
    let hits = gold.chars().zip(puzzle.answer.chars()).filter(|(one, two)| one == two).count();
    Ok(Marked::wrong(count(hits) / count(length)))
}

/// A move of Go.
pub(super) fn tsumego(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let (gold, answer) = (gold.trim(), puzzle.answer.trim().to_uppercase());
    if puzzle.answer.is_empty() || answer == gold {
        return Ok(Marked::exact(answer == gold));
    }
    if answer.contains(gold) {
        return Ok(Marked::wrong(contained_share(&answer, gold)));
    }
    let digits = answer.strip_prefix(|c: char| c.is_ascii_uppercase());
    let is_move =
        digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    Ok(Marked::wrong(if is_move { 0.05 } else { 0.01 }))
}

/// A palindrome of the given letters.
pub(super) fn palindrome(puzzle: &Puzzle<'_>) -> Judged {
    let mut wanted: Vec<&str> = puzzle.texts("letters")?;
    if puzzle.answer.is_empty() {
        return Ok(Marked::wrong(0.0));
    }
    let answer = trimmed(puzzle.answer);
    if !answer.chars().eq(answer.chars().rev()) {
        return Ok(Marked::wrong(0.02));
    }
    let mut letters: Vec<String> = answer.chars().map(String::from).collect();
    letters.sort_unstable();
    wanted.sort_unstable();
    Ok(Marked::floor(letters == wanted, 0.05))
}

/// A list of words, or lists of them, without regard to order.
fn sorted_lists(value: &Value) -> Option<Vec<Vec<&str>>> {
    let list = |value| Value::as_array(value)?.iter().map(Value::as_str).collect();
    value.as_array()?.iter().map(list).collect()
}

/// The `solution` of the data, or else the published answer.
fn solution(puzzle: &Puzzle<'_>) -> Result<Value, String> {
    let given = puzzle.part("solution").ok().filter(|value| value.is_array()).cloned();
    let read = |text: &str| serde_json::from_str(text).ok();
    given.or_else(|| read(&puzzle.gold().ok()?)).ok_or_else(|| NO_LISTS.to_owned())
}

const NO_LISTS: &str = "the metadata has no `solution`, and the reference is not JSON";

/// All partitions, in any order.
pub(super) fn partitions(puzzle: &Puzzle<'_>) -> Judged {
    let solution = solution(puzzle)?;
    let mut wanted = sorted_lists(&solution).ok_or(NO_LISTS)?;
    let answer: Option<Value> = serde_json::from_str(puzzle.answer).ok();
    let Some(mut given) = answer.as_ref().and_then(sorted_lists) else {
        return Ok(Marked::wrong(0.0));
    };
    for lists in [&mut wanted, &mut given] {
        lists.sort_unstable();
        lists.dedup();
    }
    Ok(Marked::exact(wanted == given))
}

/// Groups of words, in any order.
pub(super) fn groups(puzzle: &Puzzle<'_>) -> Judged {
    let solution = solution(puzzle)?;
    let mut wanted = sorted_lists(&solution).ok_or(NO_LISTS)?;
    let Ok(answer) = serde_json::from_str::<Value>(puzzle.answer) else {
        return Ok(Marked::wrong(0.0));
    };
    // What cannot be sorted raises an error in Python; texts are lists of letters there.
    let is_list = |value: &Value| match value {
        Value::Array(values) => {
            values.iter().all(Value::is_string) || values.iter().all(Value::is_number)
        }
        value => value.is_string(),
    };
    let sortable = match &answer {
        Value::Array(lists) => lists.iter().all(is_list),
        Value::Object(_) => true,
        value => value.is_string(),
    };
    let Some(mut given) = sorted_lists(&answer) else {
        return Ok(Marked::wrong(if sortable { 0.01 } else { 0.0 }));
    };
    for lists in [&mut wanted, &mut given] {
        for list in lists.iter_mut() {
            list.sort_unstable();
        }
        lists.sort_unstable();
    }
    Ok(Marked::floor(wanted == given, 0.01))
}

/// A ladder of known words, each a letter away from the one before. An unknown word halves the score.
pub(super) fn ladder(puzzle: &Puzzle<'_>) -> Judged {
    let (start, end) = (puzzle.text("start_word")?, puzzle.text("end_word")?);
    let known = WORDS.lines().nth(end.len().wrapping_sub(3));
    let known = known.ok_or("`end_word` of the metadata has not from 3 to 5 letters")?;
    let answer = puzzle.answer.to_uppercase();
    let words: Vec<&str> = answer.split(',').map(str::trim).collect();
    let length = end.chars().count();
    let differ = |pair: &[&str]| match pair {
        [one, two] => one.chars().zip(two.chars()).filter(|(one, two)| one != two).count(),
        _ => 0,
    };
    let is_ladder = words.len() > 1
        && words.first() == Some(&start)
        && words.last() == Some(&end)
        && words.iter().all(|word| word.chars().count() == length)
        && words.windows(2).all(|pair| differ(pair) == 1);
    if !is_ladder {
        return Ok(Marked::wrong(0.0));
    }
    let unknown = words.iter().filter(|word| !is_known(known, word)).count();
    let halves = i32::try_from(unknown.min(1100)).unwrap_or(1100);
    Ok(Marked { published: 0.5_f64.powi(halves), right: unknown == 0 })
}

/// Whether a word is in a sorted row of words of its length.
fn is_known(row: &str, word: &str) -> bool {
    if word.is_empty() || !word.is_ascii() {
        return false;
    }
    let (mut low, mut high) = (0, row.len() / word.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match row.get(middle * word.len()..(middle + 1) * word.len()).map(|own| own.cmp(word)) {
            Some(std::cmp::Ordering::Less) => low = middle + 1,
            Some(std::cmp::Ordering::Greater) => high = middle,
            Some(std::cmp::Ordering::Equal) => return true,
            None => return false,
        }
    }
    false
}
