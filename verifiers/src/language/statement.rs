//! What a sentence says of an answer, composed of words: "that is not right", "my calculation was wrong", "I
//! misread the question", "please disregard the box", "some would say it is 4".

use std::ops::Range;

use super::clause::{Clause, Judgement, WORD_CHARS};
use super::cues::{Cue, Role};
use super::sentences::is_unspaced;
use super::values::Value;

/// Between two letters that are named together stand at most so many bytes.
const PAIR_BYTES_MAX: usize = 9;

/// A sentence and its words of which clauses are composed.
pub(super) struct Sentence<'a> {
    text: &'a str,
    words: &'a [Cue],
    clauses: Vec<Clause<'a>>,
    /// The values of the answer.
    own: &'a [Value],
}

impl<'a> Sentence<'a> {
    pub(super) fn new(text: &'a str, words: &'a [Cue], own: &'a [Value]) -> Self {
        let mut is_first = true;
        let clauses = clauses(text).map(|range| {
            let clause = Clause::new(text, range, words, own, is_first);
            is_first &= clause.stops();
            clause
        });
        Self { text, words, clauses: clauses.collect(), own }
    }

    fn has(&self, role: Role) -> bool {
        self.words.iter().any(|word| word.is(role))
    }

    /// The clause that has a place.
    fn clause_at(&self, at: usize) -> Option<&Clause<'a>> {
        self.clauses.iter().find(|clause| clause.range.start <= at && at <= clause.range.end)
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
        if !self.words.iter().any(|word| word.is_any(&judges)) {
            return Vec::new();
        }
        let until = self.until();
        let fixed = self.words.iter().rfind(|word| word.is(Role::Fixed)).map(|word| &word.span);
        let mut found: Vec<Judgement> =
            self.clauses.iter().flat_map(|clause| clause.judgements(is_advice)).collect();
        // In Japanese and Korean "if" is an ending of the verb.
        let is_case = |one: &Judgement| {
            self.words.iter().any(|word| {
                let gap = word.span.start.checked_sub(one.span.end);
                word.is(Role::If)
                    && gap.is_some_and(|gap| gap <= 3 * WORD_CHARS)
                    && self.text.get(one.span.clone()).is_some_and(|own| own.contains(is_unspaced))
            })
        };
        // "If it is right, I can't tell."
        let if_ = self.words.iter().find(|word| word.is(Role::If));
        let asks = if_.and_then(|word| self.clause_at(word.span.start)).is_some_and(|clause| {
            clause.words.iter().any(|word| word.is(Role::Right)) && !clause.has_other()
        });
        found.retain(|one| one.span.start < until && !is_case(one) || asks && one.is_guess);
        found.extend(fixed.map(|span| Judgement {
            is_right: true,
            is_guess: false,
            span: span.clone(),
        }));
        found
    }

    /// Where a sentence begins to speak of another case or of somebody else.
    pub(super) fn until(&self) -> usize {
        // "We misunderstood the question": the writer comes first.
        let writer = self.words.iter().position(|word| word.is(Role::I)).unwrap_or(usize::MAX);
        // "Putting it back into the problem": who says nothing and begins no clause is none.
        let speaks = |who: &Cue| {
            self.clause_at(who.span.start).is_none_or(|clause| clause.is_spoken_by(who))
        };
        let others = |(at, word): &(usize, &Cue)| {
            word.is_any(&[Role::If, Role::Other])
                || word.is(Role::Who) && *at < writer && speaks(word)
        };
        let until = self.words.iter().enumerate().find(others);
        until.map_or(self.text.len(), |(_, word)| word.span.start)
    }

    /// Whether another value than the answer's stands before a place, and not the answer.
    pub(super) fn speaks_of_another(&self, to: usize) -> bool {
        let lead = Value::all(&self.text[..to]);
        let has_own = lead.iter().any(|value| self.own.contains(value));
        !has_own
            && lead.iter().any(|value| value.is_other(self.own) && *value != Value::Letter('I'))
    }

    /// The words by which a sentence behind the answer makes it one that holds in another case, "that is
    /// true only if ..., which is not so", or one of somebody else: "so says a forum".
    pub(super) fn relativises(&self, is_advice: bool) -> Option<Range<usize>> {
        let if_ = self.words.iter().find(|word| word.is(Role::If));
        let has_other = Value::all(self.text).iter().any(|value| value.is_other(self.own));
        if let Some(if_) = if_.filter(|_| !has_other) {
            let mut judged = self.clauses.iter().flat_map(|clause| clause.judgements(true));
            let holds = judged.any(|one| one.is_right);
            let would = self.has(Role::Would);
            let is_against = |word: &Cue| {
                word.is_any(&[Role::Not, Role::Wrong, Role::May]) && !word.is(Role::Right)
            };
            let mut last = self.words.iter().rev().take(4);
            let denied = last.find(|word| word.span.start > if_.span.end && is_against(word));
            // "It works only if the shop is closed, which it is not."
            let right = self.words.iter().rfind(|word| word.is(Role::Right));
            let holds = holds
                || denied.zip(right).is_some_and(|(not, right)| right.span.end < not.span.start);
            let denied = denied.is_some();
            if holds && (would || denied) {
                return Some(if_.span.clone());
            }
        }
        let first = self.clauses.first().filter(|_| !is_advice)?;
        let who = first.words.iter().position(|word| word.is(Role::Who))?;
        // "Many get it wrong" speaks of others alone.
        let points = (0..who).any(|at| first.is(at, Role::It) || first.is(at, Role::Say));
        let who = first.words.get(who)?;
        let is_said = first.words.iter().any(|word| word.is(Role::Say) && word.span != who.span);
        // "This is consistent with what the statement says."
        let agrees = first.words.iter().any(|word| word.is(Role::Right)) && !self.has(Role::Not);
        let is_theirs = is_said && points && !agrees && Value::all(self.text).is_empty();
        is_theirs.then(|| who.span.clone())
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

    /// The word with which it stops the reader: "Wait, ...", "Hm, I read it wrong".
    pub(super) fn halts(&self) -> Option<Range<usize>> {
        self.clauses.first()?.halts()
    }

    /// Whether the number at a place counts something that the text does not know: "3 tasks are left".
    pub(super) fn counts(&self, place: &Range<usize>) -> bool {
        let behind = &self.text[place.end..];
        let word = behind.strip_prefix(' ').filter(|word| word.starts_with(char::is_alphabetic));
        let is_known = |word: &Cue| word.span.start == place.end + 1;
        word.is_some() && !self.words.iter().any(is_known)
    }

    /// The word before the answer at a place that makes it a guess: "a provisional value: 4".
    pub(super) fn guesses(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let before = |word: &&Cue| word.is(Role::Guess) && word.span.end <= answer.start;
        let guess = self.words.iter().rfind(before)?;
        let between = self.text.get(guess.span.end..answer.start)?;
        let clause = self.clause_at(guess.span.start)?;
        let at = clause.words.iter().position(|word| word.span == guess.span)?;
        let is_one = Value::all(between).is_empty() && !between.contains(char::is_numeric);
        (is_one && !clause.is_negated(at)).then(|| guess.span.clone())
    }

    /// The words by which a sentence only supposes the answer at a place, or lets another say it.
    pub(super) fn supposes(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let at = clause.words.iter().position(|word| word.span.start >= answer.start);
        let at = at.unwrap_or(clause.words.len());
        // "If ..., the answer would be 4": "she would have 4" may be what is asked.
        let would = (0..at).rev().find(|at| clause.is(*at, Role::Would));
        let of_answer = would.is_some_and(|would| {
            clause.before(would) == 0
                || (0..would).any(|at| clause.is_any(at, &[Role::Noun, Role::It]))
        });
        // In Japanese and Korean the condition follows the answer.
        if let Some(next) = clause.words.iter().find(|word| word.span.start >= answer.end)
            && next.is(Role::If)
            && clause.strange(answer.end, next.span.start) <= 1
            && self.text.get(answer.end..)?.contains(is_unspaced)
        {
            return Some(next.span.clone());
        }
        // 「条件を無視すれば、答えは4になるでしょう。」
        let next = clause.behind(answer.end);
        let of_answer = of_answer
            || next.is_some_and(|next| {
                next.is(Role::Would)
                    && clause.strange(answer.end, next.span.start) <= 1
                    && (0..at).any(|at| clause.is_any(at, &[Role::Noun, Role::It]))
            });
        // "If the data are right, which I doubt, the answer is 4."
        let is_open = of_answer || self.has(Role::Doubt);
        if is_open && let Some(if_) = self.words.iter().find(|word| word.is(Role::If)) {
            return Some(if_.span.clone());
        }
        if let Some(said) = self.quotes(answer) {
            return Some(said);
        }
        // "Some would answer 4", and not "he got 4".
        let says_answer = |from: usize| {
            (from..at).any(|at| clause.is_any(at, &[Role::Noun, Role::It, Role::Is, Role::Say]))
        };
        // "Die meisten würden sagen, die Antwort ist 4."
        let before = self.clauses.iter().rfind(|before| before.range.end < clause.range.start);
        if let Some(said) = before.and_then(Clause::leads_to_said) {
            return says_answer(0).then_some(said);
        }
        let who = (0..at).find(|at| clause.is(*at, Role::Who))?;
        let say = (who + 1..at).find(|at| clause.is(*at, Role::Say))?;
        let span = &clause.words.get(who)?.span;
        says_answer(say + 1).then(|| span.clone())
    }

    /// The words by which the sentence of the answer at a place denies it before it: "the answer cannot
    /// therefore be 4", "it is wrong that the answer is 4", "a common wrong answer is 4".
    pub(super) fn denies(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let at = clause.words.iter().position(|word| word.span.start >= answer.start);
        let at = at.unwrap_or(clause.words.len());
        let found = (0..at).rev().find(|word| {
            let is_false = clause.is_any(*word, &[Role::Wrong, Role::Slip])
                || clause.is(*word, Role::Right) && clause.is_negated(*word);
            clause.is_negation_of(*word, at, answer.start)
                || is_false && clause.is_next_to_noun(*word, at)
                || clause.is(*word, Role::Wrong) && clause.leads_to(*word, at, answer.start)
        });
        let found = found.or_else(|| {
            // "답이 4일 수는 없다": the negation follows.
            let judges = |next: &&Cue| next.is_any(&[Role::Not, Role::Wrong]);
            let next = clause.behind(answer.end).filter(judges)?;
            let near = clause.strange(answer.end, next.span.start) <= 2;
            let rest = self.text.get(answer.end..)?;
            let has_subject = (0..at).any(|at| clause.is_subject(at));
            (near && has_subject && rest.contains(is_unspaced)).then_some(at)
        })?;
        Some(clause.words.get(found)?.span.clone())
    }

    /// The words by which the sentence of the answer at a place leaves it open: "torn between 4 and 5".
    pub(super) fn leaves_open(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let may = clause.words.iter().find(|word| word.is(Role::May))?;
        (clause.has_other() && may.span.start < answer.start).then(|| may.span.clone())
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
    /// In Japanese and Korean it follows: 「4ではなく5」.
    pub(super) fn replaces(&self, answer: &Range<usize>) -> Option<Range<usize>> {
        let clause = self.clause_at(answer.start)?;
        let not = clause.words.iter().rfind(|word| word.span.end <= answer.start);
        let not =
            not.filter(|not| not.is(Role::Not) && clause.strange(not.span.end, answer.start) == 0);
        let behind = clause.words.iter().find(|word| word.span.start >= answer.end);
        let behind = behind.filter(|not| {
            let next = &self.text[not.span.end..];
            not.is(Role::Not)
                && clause.strange(answer.end, not.span.start) == 0
                && self.text.get(not.span.clone()).is_some_and(|not| not.contains(is_unspaced))
                && Value::all(next).iter().any(|value| value.is_other(self.own))
        });
        let has_other = Value::all(self.text).iter().any(|value| value.is_other(self.own));
        not.or(behind).filter(|_| has_other).map(|not| not.span.clone())
    }

    /// The word by which the writer leaves the answer in doubt in a sentence behind it: "I don't think that
    /// works", "honestly, I doubt it". What is said of others, or of another case, does not.
    pub(super) fn doubts(&self) -> Option<Range<usize>> {
        const ASIDE: [Role; 3] = [Role::Would, Role::Other, Role::Fixed];
        const OF_ANSWER: [Role; 3] = [Role::It, Role::Noun, Role::Right];
        let has = |roles: &[Role]| self.words.iter().any(|word| word.is_any(roles));
        if !has(&[Role::Sure, Role::Doubt]) || has(&ASIDE) {
            return None;
        }
        // "This assumes that I understood the question, which I did not."
        let if_ = self.words.iter().find(|word| word.is(Role::If));
        let is_refuted = || {
            has(&[Role::Sure])
                && self
                    .words
                    .iter()
                    .rev()
                    .take(3)
                    .any(|word| word.is_any(&[Role::Not, Role::Wrong]))
        };
        if let Some(if_) = if_ {
            return is_refuted().then(|| if_.span.clone());
        }
        // What is doubted follows, but in scripts without spaces: "I don't think that works", "I doubt it".
        let is_unspaced = self.text.contains(is_unspaced);
        let of_answer = |word: &Range<usize>| {
            self.words
                .iter()
                .any(|one| one.is_any(&OF_ANSWER) && (is_unspaced || one.span.start >= word.end))
        };
        let mut doubts = self.clauses.iter().flat_map(Clause::doubts);
        let found = doubts.find(|(word, is_whole)| *is_whole || of_answer(word));
        found.map(|(word, _)| word).filter(|_| !has(&[Role::Who]))
    }

    /// The word by which a sentence that points at the answer or the writer somewhere objects to something,
    /// where it speaks of nobody else and of no other case: "now that I look at it, the sum is not right".
    pub(super) fn objects(&self) -> Option<Range<usize>> {
        const ASIDE: [Role; 6] =
            [Role::If, Role::Would, Role::Other, Role::Who, Role::Fixed, Role::May];
        let points = self.has(Role::It) || self.has(Role::I);
        let is_aside = self.words.iter().any(|word| word.is_any(&ASIDE));
        let has_value = || !Value::all(self.text).is_empty();
        // "I looked for an error and found none."
        let finds_none = |clause: &Clause<'_>| {
            (0..clause.words.len()).any(|at| clause.is(at, Role::Wrong) && clause.is_negated(at))
        };
        let is_clean = self.clauses.iter().any(finds_none);
        let found = || self.clauses.iter().find_map(Clause::objects);
        (points && !is_aside && !has_value() && !is_clean).then(found)?
    }

    /// The words by which the sentence puts another value in the place of the answer, or beside it.
    pub(super) fn offers(&self) -> Option<Range<usize>> {
        self.offers_beside().or_else(|| self.means()).or_else(|| self.approves()).or_else(|| {
            // "Grade 5 and not this."
            let mut clauses = self.clauses.iter().filter(|clause| clause.has_other());
            clauses.find_map(|clause| {
                let at = (0..clause.words.len()).find(|at| clause.turns_down(*at))?;
                clause.words.get(at).map(|word| word.span.clone())
            })
        })
    }

    /// The word by which it calls another value right: "looking back, 5 seems right", "5 would do as well",
    /// "both C and D fit".
    fn approves(&self) -> Option<Range<usize>> {
        #[rustfmt::skip]
        const ASIDE: [Role; 8] = [
            Role::If, Role::Who, Role::Wrong, Role::Not, Role::Other, Role::Fixed, Role::Slip, Role::Undo,
        ];
        let (also, would) = (self.has(Role::Also), self.has(Role::Would));
        if would && !also || self.words.iter().any(|word| word.is_any(&ASIDE)) {
            return None;
        }
        let approves =
            |word: &Cue| word.is(Role::Right) || also && word.is_any(&[Role::Would, Role::May]);
        let near = |clause: &Clause<'a>| {
            let places = Value::places(clause.text());
            let has_own = places.iter().any(|(value, _)| self.own.contains(value));
            // "Both C and D": of numbers, many things are said.
            let is_pair = places.windows(2).any(|pair| {
                matches!(pair, [(Value::Letter(_), one), (Value::Letter(_), two)]
                    if two.start - one.end <= PAIR_BYTES_MAX)
            });
            let is_both = |word: &Cue| word.is(Role::Also) && is_pair;
            let says = |word: &Cue| if has_own { is_both(word) } else { approves(word) };
            let word =
                clause.words.iter().find(|word| says(word) && clause.is_near_other(&word.span));
            word.map(|word| word.span.clone())
        };
        self.clauses.iter().filter(|one| one.has_other()).find_map(near)
    }

    /// "5, I mean": another value alone, before the words that put it in the place of the answer.
    fn means(&self) -> Option<Range<usize>> {
        self.clauses.windows(2).find_map(|pair| {
            let [value, said] = pair else { return None };
            let [word] = said.words.as_slice() else { return None };
            let is_word = |value: &Value| matches!(value, Value::Letter(_));
            let letters = Value::all(value.text()).iter().filter(|value| is_word(value)).count();
            let is_bare = value.all_unknown() <= letters && value.has_other();
            let means = word.is(Role::Instead) && said.all_unknown() == 0;
            (is_bare && means).then(|| word.span.clone())
        })
    }

    /// The words near which another value stands.
    fn offers_beside(&self) -> Option<Range<usize>> {
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
        let is_case =
            self.words.iter().any(|word| word.is_any(&[Role::Slip, Role::Would, Role::Who]));
        let mut is_led = None;
        for clause in &self.clauses {
            let at = (0..clause.words.len()).find(|at| {
                clause.words.get(*at).is_some_and(|word| offers(word))
                    && !(clause.is(*at, Role::May)
                        && !clause.is(*at, Role::Instead)
                        && (is_case || clause.words.iter().any(|word| word.is(Role::Undo))))
            });
            let at = at.filter(|at| !clause.is_negated(*at));
            let word = at.and_then(|at| clause.words.get(at)).map(|word| word.span.clone());
            let is_doubted = clause.words.iter().any(|word| word.is(Role::Wrong));
            // "It should be noted that 5 is too small."
            if let Some(word) = word
                .clone()
                .or(is_led.clone())
                .filter(|word| clause.is_near_other(word) && !is_doubted)
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
        let lead = &sentence[..at];
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
