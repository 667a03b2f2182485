//! `wasm`: a component of the user's decides.

use std::sync::Arc;

use assay_verifiers::Digest;
use assay_verifiers::prelude::*;

use super::sandboxed::{Sandboxed, over_judge_limits};
use crate::Sandbox;
use crate::languages::module::binary;
use crate::runtime::{Limits, Plugin, PluginAnswer, PluginInput, Runtime, Stop, drive};

/// What a WebAssembly component says of the sample.
///
/// The component exports `assay:plugin/verifier@0.1.0`, whose one function takes the sample and
/// gives a reward with evidence, or the reason why it abstains. Every sample is judged by a fresh
/// instance without files, network or environment, with a clock and random numbers that are always
/// the same. A component that traps, runs out of fuel, returns an error, or gives a reward that is
/// not finite is a fault and no reward.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wasm {
    /// The file that holds the component, in the binary form or as text.
    path: String,
    /// Handed to the component as JSON.
    #[serde(default)]
    settings: Value,
    /// What one verdict may use: by default 3.2e9 units of fuel, which is less than a second, and 80 MiB.
    #[serde(default = "Limits::judging", deserialize_with = "over_judge_limits")]
    limits: Limits,
    #[serde(skip)]
    runtime: Option<Runtime>,
    #[serde(skip)]
    plugin: Option<Plugin>,
}

/// Fuel of a guest for one unit of the meter.
const FUEL_PER_UNIT: u64 = 32;
/// Notes that are kept of the evidence.
const NOTES_MAX: usize = 16;
/// Characters that are kept of a text from the component.
const TEXT_CHARS_MAX: usize = 200;

impl Sandboxed for Wasm {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        self.limits.check()?;
        self.runtime = Some(sandbox.runtime()?);
        Ok(Vec::new())
    }
}

impl Check for Wasm {
    const ID: &'static str = "wasm";
    const SLOW: bool = true;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let refused = |why: String| BuildError::new("path", why);
        let bytes =
            files.read(&self.path).map_err(|why| BuildError::unreadable("path", why))?;
        let wasm = binary(&self.path, &bytes).map_err(refused)?;
        let Some(runtime) = &self.runtime else {
            return Err(BuildError::new("", "wasm needs the sandbox"));
        };
        let plugin = Plugin::load(runtime, &self.path, &wasm);
        self.plugin = Some(plugin.map_err(|error| refused(error.to_string()))?);
        Ok(())
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(plugin) = &self.plugin else {
            return Err(Fault::internal("wasm was not loaded"));
        };
        let input = self.input(sample)?;
        let fuel = self.limits.fuel.min(meter.left().saturating_mul(FUEL_PER_UNIT));
        let limits = Limits { fuel, ..self.limits.clone() };
        let run = drive(plugin.verify(input, limits), &mut || meter.expired());
        let run = run.map_err(|stop| fault(&stop))?;
        meter.spend(run.used.fuel / FUEL_PER_UNIT)?;
        verdict(run.end.map_err(|stop| fault(&stop))?)
    }
}

impl Wasm {
    fn input(&self, sample: &Sample) -> Result<PluginInput, Fault> {
        Ok(PluginInput {
            prompt: sample.prompt().to_owned(),
            completion: sample.completion().to_owned(),
            reference: sample.reference().map(json).transpose()?,
            meta: json(sample.meta())?,
            settings: json(&self.settings)?,
        })
    }
}

fn json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::internal(error.to_string()))
}

/// The component is the user's own, so whatever stops it is a fault of the verifier's.
fn fault(stop: &Stop) -> Fault {
    Fault::new(stop.fault_kind(), format!("component: {stop}"))
}

fn verdict(answer: PluginAnswer) -> Result<Verdict, Fault> {
    match answer {
        PluginAnswer::Scored(reward, evidence) => scored(reward, &evidence),
        PluginAnswer::Abstained(why) => Ok(Verdict::abstained(cut(&why))),
        PluginAnswer::Refused(why) => trap(format!("component: {}", cut(&why))),
    }
}

fn scored(reward: f64, evidence: &str) -> Result<Verdict, Fault> {
    let Some(finite) = Reward::new(reward) else {
        return trap(format!("component: its reward is {reward}, which is not finite"));
    };
    let verdict = Verdict::scored(finite);
    if evidence.is_empty() {
        return Ok(verdict);
    }
    let Ok(notes) = serde_json::from_str::<serde_json::Map<String, Value>>(evidence) else {
        return trap(format!("component: its evidence is no JSON object: {}", cut(evidence)));
    };
    let notes: serde_json::Map<String, Value> =
        notes.into_iter().take(NOTES_MAX).map(|(key, value)| (cut(&key), note(value))).collect();
    Ok(if notes.is_empty() { verdict } else { verdict.with("notes", notes) })
}

/// Evidence is small: long texts are cut, and what holds more is noted as a text.
fn note(value: Value) -> Value {
    match value {
        Value::String(text) => cut(&text).into(),
        Value::Array(_) | Value::Object(_) => match value.to_string() {
            text if text.len() <= TEXT_CHARS_MAX => value,
            text => cut(&text).into(),
        },
        value => value,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

fn trap<T>(why: String) -> Result<T, Fault> {
    Err(Fault::trap(why))
}

#[cfg(test)]
mod tests;
