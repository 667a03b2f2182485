//! The stemmer of Porter (1980) with the extensions of NLTK, which rouge-score uses.

/// Words with a stem of their own.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Endings of step 2, what stands for them, and how many of their letters count as part of the stem.
const SECOND: [(&str, &str, usize); 22] = [
    ("ational", "ate", 0),
    ("tional", "tion", 0),
    ("enci", "ence", 0),
    ("anci", "ance", 0),
    ("izer", "ize", 0),
    ("bli", "ble", 0),
    ("alli", "al", 0),
    ("entli", "ent", 0),
    ("eli", "e", 0),
    ("ousli", "ous", 0),
    ("ization", "ize", 0),
    ("ation", "ate", 0),
    ("ator", "ate", 0),
    ("alism", "al", 0),
    ("iveness", "ive", 0),
    ("fulness", "ful", 0),
    ("ousness", "ous", 0),
    ("aliti", "al", 0),
    ("iviti", "ive", 0),
    ("biliti", "ble", 0),
    ("fulli", "ful", 0),
    ("logi", "log", 1),
];

/// Those of step 3.
const THIRD: [(&str, &str, usize); 7] = [
    ("icate", "ic", 0),
    ("ative", "", 0),
    ("alize", "al", 0),
    ("iciti", "ic", 0),
    ("ical", "ic", 0),
    ("ful", "", 0),
    ("ness", "", 0),
];

/// Endings that step 4 drops.
const FOURTH: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// The stem of a word in lower-case ASCII. Linear.
pub fn stem(word: &str) -> String {
    if let Some((_, own)) = IRREGULAR.iter().find(|(have, _)| *have == word) {
        return (*own).to_owned();
    }
    if word.len() <= 2 || !word.is_ascii() {
        return word.to_owned();
    }
    let mut word = word.to_owned();
    plural(&mut word);
    past(&mut word);
    if let Some(stem) = word.strip_suffix('y')
        && stem.len() > 1
        && ends_in_consonant(stem)
    {
        replace(&mut word, 1, "i");
    }
    while word.ends_with("alli") && measure(&word[..word.len() - 4]) > 0 {
        replace(&mut word, 4, "al");
    }
    by_table(&mut word, &SECOND);
    by_table(&mut word, &THIRD);
    if let Some(ending) = FOURTH.iter().find(|ending| word.ends_with(*ending)) {
        let stem = &word[..word.len() - ending.len()];
        if measure(stem) > 1 && (*ending != "ion" || stem.ends_with(['s', 't'])) {
            replace(&mut word, ending.len(), "");
        }
    }
    if let Some(stem) = word.strip_suffix('e') {
        let measure = measure(stem);
        if measure > 1 || (measure == 1 && !ends_short(stem)) {
            replace(&mut word, 1, "");
        }
    }
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        replace(&mut word, 1, "");
    }
    word
}

/// Step 1a.
fn plural(word: &mut String) {
    if word.ends_with("sses") {
        replace(word, 2, "");
    } else if word.ends_with("ies") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        replace(word, kept, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        replace(word, 1, "");
    }
}

/// Step 1b.
fn past(word: &mut String) {
    if word.ends_with("ied") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        return replace(word, kept, "");
    }
    if let Some(stem) = word.strip_suffix("eed") {
        if measure(stem) > 0 {
            replace(word, 1, "");
        }
        return;
    }
    let ending = ["ed", "ing"].into_iter().find(|ending| {
        word.strip_suffix(ending).is_some_and(|stem| letters(stem).any(|is_vowel| is_vowel))
    });
    let Some(ending) = ending else { return };
    replace(word, ending.len(), "");
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_double(word) {
        if !word.ends_with(['l', 's', 'z']) {
            replace(word, 1, "");
        }
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

/// The first ending of a table that the word has is replaced, if the stem before it is long enough.
fn by_table(word: &mut String, table: &[(&str, &str, usize)]) {
    let last = word.bytes().last();
    let has = |ending: &str| ending.bytes().last() == last && word.ends_with(ending);
    if let Some((ending, new, kept)) = table.iter().find(|(ending, ..)| has(ending))
        && measure(&word[..word.len() - ending.len() + kept]) > 0
    {
        replace(word, ending.len(), new);
    }
}

fn replace(word: &mut String, dropped: usize, new: &str) {
    word.truncate(word.len() - dropped);
    word.push_str(new);
}

/// For each letter whether it is a vowel; y is one behind a consonant.
fn letters(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(None, |before: &mut Option<bool>, letter| {
        let is_vowel = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => *before == Some(false),
            _ => false,
        };
        *before = Some(is_vowel);
        Some(is_vowel)
    })
}

/// How often a consonant follows a vowel.
fn measure(stem: &str) -> usize {
    let follows = letters(stem).zip(letters(stem).skip(1));
    follows.filter(|(before, after)| *before && !*after).count()
}

fn ends_in_consonant(word: &str) -> bool {
    letters(word).last() == Some(false)
}

fn ends_double(word: &str) -> bool {
    let mut ends = word.bytes().rev();
    ends.next().is_some_and(|last| ends.next() == Some(last)) && ends_in_consonant(word)
}

/// Whether a word ends in consonant, vowel and a consonant other than w, x and y, or is a vowel and a
/// consonant.
fn ends_short(word: &str) -> bool {
    let kinds: Vec<bool> = letters(word).collect();
    match kinds.as_slice() {
        [true, false] => true,
        [.., false, true, false] => !word.ends_with(['w', 'x', 'y']),
        _ => false,
    }
}
