//! Instructions on words and on sentences.

use std::collections::HashMap;

use crate::kwargs::Kwargs;
use crate::needle::Needle;
use crate::passage::{Passage, lower};
use crate::rule::{Judge, judge};
use crate::{punkt, py, syllables, tokens};

const PRIMES: [usize; 25] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
];

pub(super) fn read(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "alphabet" => judge(|passage| steps_through_alphabet(passage.text())),
        "vowel" => judge(|passage| {
            let text = passage.stripped();
            let has = |vowel: &&char| lower(text).contains(**vowel);
            !text.contains('\n') && ['a', 'e', 'i', 'o', 'u'].iter().filter(has).count() <= 3
        }),
        "consonants" => judge(|passage| py::words(passage.lower()).all(has_cluster)),
        "palindrome" => judge(|passage| {
            let text = lower(&py::without_punctuation(passage.text()));
            let is_palindrome =
                |word: &&str| word.chars().count() >= 5 && word.chars().eq(word.chars().rev());
            py::words(&text).filter(is_palindrome).count() >= 10
        }),
        "prime_lengths" => judge(|passage| {
            let text = py::without_punctuation(passage.text());
            py::words(&text).all(|word| PRIMES.contains(&word.chars().count()))
        }),
        "start_verb" => Err("parts of speech are not told here".to_owned()),
        "repeats" => kwargs.count("small_n").and_then(|most| {
            judge(move |passage| {
                let mut counts: HashMap<&str, usize> = HashMap::new();
                let text = py::without_punctuation(passage.lower());
                py::words(&text).all(|word| {
                    let count = counts.entry(word).or_default();
                    *count += 1;
                    *count <= most
                })
            })
        }),
        "odd_even_syllables" => judge(|passage| {
            let text = lower(&py::without_punctuation(passage.text()));
            let mut last = None;
            py::words(&text).all(|word| {
                let parity = Some(syllables::count(word) % 2);
                std::mem::replace(&mut last, parity) != parity
            })
        }),
        "last_first" => judge(|passage| chains(passage.text())),
        "paragraph_last_first" => judge(|passage| {
            lower(passage.text()).split('\n').all(|line| {
                let mut words = py::words(py::bare(py::strip(line)));
                let first = words.next();
                first.is_none() || words.next_back().is_none_or(|last| first == Some(last))
            })
        }),
        "no_consecutive" => judge(|passage| {
            let text = py::without_punctuation(passage.lower());
            let mut last = None;
            py::words(&text).all(|word| {
                let first = word.chars().next();
                std::mem::replace(&mut last, first) != first
            })
        }),
        "keywords_specific_position" => keyword_at(kwargs),
        "words_position" => kwargs.text("keyword").and_then(|keyword| {
            let keyword = py::strip(keyword).to_owned();
            judge(move |passage| stands_second(&tokens::words(passage.text()), &keyword))
        }),
        _ => return None,
    })
}

pub(super) fn sentences(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "alliteration_increment" => judge(|passage| {
            let sentences = punkt::sentences(passage.text());
            let counts: Vec<usize> = sentences.into_iter().map(alliteration).collect();
            counts.is_sorted_by(|one, next| one < next)
        }),
        "keyword" => keyword_in_sentence(kwargs),
        "increment" => kwargs.count("small_n").and_then(|more| {
            judge(move |passage| {
                let words = |sentence| py::words(&py::without_punctuation(sentence)).count();
                let sentences = punkt::sentences(passage.text());
                let counts: Vec<usize> = sentences.into_iter().map(words).collect();
                counts.is_sorted_by(|one, next| one + more == *next)
            })
        }),
        _ => return None,
    })
}

/// The first letters of words are `a` to `z`, in order and round again, from any one.
fn steps_through_alphabet(text: &str) -> bool {
    let text = py::without_punctuation(text);
    let mut words = py::words(&text).map(lower);
    let first = words.next().and_then(|word| word.bytes().next());
    let Some(mut letter) = first.filter(u8::is_ascii_lowercase) else { return false };
    words.all(|word| {
        letter = if letter == b'z' { b'a' } else { letter + 1 };
        word.bytes().next() == Some(letter)
    })
}

fn has_cluster(word: &str) -> bool {
    let is_consonant = |c: u8| c.is_ascii_lowercase() && !b"aeiou".contains(&c);
    let mut last = false;
    word.bytes().any(|byte| {
        let own = is_consonant(byte);
        std::mem::replace(&mut last, own) && own
    })
}

/// The last word of each sentence is the first of the next.
fn chains(text: &str) -> bool {
    let sentences = punkt::sentences(text);
    sentences.iter().zip(sentences.iter().skip(1)).all(|(one, next)| {
        let last = py::words(one.trim_end_matches(py::is_mark_or_blank)).next_back();
        let first = py::words(next.trim_start_matches(py::is_mark_or_blank)).next();
        last.zip(first).is_some_and(|(last, first)| lower(last) == lower(first))
    })
}

/// How many words of a sentence begin as a neighbour does.
fn alliteration(sentence: &str) -> usize {
    let text = lower(sentence);
    let clean = py::words(&text).map(|word| word.trim_start_matches(py::is_mark_or_blank));
    let firsts: Vec<char> = clean.filter_map(|word| word.chars().next()).collect();
    let (mut count, mut within) = (0, false);
    for (one, next) in firsts.iter().zip(firsts.iter().skip(1)) {
        let same = one == next;
        count += match (same, within) {
            (true, true) => 1,
            (true, false) => 2,
            (false, _) => 0,
        };
        within = same;
    }
    count
}

/// A word between borders in the N-th sentence, the first of which is 1.
fn keyword_in_sentence(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let (needle, nth) = (Needle::word(kwargs.text("word")?), kwargs.positive("N")?);
    judge(move |passage| {
        let sentences = punkt::sentences(passage.text());
        sentences.get(nth - 1).is_some_and(|sentence| needle.is_word_of(sentence))
    })
}

/// The m-th token of the n-th sentence that has a letter or a digit.
fn keyword_at(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let keyword = py::strip(kwargs.text("keyword")?).to_owned();
    let (sentence, word) = (kwargs.positive("n")?, kwargs.positive("m")?);
    judge(move |passage: &Passage<'_>| {
        let sentences = punkt::sentences(passage.text());
        sentences.get(sentence - 1).is_some_and(|sentence| {
            let has_sound = |word: &String| word.chars().any(|c| c != '_' && py::is_word(c));
            tokens::words(sentence).into_iter().filter(has_sound).nth(word - 1).as_ref()
                == Some(&keyword)
        })
    })
}

/// The second token and the second to last are the keyword. A mark at the end does not count.
fn stands_second(words: &[String], keyword: &str) -> bool {
    let is_mark = |word: &String| word.chars().all(py::is_punctuation);
    let words = match words.split_last() {
        Some((last, rest)) if is_mark(last) => rest,
        _ => words,
    };
    let before_last = words.len().checked_sub(2).and_then(|at| words.get(at));
    [words.get(1), before_last].iter().all(|word| word.is_some_and(|word| word == keyword))
}
