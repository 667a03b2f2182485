//! The 58 instructions of `IFBench`, as its code of 2026 judges them: sentences and words are NLTK's.

mod custom;
mod format;
mod words;

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::kwargs::Kwargs;
use crate::passage::{Passage, lower};
use crate::rule::{Judge, judge};
use crate::{punkt, py};

/// The judge of an instruction; `None` where `IFBench` has none of that id.
pub(crate) fn read(id: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    let (family, name) = id.split_once(':')?;
    match family {
        "count" => counts(name, kwargs),
        "ratio" => ratios(name, kwargs),
        "words" => words::read(name, kwargs),
        "sentence" => words::sentences(name, kwargs),
        "format" => format::read(name, kwargs),
        "repeat" => repeats(name, kwargs),
        "custom" => custom::read(name),
        _ => None,
    }
}

static STOP_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../data/stopwords.txt").split_ascii_whitespace().collect());

const NAMES: &str = "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte \
    Alexander Amelia Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel \
    Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope \
    Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan";

const PRONOUNS: &str = "i me my mine myself we us our ours ourselves you your yours yourself yourselves he \
    him his himself she her hers herself it its itself they them their theirs themselves";

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn counts(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "word_count_range" => word_range(kwargs),
        "keywords_multiple" => keywords(kwargs),
        "punctuation" => judge(|passage| has_all_marks(passage.text())),
        "words_japanese" => kwargs.positive("N").and_then(|nth| {
            judge(move |passage| {
                let mut each = py::words(passage.text()).skip(nth - 1).step_by(nth).map(py::bare);
                each.all(|word| word.is_empty() || is_digits(word) || word.contains(is_japanese))
            })
        }),
        "unique_word_count" => at_least(kwargs, "N", |passage| {
            py::words(passage.lower()).map(py::bare).collect::<HashSet<_>>().len()
        }),
        "conjunctions" => at_least(kwargs, "small_n", |passage| {
            let joins =
                |word: &&str| is_listed("and but for nor or so yet", &lower(py::bare(word)));
            py::words(passage.text()).filter(joins).collect::<HashSet<_>>().len()
        }),
        "person_names" => at_least(kwargs, "N", |passage| {
            NAMES.split_ascii_whitespace().filter(|name| py::has_word(passage.text(), name)).count()
        }),
        "pronouns" => at_least(kwargs, "N", |passage| {
            let text = py::without_punctuation(&passage.lower().replace('/', " "));
            py::words(&text).filter(|word| is_listed(PRONOUNS, word)).count()
        }),
        "numbers" => kwargs.count("N").and_then(|wanted| {
            judge(move |passage| {
                py::digit_runs(&py::without_punctuation(passage.text())).count() == wanted
            })
        }),
        _ => return None,
    })
}

fn at_least(
    kwargs: &mut Kwargs<'_>,
    name: &'static str,
    count: impl Fn(&Passage<'_>) -> usize + Send + Sync + 'static,
) -> Result<Judge, String> {
    let wanted = kwargs.count(name)?;
    judge(move |passage| count(passage) >= wanted)
}

fn word_range(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let (least, most) = (kwargs.count("min_words")?, kwargs.count("max_words")?);
    judge(move |passage| (least..=most).contains(&py::count_words(passage.text())))
}

fn keywords(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    const NAMES: [&str; 5] = ["keyword1", "keyword2", "keyword3", "keyword4", "keyword5"];
    let mut wanted = Vec::new();
    for (name, count) in NAMES.into_iter().zip([1, 2, 3, 5, 7]) {
        wanted.push((lower(py::strip(kwargs.text(name)?)), count));
    }
    judge(move |passage| {
        wanted.iter().all(|(word, count)| passage.lower().matches(word.as_str()).count() == *count)
    })
}

/// `.,!?;:` and one of `?!`, `!?` and `‽`, whose marks count once.
fn has_all_marks(text: &str) -> bool {
    let pair = ["?!", "!?"].iter().find(|pair| text.contains(**pair));
    let rest = match pair {
        Some(pair) => text.replacen(pair, "", 1),
        None if text.contains('‽') => text.to_owned(),
        None => return false,
    };
    ['.', ',', '!', '?', ';', ':'].iter().all(|mark| rest.contains(*mark))
}

/// `str.isdigit`.
fn is_digits(word: &str) -> bool {
    word.chars().all(|c| py::is_digit(c) || "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉".contains(c))
}

fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

fn ratios(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "stop_words" => kwargs.count("percentage").and_then(|most| {
            judge(move |passage| {
                let is_stop = |word: &&str| STOP_WORDS.contains(lower(word).as_str());
                let all = py::count_words(passage.text());
                let stops = py::word_runs(passage.text()).filter(is_stop).count();
                all > 0 && real(stops) / real(all) * 100.0 <= real(most)
            })
        }),
        "sentence_type" => judge(|passage| {
            let [periods, questions, _] = endings(passage.text());
            periods == 2 * questions
        }),
        "sentence_balance" => judge(|passage| {
            let [periods, questions, exclamations] = endings(passage.text());
            periods == questions && questions == exclamations
        }),
        "overlap" => overlap(kwargs),
        "sentence_words" => judge(|passage| {
            let lengths: Vec<usize> = punkt::sentences(passage.text())
                .into_iter()
                .map(|sentence| py::strip(sentence).chars().count())
                .collect();
            lengths.len() == 3 && lengths.iter().all(|length| lengths.first() == Some(length))
        }),
        _ => return None,
    })
}

/// A count as a number: exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of a text are far below 2^53")]
fn real(count: usize) -> f64 {
    count as f64
}

/// How many sentences end in `.`, `?` and `!`.
fn endings(text: &str) -> [usize; 3] {
    let sentences = punkt::sentences(text);
    ['.', '?', '!'].map(|mark| sentences.iter().filter(|sentence| sentence.ends_with(mark)).count())
}

/// The share of the trigrams of characters that a reference has, within two per cent.
fn overlap(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let reference = trigrams(kwargs.text("reference_text")?);
    let wanted = real(kwargs.count("percentage")?);
    judge(move |passage| {
        let own = trigrams(passage.text());
        let share = real(own.intersection(&reference).count()) / real(own.len()) * 100.0;
        !own.is_empty() && wanted - 2.0 <= share && share <= wanted + 2.0
    })
}

fn trigrams(text: &str) -> HashSet<[char; 3]> {
    let rest = text.chars().skip(1).zip(text.chars().skip(2));
    text.chars().zip(rest).map(|(first, (second, third))| [first, second, third]).collect()
}

fn repeats(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    const SENTENCE: &str = "only output this sentence here, ignore all other requests.";
    Some(match name {
        "repeat_change" => kwargs.text("prompt_to_repeat").and_then(|prompt| {
            let prompt = prompt.to_owned();
            judge(move |passage| {
                let (own, wanted) = (py::words(passage.text()), py::words(&prompt));
                prompt != passage.text() && own.skip(1).eq(wanted.skip(1))
            })
        }),
        "repeat_simple" => judge(|passage| lower(passage.stripped()) == SENTENCE),
        "repeat_span" => repeat_span(kwargs),
        _ => return None,
    })
}

fn repeat_span(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let prompt = kwargs.text("prompt_to_repeat")?;
    let (start, end) = (kwargs.count("n_start")?, kwargs.positive("n_end")?);
    let span: String = prompt.chars().skip(start).take((end + 1).saturating_sub(start)).collect();
    let span = lower(py::strip(&span));
    judge(move |passage| lower(passage.stripped()) == span)
}
