//! `GET /v1/verifiers`: the profiles that are served, and what each judges.

use axum::extract::State;

use crate::serve::prelude::*;

/// What is served.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VerifiersReply {
    /// The profiles; the first one answers who names none.
    profiles: Vec<ProfileInfo>,
}

/// A configuration that is served.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProfileInfo {
    name: String,
    /// SHA-256 of everything that decides a reward: equal hashes give equal verdicts.
    config_hash: String,
    /// The columns that rows are read by.
    data: serde_json::Value,
    /// The rewards, in their order.
    rewards: Vec<RewardInfo>,
    /// Whether samples of one prompt are judged together: they must then come in one request.
    needs_groups: bool,
}

/// A reward.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RewardInfo {
    name: String,
    verifier: String,
    version: u32,
    /// Its weight at the start of a training.
    weight: f64,
}

pub(super) async fn verifiers(State(shared): State<Arc<Shared>>) -> Json<VerifiersReply> {
    Json(VerifiersReply {
        profiles: shared.profiles.load().iter().map(|profile| info(profile)).collect(),
    })
}

fn info(profile: &Profile) -> ProfileInfo {
    let plan = profile.engine.plan();
    let reward = |planned: &crate::engine::Planned| RewardInfo {
        name: planned.name.clone(),
        verifier: planned.built.spec.id.to_string(),
        version: planned.built.spec.version,
        weight: planned.weight.at(0),
    };
    ProfileInfo {
        name: profile.name.clone(),
        config_hash: plan.config_hash(),
        data: serde_json::to_value(&plan.config.data).unwrap_or_default(),
        rewards: plan.rewards.iter().map(reward).collect(),
        needs_groups: plan.needs_groups(),
    }
}
