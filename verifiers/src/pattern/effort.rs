//! What searches with a pattern cost, counted before they are made.
//!
//! Matching is linear in the text for a given pattern, but a pattern of a few bytes may have
//! thousands of states, all of them alive at each byte: `[ab]{0,4000}c`. Nothing stops a search under
//! way, so where text times states is more than anyone waits for, the states that are alive are
//! counted first, and paid.

use regex_automata::nfa::thompson::{Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;

use super::Pattern;
use crate::fault::Fault;
use crate::meter::Meter;

/// States times bytes that no one notices: they are not counted.
const FREE: u64 = 1 << 26;
/// Steps of a search that are one unit of fuel.
const STEPS_PER_UNIT: u64 = 4;
/// Steps between two payments.
const PAY_EVERY: u64 = 1 << 12;

/// The states of a pattern.
#[derive(Debug)]
pub(crate) struct Effort {
    nfa: NFA,
    /// What a step costs: an engine copies the places of groups with each state.
    weight: u64,
}

impl Effort {
    /// The states of `pattern`, of whose groups those in `captures` are wanted.
    pub(crate) fn new(pattern: &str, captures: usize) -> Result<Self, String> {
        let config = Config::new()
            .nfa_size_limit(Some(Pattern::PROGRAM_BYTES_MAX))
            .which_captures(WhichCaptures::None);
        let nfa = NFA::compiler().configure(config).build(pattern);
        let nfa = nfa.map_err(|error| error.to_string())?;
        Ok(Self { nfa, weight: 1 + captures as u64 / 8 })
    }

    /// What it takes in memory.
    #[cfg(feature = "json-schema")]
    pub(crate) fn bytes(&self) -> usize {
        self.nfa.memory_usage()
    }

    /// Searches of one text, none of which is paid yet.
    pub(crate) fn of<'e>(&'e self, text: &'e str) -> Searches<'e> {
        let nothing = Set { marks: Vec::new(), mark: 0 };
        Searches { effort: self, text: text.as_bytes(), guessed: 0, set: nothing, open: Vec::new() }
    }

    /// What a search of so many bytes may cost.
    pub(crate) fn most(&self, bytes: usize) -> u64 {
        (bytes as u64).saturating_mul(self.nfa.states().len() as u64).saturating_mul(self.weight)
    }
}

/// Whether costs of so much are to be counted.
pub(crate) fn is_dear(most: u64) -> bool {
    most > FREE
}

/// Searches of one text.
pub(crate) struct Searches<'e> {
    effort: &'e Effort,
    text: &'e [u8],
    guessed: u64,
    set: Set,
    /// States that are yet to be followed, kept so that no place needs a list of its own.
    open: Vec<StateID>,
}

/// Which states are alive at a place already.
struct Set {
    marks: Vec<u32>,
    mark: u32,
}

impl Set {
    fn begin(&mut self, states: usize) {
        if self.marks.len() != states || self.mark == u32::MAX {
            self.marks = vec![0; states];
            self.mark = 0;
        }
        self.mark += 1;
    }

    /// Whether a state was not alive yet.
    fn add(&mut self, state: StateID) -> bool {
        let mark = self.mark;
        match self.marks.get_mut(state.as_usize()) {
            Some(seen) => std::mem::replace(seen, mark) != mark,
            None => false,
        }
    }
}

impl Searches<'_> {
    /// Pays for the search that begins at `from`.
    ///
    /// # Errors
    /// A search that costs more than the meter holds.
    pub(crate) fn pay(&mut self, from: usize, meter: &mut Meter<'_>) -> Result<(), Fault> {
        let most = self.effort.most(self.text.len().saturating_sub(from));
        self.guessed = self.guessed.saturating_add(most);
        if is_dear(self.guessed) { self.count(from, meter) } else { Ok(()) }
    }

    /// Goes through the text as a search does, with all states that are alive, and pays for each.
    pub(crate) fn count(&mut self, from: usize, meter: &mut Meter<'_>) -> Result<(), Fault> {
        let nfa = &self.effort.nfa;
        let states = nfa.states().len();
        let (mut now, mut next) = (Vec::new(), Vec::new());
        let (mut steps, mut matched) = (0, false);
        self.set.begin(states);
        for at in from..=self.text.len() {
            if !matched && (at == from || !nfa.is_always_start_anchored()) {
                matched = self.close(nfa.start_anchored(), at, &mut now, &mut steps);
            }
            let Some(byte) = self.text.get(at) else { break };
            if now.is_empty() && (matched || nfa.is_always_start_anchored()) {
                break;
            }
            self.set.begin(states);
            for state in now.drain(..) {
                steps += 1;
                let to = step(nfa.state(state), *byte);
                if to.is_some_and(|to| self.close(to, at + 1, &mut next, &mut steps)) {
                    // What has less priority than a match is given up.
                    matched = true;
                    break;
                }
            }
            std::mem::swap(&mut now, &mut next);
            if steps >= PAY_EVERY {
                meter.spend(steps.saturating_mul(self.effort.weight) / STEPS_PER_UNIT)?;
                steps = 0;
            }
        }
        meter.spend(steps.saturating_mul(self.effort.weight) / STEPS_PER_UNIT)
    }

    /// Adds what is alive at `at` once `state` is, in the order of priority. Whether that is a match.
    fn close(
        &mut self,
        state: StateID,
        at: usize,
        alive: &mut Vec<StateID>,
        steps: &mut u64,
    ) -> bool {
        let nfa = &self.effort.nfa;
        self.open.clear();
        self.open.push(state);
        while let Some(state) = self.open.pop() {
            *steps += 1;
            if !self.set.add(state) {
                continue;
            }
            match nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => alive.push(state),
                State::Look { look, next } => {
                    if nfa.look_matcher().matches(*look, self.text, at) {
                        self.open.push(*next);
                    }
                }
                State::Union { alternates } => self.open.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => self.open.extend([*alt2, *alt1]),
                State::Capture { next, .. } => self.open.push(*next),
                State::Fail => {}
                State::Match { .. } => return true,
            }
        }
        false
    }
}

fn step(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(transitions) => transitions.matches_byte(byte),
        State::Dense(transitions) => transitions.matches_byte(byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units that one search of a text costs, counted whatever its size.
    fn units(pattern: &str, text: &str) -> Option<u64> {
        let effort = Effort::new(pattern, 0).unwrap();
        let mut meter = Meter::default();
        effort.of(text).count(0, &mut meter).ok().map(|()| meter.spent())
    }

    #[test]
    fn states_that_stay_alive_are_paid() {
        let text = "ab, é ".repeat(40_000);
        assert_eq!(units(r"\b[ab é,]{0,3000}é\b[ab é,]{0,1000}c\b", &text), None);
        assert_eq!(units("(?s)[ab]*a.{2000}c", &text), None);
    }

    #[test]
    fn what_ends_early_is_cheap() {
        let text = "ab, é ".repeat(40_000);
        for pattern in [r"^\d{1,9}$", "(?s)^ab.{0,9}", r"\w+", "(?s)a.*é", r"^(?:[^x]{0,3})"] {
            let spent = units(pattern, &text).unwrap();
            assert!(spent <= 2 * text.len() as u64, "{pattern}: {spent}");
        }
        assert!(units(r"\A[ab]{0,900}c", &text).unwrap() < 100);
    }

    #[test]
    fn short_searches_are_not_counted() {
        let effort = Effort::new(r"\w{1,50}", 0).unwrap();
        let (text, mut meter) = ("a word ".repeat(100), Meter::default());
        effort.of(&text).pay(0, &mut meter).unwrap();
        assert_eq!(meter.spent(), 0);
    }
}
