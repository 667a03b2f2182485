//! One `when`, compiled, and what the conditions of one row share: what a sample shows to scripts is
//! built once, and an expression that several rewards have is evaluated once.

use std::sync::Arc;

use assay_verifiers::script::{
    SAMPLE_NAMES, Script, ScriptError, push_verdicts, reads_verdicts, sample_value, shared_engine,
    type_words,
};
use assay_verifiers::{Cancellation, Earlier, Fault, Meter, Sample, Verdict};
use rhai::{Dynamic, Scope};

use super::combine::push_step;

/// The `when` of a reward, compiled. Rewards of one expression share one.
pub struct When {
    script: Script,
    source: String,
    /// The names of a sample that it mentions: bit n stands for the nth of [`SAMPLE_NAMES`].
    mentions: u8,
    verdicts: VerdictsRead,
    /// Its place among the expressions of the plan.
    slot: usize,
    /// The place of its scope: expressions that read the same and change nothing share one.
    scope: Option<usize>,
}

/// Which verdicts an expression can see.
#[derive(PartialEq)]
enum VerdictsRead {
    None,
    /// Those of the rewards that it names, and nothing else.
    Named(Vec<usize>),
    /// All that there are at the time.
    All,
}

/// What a condition is evaluated on.
#[derive(Clone, Copy)]
pub(super) struct RowView<'a> {
    pub(super) names: &'a [String],
    pub(super) sample: &'a Sample,
    /// Along the rewards, as far as they are judged.
    pub(super) verdicts: &'a [Option<Verdict>],
    pub(super) step: u64,
}

/// What the conditions of one row share. It holds for one sample at one training step.
#[derive(Clone, Default)]
pub(super) struct RowConditions {
    /// Along [`SAMPLE_NAMES`]: the values that scripts see, once one was asked for.
    values: [Option<Dynamic>; SAMPLE_NAMES.len()],
    /// The scopes of expressions that change nothing, by their places.
    scopes: Vec<Option<Scope<'static>>>,
    /// What expressions gave, by their places.
    decided: Vec<Option<Result<bool, Fault>>>,
}

impl When {
    /// Compiles an expression; `known` holds those of the rewards before.
    ///
    /// # Errors
    /// Where it does not parse, with its position.
    pub(super) fn compile(
        source: &str,
        names: &[String],
        known: &mut Vec<Arc<Self>>,
    ) -> Result<Arc<Self>, ScriptError> {
        if let Some(same) = known.iter().find(|one| one.source == source) {
            return Ok(Arc::clone(same));
        }
        let script = Script::expression(source)?;
        let bit = |(at, name): (usize, &&str)| u8::from(script.mentions(name)) << at;
        let mentions = SAMPLE_NAMES.iter().enumerate().map(bit).sum();
        let verdicts = if reads_verdicts(&script) {
            named(source, names).map_or(VerdictsRead::All, VerdictsRead::Named)
        } else {
            VerdictsRead::None
        };
        let (source, slot) = (source.to_owned(), known.len());
        let shares = verdicts != VerdictsRead::All && !may_change(&source);
        let same = |one: &&Arc<Self>| one.mentions == mentions && one.verdicts == verdicts;
        // As many places as expressions are enough.
        let place = || known.iter().filter(same).find_map(|one| one.scope).unwrap_or(slot);
        let scope = shares.then(place);
        let when = Arc::new(Self { script, source, mentions, verdicts, slot, scope });
        known.push(Arc::clone(&when));
        Ok(when)
    }

    /// The expression.
    pub fn script(&self) -> &Script {
        &self.script
    }
}

impl RowConditions {
    /// Whether a condition holds of a row, by the time of `limit`.
    pub(super) fn holds(
        &mut self,
        when: &When,
        row: RowView<'_>,
        limit: Option<&dyn Cancellation>,
    ) -> Result<bool, Fault> {
        if let Some(Some(decided)) = self.decided.get(when.slot) {
            return decided.clone();
        }
        let decided = self.evaluated(when, row, limit);
        // What sees all verdicts sees others once more rewards are judged.
        if !matches!(when.verdicts, VerdictsRead::All) {
            put(&mut self.decided, when.slot, decided.clone());
        }
        decided
    }

    fn evaluated(
        &mut self,
        when: &When,
        row: RowView<'_>,
        limit: Option<&dyn Cancellation>,
    ) -> Result<bool, Fault> {
        let mut meter = Meter::default();
        if let Some(limit) = limit {
            meter = meter.with_cancellation(limit);
        }
        let mut own = Scope::new();
        let scope = if let Some(place) = when.scope {
            if !matches!(self.scopes.get(place), Some(Some(_))) {
                let scope = self.scope(when, row);
                put(&mut self.scopes, place, scope);
            }
            self.scopes.get_mut(place).and_then(Option::as_mut).unwrap_or(&mut own)
        } else {
            own = self.scope(when, row);
            &mut own
        };
        let variables = scope.len();
        let value = when.script.run(&shared_engine(), scope, &mut meter);
        scope.rewind(variables);
        value?.as_bool().map_err(|found| {
            let found = type_words(found);
            Fault::trap(format!("`when` gave {found}, expected true or false"))
        })
    }

    /// What one expression sees of a row.
    fn scope(&mut self, when: &When, row: RowView<'_>) -> Scope<'static> {
        let mut scope = Scope::new();
        for (at, (name, value)) in SAMPLE_NAMES.iter().zip(&mut self.values).enumerate() {
            if when.mentions & (1 << at) != 0 {
                let value = value.get_or_insert_with(|| sample_value(row.sample, name));
                scope.push_constant_dynamic(*name, value.clone());
            }
        }
        match &when.verdicts {
            VerdictsRead::None => {}
            VerdictsRead::All => {
                push_verdicts(&mut scope, Earlier::new(row.names, row.verdicts).iter());
            }
            VerdictsRead::Named(places) => {
                let verdict = |at: &usize| {
                    let verdict = row.verdicts.get(*at)?.as_ref()?;
                    Some((row.names.get(*at)?.as_str(), verdict))
                };
                push_verdicts(&mut scope, places.iter().filter_map(verdict));
            }
        }
        push_step(&mut scope, row.step);
        scope
    }
}

/// The rewards whose verdicts an expression reads, each as a member by its name; `None` where it sees
/// more than such members.
fn named(source: &str, names: &[String]) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for lead in ["rewards", "verdicts"] {
        for (at, _) in source.match_indices(lead) {
            let rest = source.get(at + lead.len()..)?.strip_prefix('.')?;
            let (word, behind) =
                rest.split_at_checked(rest.find(not_word).unwrap_or(rest.len()))?;
            let place = names.iter().position(|name| name == word)?;
            if behind.trim_start().starts_with('(') {
                return None;
            }
            places.push(place);
        }
    }
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// Functions of scripts that change nothing of what they are called on.
const READING: [&str; 14] = assay_verifiers::words::list(
    "abs contains ends_with index_of is_empty keys len lines split starts_with sub_string to_float \
     to_int type_of",
);

/// Whether an expression may change a value that it reads: it holds a block, a closure or a template, or
/// calls a function that is not known to change nothing.
fn may_change(source: &str) -> bool {
    let is_dangerous = |(at, _): (usize, &str)| {
        let before = source[..at].trim_end();
        let lead = before.trim_end_matches(|char| !not_word(char));
        let word = &before[lead.len()..];
        // `f!(x)` is a call too.
        let is_marked =
            before.strip_suffix('!').is_some_and(|lead| lead.ends_with(|c| !not_word(c)));
        is_marked || !word.is_empty() && word != "in" && !READING.contains(&word)
    };
    // Comments may be between a function and its brackets.
    source.replace("||", "").contains(['{', '|', '`', '/'])
        || source.match_indices('(').any(is_dangerous)
}

/// Puts a value at a place, whatever is there.
fn put<T>(places: &mut Vec<Option<T>>, at: usize, value: T) {
    if places.len() <= at {
        places.resize_with(at + 1, || None);
    }
    if let Some(slot) = places.get_mut(at) {
        *slot = Some(value);
    }
}

fn not_word(char: char) -> bool {
    !(char.is_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_a_value_is_told_from_what_only_reads_it() {
        for source in
            ["meta.kind == \"x\"", "step > 3 || (meta.a && !meta.b)", "completion.len () > 3"]
        {
            assert!(!may_change(source), "{source}");
        }
        for source in ["meta.tags.pad(9, 0)", "meta.tags.pad (9, 0)", "|x| x", "{ meta }"] {
            assert!(may_change(source), "{source}");
        }
    }

    #[test]
    fn verdicts_are_named_or_all_are_seen() {
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(named("rewards.b > 0.5 && verdicts.a.reward == 1.0", &names), Some(vec![0, 1]));
        for source in ["rewards.len() > 1", "rewards[\"a\"]", "a in rewards", "rewards.c > 0.0"] {
            assert_eq!(named(source, &names), None, "{source}");
        }
    }

    #[test]
    fn equal_expressions_are_compiled_once() {
        let mut known = Vec::new();
        let of = |source: &str, known: &mut Vec<_>| When::compile(source, &[], known).unwrap();
        let first = of("meta.a == 1", &mut known);
        assert!(Arc::ptr_eq(&first, &of("meta.a == 1", &mut known)));
        assert_eq!(of("meta.a == 2", &mut known).slot, 1);
        assert_eq!(known.len(), 2);
        assert!(When::compile("meta.a ==", &[], &mut known).is_err());
    }
}
