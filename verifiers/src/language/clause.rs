//! What clauses say of an answer, composed of words: "that is not right", "my calculation was wrong", "I
//! misread the question", "please disregard the box", "some would say it is 4".

use std::ops::Range;

use super::cues::{Cue, Role};
use super::sentences::is_unspaced;
use super::values::Value;

/// Between a subject and what is said of it stand at most so many other words.
const GAP_MAX: usize = 3;
/// So many words may be left out of what is known before a judgement without a subject.
const ELIDED_MAX: usize = 1;
/// In a script without spaces, so many characters count as a word.
const WORD_CHARS: usize = 3;

/// What a clause says of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Whether the clause says that the answer is right.
    pub(super) is_right: bool,
    pub(super) span: Range<usize>,
}

/// A sentence and its words of which clauses are composed.
pub(super) struct Sentence<'a> {
    text: &'a str,
    words: Vec<Cue>,
    /// The values of the answer.
    own: &'a [Value],
}

impl<'a> Sentence<'a> {
    pub(super) fn new(text: &'a str, words: Vec<Cue>, own: &'a [Value]) -> Self {
        Self { text, words, own }
    }

    fn has(&self, role: Role) -> bool {
        self.words.iter().any(|word| word.is(role))
    }

    fn clauses(&self) -> impl Iterator<Item = Clause<'_>> {
        let mut is_first = true;
        clauses(self.text).map(move |range| {
            let inside = |word: &&Cue| range.start <= word.span.start && word.span.end <= range.end;
            let words: Vec<&Cue> = self.words.iter().filter(inside).collect();
            let clause = Clause { sentence: self.text, words, range, own: self.own, is_first };
            is_first &= clause.stops();
            clause
        })
    }

    /// The clause that has a place.
    fn clause_at(&self, at: usize) -> Option<Clause<'_>> {
        self.clauses().find(|clause| clause.range.start <= at && at <= clause.range.end)
    }

    /// The judgements on the answer before it. What follows "if" is none, nor what another says. Where the
    /// sentence is advice, it tells the reader what to do and not to pass over the answer.
    pub(super) fn judgements(&self, is_advice: bool) -> Vec<Judgement> {
        let judges = [
            Role::Wrong,
            Role::Right,
            Role::Instead,
            Role::Slip,
            Role::Undo,
            Role::Guess,
            Role::Say,
        ];
        if !judges.iter().any(|role| self.has(*role)) {
            return Vec::new();
        }
        let until = self.until();
        let fixed = self.words.iter().rfind(|word| word.is(Role::Fixed)).map(|word| &word.span);
        let mut found: Vec<Judgement> =
            self.clauses().flat_map(|clause| clause.judgements(is_advice)).collect();
        // In Japanese and Korean "if" is an ending of the verb.
        let is_case = |one: &Judgement| {
            self.words.iter().any(|word| {
                let gap = word.span.start.checked_sub(one.span.end);
                word.is(Role::If)
                    && gap.is_some_and(|gap| gap <= 3 * WORD_CHARS)
                    && self.text.get(one.span.clone()).is_some_and(|own| own.contains(is_unspaced))
            })
        };
        found.retain(|one| one.span.start < until && !is_case(one));
        found.extend(fixed.map(|span| Judgement { is_right: true, span: span.clone() }));
        found
    }

    /// Where a sentence begins to speak of another case or of somebody else.
    pub(super) fn until(&self) -> usize {
        // "We misunderstood the question": the writer comes first.
        let writer = self.words.iter().position(|word| word.is(Role::I)).unwrap_or(usize::MAX);
        let others =
            |(at, word): &(usize, &Cue)| word.is(Role::If) || word.is(Role::Who) && *at < writer;
        let until = self.words.iter().enumerate().find(others);
        until.map_or(self.text.len(), |(_, word)| word.span.start)
    }

    /// Whether another value than the answer's stands before a place, and not the answer.
    pub(super) fn speaks_of_another(&self, to: usize) -> bool {
        let lead = Value::all(self.text.get(..to).unwrap_or_default());
        let has_own = lead.iter().any(|value| self.own.contains(value));
        !has_own && lead.iter().any(|value| self.is_other(value) && *value != Value::Letter('I'))
    }

    /// The words by which a sentence behind the answer makes it one that holds in another case, "that is
    /// true only if ..., which is not so", or one of somebody else: "so says a forum".
    pub(super) fn relativises(&self, is_advice: bool) -> Option<Range<usize>> {
        let clauses: Vec<Clause<'_>> = self.clauses().collect();
        let if_ = self.words.iter().find(|word| word.is(Role::If));
        let has_other = Value::all(self.text).iter().any(|value| self.is_other(value));
        if let Some(if_) = if_.filter(|_| !has_other) {
            let holds = clauses.iter().flat_map(|clause| clause.judgements(true));
            let holds = holds.into_iter().find(|one| one.is_right);
            let would = self.has(Role::Would);
            let denied = self.words.iter().rev().take(4).any(|word| {
                word.span.start > if_.span.end
                    && (word.is(Role::Not) || word.is(Role::Wrong) || word.is(Role::May))
            });
            if holds.is_some() && (would || denied) {
                return Some(if_.span.clone());
            }
        }
        let first = clauses.first().filter(|_| !is_advice)?;
        let who = first.words.iter().position(|word| word.is(Role::Who))?;
        // "Many get it wrong" speaks of others alone.
        let points = (0..who).any(|at| first.is(at, Role::It) || first.is(at, Role::Say));
        let who = first.words.get(who)?;
        let is_said = first.words.iter().any(|word| word.is(Role::Say) && word.span != who.span);
        (is_said && points && Value::all(self.text).is_empty()).then(|| who.span.clone())
    }

    /// Whether the sentence before the answer says that what follows is a guess, or wrong by another.
    pub(super) fn disowns(&self) -> Option<Range<usize>> {
        let guess = self.words.iter().find(|word| word.is(Role::Guess));
        if let Some(guess) = guess {
            // "My first guess was 5."
            let has_value =
                self.text.contains(char::is_numeric) || !Value::all(self.text).is_empty();
            return (!has_value).then(|| guess.span.clone());
        }
        let leads = self.text.trim_end().ends_with([':', '：']);
        let who = self.words.iter().find(|word| word.is(Role::Who))?;
        let wrong = self.has(Role::Wrong) || self.has(Role::Undo);
        (leads && wrong).then(|| who.span.clone())
    }

    /// The words by which a sentence only supposes the answer at a place, or lets another say it.
    pub(super) fn supposes(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let at = clause.words.iter().position(|word| word.span.start >= answer.start);
        let at = at.unwrap_or(clause.words.len());
        // "If ..., the answer would be 4": "she would have 4" may be what is asked.
        let would = (0..at).rev().find(|at| clause.is(*at, Role::Would));
        let of_answer = would.is_some_and(|would| {
            (0..would).any(|at| clause.is(at, Role::Noun) || clause.is(at, Role::It))
        });
        // In Japanese and Korean the condition follows the answer.
        if let Some(next) = clause.words.iter().find(|word| word.span.start >= answer.end)
            && next.is(Role::If)
            && clause.strange(answer.end, next.span.start) <= 1
            && self.text.get(answer.end..)?.contains(is_unspaced)
        {
            return Some(next.span.clone());
        }
        if of_answer && let Some(if_) = self.words.iter().find(|word| word.is(Role::If)) {
            return Some(if_.span.clone());
        }
        if let Some(said) = self.quotes(answer) {
            return Some(said);
        }
        let who = (0..at).find(|at| clause.is(*at, Role::Who))?;
        let say = (who + 1..at).find(|at| clause.is(*at, Role::Say))?;
        // "Some would answer 4", and not "he got 4".
        let says_answer = (say + 1..at).any(|at| {
            [Role::Noun, Role::It, Role::Is, Role::Say].iter().any(|role| clause.is(at, *role))
        });
        let span = &clause.words.get(who)?.span;
        says_answer.then(|| span.clone())
    }

    /// The words by which the sentence of the answer at a place denies it before it: "the answer cannot
    /// therefore be 4", "it is wrong that the answer is 4", "a common wrong answer is 4".
    pub(super) fn denies(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let at = clause.words.iter().position(|word| word.span.start >= answer.start);
        let at = at.unwrap_or(clause.words.len());
        let found = (0..at).rev().find(|word| {
            let is_false = clause.is(*word, Role::Wrong)
                || clause.is(*word, Role::Slip)
                || clause.is(*word, Role::Right) && clause.is_negated(*word);
            clause.is_negation_of(*word, at, answer.start)
                || is_false && clause.is_next_to_noun(*word, at)
                || clause.is(*word, Role::Wrong) && clause.leads_to(*word, at, answer.start)
        });
        let found = found.or_else(|| {
            // "답이 4일 수는 없다": the negation follows.
            let next = clause.words.get(at).filter(|next| next.is(Role::Not))?;
            let near = clause.strange(answer.end, next.span.start) <= 1;
            let rest = self.text.get(answer.end..)?;
            let has_subject = (0..at).any(|at| clause.is_subject(at));
            (near && has_subject && rest.contains(is_unspaced)).then_some(at)
        })?;
        Some(clause.words.get(found)?.span.clone())
    }

    /// The words by which the sentence of the answer at a place leaves it open: "torn between 4 and 5".
    pub(super) fn leaves_open(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let text = self.text.get(clause.range.clone())?;
        let may = clause.words.iter().find(|word| word.is(Role::May))?;
        let has_other = Value::all(text).iter().any(|value| self.is_other(value));
        (has_other && may.span.start < answer.start).then(|| may.span.clone())
    }

    /// The verb of who says the answer, which is in quotation marks: "'It is 4', says my friend".
    fn quotes(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        const MARKS: [char; 8] = ['"', '“', '”', '„', '«', '»', '「', '」'];
        let (lead, rest) = (self.text.get(..answer.start)?, self.text.get(answer.end..)?);
        let is_open = lead.matches(MARKS).count() % 2 == 1 && rest.contains(MARKS);
        let close = answer.end + rest.find(MARKS)?;
        let behind = |word: &&Cue| word.is(Role::Say) && word.span.start >= close;
        let said = self.words.iter().find(behind)?;
        let clause = self.clause_at(said.span.start)?;
        let is_near = clause.strange(close, said.span.start) <= 1;
        (is_open && (is_near || self.has(Role::Who))).then(|| said.span.clone())
    }

    /// The negation right before the answer at a place, in a clause with another value: "read 5 instead of 4".
    pub(super) fn replaces(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let not = clause.words.iter().rfind(|word| word.span.end <= answer.start)?;
        let is_next = not.is(Role::Not) && clause.strange(not.span.end, answer.start) == 0;
        let has_other = Value::all(self.text).iter().any(|value| self.is_other(value));
        (is_next && has_other).then(|| not.span.clone())
    }

    /// Whether a value may stand in place of the answer.
    fn is_other(&self, value: &Value) -> bool {
        !self.own.contains(value) && self.own.iter().any(|own| own.is_like(value))
    }

    /// The words by which the sentence puts another value in the place of the answer, or beside it.
    pub(super) fn offers(&self) -> Option<Range<usize>> {
        // "Replace 4 by 5."
        let replaces = Value::all(self.text).iter().any(|value| self.own.contains(value))
            || self
                .words
                .windows(2)
                .any(|pair| matches!(pair, [of, noun] if of.is(Role::I) && noun.is(Role::Noun)));
        let offers = |word: &Cue| {
            word.is(Role::Instead) || word.is(Role::May) || replaces && word.is(Role::Undo)
        };
        if !self.words.iter().any(offers) {
            return None;
        }
        // "Whoever misreads it may get 4."
        let is_case = [Role::Slip, Role::Would, Role::Who].iter().any(|role| self.has(*role));
        let mut is_led = None;
        for clause in self.clauses() {
            let text = clause.sentence.get(clause.range.clone()).unwrap_or_default();
            let at = clause.words.iter().position(|word| {
                offers(word) && !(is_case && word.is(Role::May) && !word.is(Role::Instead))
            });
            let at = at.filter(|at| !clause.is_negated(*at));
            let word = at.and_then(|at| clause.words.get(at)).map(|word| word.span.clone());
            // "Either way, ... 5": the value is near.
            let is_near = |word: &Range<usize>| {
                let near = |place: Range<usize>| {
                    let place = clause.range.start + place.start..clause.range.start + place.end;
                    let (from, to) = if place.start >= word.end {
                        (word.end, place.start)
                    } else {
                        (place.end, word.start)
                    };
                    clause.strange(from, to) <= GAP_MAX
                };
                let places = Value::places(text).into_iter();
                places.filter(|(value, _)| self.is_other(value)).any(|(_, place)| near(place))
            };
            let is_doubted = clause.words.iter().any(|word| word.is(Role::Wrong));
            // "It should be noted that 5 is too small."
            if let Some(word) =
                word.clone().or(is_led.clone()).filter(|word| is_near(word) && !is_doubted)
            {
                return Some(word);
            }
            // "In fact, it is 4."
            is_led = word.filter(|_| clause.before(clause.words.len()) == 0).or(is_led);
        }
        None
    }
}

/// The parts of a sentence between its commas, colons and dashes.
fn clauses(sentence: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let is_end = |at: usize, c: char| {
        // "**13** — a wrong answer."
        let lead = sentence.get(..at).unwrap_or_default();
        if "—–".contains(c) && !lead.contains(char::is_alphabetic) {
            return false;
        }
        let next = sentence.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        match c {
            ',' | ':' | '.' => next.is_none_or(|next| !next.is_ascii_digit()),
            ';' | '，' | '；' | '：' | '、' | '،' | '؛' | '—' | '–' | '…' | '!' | '！' => {
                true
            }
            _ => false,
        }
    };
    let ends = sentence.char_indices().filter(move |(at, c)| is_end(*at, *c));
    let ends = ends.map(|(at, c)| (at, at + c.len_utf8()));
    ends.chain([(sentence.len(), sentence.len())]).map(move |(end, next)| {
        let range = start..end;
        start = next;
        range
    })
}

struct Clause<'a> {
    sentence: &'a str,
    words: Vec<&'a Cue>,
    range: Range<usize>,
    /// The values of the answer.
    own: &'a [Value],
    /// Whether nothing is said before it in its sentence.
    is_first: bool,
}

impl Clause<'_> {
    fn is(&self, at: usize, role: Role) -> bool {
        self.words.get(at).is_some_and(|word| word.is(role))
    }

    /// How many words stand between two places that are not known.
    fn strange(&self, from: usize, to: usize) -> usize {
        let gap = self.sentence.get(from..to).unwrap_or_default();
        let unspaced = gap.chars().filter(|c| is_unspaced(*c)).count();
        // The names of LaTeX commands are no words.
        let words = gap.split(|c: char| !(c.is_alphanumeric() || "'\\".contains(c)));
        let is_word =
            |word: &&str| word.starts_with(|c: char| c.is_alphabetic() && !is_unspaced(c));
        words.filter(is_word).count() + unspaced.div_ceil(WORD_CHARS)
    }

    /// How many unknown words stand between a word and the next one of the clause.
    fn gap(&self, at: usize) -> usize {
        let end = self.words.get(at).map_or(self.range.start, |word| word.span.end);
        let next = self.words.get(at + 1).map_or(self.range.end, |word| word.span.start);
        self.strange(end, next)
    }

    /// How many unknown words stand before a word.
    fn before(&self, at: usize) -> usize {
        let first = self.words.first().map_or(self.range.end, |word| word.span.start);
        self.strange(self.range.start, first) + (0..at).map(|at| self.gap(at)).sum::<usize>()
    }

    /// How many unknown words stand behind a word.
    fn after(&self, at: usize) -> usize {
        (at..self.words.len()).map(|at| self.gap(at)).sum()
    }

    /// Whether it has only words that stop the reader.
    fn stops(&self) -> bool {
        let text = self.sentence.get(self.range.clone()).unwrap_or_default();
        self.words.iter().all(|word| word.is(Role::Stop) || word.is(Role::Not))
            && self.before(self.words.len()) <= ELIDED_MAX
            && !text.contains(char::is_numeric)
    }

    /// Whether the words before a place only stop the reader.
    fn begins(&self, at: usize) -> bool {
        self.before(at) == 0 && (0..at).all(|at| self.is(at, Role::Stop))
    }

    /// Whether a noun is that of the answer: "my answer", or "answer" where the clause begins.
    fn is_definite(&self, at: usize) -> bool {
        let has_det = at.checked_sub(1).is_some_and(|before| {
            (self.is(before, Role::Det) || self.is(before, Role::I)) && self.gap(before) == 0
        });
        has_det || self.begins(at)
    }

    fn is_subject(&self, at: usize) -> bool {
        self.is(at, Role::It) || self.is(at, Role::Noun) && self.is_definite(at)
    }

    /// Whether a word negates what is behind it. "No that is wrong" begins with an interjection.
    fn negates(&self, at: usize) -> bool {
        let is_interjection = self.is(at, Role::Stop)
            && self.begins(at)
            && ([Role::It, Role::Det, Role::I, Role::Noun].iter())
                .any(|role| self.is(at + 1, *role) && self.gap(at) == 0);
        self.is(at, Role::Not) && !is_interjection
    }

    /// Whether "not" stands before a word, or next behind it.
    fn is_negated(&self, at: usize) -> bool {
        let reach = if self.is(at, Role::Wrong) { 2 } else { 1 };
        // "No answer that fits" is no judgement on ours.
        let has_subject = (0..at).any(|at| self.is_subject(at));
        let end = self.words.get(at).map_or(0, |word| word.span.end);
        let is_near = |after: &usize| {
            let start = self.words.get(*after).map_or(end, |word| word.span.start);
            let gap = self.sentence.get(end..start).unwrap_or_default();
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
    fn is_negation_of(&self, at: usize, end: usize, answer: usize) -> bool {
        let known =
            [Role::Is, Role::Stop, Role::Det, Role::Right, Role::Not, Role::May, Role::Would];
        let is_plain = (at + 1..end).all(|at| known.iter().any(|role| self.is(at, *role)));
        let last = end.checked_sub(1).and_then(|last| self.words.get(last));
        let last = last.map_or(answer, |last| last.span.end);
        let gap = (at..end.saturating_sub(1)).map(|at| self.gap(at)).sum::<usize>();
        // "Not 3 but 4."
        let end = self.words.get(at).map_or(answer, |word| word.span.end);
        let between = self.sentence.get(end..answer).unwrap_or_default();
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
    fn leads_to(&self, at: usize, end: usize, answer: usize) -> bool {
        let last = self.words.get(end.wrapping_sub(1)).map_or(answer, |word| word.span.end);
        let gap = (at..end.saturating_sub(1)).map(|at| self.gap(at)).sum::<usize>();
        let links = (at + 1..end).filter(|at| self.is(*at, Role::Is)).count();
        gap + self.strange(last, answer) == 0 && links > 0 && links == end - at - 1
    }

    /// Whether a word stands next to a noun of the answer: "wrong answer", "false that the answer".
    fn is_next_to_noun(&self, at: usize, end: usize) -> bool {
        let joins = [Role::Stop, Role::Det, Role::Is];
        let mut after = (at + 1..end).take_while(|after| self.gap(after - 1) == 0);
        let behind = after.find(|at| !joins.iter().any(|role| self.is(*at, *role)));
        let before = at.checked_sub(1).filter(|before| self.gap(*before) == 0);
        [behind, before].into_iter().flatten().any(|at| self.is(at, Role::Noun))
    }

    /// Whether another value than ours stands before a place in the sentence: "5 is wrong, since it does
    /// not fit".
    fn speaks_of_another(&self, to: usize) -> bool {
        let lead = self.sentence.get(..to).unwrap_or_default();
        let first = lead.trim_start().chars().next().unwrap_or(' ');
        let begins_word = lead.trim_start().chars().nth(1) == Some(' ');
        Value::all(lead).iter().any(|value| {
            // "I", and a word of one letter with which a sentence begins: "A resposta".
            let is_word = *value == Value::Letter('I')
                || begins_word && *value == Value::Letter(first) && "AEOYÀ".contains(first);
            !is_word && !self.own.contains(value) && self.own.iter().any(|own| own.is_like(value))
        })
    }

    fn judgements(&self, is_advice: bool) -> Vec<Judgement> {
        (0..self.words.len()).filter_map(|at| self.judgement(at, is_advice)).collect()
    }

    fn judgement(&self, at: usize, is_advice: bool) -> Option<Judgement> {
        let word = self.words.get(at)?;
        // "Without it we would count twice."
        let is_case = self.words.iter().any(|word| word.is(Role::Would));
        let takes_back = word.is(Role::Slip) && !is_case && self.errs(at)
            || word.is(Role::Undo) && !is_advice && self.undoes(at);
        let is_guess = word.is(Role::Guess) && !self.is_negated(at);
        if takes_back || is_guess || word.is(Role::Say) && self.disclaims(at) {
            return Some(Judgement { is_right: false, span: word.span.clone() });
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
        Some(Judgement { is_right, span: word.span.clone() })
    }

    /// Whether the writer says that he erred.
    fn errs(&self, at: usize) -> bool {
        let has_writer = (0..at).any(|at| self.is(at, Role::I));
        let text = self.sentence.get(self.range.clone()).unwrap_or_default();
        let is_near = self.before(at) <= 2 || text.contains(is_unspaced);
        let start = self.words.get(at).map_or(0, |word| word.span.start);
        // "5 is a careless choice."
        let is_other = !has_writer && self.speaks_of_another(start);
        (has_writer || is_near) && !is_other && !self.is_negated(at)
    }

    /// "I am not claiming that 4 is right."
    fn disclaims(&self, at: usize) -> bool {
        let is_near = |other: usize, gap: usize| self.is(other, Role::Not) && self.gap(gap) == 0;
        let is_denied =
            at.checked_sub(1).is_some_and(|before| is_near(before, before)) || is_near(at + 1, at);
        let end = self.words.get(at).map_or(self.range.end, |word| word.span.end);
        let rest = self.sentence.get(end..).unwrap_or_default();
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
            .is_some_and(|before| self.is(before, Role::Det) && self.gap(before) == 0);
        let is_phrase = self.words.get(at).and_then(|word| self.sentence.get(word.span.clone()));
        let is_phrase = is_phrase.is_some_and(|phrase| phrase.trim().contains(' '));
        let text = self.sentence.get(self.range.clone()).unwrap_or_default();
        let values = Value::all(text);
        let is_alone = self.is_first
            && self.before(at) == 0
            && self.after(at) <= ELIDED_MAX
            && values.is_empty()
            && !text.contains(char::is_numeric);
        // "We can discard the options C and D."
        let is_other = values.iter().any(|value| {
            !self.own.contains(value) && self.own.iter().any(|own| own.is_like(value))
        });
        let is_phrase = is_phrase && self.before(at) == 0;
        (has_object || is_own || has_clitic || is_phrase || is_alone)
            && !is_other
            && !self.is_negated(at)
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
            let links = [Role::Is, Role::Not];
            let next = (subject + 1..at).find(|at| links.iter().any(|role| self.is(*at, *role)));
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
                return subject(before) && self.gap(before) == 0 && self.is_definite(before);
            }
            if self.is(before, Role::I) && word.is(Role::Wrong) {
                return subject(before);
            }
        }
        if !speaks(at) {
            return false;
        }
        let has_link = at
            .checked_sub(1)
            .is_some_and(|before| self.is(before, Role::Is) || self.is(before, Role::Not));
        // "There is an error in the second step."
        let is_there = at.checked_sub(1).is_some_and(|before| self.is(before, Role::Is))
            && word.is(Role::Wrong)
            && self.before(at) == 0
            && (0..at).all(|at| self.is(at, Role::Stop) || self.is(at, Role::Is));
        if is_there && self.is_first {
            return true;
        }
        // "Je ne maintiens pas cette conclusion."
        let is_denied = self.is(at + 1, Role::Not) && self.gap(at) == 0 && self.gap(at + 1) == 0;
        let has_writer = (0..at).any(|at| self.is(at, Role::I));
        if is_denied && has_writer && (self.is_subject(at + 2) || self.is_subject(at + 3)) {
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
        let lead = self.sentence.get(..word.span.start).unwrap_or_default();
        (self.is_first || has_link)
            && self.before(at) <= ELIDED_MAX
            && (0..at)
                .all(|at| [Role::Stop, Role::Is, Role::Not].iter().any(|role| self.is(at, *role)))
            && self.after(at) <= if has_link { GAP_MAX } else { 0 }
            && !(self.is(at + 1, Role::Noun) && self.gap(at) == 0)
            && Value::all(lead).iter().all(|value| self.own.contains(value))
    }
}
