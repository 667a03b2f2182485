//! What the daemon counts, in the text format of Prometheus. Names are in `docs/operating.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use assay_verifiers::{FaultKind, Outcome, Scored};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::durations::Durations;
use super::striped::StripedCounter;

/// All counters. A clone is the same counters.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RouteCode, StripedCounter>,
    /// Those of good answers, found by the route alone.
    answered: Arc<ArcSwap<BTreeMap<String, Answered>>>,
    durations: Family<Route, Durations>,
    pub(crate) shed: Family<Reason, Counter>,
    /// Answers that were broken off behind their heads, and so behind their statuses.
    pub(crate) cut: Family<Reason, Counter>,
    pub(crate) in_flight: Gauge,
    pub(crate) waiting: Gauge,
    pub(crate) connections: Gauge,
    pub(crate) queued: Durations,
    pub(crate) reloads: Family<Reload, Counter>,
    verdicts: Family<VerdictLabels, StripedCounter>,
    faults: Family<FaultLabels, Counter>,
    spent: Family<VerifierLabels, Durations>,
    cache: Family<CacheLabels, Counter<u64, AtomicU64>>,
}

/// The status of a good answer.
const OK: u16 = 200;

/// The counters of good answers of a route.
#[derive(Clone)]
struct Answered {
    count: StripedCounter,
    durations: Durations,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteCode {
    route: String,
    code: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct Reason {
    pub(crate) reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct Reload {
    pub(crate) result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VerdictLabels {
    profile: String,
    verifier: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FaultLabels {
    profile: String,
    verifier: String,
    fault: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VerifierLabels {
    profile: String,
    verifier: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CacheLabels {
    profile: String,
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("assay");
        let requests = Family::default();
        registry.register("requests", "Requests by route and status", requests.clone());
        let durations = Family::default();
        let help = "From the head of a request to the head of its answer";
        registry.register_with_unit("request_duration", help, Unit::Seconds, durations.clone());
        let shed: Family<Reason, Counter> = Family::default();
        for reason in ["queue", "connections", "draining"] {
            let _ = shed.get_or_create(&Reason { reason });
        }
        registry.register("shed", "Requests that were refused for load", shed.clone());
        let cut: Family<Reason, Counter> = Family::default();
        for reason in ["unread", "body", "draining"] {
            let _ = cut.get_or_create(&Reason { reason });
        }
        registry.register("answers_cut", "Answers that were broken off", cut.clone());
        let in_flight = Gauge::default();
        registry.register("in_flight", "Samples that are being judged", in_flight.clone());
        let waiting = Gauge::default();
        registry.register("waiting", "Samples that wait for permits", waiting.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let queued = Durations::default();
        let help = "How long requests waited for permits";
        registry.register_with_unit("queue_duration", help, Unit::Seconds, queued.clone());
        let reloads: Family<Reload, Counter> = Family::default();
        for result in ["ok", "refused"] {
            let _ = reloads.get_or_create(&Reload { result });
        }
        registry.register("reloads", "Reloads of the configurations", reloads.clone());
        let verdicts = Family::default();
        registry.register("verdicts", "Verdicts by outcome", verdicts.clone());
        let faults = Family::default();
        registry.register("faults", "Verdicts that failed, by fault", faults.clone());
        let spent = Family::default();
        let help = "Time that was spent on a verdict";
        registry.register_with_unit("verify_duration", help, Unit::Seconds, spent.clone());
        let cache = Family::default();
        registry.register("cache", "Verdicts that were looked up", cache.clone());
        let build: Family<Build, Gauge> = Family::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version", build);
        Self {
            registry: Arc::new(registry),
            requests,
            answered: Arc::default(),
            durations,
            shed,
            cut,
            in_flight,
            waiting,
            connections,
            queued,
            reloads,
            verdicts,
            faults,
            spent,
            cache,
        }
    }

    /// Counts a request that was answered.
    pub(crate) fn request(&self, route: &str, code: u16, took: Duration) {
        let known = self.answered.load();
        if code == OK
            && let Some(answered) = known.get(route)
        {
            answered.count.inc();
            return answered.durations.observe(took);
        }
        let labels = RouteCode { route: route.to_owned(), code };
        self.requests.get_or_create(&labels).inc();
        let labels = Route { route: labels.route };
        self.durations.get_or_create(&labels).observe(took);
        if code == OK {
            self.answered.rcu(|known| {
                let mut known = BTreeMap::clone(known);
                known.insert(route.to_owned(), self.answered_by(route));
                known
            });
        }
    }

    /// The counters of good answers of a route.
    fn answered_by(&self, route: &str) -> Answered {
        let labels = RouteCode { route: route.to_owned(), code: OK };
        let count = self.requests.get_or_create_owned(&labels);
        let durations = self.durations.get_or_create_owned(&Route { route: labels.route });
        Answered { count, durations }
    }

    /// The page, in `OpenMetrics`.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        if text::encode(&mut page, &self.registry).is_err() {
            let _ = writeln!(page, "# the metrics could not be written");
        }
        page
    }

    /// Counters for the rewards of a profile.
    pub(crate) fn of_profile(&self, profile: &str, rewards: &[String]) -> ProfileMetrics {
        let reward = |verifier: &String| RewardMetrics {
            outcomes: ["scored", "abstained", "failed"].map(|outcome| {
                let (profile, verifier) = (profile.to_owned(), verifier.clone());
                self.verdicts.get_or_create_owned(&VerdictLabels { profile, verifier, outcome })
            }),
            spent: {
                let (profile, verifier) = (profile.to_owned(), verifier.clone());
                self.spent.get_or_create_owned(&VerifierLabels { profile, verifier })
            },
            name: verifier.clone(),
        };
        let metrics = ProfileMetrics {
            profile: profile.to_owned(),
            rewards: rewards.iter().map(reward).collect(),
            all: self.clone(),
        };
        metrics.cache([("hit", 0), ("miss", 0), ("corrupt", 0)]);
        metrics
    }
}

/// A page of `OpenMetrics` in the text format of Prometheus before it: a counter is known by the name of
/// its sample, and neither units nor the end are told.
pub(crate) fn in_text_format(page: &str) -> String {
    let counters: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::with_capacity(page.len());
    for line in page.lines().filter(|line| !line.starts_with("# UNIT ") && *line != "# EOF") {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", what @ ("HELP" | "TYPE"), name, rest] if counters.contains(name) => {
                let _ = writeln!(text, "# {what} {name}_total {rest}");
            }
            _ => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

/// The counters of a profile, found once.
pub(crate) struct ProfileMetrics {
    profile: String,
    rewards: Vec<RewardMetrics>,
    all: Metrics,
}

struct RewardMetrics {
    name: String,
    outcomes: [StripedCounter; 3],
    spent: Durations,
}

impl ProfileMetrics {
    /// Counts what was judged.
    pub(crate) fn count(&self, scored: &[Scored]) {
        for one in scored {
            if one.verdicts.is_empty()
                && let Outcome::Failed(fault) = &one.outcome
            {
                self.fault("", fault.kind);
            }
            let judged = one.verdicts.as_slice().iter().zip(&one.spent_ns);
            for ((verdict, spent_ns), reward) in judged.zip(&self.rewards) {
                let at = match &verdict.outcome {
                    Outcome::Scored(_) => 0,
                    Outcome::Abstained(_) => 1,
                    Outcome::Failed(fault) => {
                        self.fault(&reward.name, fault.kind);
                        2
                    }
                };
                if let Some(counter) = reward.outcomes.get(at) {
                    counter.inc();
                }
                if *spent_ns > 0 {
                    reward.spent.observe_ns(*spent_ns);
                }
            }
        }
    }

    fn fault(&self, verifier: &str, fault: FaultKind) {
        let labels = FaultLabels {
            profile: self.profile.clone(),
            verifier: verifier.to_owned(),
            fault: fault.to_string(),
        };
        self.all.faults.get_or_create(&labels).inc();
    }

    /// Takes over what the cache of the engine counts.
    pub(crate) fn cache(&self, counts: [(&'static str, u64); 3]) {
        for (result, count) in counts {
            let labels = CacheLabels { profile: self.profile.clone(), result };
            self.all.cache.get_or_create(&labels).inner().store(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_format_knows_counters_by_their_samples() {
        let metrics = Metrics::new();
        metrics.request("/v1/verify", 200, Duration::from_millis(2));
        let open = metrics.page();
        assert!(open.contains("# TYPE assay_requests counter\n") && open.ends_with("# EOF\n"));
        let text = in_text_format(&open);
        for line in [
            "# HELP assay_requests_total Requests by route and status.",
            "# TYPE assay_requests_total counter",
            "assay_requests_total{route=\"/v1/verify\",code=\"200\"} 1",
            "# TYPE assay_in_flight gauge",
            "# TYPE assay_request_duration_seconds histogram",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("# UNIT") && !text.contains("# EOF"));
        let samples = |page: &str| page.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(samples(&text), samples(&open));
    }
}
