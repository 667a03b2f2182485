//! A script names a column, a reward, a member or a variable that is not there: an error. A name that the script allows to
//! be absent is a warning where one like it is there, and so is a package that is not part of Python.
//!
//! Looks at the syntax trees of conditions, expressions, scripts and Python checks beside the rows and the rewards, also on
//! ways that no row takes. Fix: columns are members of `meta` (of Python: `sample["meta"]`), rewards above this one members of
//! `rewards`; `optional = true` in [data] is for columns that may be missing.

use std::ops::Range;

use assay::engine::did_you_mean;
use assay::verifiers::script::{self, SAMPLE_NAMES};

use super::look::{Finding, Place, Tested, listed};
use super::script::members::Members;
use super::script::{Role, Script};

/// Packages that reward functions import.
const PACKAGES: &str = "datasets evaluate jsonschema latex2sympy2 latex2sympy2_extended math_verify nltk numpy openai \
    open_r1 pandas pydantic rapidfuzz regex requests rouge_score scipy sklearn sympy torch transformers verl";
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
        let is_own = self.script.is_rhai() && matches!(self.script.role, Role::Reward(_));
        let mut found = if is_own { self.variables() } else { Vec::new() };
        let is_absent = |name: &str| PACKAGES.split(' ').any(|own| own == name);
        let mut imports = self.script.facts.imports.iter();
        found.extend(imports.find(|(name, _)| is_absent(name)).map(|(name, spot)| {
            let place = Place::Script(self.at, Some(self.script.bytes(*spot)));
            Finding::new(place, "package").with("package", name.as_str())
        }));
        let (roots, paths) = (self.roots(), &self.script.facts.paths);
        let mut told: Vec<&[String]> = Vec::new();
        for path in paths {
            let root = roots.iter().find(|(name, _)| Some(name) == path.names.first());
            let missing = root.and_then(|(_, known)| known.missing(path.names.get(1..)?));
            let Some((at, known)) = missing.map(|(steps, known)| (steps + 1, known)) else {
                continue;
            };
            let Some(names) = path.names.get(..=at).filter(|own| !told.contains(own)) else {
                continue;
            };
            let (Some(root), Some(name)) = (names.first(), names.last()) else { continue };
            // A reward that is not there is no reward that abstained.
            let is_guarded = !["rewards", "verdicts"].contains(&root.as_str())
                && paths.iter().any(|own| own.is_guarded && own.names == names);
            let is_near = known.has("output_text") || did_you_mean(name, known.names()).is_some();
            if !is_guarded || is_near {
                told.push(names);
                let part = path.at.get(at).copied().flatten().map(|spot| self.script.bytes(spot));
                found.push(self.unknown(part, names, known).error_if(!is_guarded));
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
        let known = [SAMPLE_NAMES.as_slice(), &["rewards", "verdicts"]].concat();
        let unknown = script::Script::unknown_variables(&self.script.text, &known);
        let found = unknown
            .take(UNKNOWN_MAX)
            .map(|(name, part)| self.found(part, "variable", None, &name, &known).error_if(true));
        found.collect()
    }

    /// A member that is nowhere, the last of some names.
    #[expect(clippy::indexing_slicing, reason = "a path has names")]
    fn unknown(&self, part: Option<Range<usize>>, names: &[String], known: &Members) -> Finding {
        let (root, name) = (names[0].as_str(), names[names.len() - 1].as_str());
        let is_reward = ["rewards", "verdicts"].contains(&root) && names.len() == 2;
        let is_column = matches!(names, [.., above, _] if above == "meta")
            || !self.script.is_rhai() && names.len() == 2;
        let kind = match () {
            () if is_reward && self.is_reward(name) => "later",
            () if is_reward => "reward",
            () if root == "verdicts" => "verdict",
            () if known.has("output_text") => "sample",
            () if is_column => "column",
            () => "member",
        };
        let known: Vec<&str> = known.names().collect();
        self.found(part, kind, Some(root), name, &known).with("path", names.join("."))
    }

    fn is_reward(&self, name: &str) -> bool {
        self.tested.plan().names.iter().any(|own| own == name)
    }

    /// A name that is nowhere, and what was meant by it: a variable, or a member of what is called `root`.
    fn found(
        &self,
        part: Option<Range<usize>>,
        kind: &str,
        root: Option<&str>,
        name: &str,
        known: &[&str],
    ) -> Finding {
        let (is_combine, is_rhai) = (self.script.role == Role::Combine, self.script.is_rhai());
        let is_of_rewards = root.is_some_and(|root| root == "rewards" || root == "verdicts");
        let is_sample = !is_rhai && known.contains(&"output_text");
        let named = self.tested.plan().config.data.named();
        let named = named.into_iter().find(|(role, column)| *column == name || *role == name);
        let own = SAMPLE_NAMES.into_iter().find(|own| *own == name).map(|own| (own, own));
        let is_meta = root.is_none_or(|own| own == "meta" || !is_rhai) && !is_sample;
        let (role, column) = named.or(own).filter(|_| is_meta).unzip();
        let meant = match () {
            () if is_combine && (own.is_some() || self.meta.has(name)) => "combine",
            () if (root.is_none() || is_of_rewards) && self.is_reward(name) => "reward",
            () if is_sample && self.meta.has(name) => "item",
            () if root.is_none() && self.meta.has(name) => "column",
            () if is_rhai && role.is_some_and(|role| SAMPLE_NAMES.contains(&role)) => "role",
            () if role.is_some() => "taken",
            () if is_of_rewards => "listed",
            () if root.is_none() => "variable",
            () => "member",
        };
        let found = Finding::new(Place::Script(self.at, part), "unknown").with("kind", kind);
        let found = found.with("name", name).with("root", root).with("meant", meant);
        let found = found.with("role", role).with("column", column);
        let found = found.with("near", did_you_mean(name, known.iter().copied()));
        let found = found.with("is_above", self.seen().contains(&name));
        let found = found.with("known", listed(known.iter().copied()));
        found.with("script", self.script.called())
    }
}
