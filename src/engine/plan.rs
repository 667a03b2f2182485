//! The plan: a configuration with everything built, checked and put in order.

mod refused;
mod shapes;
mod trainers;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::code::Code;
use assay_verifiers::schedule::Schedule;
use assay_verifiers::script::Script;
use assay_verifiers::shape::BuiltShape;
use assay_verifiers::{Built, Files, Lane};
use serde_json::{Value, json};

use super::build_context::BuildContext;
use super::combine::Combiner;
use super::combine_formula::CombineFormula;
use super::config::{CombineBy, Config, OnFault, RewardConfig};
use super::document::Document;
use super::error::ConfigError;
use super::registry::Registry;
use super::turns::JudgedTurn;
use super::when::When;
use crate::data::RowReader;
#[cfg(feature = "rubrics")]
use crate::rubrics::judge::JudgeSet;
use crate::rubrics::judge::{JudgeConfig, JudgeParts};

/// The most rewards that one configuration may hold.
const REWARDS_MAX: usize = 256;

/// Rows that are awaited at once of a verifier that queues them itself: the more it sees, the better
/// it plans its batches.
const AWAITED_ROWS: usize = 1024;

/// A configuration that is ready to run.
pub struct Plan {
    /// The configuration it was built from.
    pub config: Config,
    /// Reads rows in the columns of the configuration.
    pub reader: RowReader,
    /// The rewards, in the order in which they are reported.
    pub rewards: Vec<Planned>,
    /// Their names, in the same order.
    pub names: Arc<[String]>,
    /// Indices of rewards that may run side by side, stage after stage: a stage needs verdicts of
    /// earlier ones alone. Group verifiers are in none; they come last.
    pub stages: Vec<Vec<usize>>,
    /// Indices of the rewards that see whole groups.
    pub group_rewards: Vec<usize>,
    /// Indices of the rewards after which the others run, for `how = "gate"`.
    pub gates: Vec<usize>,
    /// How the rewards become one.
    pub combiner: Combiner,
    /// The judges of the configuration.
    #[cfg(feature = "rubrics")]
    pub judges: crate::rubrics::judge::JudgeSet,
}

/// What compares the samples of a group.
#[derive(Clone, Copy)]
pub enum GroupComparison<'p> {
    /// The verifier of a reward, or one of its shapes.
    Reward(&'p Planned),
    /// `[combine] normalise`.
    Normalise,
}

impl fmt::Display for GroupComparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reward(reward) => write!(f, "{} ({})", reward.name, reward.built.spec.id),
            Self::Normalise => f.write_str("[combine] normalise"),
        }
    }
}

/// One reward, built.
pub struct Planned {
    /// The name under which it is reported.
    pub name: String,
    /// Its weight, at each training step.
    pub weight: Schedule,
    /// The verifier.
    pub built: Built,
    /// How its reward is shaped, in their order.
    pub shapes: Vec<BuiltShape>,
    /// Where this is false, the verifier abstains.
    pub when: Option<Arc<When>>,
    /// Which message of a conversation is judged.
    pub turns: JudgedTurn,
    /// Fuel for one verdict.
    pub fuel: u64,
    /// The part of the cache key that does not depend on the sample; `None` where verdicts are
    /// not kept.
    pub cache_key: Option<Digest>,
}

impl Plan {
    /// Builds a plan: every verifier, script and pattern, once.
    ///
    /// # Errors
    /// An unknown verifier, settings that it refuses, an expression that does not parse, or a
    /// `when` that needs a later verdict; the error points at the place.
    pub fn build(
        document: &Document,
        registry: &Registry,
        files: &dyn Files,
        judges: &JudgeParts,
    ) -> Result<Self, ConfigError> {
        let config = document.config()?;
        check_names(document, &config)?;
        refused::check_values(document, &config)?;
        refused::check_weights(document, &config)?;
        let names: Vec<String> = config.rewards.iter().map(|reward| reward.name.clone()).collect();
        #[cfg(not(feature = "rubrics"))]
        let _ = judges;
        #[cfg(feature = "rubrics")]
        let judges = JudgeSet::new(config.judges.clone(), judges.clone())
            .map_err(|error| document.refused("judges", error))?;
        let mut rewards = Vec::with_capacity(config.rewards.len());
        let mut known = Vec::new();
        for (at, reward) in config.rewards.iter().enumerate() {
            let context = BuildContext {
                files,
                #[cfg(feature = "rubrics")]
                judges: &judges,
                earlier: names.split_at(at).0,
            };
            let when = when(document, at, reward, &names, &mut known)?;
            rewards.push(planned(document, registry, &context, &config, at, reward, when)?);
        }
        let gates = gates(document, &config, &names)?;
        shapes::refuse_gates(document, &config, &gates)?;
        let is_from_zero = |at: &usize| match rewards.get(*at).map(|reward| &reward.built.lane) {
            Some(Lane::Compute(verifier)) => verifier.range()[0] >= 0.0,
            _ => false,
        };
        refused::check_gates(document, &config, &gates, is_from_zero)?;
        let order = Order { document, rewards: &rewards, gates: &gates };
        let (stages, group_rewards) = order.stages()?;
        let expression = config.combine.expression.as_deref().map(Script::expression).transpose();
        let expression = expression
            .map_err(|error| refused::expression(document, "combine.expression", error))?;
        if let Some(source) = &config.combine.expression {
            refused::check_expression(document, source, &names)?;
        }
        let formula =
            CombineFormula::of(&config).map_err(|error| document.refused("combine", error))?;
        let combiner = Combiner::build(&config, &gates, expression, formula)
            .map_err(|(path, message)| document.error(&path, message).code(Code::Conflict))?;
        trainers::check(document, &config)?;
        let names = names.into();
        Ok(Self {
            reader: RowReader::new(&config.data),
            config,
            rewards,
            names,
            stages,
            group_rewards,
            gates,
            combiner,
            #[cfg(feature = "rubrics")]
            judges,
        })
    }

    /// The columns of metadata that the configuration names for verifiers and judges, with the keys that
    /// name them.
    pub fn named_columns(&self) -> Vec<(String, String)> {
        let of_reward = |(at, (planned, reward)): (usize, (&Planned, &RewardConfig))| {
            let columns = planned.built.spec.columns.clone().into_iter();
            let written = columns.filter(|(setting, _)| reward.config.contains_key(*setting));
            let keyed =
                written.map(|(setting, column)| (format!("reward[{at}].config.{setting}"), column));
            keyed.collect::<Vec<_>>()
        };
        let of_judge = |(name, judge): (&String, &JudgeConfig)| {
            let column = serde_json::to_value(judge).ok()?.get("column")?.as_str()?.to_owned();
            Some((format!("judges.{name}.column"), column))
        };
        let rewards = self.rewards.iter().zip(&self.config.rewards).enumerate();
        rewards.flat_map(of_reward).chain(self.config.judges.iter().filter_map(of_judge)).collect()
    }

    /// Whether the samples of a prompt have to be judged together.
    pub fn needs_groups(&self) -> bool {
        self.config.combine.on_fault == OnFault::DropGroup || self.compares(|_| true).is_some()
    }

    /// What compares the samples of a group, the first of the rewards that `counts` before the rest.
    pub fn compares(&self, counts: impl Fn(&Planned) -> bool) -> Option<GroupComparison<'_>> {
        let is_of_group = |reward: &&Planned| {
            reward.built.lane.is_group() || reward.shapes.iter().any(|shape| shape.is_group)
        };
        let reward = self.rewards.iter().filter(is_of_group).find(|reward| counts(reward));
        let normalises = !self.config.combine.normalise.is_none();
        reward.map(GroupComparison::Reward).or(normalises.then_some(GroupComparison::Normalise))
    }

    /// Whether the verdicts of a reward are awaited.
    #[expect(clippy::indexing_slicing, reason = "the places of rewards are those of the plan")]
    pub(super) fn is_awaited(&self, reward: usize) -> bool {
        self.rewards[reward].built.lane.is_awaited()
    }

    /// How many deadlines a verdict of a reward may take.
    #[expect(clippy::indexing_slicing, reason = "the places of rewards are those of the plan")]
    pub(super) fn deadlines(&self, reward: usize) -> u32 {
        match &self.rewards[reward].built.lane {
            Lane::Awaited(verifier) => verifier.deadlines().max(1),
            _ => 1,
        }
    }

    /// Whether a row may take a millisecond or more. Such rows are handed out one by one.
    pub(super) fn is_slow(&self) -> bool {
        self.rewards.iter().any(|reward| reward.built.slow)
    }

    /// Whether every verdict is computed, and soon.
    pub(super) fn is_cheap(&self) -> bool {
        !self.is_slow() && !(0..self.rewards.len()).any(|reward| self.is_awaited(reward))
    }

    /// Whether a few samples are judged sooner than they are handed to another thread.
    pub(super) fn is_inline(&self) -> bool {
        self.is_cheap() && !self.needs_groups()
    }

    /// Rows that are awaited at once: as many as keep the slowest verifier busy.
    pub(super) fn awaited_rows(&self) -> usize {
        let rows = |reward: &Planned| match &reward.built.lane {
            Lane::Awaited(verifier) => {
                verifier.in_flight_max().map_or(AWAITED_ROWS, |most| 2 * most)
            }
            Lane::AwaitedGroup(_) => AWAITED_ROWS,
            Lane::Compute(_) | Lane::Group(_) => 0,
        };
        self.rewards.iter().map(rows).max().unwrap_or_default()
    }

    /// The configuration with every default filled in, and the digest of every file it names.
    pub fn resolved(&self) -> Value {
        let mut resolved = self.deciding();
        if let Some(members) = resolved.as_object_mut() {
            members.extend(trainers::resolved(&self.config));
        }
        resolved
    }

    /// All that decides a byte of the output: what trainers read does not.
    pub(super) fn deciding(&self) -> Value {
        let rewards: Vec<Value> =
            self.config.rewards.iter().zip(&self.rewards).map(resolved).collect();
        json!({
            "version": self.config.version,
            "data": self.config.data,
            "reward": rewards,
            "combine": self.config.combine,
            "limits": self.config.limits,
        })
    }

    /// The digest of [`Plan::resolved`] in hexadecimal, but for the tables that trainers read: two runs
    /// of one hash and one input have one output.
    pub fn config_hash(&self) -> String {
        canonical::hex(&canonical::digest(&self.deciding()))
    }
}

/// What decides a byte of the output. `pin` decides none; `turn` is left out where it is the default,
/// so that a run of an earlier build goes on.
fn resolved((given, planned): (&RewardConfig, &Planned)) -> Value {
    let spec = &planned.built.spec;
    let mut resolved = json!({
        "name": planned.name,
        "verifier": spec.id,
        "verifier_version": spec.version,
        "weight": planned.weight,
        "when": given.when,
        "config": spec.settings,
        "files": shapes::digests(&spec.files),
        "fuel": planned.fuel,
    });
    if !given.turn.is_default()
        && let Some(members) = resolved.as_object_mut()
    {
        members.insert("turn".to_owned(), json!(given.turn));
    }
    if !planned.shapes.is_empty()
        && let Some(members) = resolved.as_object_mut()
    {
        let shapes: Vec<Value> = planned.shapes.iter().map(shapes::resolved).collect();
        members.insert("shape".to_owned(), shapes.into());
    }
    resolved
}

fn check_names(document: &Document, config: &Config) -> Result<(), ConfigError> {
    if config.rewards.is_empty() {
        let error = document.error("reward", "no [[reward]]: name at least one verifier");
        let help = "add [[reward]] with name and verifier; `assay list checks` names them";
        return Err(error.code(Code::MissingKey).help(Some(help.to_owned())));
    }
    if config.rewards.len() > REWARDS_MAX {
        let error = document.error("reward", format!("more than {REWARDS_MAX} rewards"));
        return Err(error.code(Code::Limit));
    }
    let mut seen = BTreeSet::new();
    for (at, reward) in config.rewards.iter().enumerate() {
        let path = format!("reward[{at}].name");
        if reward.name.is_empty() {
            let help = format!("write name = \"{}\", or any name of your own", reward.verifier);
            return Err(document.error(&path, "the name is empty").help(Some(help)));
        }
        if !seen.insert(reward.name.as_str()) {
            let first = config.rewards.iter().position(|other| other.name == reward.name);
            let message = format!(
                "reward name \"{}\" is used twice: by reward[{}] and reward[{at}]",
                reward.name,
                first.unwrap_or_default()
            );
            return Err(document.error(&path, message).code(Code::DuplicateName));
        }
    }
    Ok(())
}

fn planned(
    document: &Document,
    registry: &Registry,
    context: &BuildContext<'_>,
    config: &Config,
    at: usize,
    reward: &RewardConfig,
    when: Option<Arc<When>>,
) -> Result<Planned, ConfigError> {
    let settings = Value::Object(reward.config.clone());
    let Some(built) = registry.build(&reward.verifier, settings, context) else {
        let error =
            document.error(&format!("reward[{at}].verifier"), registry.unknown(&reward.verifier));
        return Err(error.code(Code::UnknownVerifier).known(&reward.verifier, registry.ids()));
    };
    let built = built.map_err(|error| refused::settings(document, at, reward, error))?;
    pinned(document, registry, at, reward, &built)?;
    let fuel = reward.fuel.unwrap_or(config.limits.fuel);
    #[cfg(feature = "rubrics")]
    let is_recorded = registry.asks_judges(&reward.verifier) && context.judges.is_recorded();
    #[cfg(not(feature = "rubrics"))]
    let is_recorded = false;
    let kept = match built.lane {
        // The store of replies is what is kept: every question must reach it.
        _ if is_recorded => false,
        Lane::Compute(_) => reward.cache.unwrap_or(false),
        // A verifier of the program's own changes without a word.
        Lane::Awaited(_) => reward.cache.unwrap_or(registry.about(&reward.verifier).is_some()),
        Lane::Group(_) | Lane::AwaitedGroup(_) => false,
    };
    let key = || {
        let turn = canonical::to_bytes(&json!(reward.turn));
        let spec = built.spec.digest();
        canonical::digest_parts(&[b"assay verdict 2", &spec, &fuel.to_le_bytes(), &turn])
    };
    let cache_key = (kept && config.cache.enabled).then(key);
    Ok(Planned {
        name: reward.name.clone(),
        weight: reward.weight.clone(),
        shapes: shapes::built(document, config, at, reward, context.files)?,
        built,
        when,
        turns: reward.turn,
        fuel,
        cache_key,
    })
}

/// The compiled `when` of a reward; `known` holds those of the rewards before.
fn when(
    document: &Document,
    at: usize,
    reward: &RewardConfig,
    names: &[String],
    known: &mut Vec<Arc<When>>,
) -> Result<Option<Arc<When>>, ConfigError> {
    let Some(source) = &reward.when else { return Ok(None) };
    let path = format!("reward[{at}].when");
    let when = When::compile(source, names, known)
        .map_err(|error| refused::expression(document, &path, error))?;
    refused::check_when(document, &path, source, names)?;
    Ok(Some(when))
}

/// Holds a reward to the version of its verifier that the configuration names.
fn pinned(
    document: &Document,
    registry: &Registry,
    at: usize,
    reward: &RewardConfig,
    built: &Built,
) -> Result<(), ConfigError> {
    let (Some(pin), version) = (reward.pin, built.spec.version) else { return Ok(()) };
    if pin == version {
        return Ok(());
    }
    let (name, verifier) = (&reward.name, &reward.verifier);
    let message = format!(
        "reward \"{name}\" is pinned to version {pin} of {verifier}; this build has {version}"
    );
    let changes = registry.changes(verifier, pin);
    let help = if pin > version || changes.is_empty() {
        format!("set pin = {version} once the rewards of both versions were compared")
    } else {
        format!("{}; set pin = {version} to take the change", changes.join("; "))
    };
    let error = document.error(&format!("reward[{at}].pin"), message);
    Err(error.code(Code::Version).help(Some(help)))
}

fn gates(
    document: &Document,
    config: &Config,
    names: &[String],
) -> Result<Vec<usize>, ConfigError> {
    if config.combine.how != CombineBy::Gate {
        return match config.combine.gates {
            Some(_) => {
                let error = document.error("combine.gates", "`gates` needs how = \"gate\"");
                Err(error.code(Code::Conflict))
            }
            None => Ok(Vec::new()),
        };
    }
    let Some(gates) = &config.combine.gates else { return Ok(vec![0]) };
    let twice = |(at, gate): &(usize, &String)| gates.iter().take(*at).any(|other| other == *gate);
    if gates.is_empty() {
        let help = "write gates = [\"NAME\"], or leave it out: the first reward is the gate then";
        return Err(document
            .error("combine.gates", "`gates` is empty")
            .help(Some(help.to_owned())));
    }
    if let Some((_, gate)) = gates.iter().enumerate().find(twice) {
        let message = format!("the gate \"{gate}\" is named twice");
        return Err(document.error("combine.gates", message).code(Code::DuplicateName));
    }
    gates
        .iter()
        .map(|gate| {
            names.iter().position(|name| name == gate).ok_or_else(|| {
                let error =
                    document.error("combine.gates", format!("no reward is called \"{gate}\""));
                error.code(Code::UnknownName).known(gate, names.iter().map(String::as_str))
            })
        })
        .collect()
}

/// Puts rewards into stages.
struct Order<'a> {
    document: &'a Document,
    rewards: &'a [Planned],
    gates: &'a [usize],
}

impl Order<'_> {
    #[expect(
        clippy::indexing_slicing,
        reason = "places are of rewards, and stages reach to each depth"
    )]
    fn stages(&self) -> Result<(Vec<Vec<usize>>, Vec<usize>), ConfigError> {
        let mut depths: Vec<usize> = vec![0; self.rewards.len()];
        let mut grouped = Vec::new();
        // Gates first: everything else waits for them.
        let behind = |at: &usize| !self.gates.contains(at);
        let is_gate = |at: &usize| self.gates.contains(at);
        let all = 0..self.rewards.len();
        let gates_first = all.clone().filter(is_gate).chain(all.filter(behind));
        for at in gates_first {
            let needs = self.needs(at)?;
            depths[at] = needs.iter().map(|need| depths[*need] + 1).max().unwrap_or(0);
        }
        let mut stages: Vec<Vec<usize>> = Vec::new();
        for ((at, reward), depth) in self.rewards.iter().enumerate().zip(depths) {
            if reward.built.lane.is_group() {
                grouped.push(at);
                continue;
            }
            if stages.len() <= depth {
                stages.resize_with(depth + 1, Vec::new);
            }
            stages[depth].push(at);
        }
        stages.retain(|stage| !stage.is_empty());
        Ok((stages, grouped))
    }

    /// The rewards whose verdicts must be there before reward `at` runs.
    #[expect(clippy::indexing_slicing, reason = "places are of rewards")]
    fn needs(&self, at: usize) -> Result<Vec<usize>, ConfigError> {
        let gate = self.gates.contains(&at);
        let mut needs = if gate { Vec::new() } else { self.gates.to_vec() };
        let own = &self.rewards[at];
        if own.built.spec.reads_verdicts {
            let single = |(_, reward): &(usize, &Planned)| !reward.built.lane.is_group();
            let before = self.rewards.iter().enumerate().take(at).filter(single).map(|(at, _)| at);
            if gate && let Some(other) = before.clone().find(|other| !self.gates.contains(other)) {
                let other = &self.rewards[other].name;
                let message = format!(
                    "the gate reads the verdicts of the rewards before it, and \"{other}\" is \
                     judged after the gates"
                );
                return Err(self
                    .document
                    .error(&format!("reward[{at}]"), message)
                    .code(Code::Order));
            }
            needs.extend(before);
        }
        for (setting, name) in &own.built.spec.rewards {
            self.judged_before(at, &format!("config.{setting}"), name)?;
        }
        let Some(when) = own.when.as_deref() else { return Ok(needs) };
        let when = when.script();
        if !when.mentions("rewards") && !when.mentions("verdicts") {
            return Ok(needs);
        }
        let path = format!("reward[{at}].when");
        let source = self.document.text_at(&path).unwrap_or_default();
        refused::check_names(self.document, &path, source, &self.names())?;
        for reward in self.rewards.iter().filter(|reward| when.mentions(&reward.name)) {
            needs.push(self.judged_before(at, "when", &reward.name)?);
        }
        Ok(needs)
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.rewards.iter().map(|reward| reward.name.as_str())
    }

    /// The place of the reward that the setting `key` of reward `at` names, which is judged before it.
    #[expect(clippy::indexing_slicing, reason = "places are of rewards")]
    fn judged_before(&self, at: usize, key: &str, name: &str) -> Result<usize, ConfigError> {
        let path = format!("reward[{at}].{key}");
        let other = refused::reward(self.document, &path, name, self.names())?;
        let is_gate = |at: &usize| self.gates.contains(at);
        let late = other >= at || self.rewards[other].built.lane.is_group();
        let (message, help) = if other == at {
            let why = format!("`{key}` names \"{name}\", the reward that it decides on");
            (why, "name a reward listed before it".to_owned())
        } else if late || is_gate(&at) && !is_gate(&other) {
            let why = format!("`{key}` names \"{name}\", which is judged later");
            (why, format!("put the [[reward]] \"{name}\" above this one"))
        } else {
            return Ok(other);
        };
        Err(self.document.error(&path, message).code(Code::Order).help(Some(help)))
    }
}
