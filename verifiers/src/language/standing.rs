//! Whether an answer still stands at the end of its text: what is said before it in its sentence, and
//! in the sentences behind it.
//!
//! A remark is innocent unless it takes the answer back or offers another one; numbers in it are no
//! answers.

use std::ops::Range;

use super::clause::Judgement;
use super::cues::{self, Cue, Cues, Role};
use super::guess::Languages;
use super::sentences::{self, is_asked};
use super::statement::Sentence;
use super::values::Value;

/// So many bytes behind an answer are read.
const TAIL_MAX: usize = 1500;
/// The most sentences behind it.
const SENTENCES_MAX: usize = 16;
/// The most bytes of its own sentence before it.
const LEAD_MAX: usize = 240;
/// Between a phrase that offers or denies and the value stand at most so many letters.
const GAP_LETTERS_MAX: usize = 24;
/// So many sentences behind an answer may say that it is not known whether it holds.
const UNKNOWN_WITHIN: usize = 3;
/// Between a doubt and what it is about stand at most so many letters.
const OBJECT_LETTERS_MAX: usize = 16;
/// What parts clauses.
pub(super) const BORDERS: [char; 10] = [',', ';', ':', '，', '；', '：', '、', '—', '–', '…'];
/// Marks that judge a value wrong.
const CROSSES: [char; 6] = ['❌', '✗', '✘', '✖', '❎', '👎'];
/// One of them on a line of its own judges the answer before it, within so many lines.
const CROSS_WITHIN: usize = 4;
/// What closes an answer.
const CLOSERS: [char; 5] = ['}', '$', '*', '_', ')'];
/// What may stand between a denial and the value.
const OPENERS: &str = "*_`$\\({[\"'“«「";

/// What a text says of an answer. The ranges are those of the phrases by which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is said against it.
    Stands,
    /// It is taken back: "17. I made a mistake."
    Retracted(Range<usize>),
    /// Another one is offered beside it: "17. It could also be 18."
    Hedged(Range<usize>),
    /// It is only supposed, or said by another: "if the answer were 17".
    Supposed(Range<usize>),
    /// It is denied: "the answer is not 17".
    Denied(Range<usize>),
}

impl Standing {
    /// The same of a text that starts at a place of another.
    fn moved(self, by: usize) -> Self {
        let moved = |place| shifted(&place, by);
        match self {
            Self::Stands => Self::Stands,
            Self::Retracted(place) => Self::Retracted(moved(place)),
            Self::Hedged(place) => Self::Hedged(moved(place)),
            Self::Supposed(place) => Self::Supposed(moved(place)),
            Self::Denied(place) => Self::Denied(moved(place)),
        }
    }

    /// Why the answer is not paid, and the place of the words that say so; `None` where it stands.
    pub fn against(self) -> Option<Against> {
        let (reason, place) = match self {
            Self::Stands => return None,
            Self::Retracted(place) => ("retracted", place),
            Self::Hedged(place) => ("hedge", place),
            Self::Supposed(place) => ("supposed", place),
            Self::Denied(place) => ("denied", place),
        };
        Some(Against { reason, span: (place.start, place.end) })
    }
}

/// A place in a text that starts at a place of another, in the other.
fn shifted(place: &Range<usize>, by: usize) -> Range<usize> {
    place.start + by..place.end + by
}

/// What speaks against an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    /// `retracted`, `hedge`, `supposed` or `denied`.
    pub reason: &'static str,
    /// The words that say so.
    pub span: (usize, usize),
}

/// What a text says of the answer at `span`, which may be written as `also` elsewhere.
pub fn of(text: &str, span: Range<usize>, also: &str) -> Standing {
    let mut own = Value::own(&text[span.clone()]);
    own.extend(Value::own(also));
    let span = span.start..span.start + value_end(&text[span.clone()]);
    let languages = Languages::of(text);
    match within(text, &own, &span, &languages) {
        Standing::Stands => after(text, &own, span.end, &languages),
        standing => standing,
    }
}

/// What leaves an answer open that nothing announces.
pub(crate) const OPEN: [Role; 4] = [Role::Guess, Role::Doubt, Role::May, Role::Would];

/// Whether a text leaves an answer open that ends at a place and that nothing announces: behind it its writer
/// does something that leaves it `open`, or denies something of himself, "I have not read the text".
pub(crate) fn leaves_open(text: &str, end: usize, open: &[Role]) -> bool {
    let languages = Languages::of(text);
    behind(text, end, &languages).any(|said| {
        said.has(open) || said.has(&[Role::I]) && said.has(&[Role::Not, Role::NotOffer])
    })
}

/// Whether the writer leaves open, behind what another says or what holds in a case, whether it is so: "I did
/// not check it", "the task does not say whether it is".
fn is_unknown(text: &str, end: usize, is_of_another: bool, languages: &Languages<'_>) -> bool {
    let mut is_unknown = false;
    for said in behind(text, end, languages).take(UNKNOWN_WITHIN) {
        if said.has(&[Role::Reaffirm, Role::Fixed, Role::Right]) {
            return false;
        }
        is_unknown |= said.has(&[Role::Guess, Role::Doubt])
            || said.has(&[Role::Not])
                && (said.has(&[Role::Say, Role::Sure]) || is_of_another && said.has(&[Role::I]));
    }
    is_unknown
}

/// What the sentences behind a place have.
fn behind(text: &str, end: usize, languages: &Languages<'_>) -> impl Iterator<Item = Cues> {
    let behind = &text[end..text.floor_char_boundary(end + TAIL_MAX)];
    let mut start = 0;
    sentences::ends(behind).chain([behind.len()]).map(move |end| {
        let from = std::mem::replace(&mut start, end);
        cues::all(&behind[from..end], languages)
    })
}

/// Where the value of an answer ends that was read with the words behind it: "42になるでしょう".
fn value_end(answer: &str) -> usize {
    let places = Value::places(answer);
    let [(_, place)] = places.as_slice() else { return answer.len() };
    let (lead, rest) = (answer.get(..place.start), answer.get(place.end..));
    let is_led = lead.is_none_or(|lead| lead.contains(char::is_alphabetic));
    let has_words = rest.is_some_and(|rest| rest.contains(sentences::is_unspaced));
    if !is_led && has_words { place.end } else { answer.len() }
}

/// What phrases of its own sentence, which starts at a place, say before it.
fn before(
    text: &str,
    start: usize,
    span: &Range<usize>,
    found: &[Cue],
    languages: &Languages<'_>,
) -> Standing {
    let lead = &text[start..span.start];
    let place = |cue: &Cue| shifted(&cue.span, start);
    let end = found.partition_point(|cue| cue.span.end <= lead.len());
    let (found, _) = found.split_at(end);
    // What is contrasted with what was supposed or denied stands, "not 3 but 4", and what is said to be right.
    let turns = |cue: &Cue| cue.is(Role::Contrast) || cue.is(Role::Reaffirm);
    let turn = found.iter().rposition(turns);
    let (_, found) = found.split_at(turn.map_or(0, |turn| turn + 1));
    let gap = |cue: &Cue| &lead[cue.span.end..];
    // What is supposed in another clause is a condition of the question.
    let governs = |cue: &&Cue| !gap(cue).contains([',', ';', ':', '，', '；', '、', '：']);
    // What another says is his, in which clause ever.
    let supposes = |cue: &&Cue| cue.is(Role::Report) || cue.is(Role::Suppose) && governs(cue);
    let first = found.iter().find(supposes);
    if let Some(supposed) = first.filter(|_| !is_confirmed(text, span.end, languages)) {
        return Standing::Supposed(place(supposed));
    }
    let against = |cue: &&Cue| {
        let is_clause = lead.get(cue.span.clone()).is_some_and(|said| said.contains([',', '，']));
        let next = gap(cue).replace("boxed", "");
        let is_next = next.chars().all(|c| c.is_whitespace() || OPENERS.contains(c));
        cue.is(Role::Deny) && (is_next || is_clause && governs(cue))
    };
    let denied = found.iter().rfind(against);
    denied.map_or(Standing::Stands, |denied| Standing::Denied(place(denied)))
}

/// Whether the rest of a sentence says that what another says is right: "and I can confirm it".
fn is_confirmed(text: &str, end: usize, languages: &Languages<'_>) -> bool {
    let rest = &text[end..text.floor_char_boundary(end + LEAD_MAX)];
    let rest = &rest[..sentences::ends(rest).next().unwrap_or(rest.len())];
    cues::of(rest, languages).iter().any(|cue| cue.is(Role::Reaffirm))
        || cues::words(rest, languages).iter().any(|word| word.is(Role::Fixed))
}

/// What its own sentence says, and the one before it.
fn within(text: &str, own: &[Value], span: &Range<usize>, languages: &Languages<'_>) -> Standing {
    let from = text.ceil_char_boundary(span.start.saturating_sub(LEAD_MAX));
    let start = from + sentences::last_start(&text[from..span.start]);
    let tail = &text[span.end..text.floor_char_boundary(span.end + LEAD_MAX)];
    let end = span.end + sentences::ends(tail).next().unwrap_or(tail.len());
    let sentence = &text[start..end];
    let Cues { phrases, words } = cues::all(sentence, languages);
    let said = before(text, start, span, &phrases, languages);
    if said != Standing::Stands {
        return said;
    }
    let place = |words| shifted(&words, start);
    let lead = words.partition_point(|word| word.span.end <= span.start - start);
    let has_writer = words.iter().take(lead).any(|word| word.is(Role::I));
    let is_own = has_writer || phrases.iter().any(|cue| cue.is(Role::Conclude));
    let alleged = words.iter().enumerate().find(|(at, word)| {
        let is_said = word.is(Role::Say) && !word.is(Role::Noun);
        word.is_any(&[Role::If, Role::Who]) || is_said && *at < lead && !is_own
    });
    let alleged = alleged.map(|(_, word)| word);
    let alleged = alleged.or(phrases.iter().find(|cue| cue.is_any(&[Role::Report, Role::Suppose])));
    let is_open = |cue: &&Cue| {
        let is_of_another = !cue.is_any(&[Role::If, Role::Suppose]);
        is_unknown(text, span.end, is_of_another, languages)
    };
    if let Some(cue) = alleged.filter(is_open) {
        return Standing::Supposed(place(cue.span.clone()));
    }
    let sentence = Sentence::new(sentence, &words, own);
    let answer = span.start - start..span.end - start;
    if let Some(words) = sentence.guesses(&answer) {
        return Standing::Supposed(place(words));
    }
    let supposed = sentence.supposes(&answer);
    if let Some(words) = supposed.filter(|_| !is_confirmed(text, span.end, languages)) {
        return Standing::Supposed(place(words));
    }
    // What the sentence before it says of what follows.
    let earlier = text[..start].trim_end();
    let near = earlier.ceil_char_boundary(earlier.len().saturating_sub(LEAD_MAX));
    let inner =
        earlier.trim_end_matches(|c: char| c.is_ascii_punctuation() || "。：！？".contains(c));
    let from = near + inner.get(near..).map_or(0, sentences::last_start);
    let said = &earlier[from..];
    // One with numbers works something out.
    let may_disown = said.ends_with([':', '：']) || !said.contains(char::is_numeric);
    let disowned = may_disown
        .then(|| Sentence::new(said, &cues::words(said, languages), own).disowns())
        .flatten();
    if let Some(words) = disowned {
        return Standing::Supposed(shifted(&words, from));
    }
    if let Some(words) = sentence.denies(&answer) {
        return Standing::Denied(place(words));
    }
    sentence.leaves_open(&answer).map_or(Standing::Stands, |words| Standing::Hedged(place(words)))
}

/// What is said behind it.
fn after(text: &str, own: &[Value], end: usize, languages: &Languages<'_>) -> Standing {
    let behind = &text[end..];
    let closed = behind.trim_start_matches(CLOSERS);
    let tag = closed.strip_prefix("</").and_then(|tag| tag.split_once('>'));
    let end = text.len() - tag.map_or(closed, |(_, rest)| rest).len();
    let tail = &text[end..text.floor_char_boundary(end + TAIL_MAX)];
    if let Some(cross) = crossed(tail) {
        return Standing::Retracted(shifted(&cross, end));
    }
    if !tail.contains(char::is_alphabetic) {
        return Standing::Stands;
    }
    let sentences = Said::all(tail, own, languages);
    if let Some(name) = member_beside(tail, own, languages) {
        return Standing::Hedged(shifted(&name, end));
    }
    for (at, (range, said)) in sentences.iter().enumerate() {
        let sentence = &tail[range.clone()];
        let from = end + range.start;
        let place = |cue: &Cue| shifted(&cue.span, from);
        // "Wait, it asks for the opposite. Then it is D."
        let rest = sentences.iter().skip(at).map(|(_, said)| said);
        if let Some(halt) = &said.halt
            && rest.clone().rev().find_map(|said| said.ends_with_other) == Some(true)
            && !rest.clone().any(|said| said.reaffirms(0))
        {
            return Standing::Retracted(shifted(halt, from));
        }
        let next = sentences.get(at + 1).map(|(_, next)| next);
        // "17? No."
        if at == 0 && is_asked(sentence) && next.is_some_and(|next| next.begins_with_no) {
            return Standing::Denied(from..from + sentence.len());
        }
        if let Some(taken) = said.retracts(sentence, next, at == 0) {
            return Standing::Retracted(shifted(&taken, from));
        }
        let found = &said.cues;
        // What the text says of the same value elsewhere.
        let again = if at == 0 { Standing::Stands } else { said.again.clone() };
        if again != Standing::Stands {
            return again.moved(from);
        }
        if let Some(words) = &said.relativised {
            return Standing::Supposed(shifted(words, from));
        }
        if let Some(denied) = denies_again(sentence, found, own) {
            return Standing::Denied(place(denied));
        }
        let offered = offers(sentence, found, own, at == 0);
        if let Some(offered) = offered.filter(|_| !said.is_slip_of_others) {
            return Standing::Hedged(place(offered));
        }
        let doubted = said.doubted.as_ref().filter(|_| at > 0);
        if let Some(offered) = said.offered.as_ref().or(doubted) {
            return Standing::Hedged(shifted(offered, from));
        }
    }
    Standing::Stands
}

/// A cross on a line of its own.
fn crossed(tail: &str) -> Option<Range<usize>> {
    let is_cross = |line: &&str| line.contains(CROSSES) && !line.contains(char::is_alphanumeric);
    tail.lines().take(CROSS_WITHIN).find(is_cross).map(|line| sentences::range_in(tail, line))
}

/// The name of another member of a JSON object that has another answer: `"answer_2": 16`.
fn member_beside(tail: &str, own: &[Value], languages: &Languages<'_>) -> Option<Range<usize>> {
    let members = tail.strip_prefix('"').unwrap_or(tail).trim_start().strip_prefix(',')?;
    let mut members = members.split('}').next()?.split(',');
    members.find_map(|member| {
        let (name, value) = member.split_once(':')?;
        let Cues { phrases, words } = cues::all(&name.replace('_', " "), languages);
        let is_answer = name.contains("answer")
            || phrases.iter().any(|cue| cue.is_any(&[Role::Offer, Role::Result]))
            || words.iter().any(|word| word.is_any(&[Role::Noun, Role::Right, Role::Also]));
        let value = value.trim().trim_matches('"');
        let is_bare = value.len() == 1 || value.chars().all(|c| c.is_numeric() || ".,".contains(c));
        let has_other = is_bare && Value::own(value).iter().any(|value| value.is_other(own));
        (is_answer && has_other).then(|| sentences::range_in(tail, name))
    })
}

/// What a sentence behind an answer says.
struct Said {
    cues: Vec<Cue>,
    judgements: Vec<Judgement>,
    /// By what it offers another value.
    offered: Option<Range<usize>>,
    /// The word by which it doubts the answer.
    doubted: Option<Range<usize>>,
    /// Whether it says what somebody did wrong who has another value.
    is_slip_of_others: bool,
    /// By what it lets the answer hold in another case, or for another.
    relativised: Option<Range<usize>>,
    /// What it says of the answer where it has it again.
    again: Standing,
    /// Where it begins to speak of another case, somebody else, or another value.
    until: usize,
    /// Whether it begins with a word that denies.
    begins_with_no: bool,
    /// The word by which it stops the reader.
    halt: Option<Range<usize>>,
    /// Whether its last value is another one, where it has values.
    ends_with_other: Option<bool>,
}

impl Said {
    /// What the sentences of a text say, but for those that ask for another value and refuse it.
    fn all(text: &str, own: &[Value], languages: &Languages<'_>) -> Vec<(Range<usize>, Self)> {
        let mut start = 0;
        let ends = sentences::ends(text).take(SENTENCES_MAX).chain([text.len()]);
        let ranges = ends.map(|end| std::mem::replace(&mut start, end)..end);
        let said = |range: Range<usize>| (range.clone(), Self::of(&text[range], own, languages));
        let mut all: Vec<_> = ranges.map(said).collect();
        // "Could it be 18? No, that is too much."
        let refutes = |pair: &[(Range<usize>, Self)]| {
            let [(range, asked), (next, said)] = pair else { return false };
            let no = text[next.clone()].trim().split(BORDERS).next();
            is_asked(&text[range.clone()])
                && asked.ends_with_other == Some(true)
                && said.begins_with_no
                && no.is_some_and(|no| !no.contains(' '))
                && said.ends_with_other != Some(true)
        };
        while let Some(at) = all.windows(2).skip(1).position(refutes) {
            all.drain(at + 1..at + 3);
        }
        all
    }

    fn of(text: &str, own: &[Value], languages: &Languages<'_>) -> Self {
        let Cues { phrases: mut cues, words } = cues::all(text, languages);
        // "I can't tell" offers.
        let holds = |word: &Cue, cue: &Cue| {
            word.span.start <= cue.span.start && cue.span.end <= word.span.end
        };
        cues.retain(|cue| {
            !(cue.is(Role::NotOffer)
                && words.iter().any(|word| word.is(Role::May) && holds(word, cue)))
        });
        let begins_with_no = words.first().is_some_and(|word| {
            word.is(Role::Not) && !text[..word.span.start].contains(char::is_alphabetic)
        });
        let sentence = Sentence::new(text, &words, own);
        // "If you got 18, you probably skipped a step."
        let has = |role| words.iter().any(|word: &Cue| word.is(role));
        let is_slip_of_others = has(Role::If) && has(Role::Slip) && !has(Role::I);
        let is_excluded = is_slip_of_others
            || cues.iter().any(|cue| cue.is_any(&[Role::Past, Role::Verify, Role::Report]));
        let offered = if is_excluded { None } else { sentence.offers() };
        // "To practise, change the numbers."
        let is_advice = cues.iter().any(|cue| cue.is(Role::Remark));
        let relativised = sentence.relativises(is_advice);
        let places = Value::places(text);
        let is_known = |value: &&Value| own.contains(value) || value.is_other(own);
        let ends_with_other = places.iter().rev().filter(|(_, place)| !sentence.counts(place));
        let ends_with_other = ends_with_other.map(|(value, _)| value).find(is_known);
        let ends_with_other = ends_with_other.map(|value| !own.contains(value));
        let objects = || sentence.objects().filter(|_| !is_advice);
        let doubted = sentence.doubts().or_else(objects);
        // "Doubts? Put it in."
        let is_excluded = is_excluded || is_asked(text);
        let doubted = doubted.filter(|doubt| !is_excluded && !is_resolved(text, &cues, doubt));
        let mut judgements = sentence.judgements(is_advice);
        if ends_with_other == Some(true) {
            // What is right is the other value.
            let is_fixed = |one: &Judgement| {
                words.iter().any(|word| word.is(Role::Fixed) && word.span == one.span)
            };
            judgements.retain(|one| !one.is_right || is_fixed(one));
        }
        let phrase = cues.iter().find(|cue| cue.is(Role::Retract));
        let is_of_another = phrase.is_some_and(|cue| sentence.speaks_of_another(cue.span.start));
        let until = if is_of_another { 0 } else { sentence.until() };
        Self {
            cues,
            judgements,
            offered,
            doubted,
            is_slip_of_others,
            relativised,
            again: again(&sentence, &places, own),
            until,
            begins_with_no,
            halt: sentence.halts(),
            ends_with_other,
        }
    }

    /// By what it takes back what was said before it.
    fn retracts(&self, sentence: &str, next: Option<&Self>, is_own: bool) -> Option<Range<usize>> {
        let counts = |cue: &&Cue| cue.is(Role::Retract) && cue.span.start < self.until;
        let phrase = self.cues.iter().find(counts).map(|cue| &cue.span);
        let judged = self.judgements.iter().find(|one| !one.is_right).map(|one| &one.span);
        let span = phrase.into_iter().chain(judged).min_by_key(|span| span.start)?;
        let is_before = |cue: &&Cue| cue.span.end <= span.start;
        // "A guess until I have worked it out", and "I can't say whether it is right".
        let is_guess = self.judgements.iter().any(|one| one.is_guess && one.span == *span);
        let mut past = self.cues.iter().filter(|cue| cue.is(Role::Past));
        let is_other = past.any(|cue| !is_guess || is_before(&cue))
            || !is_own
                && (self.cues.iter().take_while(is_before))
                    .any(|cue| cue.is(Role::Suppose) || cue.is(Role::Report));
        // "An estimate by eye gives as much, so the result is plausible."
        let turns = |cue: &&Cue| cue.is_any(&[Role::Conclude, Role::Contrast]) && !is_before(cue);
        let turn = self.cues.iter().find(turns).map(|cue| cue.span.start);
        let from = if is_guess { turn } else { Some(span.start) };
        let is_resolved = from.is_some_and(|from| self.reaffirms(from))
            || next.is_some_and(|next| next.reaffirms(0));
        (!is_other && !is_asked(sentence) && !is_resolved).then(|| span.clone())
    }

    /// Whether it says from a place on that the answer is right.
    fn reaffirms(&self, from: usize) -> bool {
        let phrases = self.cues.iter().filter(|cue| cue.is(Role::Reaffirm)).map(|cue| &cue.span);
        let judged = self.judgements.iter().filter(|one| one.is_right).map(|one| &one.span);
        // "正しいはずがない" holds the phrase for "right".
        let is_denied = |span: &Range<usize>| {
            (self.judgements.iter().filter(|one| !one.is_right))
                .any(|one| one.span.start < span.end && span.start < one.span.end)
        };
        let phrases = phrases.filter(|span| !is_denied(span));
        phrases.chain(judged).any(|span| span.start >= from)
    }
}

/// What a sentence says of the answer where it has it again.
fn again(sentence: &Sentence<'_>, places: &[(Value, Range<usize>)], own: &[Value]) -> Standing {
    let said = |place: &Range<usize>| {
        (sentence.supposes(place).map(Standing::Supposed))
            .or_else(|| sentence.denies(place).map(Standing::Denied))
            .or_else(|| sentence.replaces(place).map(Standing::Hedged))
    };
    let mut own = places.iter().filter(|(value, _)| own.contains(value));
    own.find_map(|(_, place)| said(place)).unwrap_or(Standing::Stands)
}

/// Whether a sentence says that the answer is right, and not only as the object of its doubt: "I doubt that it is
/// right".
fn is_resolved(sentence: &str, cues: &[Cue], doubt: &Range<usize>) -> bool {
    let is_apart = |right: &Cue| {
        let between = sentence.get(doubt.end..right.span.start);
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        right.span.start < doubt.start
            || between.is_some_and(|between| letters(between) > OBJECT_LETTERS_MAX)
            || cues.iter().any(|cue| {
                cue.is(Role::Contrast)
                    && doubt.end <= cue.span.start
                    && cue.span.end <= right.span.start
            })
    };
    cues.iter().any(|cue| cue.is(Role::Reaffirm) && is_apart(cue))
}

/// The phrase by which a sentence denies the answer: "15. The answer is not 15."
fn denies_again<'c>(sentence: &str, found: &'c [Cue], own: &[Value]) -> Option<&'c Cue> {
    found.iter().filter(|cue| cue.is(Role::Deny)).find(|cue| {
        let behind = &sentence[cue.span.end..];
        let value = behind.trim_start_matches(|c: char| c.is_whitespace() || OPENERS.contains(c));
        let word = value.split(|c: char| c.is_whitespace() || ".;!。，".contains(c)).next();
        let denied = Value::own(word.unwrap_or_default());
        // "Not 15 apples but 15 pears" says of what there are 15.
        !denied.is_empty()
            && denied.iter().all(|one| own.contains(one))
            && !found.iter().any(|cue| cue.is(Role::Contrast))
    })
}

/// The phrase by which a sentence offers another value than the answer. In the sentence of the answer
/// itself it comes first.
fn offers<'c>(sentence: &str, found: &'c [Cue], own: &[Value], is_own: bool) -> Option<&'c Cue> {
    let excluded =
        |cue: &Cue| cue.is_any(&[Role::NotOffer, Role::Past, Role::Verify, Role::Report]);
    if found.iter().any(excluded) {
        return None;
    }
    found.iter().filter(|cue| cue.is(Role::Offer)).find(|cue| {
        let lead = &sentence[..cue.span.start];
        let phrase = &sentence[cue.span.clone()];
        let behind = &sentence[cue.span.end..];
        let is_strong = phrase.contains(' ') || phrase.chars().count() > 3 && !phrase.is_ascii();
        let is_early = !is_own && is_strong && lead.split_whitespace().nth(3).is_none();
        let is_first = is_early || !lead.contains(char::is_alphabetic);
        let near = |text: &str| Value::all(text).iter().any(|value| value.is_other(own));
        let reach: String = near_behind(behind).collect();
        (is_first && near(&reach)) || (is_strong && !is_own && (near(&reach) || near(lead)))
    })
}

/// What stands near behind a phrase.
fn near_behind(behind: &str) -> impl Iterator<Item = char> {
    let mut letters = 0;
    behind.chars().take_while(move |c| {
        letters += usize::from(c.is_alphabetic());
        letters <= GAP_LETTERS_MAX
    })
}
