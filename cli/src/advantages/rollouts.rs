//! The rollouts of a run: rewards, the parts they were made of, steps.

use std::collections::BTreeMap;
use std::path::Path;

use assay::engine::runs::{CONFIG, verdict_rows};
use assay::trainer::Ragged;
use assay::trainer::advantages::{AdvantageConfig, StepReward};
use assay::trainer::request::{AdvantageRequest, GroupColumn, PartColumn};
use assay::verifiers::code::Code;
use assay::verifiers::{Reward, Schedule, Scored, Verdict, from_value};
use serde_json::{Map, Value};

use super::data::DataRows;
use crate::exit::Failure;
use crate::run_files::{json, verdicts_manifest};

/// The rows of a run, column by column.
#[derive(Default)]
pub(super) struct Rollouts {
    pub(super) ids: Vec<String>,
    groups: Vec<Option<String>>,
    rewards: Vec<Option<f64>>,
    parts: Vec<PartColumn>,
    steps: Option<Ragged<StepReward>>,
    /// The most rows that the run was to read, where they were not all.
    limit: Option<u64>,
}

impl Rollouts {
    /// Reads a run folder. `steps` names the reward whose steps are wanted.
    pub(super) fn read(run: &Path, steps: Option<&str>) -> Result<Self, Failure> {
        let config: Value = json(run, CONFIG)?;
        let manifest = verdicts_manifest(run)?;
        let mut rollouts = Self {
            parts: parts(&config, manifest.identity.training.step),
            steps: steps.map(|_| Ragged::new()),
            limit: manifest.limit,
            ..Self::default()
        };
        if let Some(name) = steps
            && !rollouts.parts.iter().any(|part| part.name == name)
        {
            let names: Vec<&str> = rollouts.parts.iter().map(|part| part.name.as_str()).collect();
            let why =
                format!("--steps {name}: the run has no such reward; it has: {}", names.join(", "));
            return Err(Failure::usage(why));
        }
        for row in verdict_rows(run)? {
            rollouts.push(row?, steps)?;
        }
        Ok(rollouts)
    }

    /// Whether a row names no group.
    pub(super) fn lacks_groups(&self) -> bool {
        self.groups.iter().any(Option::is_none)
    }

    /// What is to be said where `--limit` may have cut the last of the groups.
    pub(super) fn cut(&self, groups: &[String]) -> Option<String> {
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for group in groups {
            *sizes.entry(group).or_default() += 1;
        }
        let (limit, last) = (self.limit?, groups.last()?);
        let (size, most) = (*sizes.get(last.as_str())?, *sizes.values().max()?);
        (size < most).then(|| {
            format!(
                "note: --limit {limit} ended the run: its last group has {size} rows, others {most}, and \
                 advantages are of the rows that are there"
            )
        })
    }

    /// What rows share a prompt by: groups of one size, the group of the row, or its prompt.
    #[expect(clippy::indexing_slicing, reason = "every row has an id and a group or none")]
    pub(super) fn groups(
        &self,
        size: Option<u64>,
        data: Option<&DataRows>,
    ) -> Result<Vec<String>, Failure> {
        if let Some(size) = size {
            let rows = self.ids.len() as u64;
            if !rows.is_multiple_of(size) {
                let why = format!("--group-size {size} does not divide the {rows} rows of the run");
                return Err(Failure::usage(why));
            }
            return Ok((0..rows).map(|row| (row / size).to_string()).collect());
        }
        let prompts = data.map(|data| data.prompts.as_slice()).unwrap_or_default();
        let key = |(at, group): (usize, &Option<String>)| {
            group.as_ref().or_else(|| prompts.get(at)).cloned().ok_or_else(|| {
                let id = &self.ids[at];
                let why = format!(
                    "row {} (id \"{}\") names no group: `data.group` names its column, --group-size \
                     cuts adjacent rows, and --with DATA has the prompts",
                    at + 1,
                    assay::data::escape(id)
                );
                Failure::usage(why)
            })
        };
        self.groups.iter().enumerate().map(key).collect()
    }

    /// The request for advantages, without what only the data know.
    pub(super) fn request(&self, groups: &[String]) -> AdvantageRequest {
        let keys = GroupColumn::Texts(groups.to_vec());
        AdvantageRequest {
            parts: self.parts.clone(),
            steps: self.steps.clone(),
            prompts: Some(groups.to_vec()),
            ..AdvantageRequest::new(keys, self.rewards.clone())
        }
    }

    fn push(&mut self, row: Scored, steps: Option<&str>) -> Result<(), Failure> {
        for part in &mut self.parts {
            let verdict = row.verdict(&part.name);
            part.rewards.push(verdict.and_then(|v| v.outcome.reward()).map(Reward::get));
        }
        if let (Some(rows), Some(name)) = (&mut self.steps, steps) {
            rows.push(
                row.verdict(name).map_or_else(|| Ok(Vec::new()), |v| self::steps(&row.id, v))?,
            );
        }
        self.rewards.push(row.reward());
        self.groups.push(row.group);
        self.ids.push(row.id);
        Ok(())
    }
}

/// The [advantage] of the configuration of a run.
pub(super) fn advantage(run: &Path) -> Result<AdvantageConfig, Failure> {
    let config: Value = json(run, CONFIG)?;
    let table = config.get("advantage").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    from_value(&table).map_err(|error| {
        let why = format!("{}: [advantage] is damaged: {error}", run.display());
        Failure::outside(Code::Damaged, why)
    })
}

/// The rewards of a resolved configuration that have a say, with their weights at a step.
fn parts(config: &Value, step: u64) -> Vec<PartColumn> {
    let rewards = config.get("reward").and_then(Value::as_array);
    let part = |reward: &Value| {
        let name = reward.get("name")?.as_str()?.to_owned();
        let weight = reward.get("weight").cloned().unwrap_or_else(|| Value::from(1.0));
        let weight: Schedule = from_value(&weight).ok()?;
        Some(PartColumn { name, weight: weight.at(step), rewards: Vec::new() })
    };
    rewards.into_iter().flatten().filter_map(part).collect()
}

/// The steps of a verdict in tokens.
fn steps(id: &str, verdict: &Verdict) -> Result<Vec<StepReward>, Failure> {
    let step = |step: &assay::verifiers::Step| {
        let (start, end) = step.tokens.ok_or_else(|| {
            let id = assay::data::escape(id);
            let why = format!("id \"{id}\": its steps name no tokens; `data.token_ids` names the column of the token ids");
            Failure::usage(why)
        })?;
        Ok(StepReward { start: Some(start), end, reward: step.reward.get() })
    };
    verdict.steps.iter().map(step).collect()
}
