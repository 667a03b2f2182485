//! Short answers: normalised, compared with a reference by equality or inclusion, read as yes or no.

use crate::fold::{fold, is_mark, is_unspaced, words};
use crate::has_word;
use crate::phrase::{self, Phrases};
use crate::token::{grouped, joined, tokens};

/// How an answer and a reference are normalised.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Marks on letters count.
    pub accents: bool,
    /// Articles count.
    pub articles: bool,
}

/// How an answer may hold the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guards {
    /// The most words beside those of the reference.
    pub extra_words: usize,
    /// The least share of the characters of the reference that a part of it must have.
    pub least_share: f64,
}

/// How an answer is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its words are those of the reference.
    Equal,
    /// The words of the reference stand in it, side by side, with few others.
    Cover,
    /// The same, or its words stand in the reference and are most of it.
    TwoWay,
}

/// Articles of languages that have them as words: English, German, French, Spanish, Italian,
/// Portuguese, Dutch.
const ARTICLES: &str = " a an the der die das den dem des ein eine einen einem einer le la les l un une \
     des el los las una unos unas il lo gli i o os as um uma het een de ";

/// Words that join what is offered beside each other, or leave it open.
const JOINS: &str = " or and either both maybe perhaps possibly alternatively oder und entweder ou et y e o \
     ni sowie või или и либо lub veya ve atau dan 或 或者 和 または と 또는 ";

/// Words that deny what stands beside them.
const DENIES: &str = " not no never neither nor cannot isn't wasn't aren't don't doesn't didn't nicht kein \
     keine nie non pas jamais nunca ningún não nem nem niet geen не ни нет ikke inte nie değil 不 不是 没 ない 아니 ";

/// English articles are dropped anywhere; those of other languages at the start alone, since they are
/// words of English and of each other.
const ENGLISH_ARTICLES: [&str; 3] = ["a", "an", "the"];

/// The words of a text by which it is compared: folded, with the marks alone that carry meaning (`-5`,
/// `C++`, `1/2`) and, unless they count, without articles. A text without words gives its signs. Linear
/// in the text.
pub fn normalised(text: &str, rules: Rules) -> Vec<String> {
    let mut all = tokens(text, rules.accents);
    if all.is_empty() {
        all.extend(fold(text, rules.accents).split_whitespace().map(str::to_owned));
    }
    // "44 BCE" is "44 BC".
    if all.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
        all.iter_mut().filter(|word| *word == "bce").for_each(|word| word.truncate(2));
    }
    if !rules.articles && all.len() > 1 {
        let is_first = all.first().is_some_and(|word| has_word(ARTICLES, word));
        let kept: Vec<String> = all
            .iter()
            .enumerate()
            .filter(|(at, word)| {
                !(*at == 0 && is_first || ENGLISH_ARTICLES.contains(&word.as_str()))
            })
            .map(|(_, word)| word.clone())
            .collect();
        // "The The" stays as it is.
        all = if kept.is_empty() { all } else { kept };
    }
    all
}

/// Whether an answer says what one reference says. An empty one on either side never does.
///
/// Inclusion is guarded: no answer is right that offers anything beside the reference (a list, "or", a
/// slash, a line break) or denies it, that has more than a few other words, or that is a small part of
/// the reference. Linear in both, but for the search of the reference in the answer, which pays a unit
/// a word and place.
///
/// # Errors
/// What `pay` refuses.
pub fn matches<E>(
    answer: &str,
    reference: &str,
    how: How,
    rules: Rules,
    guards: Guards,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    pay(40 * (answer.len() + reference.len()) as u64)?;
    let (given, wanted) = (normalised(answer, rules), normalised(reference, rules));
    if given.is_empty() || wanted.is_empty() {
        return Ok(false);
    }
    if is_same(&given, &wanted) {
        return Ok(true);
    }
    if how == How::Equal {
        return Ok(false);
    }
    pay((given.len() as u64).saturating_mul(wanted.len() as u64))?;
    let covers = given.len() <= wanted.len() + guards.extra_words
        && holds(&given, &wanted)
        && !is_open(answer, reference);
    let length = |words: &[String]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    #[expect(clippy::cast_precision_loss, reason = "texts are far shorter than 2^53")]
    let share = length(&given) as f64 / length(&wanted) as f64;
    let is_part = how == How::TwoWay
        && share >= guards.least_share
        && length(&given) >= 2
        && holds(&wanted, &given);
    Ok(covers || is_part)
}

/// Whether two lists have the same words, however they are written: `rock-n-roll`, `U.S.A.`, `10 000`.
fn is_same(one: &[String], two: &[String]) -> bool {
    one == two || joined(one) == joined(two) || joined(&grouped(one)) == joined(&grouped(two))
}

/// Whether the words of one list stand side by side in another one.
fn holds(all: &[String], part: &[String]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// How alike two lists of words are: the harmonic mean of precision and recall, each word as often as it
/// comes. Quadratic in the words.
pub fn likeness(one: &[String], two: &[String]) -> f64 {
    let mut left: Vec<&String> = two.iter().collect();
    for word in one {
        if let Some(at) = left.iter().position(|own| *own == word) {
            left.swap_remove(at);
        }
    }
    let all = one.len() + two.len();
    #[expect(clippy::cast_precision_loss, reason = "texts have far fewer words than 2^53")]
    if all == 0 { 0.0 } else { 2.0 * (two.len() - left.len()) as f64 / all as f64 }
}

/// Whether an answer offers or denies something that the reference does not: separators, joining and
/// denying words. Linear in both.
pub fn is_open(answer: &str, reference: &str) -> bool {
    const SEPARATORS: [char; 14] =
        [',', ';', '/', '|', '&', '+', '\n', '(', '[', '、', '，', '；', '•', '?'];
    let count = |text: &str| {
        let text = fold(text.trim().trim_end_matches(['.', '!', ' ']), true);
        let lines = text.lines().count();
        let signs = text.chars().filter(|c| SEPARATORS.contains(c)).count();
        let joins = words(&text)
            .filter(|(_, word)| has_word(JOINS, word) || has_word(DENIES, word))
            .count();
        (lines, signs + joins)
    };
    let (given, wanted) = (count(answer.trim()), count(reference.trim()));
    given.0 > wanted.0 || given.1 > wanted.1
}

/// Affirmations and denials.
static POLARITY: [(bool, &str); 2] = [
    (
        true,
        " yes yeah yep true correct right ja oui sí si sim da да так evet igen tak 是 是的 对 はい 예 네 हाँ نعم ja. yup affirmative ",
    ),
    (
        false,
        " no nope false incorrect wrong nein non não nao нет ні hayır nem nie nee 否 不 不是 いいえ 아니요 아니오 नहीं لا negative ",
    ),
];

/// Whether a text says yes or no: by its first word, and by no word for the other one before a comma or
/// the end of the first sentence. Linear in the text.
pub fn polarity(text: &str) -> Option<bool> {
    let folded = fold(text, true);
    let end =
        folded.find(['.', ',', '!', ';', ':', '\n', '。', '，', '、']).unwrap_or(folded.len());
    let says =
        |word: &str| POLARITY.iter().find(|(_, list)| has_word(list, word)).map(|(is, _)| *is);
    let head = folded[..end].trim();
    // "不是" is one word of several signs.
    let whole = says(head.trim_matches(|c: char| !c.is_alphanumeric() && !is_mark(c)));
    let mut said = words(head).map(|(_, word)| says(word));
    let first = whole.or_else(|| said.next().flatten())?;
    let denies = words(head)
        .skip(1)
        .any(|(_, word)| has_word(DENIES, word) || says(word).is_some_and(|other| other != first));
    (whole.is_some() || !denies).then_some(first)
}

/// Phrases by which an answer says that there is none.
pub fn is_unanswerable(text: &str) -> bool {
    phrase::find(text, &[Phrases::Unanswerable]).is_some()
}

/// The items of a list: the entries of lines with bullets or numbers, else what commas, semicolons or
/// bars separate, a last "and" before the last one. Linear in the text.
pub fn items(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let marked: Vec<&str> = lines.iter().filter_map(|line| bullet(line)).collect();
    if !marked.is_empty() {
        return marked;
    }
    if lines.len() > 1 {
        return lines;
    }
    let inner = text.trim().trim_end_matches('.');
    let inner = inner
        .strip_prefix(['[', '{', '('])
        .and_then(|inner| inner.strip_suffix([']', '}', ')']))
        .unwrap_or(inner);
    let mark =
        [';', '；', '|', '、', ','].into_iter().find(|mark| inner.contains(*mark)).unwrap_or('，');
    let mut parts: Vec<&str> = inner.split(mark).collect();
    if let Some(last) = parts.pop() {
        let bare = last.trim();
        let and = [" and ", " & ", " und ", " et ", " y ", " e ", " и "];
        let split = if bare.contains(mark) {
            None
        } else {
            and.iter().find_map(|and| bare.split_once(and))
        };
        match split {
            Some((one, two)) => parts.extend([one, two]),
            None => parts.push(
                ["and ", "& ", "und ", "et "]
                    .iter()
                    .find_map(|and| bare.strip_prefix(and))
                    .unwrap_or(bare),
            ),
        }
    }
    parts
        .into_iter()
        .map(|part| part.trim().trim_matches(['"', '\'', '“', '”', '`']))
        .filter(|part| !part.is_empty())
        .collect()
}

/// The text of a line behind a bullet or a number of a list. `None` where neither begins it.
pub fn bullet(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–', '+']) {
        return rest.strip_prefix(' ').map(str::trim);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')']).filter(|_| (1..=3).contains(&digits))?;
    rest.strip_prefix(' ').map(str::trim)
}

/// Whether a text stands in another one as whole words, both folded before. Linear in the text.
pub fn holds_words(text: &str, part: &str) -> Option<usize> {
    if part.trim().is_empty() {
        return None;
    }
    let is_part = |c: Option<char>| {
        c.is_some_and(|c| (c.is_alphanumeric() || is_mark(c) || c == '_') && !is_unspaced(c))
    };
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(text.as_bytes().get(from..)?, part.as_bytes()) {
        let (start, end) = (from + at, from + at + part.len());
        let before =
            text[..start].chars().next_back().filter(|_| part.starts_with(char::is_alphanumeric));
        let after = text[end..].chars().next().filter(|_| part.ends_with(char::is_alphanumeric));
        if !is_part(before) && !is_part(after) {
            return Some(start);
        }
        from = text.ceil_char_boundary(start + 1);
    }
    None
}
