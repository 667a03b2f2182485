//! The tool of a training: a program in the sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_trainer::config::{ToolConfig, ToolLanguage};
use assay_trainer::training::{Tool, ToolReply};
use assay_verifiers::{BuildError, Meter};
use rayon::prelude::*;

use crate::sandbox::Sandbox;
use crate::sandbox::execute::{Executor, Written};
use crate::sandbox::runtime::{Limits, Stop};

/// Replies that are kept at most; beyond that the map starts over.
const KEPT_MAX: usize = 1 << 16;

/// A program that replies to calls. It is deterministic, so equal calls are run once.
pub struct SandboxTool {
    executor: Arc<Executor>,
    source: String,
    limits: Limits,
    length_max: usize,
    known: Mutex<BTreeMap<String, ToolReply>>,
}

impl SandboxTool {
    /// The program of a configuration: its `source`.
    ///
    /// # Errors
    /// A guest that is not there, or too little fuel for a program that does nothing.
    pub fn new(sandbox: &Arc<Sandbox>, config: &ToolConfig) -> Result<Self, BuildError> {
        let language = match config.language {
            ToolLanguage::Python => Written::Python,
            ToolLanguage::JavaScript => Written::JavaScript,
        };
        let limits = Limits { fuel: config.fuel, ..Limits::judging() };
        let empty = Self {
            executor: Executor::of(sandbox, &language)?,
            source: String::new(),
            limits,
            length_max: config.max_tool_response_length,
            known: Mutex::default(),
        };
        match empty.run("") {
            Err(why) => Err(BuildError::new("", why)),
            Ok(ToolReply { text, is_error: true }) => {
                Err(BuildError::new("fuel", format!("an empty program fails: {text}")))
            }
            Ok(_) => Ok(Self { source: config.source.clone().unwrap_or_default(), ..empty }),
        }
    }

    /// Runs the program on a call. What stops it is a reply; a fault of the sandbox is an error.
    fn run(&self, call: &str) -> Result<ToolReply, String> {
        let meter = Meter::default();
        let ready = self.executor.compile(&self.source, &meter);
        let run = ready.map_err(|why| format!("{why:?}"))?.run(call.into(), &self.limits, &meter);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        let error = match run.end {
            Ok(0) => None,
            Ok(code) | Err(Stop::Exit(code)) => {
                let last = text(&run.used.stderr).lines().next_back().map(str::to_owned);
                Some(last.unwrap_or_else(|| format!("exit code {code}")))
            }
            Err(stop @ Stop::Internal(_)) => return Err(stop.to_string()),
            Err(stop) => Some(stop.to_string()),
        };
        let is_error = error.is_some();
        let told = error.map_or_else(|| text(&run.used.stdout), |why| format!("error: {why}"));
        Ok(ToolReply { text: told.chars().take(self.length_max).collect(), is_error })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, ToolReply>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tool for SandboxTool {
    fn answer(&self, calls: &[&str]) -> Result<Vec<ToolReply>, String> {
        let mut known = self.known();
        if known.len() >= KEPT_MAX {
            known.clear();
        }
        let new: BTreeSet<&str> =
            calls.iter().copied().filter(|call| !known.contains_key(*call)).collect();
        drop(known);
        let new: Vec<&str> = new.into_iter().collect();
        let reply = |call: &&str| Ok(((*call).to_owned(), self.run(call)?));
        let found: Vec<(String, ToolReply)> =
            new.par_iter().map(reply).collect::<Result<_, String>>()?;
        let mut known = self.known();
        known.extend(found);
        let reply = |call: &&str| known.get(*call).cloned().ok_or("internal: no reply".to_owned());
        calls.iter().map(reply).collect()
    }
}
