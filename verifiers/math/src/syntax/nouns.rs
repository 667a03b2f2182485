//! Nouns behind numbers: whether two of them may denote the same things.

/// Words without meaning for what is counted.
#[rustfmt::skip]
const EMPTY: [&str; 30] = [
    "of", "the", "a", "an", "in", "to", "all", "total", "more", "each", "per", "whole", "different",
    "distinct", "possible", "extra", "additional", "other", "about", "exactly", "altogether",
    "remaining", "left", "only", "approximately", "unique", "square", "sq", "cubic", "cu",
];
/// Generic nouns, which agree with any other.
#[rustfmt::skip]
const GENERAL: [&str; 16] = [
    "unit", "item", "object", "thing", "piece", "way", "people", "person", "time", "number",
    "element", "one", "value", "count", "individual", "member",
];

/// Whether two nouns, neither of which is a unit, may denote the same things: one qualifies the
/// other, or is generic.
pub(crate) fn agree(one: &str, two: &str) -> bool {
    if power(one) != power(two) {
        return false;
    }
    let (one, two) = (stems(one), stems(two));
    let rest = |from: &[String], of: &[String]| {
        from.iter().filter(|word| !of.contains(word)).cloned().collect::<Vec<_>>()
    };
    let (more, less) = (rest(&one, &two), rest(&two, &one));
    let foreign = |words: &[String]| words.iter().any(|word| !word.is_ascii());
    let general = |words: &[String]| words.iter().all(|word| GENERAL.contains(&word.as_str()));
    more.is_empty()
        || less.is_empty()
        || general(&more)
        || general(&less)
        || foreign(&more) != foreign(&less)
}

/// Whether the words behind two equal units agree: "km north" is not "km south".
pub(crate) fn agree_behind(one: &str, two: &str) -> bool {
    let directions = |text: &str| {
        ["north", "south", "east", "west", "left", "right", "up", "down"]
            .iter()
            .filter(|word| text.split(' ').any(|have| have == **word))
            .count()
    };
    let mut either = one.split(' ').filter(|word| !two.split(' ').any(|have| have == *word));
    directions(one) == 0 || directions(two) == 0 || either.all(|word| directions(word) == 0)
}

/// Whether a noun is generic.
pub(crate) fn is_general(noun: &str) -> bool {
    stems(noun).iter().all(|word| {
        GENERAL.contains(&word.as_str())
            || !word.is_ascii()
            || matches!(word.as_str(), "square" | "cubic")
    })
}

/// The power of a unit in words: "square units", "units^3".
pub(crate) fn power(noun: &str) -> usize {
    let says = |words: &[&str]| noun.split([' ', '.']).any(|word| words.contains(&word));
    if says(&["square", "sq", "squared"]) || noun.contains("^2") {
        2
    } else if says(&["cubic", "cu", "cubed"]) || noun.contains("^3") {
        3
    } else {
        1
    }
}

/// The words that denote what is counted, in the singular.
fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
    words.filter(|word| !EMPTY.contains(word)).map(singular).collect()
}

fn singular(word: &str) -> String {
    const IRREGULAR: [(&str, &str); 6] = [
        ("children", "child"),
        ("persons", "people"),
        ("person", "people"),
        ("feet", "foot"),
        ("mice", "mouse"),
        ("teeth", "tooth"),
    ];
    if let Some((_, one)) = IRREGULAR.iter().find(|pair| pair.0 == word) {
        return (*one).to_owned();
    }
    if let Some(stem) = word.strip_suffix("men") {
        return format!("{stem}man");
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let hisses = |stem: &&str| ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end));
    let stem = word.strip_suffix("es").filter(hisses);
    stem.or_else(|| word.strip_suffix('s').filter(|stem| !stem.ends_with('s')))
        .unwrap_or(word)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_that_differ_count_different_things() {
        for (one, two, wanted) in [
            ("apples", "apple", true),
            ("apples", "red apples", true),
            ("boxes", "box", true),
            ("children", "child", true),
            ("candies", "pieces of candy", true),
            ("students", "people", true),
            ("ways", "ways", true),
            ("apples", "oranges", false),
            ("red marbles", "blue marbles", false),
            ("heads", "tails", false),
            ("men", "women", false),
            ("square units", "cubic units", false),
        ] {
            assert_eq!(agree(one, two), wanted, "{one} {two}");
        }
    }
}
