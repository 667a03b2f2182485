//! Word lists for sentences around answers.

/// Whether a word is one of a list, without regard to ASCII case.
pub(crate) fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|have| have.eq_ignore_ascii_case(word))
}

/// Whether a character belongs to a script that sets no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e00}'..='\u{e7f}')
}

/// The words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Words between two values that offer the second one as well.
#[rustfmt::skip]
const OFFERING: &[&str] = &[
    "or", "maybe", "perhaps", "possibly", "probably", "alternatively", "otherwise", "could", "might", "may",
    // German, Dutch, the Nordic languages, Finnish, Hungarian.
    "oder", "bzw", "vielleicht", "eventuell", "möglicherweise", "sonst", "misschien", "mogelijk", "eller", "kanske", "kanskje",
    "måske", "tai", "vai", "ehkä", "vagy", "talán",
    // French, Spanish, Portuguese, Italian, Catalan, Romanian, Greek.
    "ou", "peut", "sinon", "o", "quizás", "quizá", "tal", "podría", "puede", "talvez", "poderia", "oppure", "forse", "potrebbe",
    "potser", "sau", "poate", "ή", "ίσως",
    // Russian, Ukrainian, Polish, Czech, Slovak, Serbian and Croatian, Lithuanian.
    "или", "либо", "возможно", "может", "або", "чи", "можливо", "albo", "lub", "może", "nebo", "anebo", "alebo", "možná", "možno",
    "ili", "možda", "arba",
    // Turkish, Arabic, Persian, Hebrew, Hindi, Bengali, Vietnamese, Indonesian.
    "veya", "ya", "belki", "أو", "او", "ربما", "یا", "شاید", "או", "אולי", "या", "शायद", "বা", "অথবা", "hoặc", "atau", "mungkin",
    // Scripts that set no blanks between words.
    "或", "还是", "否则", "可能", "もしくは", "または", "あるいは", "か", "หรือ", "อาจ", "또는", "혹은", "이거나", "아마",
];
/// Words that may stand beside them.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "else", "be", "even", "it", "also", "either", "is", "but", "just", "equivalently", "auch", "aber", "ook", "maar", "även", "också", "også", "être",
    "aussi", "mais", "que", "aunque", "pero", "ser", "es", "también", "vez", "mas", "também", "ma", "anche", "essere", "è",
    "быть", "и", "być", "ale", "da", "de",
];

/// Whether the words between two values offer the second one as well: "or maybe", "but it could be",
/// in the languages in which models answer.
pub(crate) fn offers<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut is_offered = false;
    for word in words {
        let offers = is_one_of(OFFERING, word) || offers_unspaced(word);
        if !offers && !is_one_of(BESIDE, word) {
            return false;
        }
        is_offered |= offers;
    }
    is_offered
}

/// Whether a run of a script without blanks has one of these words and is short.
fn offers_unspaced(run: &str) -> bool {
    const RUN_MAX: usize = 8;
    run.starts_with(is_unspaced)
        && run.chars().count() <= RUN_MAX
        && OFFERING.iter().any(|word| {
            word.starts_with(is_unspaced) && word.len() > "か".len() && run.contains(word)
                || ["或", "か"].contains(word) && run.ends_with(word)
        })
}

/// Words between two boxes by which the second one follows from the first or replaces it.
#[rustfmt::skip]
pub(super) const PARTING: &[&str] = &[
    "is", "isn", "are", "was", "were", "be", "been", "not", "no", "nope", "never", "don", "doesn",
    "didn", "cannot", "can", "could", "would", "should", "may", "might", "must", "will", "gives",
    "give", "gave", "get", "gets", "got", "yields", "yield", "means", "implies", "equals", "becomes",
    "becoming", "makes", "leads", "goes", "comes", "turns", "fails", "works", "holds", "seems",
    "looks", "has", "have", "had", "does", "do", "so", "then", "thus", "hence", "therefore", "next",
    "now", "after", "before", "first", "last", "finally", "initially", "later", "earlier", "instead",
    "rather", "but", "however", "though", "although", "yet", "because", "since", "if", "when",
    "while", "unless", "where", "which", "who", "that", "this", "it", "its", "i", "we", "you", "he",
    "she", "they", "let", "wait", "sorry", "oops", "hmm", "ok", "okay", "well", "wrong", "incorrect",
    "right", "correct", "mistake", "error", "attempt", "guess", "try", "maybe", "perhaps", "about",
    "again", "also", "even", "same", "ie", "eg", "namely", "else", "too", "invalid", "extraneous",
    "impossible", "false", "true", "final", "answer", "actually", "step", "as", "from", "to", "into",
    "than", "by", "over", "times", "plus", "minus", "form", "decimal",
    "fraction", "equivalent", "equal", "approx", "simply", "reduces",
];

/// The beginnings of a closing courtesy.
pub(super) const COURTESIES: &[&str] = &[
    "i hope it is correct",
    "i hope it's correct",
    "i hope this is correct",
    "i hope this is right",
    "i hope this helps",
    "i hope that helps",
    "i hope it helps",
    "i hope this explanation",
    "i hope this solution",
    "hope this helps",
    "hope that helps",
    "let me know if",
    "please let me know",
    "feel free to",
    "please feel free to",
    "if you have any",
    "thank you",
    "thanks",
    "good luck",
    "have a great day",
    "great",
    "done",
    "we are done",
    "we're done",
    "that is it",
    "that's it",
    "that is all",
    "q.e.d",
    "qed",
    "this completes the",
    "this is the final answer",
    "that is the final answer",
    "which is what we wanted",
    "this is what we wanted",
];

/// Words of a sentence that doubts its number or does not state it as a result.
#[rustfmt::skip]
pub(super) const DOUBTS: &[&str] = &[
    "might", "could", "may", "maybe", "perhaps", "probably", "possibly", "likely", "if", "unless",
    "would", "should", "whether", "suppose", "assume", "guess", "estimate", "approximately", "about",
    "around", "roughly", "nearly", "almost", "not", "no", "never", "none", "neither", "nor", "cannot",
    "impossible", "wrong", "incorrect", "false", "instead", "or", "either", "between", "least",
    "most", "than", "under", "over", "divisible", "multiple", "multiples", "divides", "divisor",
    "factor", "modulo", "mod", "step", "steps", "case", "cases", "part", "parts", "equation", "figure",
    "problem", "question", "statement", "option", "choice", "lemma", "theorem", "method", "section",
    "line", "row", "condition", "need", "let", "check", "consider", "find", "try", "multiply", "divide",
    "subtract", "add", "first", "remaining", "another", "more", "other", "wait",
];
