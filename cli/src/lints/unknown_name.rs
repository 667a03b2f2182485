//! A script names a column, a reward, a member or a variable that is not there: an error. A name that the script allows to
//! be absent is a warning where one like it is there.
//!
//! Looks at the syntax trees of conditions, expressions, scripts and Python checks beside the rows and the rewards, also on
//! ways that no row takes. Fix: columns are members of `meta` (of Python: `sample["meta"]`), rewards above this one members of
//! `rewards`; `optional = true` in [data] is for columns that may be missing.

use assay::engine::did_you_mean;
use assay::verifiers::script::{SAMPLE_NAMES, bounded_engine};
use rhai::{Dynamic, ParseErrorType, Scope};

use super::look::{Finding, Place, Tested, listed};
use super::script::members::Members;
use super::script::{Role, Script};

/// The most variables of one script that are reported.
const UNKNOWN_MAX: usize = 16;
/// What a verdict shows.
const VERDICT: [&str; 3] = ["outcome", "reward", "evidence"];
/// What a function of Python is given; what is behind the tenth as `grade(sample, item)` alone.
const GIVEN: &str = "completion output_text messages prompt prompt_messages reference id group finish_reason meta \
    output_json output_tools choices";

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let (mut meta, mut reference) = (Members::default(), Members::default());
    // Of columns that may be missing nothing is known.
    for row in tested.look.rows.iter().filter(|_| !tested.plan().config.data.optional) {
        meta.add(row.sample.meta(), 0);
        if let Some(own) = row.sample.reference().and_then(|own| own.as_object()) {
            reference.add(own, 0);
        }
    }
    let names =
        |(at, script)| Names { tested, meta: &meta, reference: &reference, script, at }.find();
    tested.scripts.iter().enumerate().flat_map(names).collect()
}

/// The names of a script, and what they are held against.
struct Names<'a> {
    tested: Tested<'a>,
    meta: &'a Members,
    reference: &'a Members,
    script: &'a Script,
    at: usize,
}

impl Names<'_> {
    fn find(&self) -> Vec<Finding> {
        let mut found = if self.script.is_rhai() { self.variables() } else { Vec::new() };
        let (roots, paths) = (self.roots(), &self.script.facts.paths);
        let mut told: Vec<&[String]> = Vec::new();
        for path in paths {
            let Some((first, rest)) = path.names.split_first() else { continue };
            let known = roots.iter().find(|(name, _)| name == first);
            let Some((steps, known)) = known.and_then(|(_, known)| known.missing(rest)) else {
                continue;
            };
            let Some(names) = path.names.get(..steps + 2).filter(|own| !told.contains(own)) else {
                continue;
            };
            let Some(name) = names.last() else { continue };
            // A reward that is not there is no reward that abstained.
            let is_guarded = !["rewards", "verdicts"].contains(&first.as_str())
                && paths.iter().any(|own| own.is_guarded && own.names == names);
            let is_sample = known.has("output_text");
            if !is_guarded || is_sample || did_you_mean(name, known.names()).is_some() {
                told.push(names);
                let part =
                    path.at.get(steps + 1).copied().flatten().map(|spot| self.script.bytes(spot));
                let found_here = self.unknown(first, names, name, known);
                found.push(
                    Finding { place: Place::Script(self.at, part), ..found_here }
                        .error_if(!is_guarded),
                );
            }
        }
        found
    }

    /// What a script is given: the names, and what is known to be in each. Of rows that are not there nothing is known.
    fn roots(&self) -> Vec<(String, Members)> {
        let (meta, reference) = (self.meta.clone(), self.reference.clone());
        let seen = self.seen();
        if let Some(function) = &self.script.facts.function {
            let is_graded =
                function.parameters.get(1).is_some_and(|own| own.is_required || own.name == "item");
            let given = GIVEN.split(' ').take(if is_graded { usize::MAX } else { 10 });
            let sample = Members::of(given).with("meta", meta.clone());
            let sample = sample.with("reference", reference.clone());
            let own = ["id", "prompt", "group"].into_iter();
            let item = own.fold(meta, |item, name| item.with(name, Members::default()));
            let item = if self.tested.look.rows.is_empty() {
                Members::default()
            } else {
                item.with("reference", reference)
            };
            let names = function.parameters.iter().map(|own| own.name.clone());
            return names.zip([sample].into_iter().chain(is_graded.then_some(item))).collect();
        }
        let mut roots = vec![("rewards".to_owned(), Members::of(seen.iter().copied()))];
        if self.script.role != Role::Combine {
            let verdicts =
                seen.iter().fold(Members::of([]), |all, name| all.with(name, Members::of(VERDICT)));
            let own = [("meta", meta), ("reference", reference), ("verdicts", verdicts)];
            roots.extend(own.map(|(name, members)| (name.to_owned(), members)));
        }
        roots
    }

    /// The rewards whose verdicts a script sees.
    fn seen(&self) -> Vec<&str> {
        let names = self.tested.plan().names.iter().map(String::as_str);
        match self.script.role {
            Role::Combine => names.collect(),
            Role::When(at) | Role::Reward(at) => names.take(at).collect(),
        }
    }

    /// Variables that are nowhere.
    fn variables(&self) -> Vec<Finding> {
        let mut engine = bounded_engine();
        engine.set_strict_variables(true);
        let (names, more): (Vec<&str>, &[&str]) = match self.script.role {
            Role::Combine => (self.seen(), &["rewards", "step"]),
            Role::When(_) => (SAMPLE_NAMES.to_vec(), &["rewards", "step", "verdicts"]),
            Role::Reward(_) => (SAMPLE_NAMES.to_vec(), &["rewards", "verdicts"]),
        };
        let known: Vec<&str> = names.into_iter().chain(more.iter().copied()).collect();
        let mut scope = Scope::new();
        for name in &known {
            scope.push_constant_dynamic(*name, Dynamic::UNIT);
        }
        let mut found = Vec::new();
        while found.len() < UNKNOWN_MAX {
            let text = &self.script.text;
            let compiled = match self.script.role {
                Role::Reward(_) => engine.compile_with_scope(&scope, text),
                _ => engine.compile_expression_with_scope(&scope, text),
            };
            let Err(error) = compiled else { break };
            // Whatever else it is, the plan was built of it.
            let ParseErrorType::VariableUndefined(name) = error.err_type() else { break };
            let place = error.position();
            let part =
                place.line().zip(place.position()).and_then(|place| self.script.word_at(place));
            let called = self.script.called();
            let message = format!("{called} names the variable `{name}`, which is not there");
            let help = self.meant(name, &known);
            let finding = Finding::new(Place::Script(self.at, part), message, help);
            found.push(finding.with("name", name.as_str()).error_if(true));
            scope.push_constant_dynamic(name.as_str(), Dynamic::UNIT);
        }
        found
    }

    /// What was meant by a variable.
    fn meant(&self, name: &str, known: &[&str]) -> String {
        let is_combine = self.script.role == Role::Combine;
        let is_reward = self.tested.plan().names.iter().any(|own| own == name);
        if is_combine && SAMPLE_NAMES.contains(&name) {
            return format!(
                "an expression sees the rewards alone: put what reads `{name}` into a reward, verifier = \"rhai\", and \
                 name that reward here"
            );
        }
        if !is_combine && self.meta.has(name) {
            return format!("a column is a member of `meta`: write `meta.{name}`");
        }
        if is_reward && !self.seen().contains(&name) {
            return format!(
                "the reward \"{name}\" is judged later: put it above, and write `rewards.{name}`"
            );
        }
        if is_reward {
            return format!("a reward is a member of `rewards`: write `rewards.{name}`");
        }
        if let Some((column, role)) = self.columns().into_iter().find(|(_, role)| *role == name) {
            return hidden(column, role);
        }
        let near = did_you_mean(name, known.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let more = if is_combine { "" } else { "; any other column of a row is meta.COLUMN" };
        format!("{near}there are: {}{more}", listed(known.iter().copied()))
    }

    /// A member that is nowhere, the last of some names.
    fn unknown(&self, root: &str, names: &[String], name: &str, known: &Members) -> Finding {
        let place = names.join(".");
        let none = match self.tested.look.rows.len() {
            1 => "the only row has not".to_owned(),
            rows => format!("none of the {rows} rows has"),
        };
        let (plan, called) = (self.tested.plan(), self.script.called());
        let is_reward = ["rewards", "verdicts"].contains(&root) && names.len() == 2;
        let is_later = is_reward && plan.names.iter().any(|own| own == name);
        let is_column = matches!(names, [.., above, _] if above == "meta")
            || !self.script.is_rhai() && names.len() == 2;
        let message = match root {
            _ if is_later => format!("{called} names the reward \"{name}\", which is judged later"),
            _ if is_reward => {
                format!("{called} names the reward \"{name}\", and none is called so")
            }
            "verdicts" => format!("{called} names `{place}`: a verdict has no `{name}`"),
            _ if known.has("output_text") => {
                format!("{called} names `{place}`: a sample has no `{name}`")
            }
            _ if is_column => format!("{called} names the column `{name}`, which {none}"),
            _ => format!("{called} names `{place}`, which {none}"),
        };
        let above = is_later.then(|| format!("put the reward \"{name}\" above this one"));
        let help = above.unwrap_or_else(|| self.help(root, name, known));
        let finding = Finding::new(Place::Script(self.at, None), message, help);
        finding.with("name", name).with("path", place)
    }

    fn help(&self, root: &str, name: &str, known: &Members) -> String {
        let read = self.columns().into_iter().find(|(column, _)| *column == name);
        let own = SAMPLE_NAMES.into_iter().find(|own| *own == name);
        let is_sample = known.has("output_text");
        if let Some(role) = read.map(|(_, role)| role).or(own).filter(|_| !is_sample) {
            match (root, SAMPLE_NAMES.contains(&role)) {
                ("meta", true) => {
                    return format!("what is read as the {role} is no metadata: write `{role}`");
                }
                ("meta", false) => return hidden(name, role),
                _ if !self.script.is_rhai() => {
                    return format!("that column is no metadata: write sample[\"{role}\"]");
                }
                _ => {}
            }
        }
        if is_sample && self.meta.has(name) {
            return format!("a column is a member of `meta`: write {root}[\"meta\"][\"{name}\"]");
        }
        let near = did_you_mean(name, known.names());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let there = listed(known.names());
        let there = if there.is_empty() {
            "there is none".to_owned()
        } else {
            format!("there are: {there}")
        };
        let optional = match root {
            "rewards" | "verdicts" => "",
            _ => "; `optional = true` in [data] is for columns that may be missing",
        };
        format!("{near}{there}{optional}")
    }

    /// Columns that are read as something, and are no metadata.
    fn columns(&self) -> Vec<(&str, &'static str)> {
        let columns = &self.tested.plan().config.data;
        let all = [
            (Some(&columns.prompt), "prompt"),
            (Some(&columns.completion), "completion"),
            (Some(&columns.reference), "reference"),
            (Some(&columns.id), "id"),
            (columns.group.as_ref(), "group"),
            (columns.finish_reason.as_ref(), "finish_reason"),
            (columns.token_ids.as_ref(), "token_ids"),
            (columns.logprobs.as_ref(), "logprobs"),
            (columns.label.as_ref(), "label"),
        ];
        all.into_iter().filter_map(|(column, role)| Some((column?.as_str(), role))).collect()
    }
}

/// What to do about a column that no script of rhai sees.
fn hidden(column: &str, role: &str) -> String {
    format!(
        "[data] {role} = \"{column}\" takes the column out of `meta`, and rhai does not see it: write it a second time into \
         the rows, under another name, and read that as meta.NAME; a function of `python_check` has \
         sample[\"finish_reason\"]"
    )
}
