//! What all requests share, and what a handler is given of it.

use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use assay_verifiers::{Sample, Scored};
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::http::request::Parts;
use crossbeam_utils::CachePadded;
use futures_util::FutureExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::admission::{Admission, Admitted};
use super::deadline;
use super::error::{ApiError, ErrorKind};
use super::inline::{self, Allowed, Inline};
use super::metrics::{Metrics, Reason};
use super::profiles::{BY_PROFILE, Profile, Profiles};
use super::runtime::now;
use super::tokens::AccessTokens;
use super::trace::{Trace, Tracing};
use crate::engine::ServeConfig;
use crate::engine::config::RewardConfig;
use crate::engine::{Engine, Rows, ScoreOptions};

/// The daemon, as its handlers see it.
pub(crate) struct Shared {
    pub(crate) config: ServeConfig,
    pub(crate) profiles: ArcSwap<Profiles>,
    pub(crate) tokens: ArcSwap<AccessTokens>,
    /// What runs the programs of requests.
    pub(crate) sandbox: Option<Arc<crate::sandbox::Sandbox>>,
    /// What is built of the settings of requests.
    pub(crate) inline: Inline,
    pub(crate) admission: Admission,
    pub(crate) metrics: Metrics,
    pub(crate) tracing: Tracing,
    pub(crate) is_draining: AtomicBool,
    /// The drain is over: what is still under way is refused.
    pub(crate) ended: CancellationToken,
    /// Requests that are not answered yet.
    pub(crate) open_requests: CachePadded<AtomicUsize>,
}

/// A request that wants samples judged: its profile, its deadline, and the way in.
pub(crate) struct Asked {
    pub(crate) shared: Arc<Shared>,
    pub(crate) trace: Trace,
    /// The profile that the path names.
    named: Option<String>,
    start: Instant,
    deadline: Duration,
    /// The request itself says how long it may take.
    is_limited: bool,
}

impl FromRequestParts<Arc<Shared>> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        shared: &Arc<Shared>,
    ) -> Result<Self, Self::Rejection> {
        let named = named(parts, shared).await?;
        if let Some(name) = &named {
            // Before the body is read.
            shared.profiles.load().get(Some(name)).map_err(|error| error.at("profile"))?;
        }
        let most = Duration::from_millis(shared.config.deadline_ms);
        let wanted = deadline::of_headers(&parts.headers)?;
        let (deadline, is_limited) = (wanted.unwrap_or(most).min(most), wanted.is_some());
        shared.admission.look().inspect_err(|_| shared.shed("queue"))?;
        let (shared, trace) = (Arc::clone(shared), Trace::of(parts));
        Ok(Self { shared, trace, named, start: now(), deadline, is_limited })
    }
}

/// The profile that a path names.
async fn named(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Option<String>, ApiError> {
    // Most paths name none, and to read their parameters costs more than this look.
    let path = parts.extensions.get::<MatchedPath>();
    if !path.is_some_and(|path| path.as_str().starts_with(BY_PROFILE)) {
        return Ok(None);
    }
    let params = RawPathParams::from_request_parts(parts, shared).await;
    let params = params.map_err(|error| ApiError::new(ErrorKind::NotFound, error.to_string()))?;
    let named = params.iter().find(|(name, _)| *name == "profile");
    Ok(named.map(|(_, value)| value.to_owned()))
}

/// What a request that wants nothing judged is told of: the profile that the path names, else all of them,
/// the first one first.
pub(crate) struct Told(pub(crate) Vec<Arc<Profile>>);

impl FromRequestParts<Arc<Shared>> for Told {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        shared: &Arc<Shared>,
    ) -> Result<Self, Self::Rejection> {
        let profiles = shared.profiles.load();
        match named(parts, shared).await? {
            Some(name) => Ok(Self(vec![profiles.get(Some(&name))?])),
            None => Ok(Self(profiles.iter().cloned().collect())),
        }
    }
}

impl Asked {
    /// The profile that the path names, else the one that the request does, else the first.
    pub(crate) fn profile(&self, of_request: Option<&str>) -> Result<Arc<Profile>, ApiError> {
        if let (Some(path), Some(other)) = (self.named.as_deref(), of_request)
            && path != other
        {
            let message = format!("the path names the profile {path}, the request {other}");
            return Err(ApiError::bad_request(message).at("profile"));
        }
        let profiles = self.shared.profiles.load();
        let found = profiles.get(self.named.as_deref().or(of_request));
        let found = found.map_err(|error| error.at("profile"))?;
        self.trace.judged_by(&found.name);
        Ok(found)
    }

    /// Shortens the deadline to what the body asks for.
    pub(crate) fn shorten(&mut self, deadline_ms: Option<NonZeroU64>) {
        if let Some(deadline_ms) = deadline_ms {
            self.deadline = self.deadline.min(Duration::from_millis(deadline_ms.get()));
            self.is_limited = true;
        }
    }

    /// What follows has as much time as a request of its own, unless this one says how long it may take.
    pub(crate) fn begin_again(&mut self) {
        if !self.is_limited {
            self.start = now();
        }
    }

    /// The moment at which the answer is due.
    pub(crate) fn until(&self) -> Instant {
        self.start + self.deadline
    }

    /// Waits for permits for so many samples.
    pub(crate) async fn enter(&self, samples: usize) -> Result<Admitted, ApiError> {
        let _waiting = self.trace.step("queue", samples);
        self.shared.enter(samples, self.until()).await
    }

    /// The engine of rewards that the body brings along, in the columns and limits of a profile.
    pub(crate) async fn inline(
        &self,
        profile: &Profile,
        rewards: &[RewardConfig],
    ) -> Result<Arc<Engine>, ApiError> {
        let config = &profile.engine.plan().config;
        inline::check_all(rewards, &self.shared.config.allow_inline_config, config.limits)?;
        let config = json!({
            "version": 1, "data": config.data, "reward": rewards, "limits": config.limits,
        });
        let allowed = self.allowed(&[]);
        let engine = self.shared.inline.engine(config, allowed, self.until()).await;
        engine.map_err(|error| if error.field.is_none() { error.at("reward") } else { error })
    }

    /// What settings of the body may use, and further verifiers that they are made into.
    pub(crate) fn allowed(&self, further: &[&str]) -> Allowed {
        let further = further.iter().map(|one| (*one).to_owned());
        let verifiers = self.shared.config.allow_inline_config.iter().cloned().chain(further);
        Allowed { verifiers: verifiers.collect(), sandbox: self.shared.sandbox.clone() }
    }

    /// Judges samples by the profile of the path: one [`Scored`] each, in their order.
    pub(crate) async fn score(&self, samples: Vec<Sample>) -> Result<Vec<Scored>, ApiError> {
        let profile = self.profile(None)?;
        self.check_count(samples.len())?;
        let _permits = self.enter(samples.len()).await?;
        Ok(self.judge(&profile, Rows::of_samples(samples), 0).await)
    }

    /// Judges rows by a profile, at a step of a training.
    pub(crate) async fn judge(&self, profile: &Profile, rows: Rows, step: u64) -> Vec<Scored> {
        let scored = self.judge_by(&profile.engine, rows, step).await;
        profile.metrics.count(&scored);
        scored
    }

    /// Judges rows by an engine that is in no metric of a profile.
    pub(crate) async fn judge_by(&self, engine: &Engine, rows: Rows, step: u64) -> Vec<Scored> {
        let mut judging = self.trace.score(rows.len());
        let left = self.until().saturating_duration_since(now()).max(Duration::from_nanos(1));
        let options = ScoreOptions { deadline: Some(left), step, ..ScoreOptions::default() };
        let scored = engine.score_rows(rows, options).await;
        judging.judged(&engine.plan().names, &scored);
        scored
    }

    /// Refuses more samples than one body may have.
    pub(crate) fn check_count(&self, samples: usize) -> Result<(), ApiError> {
        let most = self.shared.config.samples_max;
        if samples <= most {
            return Ok(());
        }
        let message = format!(
            "{samples} samples, and serve.samples_max is {most}: send fewer a request, or have it raised; \
             a stream of rows (NDJSON, by /v1/verify) has no such limit"
        );
        Err(ApiError::new(ErrorKind::TooLarge, message))
    }
}

impl Shared {
    /// Waits for permits for so many samples.
    pub(crate) async fn enter(&self, samples: usize, until: Instant) -> Result<Admitted, ApiError> {
        if let Some(admitted) = self.admission.enter_at_once(samples) {
            self.metrics.queued.observe_ns(0);
            return Ok(admitted);
        }
        let start = now();
        let admitted = self.admission.wait(samples, until).boxed().await;
        match &admitted {
            Ok(_) => self.metrics.queued.observe(start.elapsed()),
            Err(_) => self.shed("queue"),
        }
        admitted
    }

    pub(crate) fn shed(&self, reason: &'static str) {
        self.metrics.shed.get_or_create(&Reason { reason }).inc();
    }

    /// Counts an answer that is broken off.
    pub(crate) fn cut(&self, reason: &'static str) {
        self.metrics.cut.get_or_create(&Reason { reason }).inc();
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

/// A request that is not answered yet. It counts until it is dropped.
pub(crate) struct OpenRequest<S: Deref<Target = Shared> = Arc<Shared>>(S);

impl<S: Deref<Target = Shared>> OpenRequest<S> {
    pub(crate) fn new(shared: S) -> Self {
        shared.open_requests.fetch_add(1, Ordering::Relaxed);
        Self(shared)
    }
}

impl<S: Deref<Target = Shared>> Drop for OpenRequest<S> {
    fn drop(&mut self) {
        self.0.open_requests.fetch_sub(1, Ordering::Relaxed);
    }
}
