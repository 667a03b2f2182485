//! A clause that judges an answer: a subject, a negation and a judgement.

#![expect(clippy::indexing_slicing, reason = "`at` is the place of a word of the clause")]

use std::ops::Range;

use super::cues::{Cue, Role};
use super::sentences::is_unspaced;
use super::values::Value;

/// Between a subject and what is said of it stand at most so many other words.
const GAP_MAX: usize = 3;
/// So many words may be left out of what is known before a judgement without a subject.
const ELIDED_MAX: usize = 1;
/// In a script without spaces, so many characters count as a word.
pub(super) const WORD_CHARS: usize = 3;

/// What a clause says of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Whether the clause says that the answer is right.
    pub(super) is_right: bool,
    /// Whether it says that the answer is not known to be right: "that was a guess".
    pub(super) is_guess: bool,
    pub(super) span: Range<usize>,
}

/// A part of a sentence between its commas, colons and dashes.
pub(super) struct Clause<'a> {
    pub(super) sentence: &'a str,
    pub(super) words: Vec<&'a Cue>,
    pub(super) range: Range<usize>,
    /// The values of the answer.
    own: &'a [Value],
    /// Whether nothing is said before it in its sentence.
    is_first: bool,
    /// How many unknown words precede each word, and the end.
    unknown: Vec<usize>,
    /// With how many words that stop the reader it begins.
    stops: usize,
}

impl<'a> Clause<'a> {
    /// The clause at a place of a sentence, whose words are in order.
    pub(super) fn new(
        sentence: &'a str,
        range: Range<usize>,
        words: &'a [Cue],
        own: &'a [Value],
        is_first: bool,
    ) -> Self {
        let first = words.partition_point(|word| word.span.start < range.start);
        let words = words.iter().skip(first);
        // A word with a comma in it belongs to where it starts: "keine Ahnung, ob".
        let words: Vec<&Cue> = words.take_while(|word| word.span.start <= range.end).collect();
        let stops = words.iter().take_while(|word| word.is(Role::Stop)).count();
        let mut clause = Self { sentence, words, range, own, is_first, unknown: Vec::new(), stops };
        let starts = clause.words.iter().map(|word| word.span.start).chain([clause.range.end]);
        let ends =
            [clause.range.start].into_iter().chain(clause.words.iter().map(|word| word.span.end));
        let gaps = ends.zip(starts).map(|(end, start)| clause.strange(end, start));
        clause.unknown = gaps
            .scan(0, |sum, gap| {
                *sum += gap;
                Some(*sum)
            })
            .collect();
        clause
    }
}

impl<'a> Clause<'a> {
    pub(super) fn is(&self, at: usize, role: Role) -> bool {
        self.words.get(at).is_some_and(|word| word.is(role))
    }

    pub(super) fn is_any(&self, at: usize, roles: &[Role]) -> bool {
        self.words.get(at).is_some_and(|word| word.is_any(roles))
    }

    pub(super) fn text(&self) -> &'a str {
        &self.sentence[self.range.clone()]
    }

    /// The text between two places. A word may end behind the second one.
    fn between(&self, from: usize, to: usize) -> &'a str {
        &self.sentence[from.min(to)..to]
    }

    /// How many words stand between two places that are not known.
    pub(super) fn strange(&self, from: usize, to: usize) -> usize {
        let gap = self.between(from, to);
        let unspaced = gap.chars().filter(|c| is_unspaced(*c)).count();
        // The names of LaTeX commands are no words.
        let words = gap.split(|c: char| !(c.is_alphanumeric() || "'\\".contains(c)));
        let is_word =
            |word: &&str| word.starts_with(|c: char| c.is_alphabetic() && !is_unspaced(c));
        words.filter(is_word).count() + unspaced.div_ceil(WORD_CHARS)
    }

    /// How many unknown words are between a word and the next one of the clause.
    fn gap(&self, at: usize) -> usize {
        self.gaps(at, at + 1)
    }

    /// How many unknown words are between two words.
    fn gaps(&self, from: usize, to: usize) -> usize {
        self.before(to).saturating_sub(self.before(from))
    }

    /// How many unknown words precede a word, or the end.
    pub(super) fn before(&self, at: usize) -> usize {
        self.unknown.get(at).or(self.unknown.last()).copied().unwrap_or(0)
    }

    /// The words by which the writer doubts what was said, and words of being sure next to a "not".
    /// With each, whether it needs no object: "I doubt", "I am not sure".
    pub(super) fn doubts(&self) -> impl Iterator<Item = (Range<usize>, bool)> {
        let denies = |at: usize| self.is(at, Role::Not);
        let is_unsure = move |at: usize| {
            let before = (0..at).rev().take(2).find(|before| denies(*before));
            let behind = (at + 1..self.words.len()).take(3).find(|behind| denies(*behind));
            before.is_some_and(|before| self.gaps(before, at) <= 1)
                || behind.is_some_and(|behind| self.gaps(at, behind) <= GAP_MAX)
        };
        let is_brief = self.all_unknown() <= GAP_MAX;
        self.words.iter().enumerate().filter_map(move |(at, word)| {
            let doubts = word.is(Role::Doubt) && !self.is_negated(at);
            let is_unsure = word.is(Role::Sure) && is_unsure(at);
            let is_last = (at + 1..self.words.len()).all(|at| self.is(at, Role::Not));
            let is_whole = doubts || self.has_writer(at) && is_last && self.after(at) == 0;
            (is_brief && (doubts || is_unsure)).then(|| (word.span.clone(), is_whole))
        })
    }

    /// Whether only words that stop the reader, the writer and "not" stand before a word, and a "not" does.
    fn negates_all(&self, at: usize) -> bool {
        let known = [Role::Stop, Role::I, Role::Not, Role::Is, Role::It, Role::Det];
        self.before(at) == 0
            && (0..at).all(|at| self.is_any(at, &known))
            && (0..at).any(|at| self.is(at, Role::Not))
    }

    /// How many unknown words it has.
    pub(super) fn all_unknown(&self) -> usize {
        self.before(self.words.len())
    }

    /// How many unknown words follow a word.
    fn after(&self, at: usize) -> usize {
        self.gaps(at, self.words.len())
    }

    /// Whether somebody else speaks in it: one with whom it begins, or before a verb of saying.
    pub(super) fn is_spoken_by(&self, who: &Cue) -> bool {
        let at = self.words.iter().position(|word| word.span == who.span).unwrap_or_default();
        self.before(at) <= 1 || (at + 1..self.words.len()).any(|at| self.is(at, Role::Say))
    }

    /// Who says what follows it: "most would say" at the end of a clause.
    pub(super) fn leads_to_said(&self) -> Option<Range<usize>> {
        let last = self.words.len().checked_sub(1)?;
        let who = (0..last).find(|at| self.is(*at, Role::Who))?;
        // "Many say 5, but the answer is 4" says what they say before it.
        let text = self.text();
        let says_nothing = self.gaps(who, last) <= 1 && Value::all(text).is_empty();
        let is_said = self.is(last, Role::Say) && self.after(last) == 0 && says_nothing;
        is_said.then(|| self.words.get(who).map(|who| who.span.clone()))?
    }

    /// The first word behind a place that is no verb like "is".
    pub(super) fn behind(&self, place: usize) -> Option<&'a Cue> {
        let mut words = self.words.iter().filter(|word| word.span.start >= place);
        words.find(|word| !word.is(Role::Is) || word.is(Role::Would)).copied()
    }

    /// The word with which it stops the reader, alone or before what the writer did: "wait", "hm I read it wrong".
    pub(super) fn halts(&self) -> Option<Range<usize>> {
        let at = (0..self.words.len()).find(|at| self.is(*at, Role::Halt))?;
        let goes_on = self.is_any(at + 1, &[Role::I, Role::It, Role::Not]) && self.gap(at) == 0;
        let is_alone = self.all_unknown() == 0 || goes_on;
        (self.before(at) == 0 && is_alone)
            .then(|| self.words.get(at).map(|word| word.span.clone()))?
    }

    /// Whether it has only words that stop the reader.
    pub(super) fn stops(&self) -> bool {
        let text = self.text();
        self.words.iter().all(|word| word.is_any(&[Role::Stop, Role::Not]))
            && self.before(self.words.len()) <= ELIDED_MAX
            && !text.contains(char::is_numeric)
    }

    /// Whether the words before a place only stop the reader.
    fn begins(&self, at: usize) -> bool {
        self.before(at) == 0 && at <= self.stops
    }

    /// The word of a brief clause that judges something wrong, whatever its subject.
    pub(super) fn objects(&self) -> Option<Range<usize>> {
        let at = (0..self.words.len()).find(|at| {
            let is_negated = self.is_negated(*at);
            self.is(*at, Role::Wrong) && !is_negated || self.is(*at, Role::Right) && is_negated
        })?;
        (self.all_unknown() <= GAP_MAX).then(|| self.words.get(at).map(|word| word.span.clone()))?
    }

    /// Whether a negation turns down what points at the answer, at the end of the clause: "and not this". In
    /// scripts without spaces it follows that.
    pub(super) fn turns_down(&self, at: usize) -> bool {
        let next = at + 1;
        let ends = self.is(next, Role::It)
            && self.gap(at) == 0
            && next + 1 == self.words.len()
            && self.after(next) == 0;
        let is_behind = |before: usize| self.is(before, Role::It) && self.gap(before) == 0;
        let follows = self.is(at, Role::Instead) && self.text().contains(is_unspaced);
        self.is(at, Role::Not) && (ends || follows && at.checked_sub(1).is_some_and(is_behind))
    }

    /// Whether it has a value that the answer might be replaced by.
    pub(super) fn has_other(&self) -> bool {
        Value::all(self.text()).iter().any(|value| value.is_other(self.own))
    }

    /// Whether a value that the answer might be replaced by stands near a word: not "either way, ... 5".
    pub(super) fn is_near_other(&self, word: &Range<usize>) -> bool {
        let others = Value::places(self.text()).into_iter();
        let others = others.filter(|(value, _)| value.is_other(self.own)).map(|(_, place)| place);
        others
            .map(|place| self.range.start + place.start..self.range.start + place.end)
            .map(|place| {
                if place.start >= word.end {
                    (word.end, place.start)
                } else {
                    (place.end, word.start)
                }
            })
            .any(|(from, to)| self.strange(from, to) <= GAP_MAX)
    }

    /// Whether a noun is that of the answer: "my answer", or "answer" where the clause begins.
    fn is_definite(&self, at: usize) -> bool {
        let has_det = at.checked_sub(1).is_some_and(|before| {
            self.is_any(before, &[Role::Det, Role::I]) && self.gap(before) == 0
        });
        has_det || self.begins(at)
    }

    pub(super) fn is_subject(&self, at: usize) -> bool {
        self.is(at, Role::It) || self.is(at, Role::Noun) && self.is_definite(at)
    }

    /// Whether a word negates what is behind it. "No that is wrong" begins with an interjection.
    fn negates(&self, at: usize) -> bool {
        let is_interjection = self.is(at, Role::Stop)
            && self.begins(at)
            && self.is_any(at + 1, &[Role::It, Role::Det, Role::I, Role::Noun])
            && self.gap(at) == 0;
        self.is(at, Role::Not) && !is_interjection
    }

    /// Whether "not" stands before a word, or next behind it.
    pub(super) fn is_negated(&self, at: usize) -> bool {
        let reach = if self.is(at, Role::Wrong) { 2 } else { 1 };
        // "No answer that fits" does not judge ours.
        let has_subject = (0..at).any(|at| self.is_subject(at));
        let is_near = |after: &usize| {
            let gap = self.between(self.words[at].span.end, self.words[*after].span.start);
            let reach = if self.is(at, Role::Wrong) { WORD_CHARS } else { 2 * WORD_CHARS };
            !gap.contains(is_unspaced) || gap.chars().count() <= reach
        };
        let after = (at + 1..self.words.len())
            .take_while(is_near)
            .take_while(|after| {
                self.gap(after - 1) <= reach && (has_subject || !self.is(*after, Role::Noun))
            })
            .take(reach + 1)
            .any(|after| self.is(after, Role::Not));
        (0..at).any(|at| self.negates(at)) || after
    }

    /// Whether a word denies the answer, before which the words of a clause end: "the answer cannot be".
    pub(super) fn is_negation_of(&self, at: usize, end: usize, answer: usize) -> bool {
        let known =
            [Role::Is, Role::Stop, Role::Det, Role::Right, Role::Not, Role::May, Role::Would];
        let is_plain = (at + 1..end).all(|at| self.is_any(at, &known));
        let last = end.checked_sub(1).and_then(|last| self.words.get(last));
        let last = last.map_or(answer, |last| last.span.end);
        let gap = self.gaps(at, end.saturating_sub(1));
        // "Not 3 but 4."
        let between = self.between(self.words[at].span.end, answer);
        let between = between.trim_end_matches(['$', '{', '*', ' ']).trim_end_matches("\\boxed");
        let between = between.trim_end_matches('$');
        self.is(at, Role::Not)
            && !between.contains(char::is_numeric)
            && Value::all(between).is_empty()
            && is_plain
            && gap + self.strange(last, answer) == 0
            && (0..at).any(|at| self.is_subject(at))
    }

    /// Whether only verbs like "is" stand between a word and the answer.
    pub(super) fn leads_to(&self, at: usize, end: usize, answer: usize) -> bool {
        let last = self.words.get(end.wrapping_sub(1)).map_or(answer, |word| word.span.end);
        let gap = self.gaps(at, end.saturating_sub(1));
        let links = (at + 1..end).filter(|at| self.is(*at, Role::Is)).count();
        gap + self.strange(last, answer) == 0 && links > 0 && links == end - at - 1
    }

    /// Whether a word stands next to a noun of the answer: "wrong answer", "false that the answer".
    pub(super) fn is_next_to_noun(&self, at: usize, end: usize) -> bool {
        let joins = [Role::Stop, Role::Det, Role::Is, Role::Say];
        let mut after = (at + 1..end).take_while(|after| self.gap(after - 1) == 0);
        let behind = after.find(|at| self.is(*at, Role::Noun) || !self.is_any(*at, &joins));
        let before = at.checked_sub(1).filter(|before| self.gap(*before) == 0);
        [behind, before].into_iter().flatten().any(|at| self.is(at, Role::Noun))
    }

    /// Whether another value than ours stands before a place in the sentence: "5 is wrong, since it does
    /// not fit".
    fn speaks_of_another(&self, to: usize) -> bool {
        let lead = &self.sentence[..to];
        let first = lead.trim_start().chars().next().unwrap_or(' ');
        let begins_word = lead.trim_start().chars().nth(1) == Some(' ');
        Value::all(lead).iter().any(|value| {
            // "I", and a word of one letter with which a sentence begins: "A resposta".
            let is_word = *value == Value::Letter('I')
                || begins_word && *value == Value::Letter(first) && "AEOYÀ".contains(first);
            !is_word && value.is_other(self.own)
        })
    }

    pub(super) fn judgements(&self, is_advice: bool) -> Vec<Judgement> {
        (0..self.words.len()).filter_map(|at| self.judgement(at, is_advice)).collect()
    }

    fn judgement(&self, at: usize, is_advice: bool) -> Option<Judgement> {
        let word = self.words.get(at)?;
        // "Without it we would count twice."
        let is_case = self.words.iter().any(|word| word.is(Role::Would));
        let takes_back = word.is(Role::Slip) && !is_case && self.errs(at)
            || word.is(Role::Undo) && !is_advice && self.undoes(at);
        // "The provisional 18 was multiplied by 2" speaks of another value.
        let values = || Value::all(self.text());
        let is_guess = word.is(Role::Guess)
            && !self.is_negated(at)
            && !values().iter().any(|value| value.is_other(self.own));
        if takes_back || is_guess || word.is(Role::Say) && self.disclaims(at) {
            return Some(Judgement { is_right: false, is_guess, span: word.span.clone() });
        }
        // "This is not the right answer."
        let has_named = (0..at).any(|at| self.is_subject(at));
        let is_right =
            word.is(Role::Right) || word.is(Role::Instead) && has_named && self.is_negated(at);
        // "I could be wrong about the details."
        let is_open = word.is(Role::Wrong)
            && (0..at).any(|at| self.is(at, Role::May) && !self.is(at, Role::Not));
        if !(word.is(Role::Wrong) || is_right) || is_open || !self.has_subject(at) {
            return None;
        }
        let is_right = is_right != self.is_negated(at);
        Some(Judgement { is_right, is_guess: false, span: word.span.clone() })
    }

    /// Whether the writer is named before a word.
    fn has_writer(&self, at: usize) -> bool {
        (0..at).any(|at| self.is(at, Role::I))
    }

    /// Whether the writer says that he erred.
    fn errs(&self, at: usize) -> bool {
        let has_writer = self.has_writer(at);
        let text = self.text();
        let is_near = self.before(at) <= 2 || text.contains(is_unspaced);
        // "5 is a careless choice."
        let is_other = !has_writer && self.speaks_of_another(self.words[at].span.start);
        (has_writer || is_near) && !is_other && !self.is_negated(at)
    }

    /// "I am not claiming that 4 is right."
    fn disclaims(&self, at: usize) -> bool {
        let is_near = |other: usize, gap: usize| self.is(other, Role::Not) && self.gap(gap) == 0;
        let is_denied =
            at.checked_sub(1).is_some_and(|before| is_near(before, before)) || is_near(at + 1, at);
        let rest = &self.sentence[self.words[at].span.end..];
        let says_own = || Value::all(rest).iter().any(|value| self.own.contains(value));
        is_denied && (0..at).any(|at| self.is(at, Role::I)) && says_own()
    }

    /// Whether it takes the answer back, or asks to pass over it.
    fn undoes(&self, at: usize) -> bool {
        let is_object = |other: usize| other != at && self.is_subject(other);
        let after = (at + 1..self.words.len()).scan(0, |gap, after| {
            *gap += self.gap(after - 1);
            Some((after, *gap))
        });
        let before = (0..at).rev().scan(0, |gap, before| {
            *gap += self.gap(before);
            Some((before, *gap))
        });
        let near = |(other, gap): &(usize, usize)| *gap <= 1 && is_object(*other);
        let has_object =
            after.take(4).any(|one| near(&one)) || before.take(4).any(|one| near(&one));
        let is_last = at + 1 == self.words.len() && self.gap(at) == 0;
        let is_own = is_last && (0..at).any(|at| self.is(at, Role::I)) && self.before(at) <= 2;
        // "Je la retire", and what holds its object: "das nehme ich zurück".
        let has_clitic = at
            .checked_sub(1)
            .is_some_and(|before| self.is(before, Role::Det) && self.gap(before) == 0)
            && !self.speaks_of_another(self.words[at].span.start);
        let is_phrase = self.words.get(at).and_then(|word| self.sentence.get(word.span.clone()));
        let is_phrase = is_phrase.is_some_and(|phrase| phrase.trim().contains(' '));
        let text = self.text();
        let values = Value::all(text);
        let is_alone = self.is_first
            && self.before(at) == 0
            && self.after(at) <= ELIDED_MAX
            && values.is_empty()
            && !text.contains(char::is_numeric);
        // "We can discard the options C and D", but "replace the answer by 5".
        let is_other = values.iter().any(|value| value.is_other(self.own));
        let is_replaced = has_object && self.names_no_value(at);
        let is_phrase = is_phrase && self.before(at) == 0;
        (is_replaced || !is_other && (has_object || is_own || has_clitic || is_phrase || is_alone))
            && !self.is_negated(at)
            && !self.words.iter().any(|word| word.is(Role::Other))
    }

    /// Whether no value stands next to a noun of the answer: "the answer above", and not "the answer 5".
    fn names_no_value(&self, but: usize) -> bool {
        let text = self.text();
        let places = Value::places(text)
            .into_iter()
            .map(|(_, place)| place.start + self.range.start..place.end + self.range.start);
        let nouns = (0..self.words.len()).filter(|at| *at != but && self.is_subject(*at));
        let nouns: Vec<&Range<usize>> =
            nouns.filter_map(|at| self.words.get(at)).map(|word| &word.span).collect();
        places.into_iter().all(|place| {
            nouns.iter().all(|noun| {
                let is_behind = place.start >= noun.end;
                let (from, to) =
                    if is_behind { (noun.end, place.start) } else { (place.end, noun.start) };
                self.between(from, to).contains(char::is_alphabetic)
            })
        })
    }

    /// "There is an error in the second step."
    fn is_there(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is(before, Role::Is))
            && self.is(at, Role::Wrong)
            && self.before(at) == 0
            && (0..at).all(|at| self.is_any(at, &[Role::Stop, Role::Is]))
    }

    /// Whether a judgement is one on the answer.
    fn has_subject(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        // What is said of another value: "5 is wrong, since it does not fit".
        let speaks = |at: usize| {
            self.words.get(at).is_none_or(|word| !self.speaks_of_another(word.span.start))
        };
        // "The value 5 is wrong."
        let subject = |subject: usize| {
            let next = (subject + 1..at).find(|at| self.is_any(*at, &[Role::Is, Role::Not]));
            speaks(next.unwrap_or(at))
        };
        let mut gap = 0;
        for before in (0..at).rev() {
            gap += self.gap(before);
            if gap > GAP_MAX {
                return false;
            }
            if self.is(before, Role::It) {
                // "No other answer that fits."
                let noun = before.checked_sub(1).filter(|noun| self.gap(*noun) == 0);
                let noun = noun.filter(|noun| self.is(*noun, Role::Noun));
                return subject(before) && noun.is_none_or(|noun| self.is_definite(noun));
            }
            if self.is(before, Role::Noun) {
                // "The negative solution is wrong", "la solución negativa está mal".
                let is_ours = self.gap(before) == 0 && self.is_definite(before);
                // "I used a number that was wrong."
                let is_object = word.is(Role::Wrong) && self.has_writer(before);
                if is_ours || !is_object {
                    return is_ours && subject(before);
                }
            }
            // "I am wrong", "nor do I believe that".
            let is_ours = word.is(Role::Wrong) || self.is(at, Role::Right) && self.negates_all(at);
            if self.is(before, Role::I) && is_ours {
                return subject(before);
            }
        }
        if !speaks(at) {
            return false;
        }
        let has_link =
            at.checked_sub(1).is_some_and(|before| self.is_any(before, &[Role::Is, Role::Not]));
        if self.is_first && self.is_there(at) {
            return true;
        }
        // "Je ne maintiens pas cette conclusion."
        let is_denied = self.is(at + 1, Role::Not) && self.gap(at) == 0 && self.gap(at + 1) == 0;
        if is_denied && self.has_writer(at) && (self.is_subject(at + 2) || self.is_subject(at + 3))
        {
            return true;
        }
        // "Wrong is my answer."
        if self.gap(at) == 0
            && (self.is_subject(at + 1) && (has_link || self.begins(at))
                || self.is(at + 1, Role::Det) && self.is_subject(at + 2))
        {
            return true;
        }
        // "Wrong." In a later clause the judgement needs a verb: "but is not right".
        let lead = &self.sentence[..word.span.start];
        (self.is_first || has_link)
            && self.before(at) <= ELIDED_MAX
            && (0..at).all(|at| self.is_any(at, &[Role::Stop, Role::Is, Role::Not]))
            && self.after(at) <= if has_link { GAP_MAX } else { 0 }
            && !(self.is(at + 1, Role::Noun) && self.gap(at) == 0)
            && Value::all(lead).iter().all(|value| self.own.contains(value))
    }
}
