//! The stemmer of Porter (1980) with the extensions of NLTK, which rouge-score uses.

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
pub fn stem(word: &[u8]) -> Vec<u8> {
    if let Some(own) = irregular(word) {
        return own.as_bytes().to_vec();
    }
    let mut word = word.to_vec();
    if word.len() <= 2 || !word.is_ascii() {
        return word;
    }
    plural(&mut word);
    past(&mut word);
    if let Some(stem) = word.strip_suffix(b"y")
        && stem.len() > 1
        && Shape::of(stem).ends_in_consonant()
    {
        replace(&mut word, 1, "i");
    }
    while word.strip_suffix(b"alli").is_some_and(|stem| Shape::of(stem).measure > 0) {
        replace(&mut word, 4, "al");
    }
    by_table(&mut word, &SECOND);
    by_table(&mut word, &THIRD);
    let stem_and =
        |ending: &&str| word.strip_suffix(ending.as_bytes()).map(|stem| (stem, ending.len()));
    if let Some((stem, dropped)) = FOURTH.iter().find_map(stem_and)
        && Shape::of(stem).measure > 1
        && (!word.ends_with(b"ion") || ends_in(stem, b"st"))
    {
        replace(&mut word, dropped, "");
    }
    if let Some(stem) = word.strip_suffix(b"e") {
        let shape = Shape::of(stem);
        if shape.measure > 1 || (shape.measure == 1 && !shape.is_short(stem)) {
            replace(&mut word, 1, "");
        }
    }
    if let Some(stem) = word.strip_suffix(b"l")
        && stem.ends_with(b"l")
        && Shape::of(stem).measure > 1
    {
        replace(&mut word, 1, "");
    }
    word
}

/// Words with a stem of their own.
fn irregular(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"sky" | b"skies" => "sky",
        b"dying" => "die",
        b"lying" => "lie",
        b"tying" => "tie",
        b"news" => "news",
        b"innings" | b"inning" => "inning",
        b"outings" | b"outing" => "outing",
        b"cannings" | b"canning" => "canning",
        b"howe" => "howe",
        b"proceed" => "proceed",
        b"exceed" => "exceed",
        b"succeed" => "succeed",
        _ => return None,
    })
}

/// Step 1a.
fn plural(word: &mut Vec<u8>) {
    if word.ends_with(b"sses") {
        replace(word, 2, "");
    } else if word.ends_with(b"ies") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        replace(word, kept, "");
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        replace(word, 1, "");
    }
}

/// Step 1b.
fn past(word: &mut Vec<u8>) {
    if word.ends_with(b"ied") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        return replace(word, kept, "");
    }
    if let Some(stem) = word.strip_suffix(b"eed") {
        if Shape::of(stem).measure > 0 {
            replace(word, 1, "");
        }
        return;
    }
    let ending = ["ed", "ing"].into_iter().find(|ending| {
        word.strip_suffix(ending.as_bytes()).is_some_and(|stem| Shape::of(stem).has_vowel)
    });
    let Some(ending) = ending else { return };
    replace(word, ending.len(), "");
    let shape = Shape::of(word);
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending.as_bytes())) {
        word.push(b'e');
    } else if shape.ends_in_consonant() && matches!(word.as_slice(), [.., one, two] if one == two) {
        if !ends_in(word, b"lsz") {
            replace(word, 1, "");
        }
    } else if shape.measure == 1 && shape.is_short(word) {
        word.push(b'e');
    }
}

/// The first ending of a table that the word has is replaced, if the stem before it is long enough.
fn by_table(word: &mut Vec<u8>, table: &[(&str, &str, usize)]) {
    if !ends_in(word, b"eilmnrs") {
        return;
    }
    let end = |ending: &str| {
        word.len().checked_sub(ending.len()).filter(|_| word.ends_with(ending.as_bytes()))
    };
    let found = table.iter().find_map(|row| end(row.0).map(|end| (end, row)));
    if let Some((end, (ending, new, kept))) = found
        && word.get(..end + kept).is_some_and(|stem| Shape::of(stem).measure > 0)
    {
        replace(word, ending.len(), new);
    }
}

fn replace(word: &mut Vec<u8>, dropped: usize, new: &str) {
    word.truncate(word.len() - dropped);
    word.extend_from_slice(new.as_bytes());
}

fn ends_in(word: &[u8], letters: &[u8]) -> bool {
    word.last().is_some_and(|last| letters.contains(last))
}

/// Vowels and consonants of a word; y is a vowel after a consonant.
#[derive(Default)]
struct Shape {
    has_vowel: bool,
    /// How often a consonant follows a vowel.
    measure: usize,
    /// Whether the last letters are vowels, the last of them in the lowest bit; before the first all are.
    vowels: u32,
}

impl Shape {
    fn of(word: &[u8]) -> Self {
        let start = Self { vowels: u32::MAX, ..Self::default() };
        let mut before = None;
        word.iter().fold(start, |shape, letter| {
            let is_vowel = match letter {
                b'a' | b'e' | b'i' | b'o' | b'u' => true,
                b'y' => before == Some(false),
                _ => false,
            };
            let falls = before == Some(true) && !is_vowel;
            before = Some(is_vowel);
            Self {
                has_vowel: shape.has_vowel || is_vowel,
                measure: shape.measure + usize::from(falls),
                vowels: (shape.vowels << 1) | u32::from(is_vowel),
            }
        })
    }

    fn ends_in_consonant(&self) -> bool {
        self.vowels & 1 == 0
    }

    /// Whether the word ends in consonant, vowel and a consonant other than w, x and y, or is a vowel and
    /// a consonant.
    fn is_short(&self, word: &[u8]) -> bool {
        match word.len() {
            2 => self.vowels & 0b11 == 0b10,
            length => length > 2 && self.vowels & 0b111 == 0b010 && !ends_in(word, b"wxy"),
        }
    }
}
