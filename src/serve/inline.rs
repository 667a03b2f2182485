//! Rewards that requests bring along: which may be, and the engines that are kept ready for them.
//!
//! Such an engine sees no file, no judge and no model folder, and keeps no verdicts: what a setting names
//! there, it does not find. It knows the verifiers alone that `allow_inline_config` names, those that other
//! settings nest too. Its limits are those of the profile.

use std::sync::Arc;
use std::time::Instant;

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::from_value::read;
use assay_verifiers::{Fault, FaultKind};
use serde_json::Value;
use tokio::sync::Mutex;

use super::error::{ApiError, Cause, ErrorKind};
use crate::engine::config::{LimitsConfig, RewardConfig};
use crate::engine::{Config, Engine, EngineError, Registry};
use crate::sandbox::Sandbox;

/// The most engines that are kept ready. Each has threads of its own.
const KEPT_MAX: usize = 16;
/// The most rewards of a request.
const REWARDS_MAX: usize = 64;
/// The setting by which some verifiers have limits of their own.
const LIMITS: &str = "limits";

/// An engine, by the digest of its configuration.
type Ready = (Digest, Arc<Engine>);

/// Engines that are ready, the last used first.
#[derive(Default)]
pub(crate) struct Inline(Arc<Mutex<Vec<Ready>>>);

/// What settings of a request may use.
pub(crate) struct Allowed {
    /// The verifiers.
    pub(crate) verifiers: Vec<String>,
    /// What runs programs.
    pub(crate) sandbox: Option<Arc<Sandbox>>,
}

impl Inline {
    /// The engine of a configuration, waited for until a moment. One is built at a time: a build goes on when
    /// nobody waits for it any more, and the next one begins when it is done.
    pub(crate) async fn engine(
        &self,
        config: Value,
        allowed: Allowed,
        until: Instant,
    ) -> Result<Arc<Engine>, ApiError> {
        let digest = canonical::digest(&config);
        let late = |_| ApiError::overloaded("other settings of requests are built just now");
        let kept = tokio::time::timeout_at(until.into(), Arc::clone(&self.0).lock_owned());
        let mut kept = kept.await.map_err(late)?;
        if let Some(at) = kept.iter().position(|(known, _)| *known == digest) {
            let found = kept.remove(at);
            let engine = Arc::clone(&found.1);
            kept.insert(0, found);
            return Ok(engine);
        }
        let building = tokio::task::spawn_blocking(move || {
            let engine = Arc::new(build(&config, &allowed)?);
            kept.insert(0, (digest, Arc::clone(&engine)));
            kept.truncate(KEPT_MAX);
            Ok::<_, ApiError>(engine)
        });
        let late = |_| {
            let why = "the settings of the request were not built in time";
            ApiError::fault(&Fault::new(FaultKind::Timeout, why))
        };
        let built = tokio::time::timeout_at(until.into(), building).await.map_err(late)?;
        let lost = |_| ApiError::new(ErrorKind::Internal, "the settings were not built");
        built.map_err(lost)?
    }
}

/// An engine that sees no files, asks no server and keeps nothing.
fn build(config: &Value, allowed: &Allowed) -> Result<Engine, ApiError> {
    let config: Config = read(config).map_err(|error| ApiError::of_value(&error))?;
    let sandbox = allowed.sandbox.clone().unwrap_or_default();
    let registry = Registry::standard(&sandbox, &Arc::default()).only(&allowed.verifiers);
    let builder = Engine::builder().config(config).registry(registry).no_cache().jobs(1);
    #[cfg(feature = "rubrics")]
    let builder =
        builder.judges(crate::rubrics::judge::JudgeParts { http: None, ..Default::default() });
    builder.build().map_err(|error| {
        let refused = ApiError::bad_request(error.to_string());
        match error {
            EngineError::Config(error) => ApiError {
                code: Some(Cause::Code(error.code)),
                expected: error.fields().expected,
                ..refused.at(error.setting().unwrap_or_default())
            },
            EngineError::Io(_) => refused,
        }
    })
}

/// Refuses a verifier whose settings no request may bring along.
pub(crate) fn check(verifier: &str, allowed: &[String]) -> Result<(), ApiError> {
    if allowed.iter().any(|one| one == verifier) {
        return Ok(());
    }
    let message = format!(
        "requests may not bring settings of {verifier} along: `allow_inline_config` in [serve] does \
         not name it"
    );
    Err(ApiError::bad_request(message))
}

/// Refuses rewards of a request that may not be, and those that ask for more than the profile grants.
pub(crate) fn check_all(
    rewards: &[RewardConfig],
    allowed: &[String],
    limits: LimitsConfig,
) -> Result<(), ApiError> {
    if !(1..=REWARDS_MAX).contains(&rewards.len()) {
        let message = format!("expected 1 to {REWARDS_MAX} rewards, found {}", rewards.len());
        return Err(ApiError::bad_request(message).at("reward"));
    }
    for (at, reward) in rewards.iter().enumerate() {
        check(&reward.verifier, allowed)
            .map_err(|error| error.at(format!("reward[{at}].verifier")))?;
        if reward.fuel.is_some_and(|fuel| fuel > limits.fuel) {
            let message = format!("the profile grants {} at most", limits.fuel);
            return Err(ApiError::bad_request(message).at(format!("reward[{at}].fuel")));
        }
        if has_limits(&Value::Object(reward.config.clone())) {
            let message = "limits are those of the profile";
            let field = format!("reward[{at}].config.{LIMITS}");
            return Err(ApiError::bad_request(message).at(field));
        }
    }
    Ok(())
}

/// Whether settings, or those that they nest, have limits of their own.
fn has_limits(settings: &Value) -> bool {
    match settings {
        Value::Object(members) => members.contains_key(LIMITS) || members.values().any(has_limits),
        Value::Array(items) => items.iter().any(has_limits),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::runtime::now;
    use super::*;

    fn config(number: usize) -> Value {
        let reward = json!({
            "name": "r", "verifier": "contains", "config": { "all": [number.to_string()] },
        });
        json!({ "version": 1, "reward": [reward] })
    }

    async fn engine(inline: &Inline, number: usize) -> Arc<Engine> {
        let allowed = Allowed { verifiers: vec!["contains".to_owned()], sandbox: None };
        let until = now() + Duration::from_mins(1);
        inline.engine(config(number), allowed, until).await.unwrap()
    }

    #[tokio::test]
    async fn the_engines_that_were_used_last_are_kept() {
        let inline = Inline::default();
        let first = engine(&inline, 0).await;
        for number in 1..KEPT_MAX {
            engine(&inline, number).await;
        }
        assert!(Arc::ptr_eq(&first, &engine(&inline, 0).await));
        let second = engine(&inline, 1).await;
        for number in KEPT_MAX..2 * KEPT_MAX - 2 {
            engine(&inline, number).await;
        }
        assert_eq!(inline.0.lock().await.len(), KEPT_MAX);
        assert!(Arc::ptr_eq(&first, &engine(&inline, 0).await));
        assert!(Arc::ptr_eq(&second, &engine(&inline, 1).await));
        engine(&inline, 100).await;
        engine(&inline, 101).await;
        engine(&inline, 0).await;
        assert_eq!(inline.0.lock().await.len(), KEPT_MAX);
        // The one that was used longest ago made room.
        assert_eq!(Arc::strong_count(&second), 2);
    }
}
