//! The judges of a configuration, each made when it is first asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use assay_verifiers::BuildError;
use assay_verifiers::canonical::{self, Digest};
use serde_json::{Value, json};
use smart_default::SmartDefault;

use super::budget::{BudgetLimits, BudgetedJudge};
use super::column::ColumnJudge;
use super::config::JudgeConfig;
use super::dry::DryJudge;
use super::metered::MeteredJudge;
use super::openai::{OpenAiJudge, OpenAiSettings};
use super::recorded::RecordedJudge;
use super::report::{JudgeCounters, JudgeReport};
use super::store::{ReplyStore, StoreMode};
use super::{Judge, JudgeSampling};
use crate::http::{HttpClient, HttpSettings, Secret};

/// Looks up the environment variable of a key.
type SecretOf = Arc<dyn Fn(&str) -> Option<Secret> + Send + Sync>;

/// Reads a file that a configuration names.
type FileOf = Arc<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// Makes the judge of a folder.
type FolderJudge = Arc<dyn Fn(&JudgeConfig) -> Result<Arc<dyn Judge>, BuildError> + Send + Sync>;

/// What judges are made of beside their settings. By default there are no keys, files, folders and
/// store.
#[derive(Clone, SmartDefault)]
pub struct JudgeParts {
    /// Makes the endpoints of servers; `None` where no server may be asked.
    #[default(Some(HttpClient::new()))]
    pub http: Option<HttpClient>,
    /// The key in an environment variable.
    #[default(Arc::new(|_| None))]
    pub secret: SecretOf,
    /// The bytes of a `ca_file`.
    #[default(Arc::new(|name| Err(format!("file \"{name}\": no files can be read here"))))]
    pub files: FileOf,
    /// The judge of a model that runs on this machine. When replaying it is made too, because its
    /// identity is that of its files, but it is not asked.
    #[default(Arc::new(|_| Err(BuildError::new("folder", "no models can be run here"))))]
    pub folder: FolderJudge,
    /// Judges of the program itself, by name. The settings of a judge of that name need none of
    /// `url`, `folder` and `column`.
    pub judges: BTreeMap<String, Arc<dyn Judge>>,
    /// The store of replies.
    pub store: Option<Arc<ReplyStore>>,
    /// Ask nobody and count what would be asked.
    pub dry: bool,
    /// Called once for each judge whose budget is spent. What is asked of it afterwards waits for
    /// ever; without this it fails.
    pub stopped: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// The judges of a configuration, by name.
#[derive(Default)]
pub struct JudgeSet {
    configs: BTreeMap<String, JudgeConfig>,
    parts: JudgeParts,
    made: Mutex<BTreeMap<String, Arc<NamedJudge>>>,
}

/// A judge, and how it is asked.
pub struct NamedJudge {
    /// Its name in the configuration.
    pub name: String,
    /// The judge. It counts what it is asked, and its faults name it.
    pub judge: Arc<dyn Judge>,
    /// How its replies are generated, where a rubric says nothing else.
    pub sampling: JudgeSampling,
    /// The digest of its identity.
    pub identity: Digest,
    /// How many questions it answers at once; `None` where it queues them itself.
    pub in_flight_max: Option<usize>,
    counters: Arc<JudgeCounters>,
}

/// Calls of different samples that wait for each permit of a judge.
const CALLS_A_PERMIT: usize = 4;

impl NamedJudge {
    /// As many samples of so many calls each as keep the judge busy: prompts are made no sooner than
    /// they are needed. `None` where it queues them itself.
    pub fn samples_in_flight(&self, calls: usize) -> Option<usize> {
        let permits = self.in_flight_max?;
        Some((CALLS_A_PERMIT * permits).div_ceil(calls.max(1)).clamp(2, permits.max(2)))
    }

    /// A deadline for each round of so many calls that the judge answers at once.
    pub fn deadlines(&self, calls: usize) -> u32 {
        let rounds = calls / self.in_flight_max.unwrap_or(1).max(1);
        u32::try_from(rounds).unwrap_or(u32::MAX).saturating_add(1)
    }
}

impl JudgeSet {
    /// Checks the settings of all judges and makes none.
    ///
    /// # Errors
    /// The setting at fault, as `JUDGE.SETTING`.
    pub fn new(
        configs: BTreeMap<String, JudgeConfig>,
        parts: JudgeParts,
    ) -> Result<Self, BuildError> {
        for (name, config) in &configs {
            if parts.judges.contains_key(name) {
                continue;
            }
            config.check().map_err(|error| of_judge(name, &error))?;
        }
        Ok(Self { configs, parts, made: Mutex::default() })
    }

    /// The names of the judges.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.configs.keys().map(String::as_str)
    }

    /// The judge called `name`, made when it is first asked for.
    ///
    /// # Errors
    /// There is none of that name, or a part of it is missing: a key, a file, a model.
    pub fn get(&self, name: &str) -> Result<Arc<NamedJudge>, BuildError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(judge) = made.get(name) {
            return Ok(Arc::clone(judge));
        }
        let own = || self.parts.judges.contains_key(name).then(JudgeConfig::default);
        let Some(config) = self.configs.get(name).cloned().or_else(own) else {
            return Err(self.unknown(name));
        };
        let judge = self.make(name, &config).map_err(|error| of_judge(name, &error))?;
        let judge = Arc::new(judge);
        made.insert(name.to_owned(), Arc::clone(&judge));
        Ok(judge)
    }

    /// A judge that is not in the configuration, of its settings.
    ///
    /// # Errors
    /// The setting at fault, or a part that is missing.
    pub fn inline(&self, config: &JudgeConfig) -> Result<Arc<NamedJudge>, BuildError> {
        config.check()?;
        self.make("judge", config).map(Arc::new)
    }

    /// Whether every question must reach the judges, because what they say is kept or counted.
    pub fn is_recorded(&self) -> bool {
        self.parts.store.is_some() || self.parts.dry
    }

    /// What the judges were asked so far. Those that were never asked for are not listed.
    pub fn report(&self) -> JudgeReport {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let counts =
            |(name, judge): (&String, &Arc<NamedJudge>)| (name.clone(), judge.counters.counts());
        JudgeReport {
            judges: made.iter().map(counts).collect(),
            store: self.parts.store.as_ref().map(|store| store.counts()),
        }
    }

    fn unknown(&self, name: &str) -> BuildError {
        let known: Vec<String> = self.names().map(|name| format!("\"{name}\"")).collect();
        let has = if known.is_empty() {
            format!("none: write [judges.{name}] with url and model")
        } else {
            known.join(", ")
        };
        BuildError::new("judge", format!("no judge is called \"{name}\"; there are: {has}"))
    }

    fn make(&self, name: &str, config: &JudgeConfig) -> Result<NamedJudge, BuildError> {
        let counters = Arc::<JudgeCounters>::default();
        let inner = self.judge(name, config, &counters)?;
        let identity = canonical::digest(&inner.identity());
        let judge = MeteredJudge { name: name.to_owned(), inner, counters: Arc::clone(&counters) };
        let sampling = JudgeSampling {
            temperature: config.temperature,
            seed: config.seed,
            tokens_max: config.tokens_max,
            top_logprobs: config.top_logprobs,
        };
        Ok(NamedJudge {
            name: name.to_owned(),
            judge: Arc::new(judge),
            sampling,
            identity,
            in_flight_max: config.url.as_ref().map(|_| config.in_flight_max),
            counters,
        })
    }

    fn judge(
        &self,
        name: &str,
        config: &JudgeConfig,
        counters: &Arc<JudgeCounters>,
    ) -> Result<Arc<dyn Judge>, BuildError> {
        if let Some(column) = &config.column {
            return Ok(Arc::new(ColumnJudge::new(column)));
        }
        if self.parts.dry {
            let identity = match &config.folder {
                Some(folder) => json!({"kind": "folder", "folder": folder}),
                None => OpenAiSettings::of(config).identity(),
            };
            return Ok(Arc::new(DryJudge::new(identity)));
        }
        let store = self.parts.store.clone();
        let replays = store.as_ref().is_some_and(|store| store.mode() == StoreMode::Replay);
        let (asked, identity): (Option<Arc<dyn Judge>>, Value) = match &config.url {
            Some(_) if replays => (None, OpenAiSettings::of(config).identity()),
            Some(url) => {
                let judge = self.server(url, config, counters)?;
                let identity = judge.identity();
                (Some(Arc::new(judge)), identity)
            }
            None => {
                let own = self.parts.judges.get(name).cloned();
                let judge = own.map_or_else(|| (self.parts.folder)(config), Ok)?;
                let identity = judge.identity();
                (Some(judge), identity)
            }
        };
        let limits = BudgetLimits { calls: config.budget_calls, tokens: config.budget_tokens };
        let stopped = &self.parts.stopped;
        let asked = asked.map(|judge| {
            Arc::new(BudgetedJudge::new(judge, limits, stopped.clone())) as Arc<dyn Judge>
        });
        match (store, asked) {
            (Some(store), asked) => {
                Ok(Arc::new(RecordedJudge::new(asked, identity, store, Arc::clone(counters))))
            }
            (None, Some(asked)) => Ok(asked),
            (None, None) => Err(BuildError::new("", "there is nothing to replay")),
        }
    }

    fn server(
        &self,
        url: &str,
        config: &JudgeConfig,
        counters: &Arc<JudgeCounters>,
    ) -> Result<OpenAiJudge, BuildError> {
        let Some(client) = &self.parts.http else {
            return Err(BuildError::new("url", "no server may be asked here"));
        };
        let secret = config.key_env.as_deref().map(|name| self.secret(name)).transpose()?;
        let ca = config.ca_file.as_deref().map(|name| (self.parts.files)(name)).transpose();
        let http = HttpSettings {
            secret,
            ca: ca.map_err(|why| BuildError::new("ca_file", why))?,
            in_flight_max: config.in_flight_max,
            timeout_ms: config.timeout_ms,
            retries: config.retries,
            ..HttpSettings::new(url, "")
        };
        OpenAiJudge::new(OpenAiSettings::of(config), client, http, Arc::clone(counters))
    }

    fn secret(&self, variable: &str) -> Result<Secret, BuildError> {
        let missing = || {
            let message =
                format!("the environment variable {variable} that holds the key is not set");
            BuildError::new("key_env", message)
        };
        (self.parts.secret)(variable).filter(|key| !key.is_empty()).ok_or_else(missing)
    }
}

/// An error of one of several judges.
fn of_judge(name: &str, error: &BuildError) -> BuildError {
    let dot = if error.setting.is_empty() { "" } else { "." };
    let message = format!("judge \"{name}\": {}", error.message);
    BuildError::new(format!("{name}{dot}{}", error.setting), message)
}
