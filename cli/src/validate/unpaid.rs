//! Why rows earn nothing: what their evidence says, and other settings by which they are right. One row that
//! earns something hides the rest from a mean, so these are told whatever the others earn.

use assay::Registry;
use assay::engine::config::RewardConfig;
use assay::engine::{JudgedTurn, Planned};
use assay::verifiers::{
    Built, Earlier, FaultKind, Lane, Meter, NoFiles, Outcome, Sample, Verdict, Verifier,
};
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _,
};
use serde_json::{Map, Value};

use super::near_misses::says_the_same;
use super::probe::{is_full, variant};
use super::programs;
use super::read::Row;
use super::rewrites::{split, tags, yes_or_no};
use super::slips::which;
use super::spelling::{OF_JSON, SPELLINGS, flattened, respelt};
use super::trial::Tried;
use crate::output::count;

/// Rows on which other settings are tried, and those on which programs are run.
const ROWS_MAX: usize = 300;
const PROGRAMS_MAX: usize = 12;
/// One row in so many that earns nothing has the reason at least; fewer may be slips of the policy.
const SHARE: usize = 4;

/// A verifier, the one that may be meant, and its settings as TOML.
const ALTERNATIVES: [(&str, &str, &str); 28] = [
    ("exact", "exact", "ignore_case = true"),
    ("exact", "number", ""),
    ("exact", "choice", ""),
    ("exact", "math", ""),
    ("exact", "regex", "pattern = '<answer>\\s*(.*?)\\s*</answer>', group = \"1\""),
    ("exact", "contains", "whole_words = true"),
    ("number", "number", "decimal_comma = true"),
    ("number", "number", "percent_is_fraction = true"),
    ("number", "number", "relative = 0.01"),
    ("number", "choice", ""),
    ("number", "math", ""),
    ("math", "choice", ""),
    ("math", "number", ""),
    ("math", "number", "decimal_comma = true"),
    ("math", "number", "percent_is_fraction = true"),
    ("math", "exact", "ignore_case = true"),
    ("choice", "choice", "index_from = 1"),
    ("choice", "choice", "multiple = true"),
    ("choice", "choice", "letters = 26"),
    ("choice", "exact", "ignore_case = true"),
    ("choice", "number", ""),
    ("contains", "contains", "ignore_case = true"),
    ("contains", "math", ""),
    ("tags", "tags", "opened = [\"think\"]"),
    ("tags", "tags", "opened = [\"reasoning\"]"),
    ("stdin_stdout", "stdin_stdout", "comparison = { ignore_case = true }"),
    ("stdin_stdout", "stdin_stdout", "comparison = { float_tolerance = 1e-6 }"),
    ("stdin_stdout", "stdin_stdout", "comparison = { unordered_lines = true }"),
];

/// Verifiers and settings of theirs without which more is right.
const LOOSER: [(&str, &str); 4] =
    [("math", "extract"), ("math", "strict"), ("stdin_stdout", "comparison"), ("regex", "full")];

/// What stands between answers in one text.
const SEPARATORS: [&str; 10] = ["|||", "||", "|", "<sep>", ";", " or ", " / ", "\n", "\t", ","];

/// The most lines of a text that lists answers.
const LINES_MAX: usize = 4;

/// A change of the settings of a reward.
enum Change {
    /// A setting is left out.
    Without(String),
    /// A verifier, with further settings as TOML.
    With(&'static str, String),
}

/// Words of the evidence of a row that earns nothing, what is wrong, and what to do.
const SIGNS: [(&str, &str, &str); 3] = [
    (
        "No module named '",
        "the program imports what is not there",
        "programs have the standard library of Python and sortedcontainers: say so in the prompt, or leave \
         out rows whose solutions need more",
    ),
    (
        "the tests name what the program does not define",
        "the tests call a function that the program does not define",
        "the prompt must say what the function is called; \"entry_point\" of the reference names it for tests \
         that call `candidate`",
    ),
    (
        "\"no-program\"",
        "the completion holds no program in the language of the settings",
        "`language` names another; a program stands in a fenced block, or is the whole completion",
    ),
];

/// Why rows earn nothing.
pub(super) struct Unpaid {
    pub(super) message: String,
    pub(super) help: String,
}

/// Rows by what the verifier gave.
#[derive(Default)]
struct Earned<'a> {
    /// Full reward.
    paid: Vec<&'a Row>,
    /// Nothing, or a reference that cannot be read, with what is said of it.
    unpaid: Vec<(&'a Row, &'a Verdict)>,
}

/// Why rows earn nothing from the reward at `at`, which is written so; `None` where that is not known.
pub(super) fn why(
    rows: &[Tried<'_>],
    (at, planned): (usize, &Planned),
    reward: &RewardConfig,
    registry: &Registry,
) -> Option<Unpaid> {
    let Lane::Compute(_) = &planned.built.lane else { return None };
    let settings = &reward.config;
    let mut earned = Earned::default();
    for tried in rows {
        let Some(verdict) = tried.judged.get(at).and_then(Option::as_ref) else { continue };
        let is_unpaid = match &verdict.outcome {
            Outcome::Scored(reward) => reward.get() <= 0.0,
            Outcome::Failed(fault) => fault.kind == FaultKind::BadReference,
            Outcome::Abstained(_) => false,
        };
        if is_unpaid {
            earned.unpaid.push((tried.row, verdict));
        } else if is_full(verdict) {
            earned.paid.push(tried.row);
        }
    }
    let sign = earned.sign();
    if reward.turn != JudgedTurn::default() {
        return sign.or_else(|| earned.other_turn(planned));
    }
    sign.or_else(|| earned.lost_backslash())
        .or_else(|| earned.broken_programs(planned))
        .or_else(|| earned.missing_words(planned, settings))
        .or_else(|| earned.rewritten(planned))
        .or_else(|| earned.alternative(planned, settings, registry))
}

impl Earned<'_> {
    /// The sign that the evidence of many rows has.
    fn sign(&self) -> Option<Unpaid> {
        let text = |verdict: &Verdict| serde_json::to_string(&verdict.evidence).unwrap_or_default();
        let said: Vec<_> = self.unpaid.iter().map(|(row, verdict)| (row, text(verdict))).collect();
        SIGNS.iter().find_map(|(words, what, help)| {
            let mut with =
                said.iter().filter_map(|(row, text)| Some((row, text.split_once(words)?.1)));
            let (first, behind) = with.next()?;
            let amount = 1 + with.count();
            if !self.is_many_of(amount, self.unpaid.len()) {
                return None;
            }
            let name = behind.split('\'').next().filter(|_| words.ends_with('\''));
            let name = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
            let message = format!("{}: {what}{name}", which(amount, first.number));
            Some(Unpaid { message, help: (*help).to_owned() })
        })
    }

    /// Answers that stand in another message than in the one that is judged.
    fn other_turn(&self, planned: &Planned) -> Option<Unpaid> {
        let Lane::Compute(verifier) = &planned.built.lane else { return None };
        if planned.built.slow {
            return None;
        }
        let place = self.place(ROWS_MAX, |row| is_right(&**verifier, &row.sample, planned))?;
        Some(Unpaid {
            message: format!(
                "{place}: the last message of the assistant is right, and `turn` names another one"
            ),
            help: "leave turn out, or write turn = \"last_assistant\"".to_owned(),
        })
    }

    /// Boxes whose `\b` was read as a backspace and then lost.
    fn lost_backslash(&self) -> Option<Unpaid> {
        let is_lost = |text: &str| {
            let mut boxes = text.match_indices("oxed{").peekable();
            boxes.peek().is_some()
                && boxes.all(|(at, _)| {
                    !text.get(..at).is_some_and(|own| own.ends_with(['b', 'B', '\u{8}']))
                })
        };
        let place = self.place(usize::MAX, |row| is_lost(row.sample.completion()))?;
        Some(Unpaid {
            message: format!(
                "{place}: the completion has `oxed{{`, as is left of `\\boxed` where `\\b` was read as a backspace and \
                 cut"
            ),
            help: "write the completions again, with json.dumps: JSON writes a backslash as two"
                .to_owned(),
        })
    }

    /// Programs that print nothing of what is asked for, by their text.
    fn broken_programs(&self, planned: &Planned) -> Option<Unpaid> {
        if planned.built.spec.id != "stdin_stdout" {
            return None;
        }
        programs::CAUSES.iter().find_map(|cause| {
            let place = self.place(usize::MAX, |row| (cause.is_it)(row.sample.completion()))?;
            let message = format!("{place}: {}", cause.what);
            Some(Unpaid { message, help: cause.help.to_owned() })
        })
    }

    /// Words that `contains` asks for and that no completion has.
    fn missing_words(&self, planned: &Planned, settings: &Map<String, Value>) -> Option<Unpaid> {
        let is_folded = settings.get("ignore_case") == Some(&Value::Bool(true));
        if planned.built.spec.id != "contains"
            || is_folded
            || !self.paid.is_empty()
            || self.unpaid.len() < 2
        {
            return None;
        }
        let has =
            |word: &str| self.unpaid.iter().any(|(row, _)| row.sample.completion().contains(word));
        let listed = |key: &str| {
            let words = settings.get(key).and_then(Value::as_array).into_iter().flatten();
            words.filter_map(Value::as_str)
        };
        // Of `any`, one is enough.
        let of_any = || listed("any").next().filter(|_| !listed("any").any(has));
        let word = listed("all").find(|word| !has(word)).or_else(of_any)?;
        let single = word.replace("\\\\", "\\");
        let help = if single != word && has(&single) {
            format!(
                "write '{single}' with one backslash: within single quotes TOML takes it as it stands"
            )
        } else if let Some((row, _)) = self
            .unpaid
            .iter()
            .find(|(row, _)| row.sample.completion().to_lowercase().contains(&word.to_lowercase()))
        {
            format!("ignore_case = true takes it as it is written in row {}", row.number)
        } else {
            "the prompt must ask for it, and the policy write it".to_owned()
        };
        let (first, _) = self.unpaid.first()?;
        let place = which(self.unpaid.len(), first.number);
        Some(Unpaid { message: format!("{place}: no completion has `{word}`"), help })
    }

    /// Which of the first rows that earn nothing, `most` of them, are so, where they are many.
    fn place(&self, most: usize, is_so: impl Fn(&Row) -> bool) -> Option<String> {
        let rows = self.unpaid.iter().take(most).map(|(row, _)| *row);
        let all = rows.len();
        let with: Vec<&Row> = rows.filter(|row| is_so(row)).collect();
        let first = with.first()?;
        self.is_many_of(with.len(), all).then(|| which(with.len(), first.number))
    }

    /// Whether so many of `all` rows that earn nothing are more than slips of the policy.
    fn is_many_of(&self, amount: usize, all: usize) -> bool {
        let is_whole = self.paid.is_empty();
        amount > 0 && amount * SHARE >= all && (amount > 1 || is_whole && all == 1)
    }

    /// References that say the answer otherwise than an answer does.
    fn rewritten(&self, planned: &Planned) -> Option<Unpaid> {
        if planned.built.slow {
            return None;
        }
        if planned.built.spec.id == "exact"
            && let Some(unpaid) = self.several_lines()
        {
            return Some(unpaid);
        }
        if let Some(unpaid) = self.respelt(planned) {
            return Some(unpaid);
        }
        for sign in SEPARATORS {
            let several = "the reference is several answers in one text, and one of them is given";
            let help = || {
                let sign = Value::from(sign);
                format!(
                    "write a list of answers, as text.split({sign}) of Python does: any of them is then right"
                )
            };
            if let Some(unpaid) = self.right_by(planned, |own| split(own, sign), several, help) {
                return Some(unpaid);
            }
        }
        let truths = "the reference is true or false, and the answer yes or no";
        let help =
            || "write the references as the prompt asks for them: \"yes\" and \"no\"".to_owned();
        self.right_by(planned, yes_or_no, truths, help)
    }

    /// References that say the answer in other characters, or in a list within a list.
    fn respelt(&self, planned: &Planned) -> Option<Unpaid> {
        let nested = "the reference is a list within a list";
        let help = || "write the answers in one list: any of them is then right".to_owned();
        if let Some(unpaid) = self.right_by(planned, flattened, nested, help) {
            return Some(unpaid);
        }
        if planned.built.spec.id == "json" {
            return self.json_respelt(planned);
        }
        SPELLINGS.iter().find_map(|spelling| {
            let how = spelling.respelt;
            let change = |row: &Row| {
                let (reference, completion) = (row.sample.reference()?, row.sample.completion());
                let own = respelt(reference, how);
                if !spelling.is_of_answers {
                    return Some((completion.to_owned(), own?));
                }
                let answer = how(completion);
                let differs = own.is_some() || answer != completion;
                differs.then(|| (answer, own.unwrap_or_else(|| reference.clone())))
            };
            self.right_if(planned, change, spelling.what, || spelling.help.to_owned())
        })
    }

    /// JSON that says the answer in other types or keys.
    fn json_respelt(&self, planned: &Planned) -> Option<Unpaid> {
        let parsed = |value: &Value| match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        };
        OF_JSON.iter().find_map(|(how, what, help)| {
            let change = |row: &Row| {
                let reference = parsed(row.sample.reference()?)?;
                let answer: Value = serde_json::from_str(row.sample.completion().trim()).ok()?;
                let (new, own) = (how(&answer, &reference), how(&reference, &reference));
                (new != answer || own != reference).then(|| (new.to_string(), own))
            };
            self.right_if(planned, change, what, || (*help).to_owned())
        })
    }

    /// References of several lines, of which `exact` compares none with the whole answer.
    fn several_lines(&self) -> Option<Unpaid> {
        let place = self.place(usize::MAX, |row| {
            let reference = row.sample.reference().and_then(Value::as_str).unwrap_or_default();
            let (wanted, given) = (reference.trim(), row.sample.completion().trim());
            wanted.contains('\n') && given.contains(wanted)
        })?;
        Some(Unpaid {
            message: format!(
                "{place}: the reference has several lines, and `exact` compares the last line of an answer"
            ),
            help: "verifier = \"string_check\", config = { input = \"{{ sample.output_text }}\", reference = \
                   \"{{ item.reference }}\", operation = \"eq\" } compares the whole"
                .to_owned(),
        })
    }

    /// What is said where rows are right once their references are written in another way.
    fn right_by(
        &self,
        planned: &Planned,
        other: impl Fn(&Value) -> Option<Value>,
        what: &str,
        help: impl Fn() -> String,
    ) -> Option<Unpaid> {
        let change = |row: &Row| {
            let reference = row.sample.reference().and_then(&other)?;
            Some((row.sample.completion().to_owned(), reference))
        };
        self.right_if(planned, change, what, help)
    }

    /// What is said where rows are right once their answers and references are written in another way.
    fn right_if(
        &self,
        planned: &Planned,
        change: impl Fn(&Row) -> Option<(String, Value)>,
        what: &str,
        help: impl Fn() -> String,
    ) -> Option<Unpaid> {
        let Lane::Compute(verifier) = &planned.built.lane else { return None };
        let place = self.place(ROWS_MAX, |row| {
            let Some(whole) = row.sample.reference_text() else { return false };
            // A text of many lines is one answer, and no list of them.
            if whole.lines().count() > LINES_MAX {
                return false;
            }
            let Some((completion, reference)) = change(row) else { return false };
            let sample = variant(&row.sample, &completion, reference);
            is_right(&**verifier, &sample, planned)
        })?;
        Some(Unpaid { message: format!("{place}: {what}"), help: help() })
    }

    /// The settings, or the verifier, by which most of the rows are right that earn nothing, and that takes
    /// nothing from those that do.
    fn alternative(
        &self,
        planned: &Planned,
        settings: &Map<String, Value>,
        registry: &Registry,
    ) -> Option<Unpaid> {
        let own = planned.built.spec.id.as_ref();
        let most = if planned.built.slow { PROGRAMS_MAX } else { ROWS_MAX };
        let tried = self.unpaid.len().min(most);
        let mut best: Option<(usize, String)> = None;
        for change in self.changes(own, settings) {
            let Some((id, all)) = change.settings(own, settings) else { continue };
            if id == own && all == *settings {
                continue;
            }
            let built = registry.build_alone(id, Value::Object(all), &NoFiles);
            let Some(Ok(Built { lane: Lane::Compute(verifier), slow, .. })) = built else {
                continue;
            };
            if slow && !planned.built.slow {
                continue;
            }
            let is_right = |row: &Row| is_right(&*verifier, &row.sample, planned);
            let is_same = |row: &Row| says_the_same(row, (own, id), change.added());
            let right = self.unpaid.par_iter().take(most);
            let right = right.filter(|(row, _)| is_same(row) && is_right(row)).count();
            if !self.is_many_of(right, tried) {
                continue;
            }
            let lost = self.paid.par_iter().take(most).filter(|row| !is_right(row)).count();
            if lost * SHARE > right {
                continue;
            }
            if best.as_ref().is_none_or(|(most, _)| right > *most) {
                best = Some((right, change.typed(own)));
            }
        }
        let (right, typed) = best?;
        let unpaid = self.unpaid.len();
        let (first, _) = self.unpaid.first()?;
        let of = if tried < unpaid {
            format!("{} of {} that were tried", count(right as u64), count(tried as u64))
        } else if right == unpaid {
            "all of them".to_owned()
        } else {
            format!("{} of them", count(right as u64))
        };
        let help = if typed.starts_with("verifier = \"contains\"") {
            format!(
                "ask for `The answer is ...` in the prompt, which `{own}` reads; {typed} takes the answer wherever \
                 it stands, among others too, and validate counts that as a cheat that is paid"
            )
        } else {
            format!("{typed}, if such answers are right")
        };
        let place = which(unpaid, first.number);
        let message = format!("{place} earn nothing, and {of} are right with {typed}");
        Some(Unpaid { message, help })
    }

    /// Changes of the configuration that may be meant.
    fn changes(&self, own: &str, settings: &Map<String, Value>) -> Vec<Change> {
        let less = settings.keys().filter(|key| LOOSER.contains(&(own, key.as_str())));
        let mut all: Vec<Change> = less.cloned().map(Change::Without).collect();
        // What is asked to hold words reads no reference, and is no answer to one.
        let is_form = own == "contains"
            && ["all", "any", "none"].iter().any(|key| settings.contains_key(*key));
        let is_known = |(of, id, _): &&(&str, &str, &str)| *of == own && (!is_form || *id == own);
        let known = ALTERNATIVES.iter().filter(is_known);
        all.extend(known.map(|(_, id, added)| Change::With(id, (*added).to_owned())));
        if own == "tags"
            && let Some((first, _)) = self.unpaid.first()
        {
            let found = tags(first.sample.completion());
            all.extend(
                (!found.is_empty())
                    .then(|| Change::With("tags", format!("tags = {}", toml::Value::from(found)))),
            );
        }
        if own == "regex"
            && let Some(pattern) = settings.get("pattern").and_then(Value::as_str)
        {
            let with =
                |flags| format!("pattern = {}", toml::Value::from(format!("({flags}){pattern}")));
            all.extend(
                ["?s", "?i", "?si", "?m", "?sm"].map(|flags| Change::With("regex", with(flags))),
            );
        }
        all
    }
}

impl Change {
    /// The verifier, and its settings; `None` where the change cannot be made.
    fn settings<'a>(
        &'a self,
        own: &'a str,
        settings: &Map<String, Value>,
    ) -> Option<(&'a str, Map<String, Value>)> {
        match self {
            Self::Without(key) => {
                let mut all = settings.clone();
                all.remove(key)?;
                Some((own, all))
            }
            Self::With(id, added) => {
                let mut all = if *id == own { settings.clone() } else { Map::new() };
                for (key, value) in toml::from_str::<Map<String, Value>>(added).ok()? {
                    match (all.get_mut(&key), value) {
                        (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
                        (_, value) => {
                            all.insert(key, value);
                        }
                    }
                }
                Some((id, all))
            }
        }
    }

    /// The settings that are added, as TOML.
    fn added(&self) -> &str {
        match self {
            Self::Without(_) => "",
            Self::With(_, added) => added,
        }
    }

    /// What is done in the configuration.
    fn typed(&self, own: &str) -> String {
        let (id, added) = match self {
            Self::Without(key) => return format!("`{key}` left out"),
            Self::With(id, added) => (*id, added),
        };
        let mut parts = Vec::new();
        if id != own {
            parts.push(format!("verifier = \"{id}\""));
        }
        if !added.is_empty() {
            parts.push(format!("config = {{ {added} }}"));
        }
        parts.join(", ")
    }
}

/// Whether a verifier gives a sample full reward, for the fuel that the planned one has.
fn is_right(verifier: &dyn Verifier, sample: &Sample, planned: &Planned) -> bool {
    let mut meter = Meter::new(planned.fuel);
    is_full(&verifier.verify(sample, Earlier::default(), &mut meter))
}
