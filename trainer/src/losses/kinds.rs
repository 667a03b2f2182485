//! The objectives, one file each or one line each where only settings differ. A new one needs its
//! file and its words here.

use schemars::{JsonSchema, Schema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::TrainerError;
use crate::losses::objective::Objective;

/// An objective, as the list knows it.
pub struct LossEntry {
    /// The name by which a configuration calls it.
    pub kind: &'static str,
    /// What it is, in a sentence or two.
    pub doc: &'static str,
    /// The settings that it has where none are given, as TOML: its own, and its aggregation.
    pub defaults: &'static str,
    /// The JSON Schema of its own settings.
    pub schema: fn() -> Schema,
    /// Builds it from its own settings.
    pub build: fn(Value) -> Result<Box<dyn Objective>, TrainerError>,
}

/// Declares the modules and lists the kinds.
macro_rules! losses {
    (
        modules: $($module:ident),+ $(,)?;
        $($kind:literal: $from:ident :: $objective:ident, $defaults:literal, $doc:literal;)+
    ) => {
        $(pub mod $module;)+

        /// Every kind of objective.
        pub static ALL: &[LossEntry] = &[$(LossEntry {
            kind: $kind,
            doc: $doc,
            defaults: $defaults,
            schema: || schema_for!($from::$objective),
            build: |settings| {
                let objective: $from::$objective = read(settings)?;
                objective.check()?;
                objective.ratio().clamp.check("ratio.clamp")?;
                Ok(Box::new(objective))
            },
        }),+];
    };
}

losses! {
    modules: aipo, cispo, clip, clip_cov, covariance, dcpo, dppo, dro, gmpo, importance_sampling, kl_cov,
        likelihood, opmd, sapo, srft, vespo;

    "ppo": clip::ClipObjective, "aggregation = { kind = 'token_mean' }",
        "Proximal Policy Optimization: the clipped ratio, the mean over all tokens.";
    "grpo": clip::ClipObjective, "aggregation = { kind = 'seq_mean_token_mean' }",
        "Group Relative Policy Optimization (DeepSeekMath): the clipped ratio, the mean over the \
         sequences of the mean over their tokens.";
    "bnpo": clip::ClipObjective, "aggregation = { kind = 'token_mean', scope = 'local' }",
        "The clipped ratio, the mean over the tokens of the batch at hand (TRL).";
    "dr_grpo": clip::ClipObjective, "aggregation = { kind = 'seq_mean_token_sum_norm' }",
        "Understanding R1-Zero-Like Training: the clipped ratio, the sum over the tokens divided by \
         a fixed length, so that no length is favoured.";
    "dapo": clip::ClipObjective, "eps_high = 0.28\naggregation = { kind = 'token_mean' }",
        "DAPO: the clipped ratio with a higher upper bound, the mean over the tokens of the whole \
         batch.";
    "gspo": clip::ClipObjective,
        "eps_low = 3e-4\neps_high = 4e-4\nratio = { level = 'sequence' }\n\
         aggregation = { kind = 'seq_mean_token_mean' }",
        "Group Sequence Policy Optimization: the clipped ratio of the sequence.";
    "luspo": clip::ClipObjective,
        "eps_low = 3e-4\neps_high = 4e-4\nratio = { level = 'sequence' }\n\
         aggregation = { kind = 'seq_mean_token_sum' }",
        "Length-Unbiased Sequence Policy Optimization: the clipped ratio of the sequence, summed over \
         its tokens.";
    "rloo": clip::ClipObjective,
        "ratio = { level = 'sequence_product' }\naggregation = { kind = 'seq_mean_token_mean' }",
        "The clipped product of the ratios of a sequence, as the RLOO trainer of TRL has it.";
    "stable_reinforce": clip::ClipObjective,
        "ratio = { clamp = { min = -1.0986122886681098, max = 1.0986122886681098 } }\n\
         aggregation = { kind = 'token_mean' }",
        "StableReinforce (R1-Reward): the logarithm of the ratio is clamped before the exponential, \
         here to a ratio of 3 and of a third.";
    "cispo": cispo::CispoObjective, "aggregation = { kind = 'token_mean' }",
        "CISPO (MiniMax-M1): the bounded ratio as a detached weight of the log-likelihood.";
    "aipo": aipo::AipoObjective,
        "ratio = { policy = 'rollout' }\naggregation = { kind = 'token_mean' }",
        "AIPO (LlamaRL): the ratio to the policy that generated, bounded above, as a detached weight \
         of the log-likelihood.";
    "sapo": sapo::SapoObjective, "aggregation = { kind = 'seq_mean_token_mean' }",
        "Soft Adaptive Policy Optimization: a sigmoid gate in place of the clip.";
    "gmpo": gmpo::GmpoObjective,
        "aggregation = { kind = 'seq_mean_token_mean', masked_sequences = 'keep' }",
        "Geometric-Mean Policy Optimization: the geometric mean of the clipped ratios of a sequence.";
    "vespo": vespo::VespoObjective, "aggregation = { kind = 'token_mean' }",
        "VESPO: a smooth function of the ratio of the sequence as a detached weight.";
    "dro": dro::DroObjective, "aggregation = { kind = 'token_mean' }",
        "DRO: the log-likelihood with a quadratic penalty of the log ratio of each token.";
    "clip_cov": clip_cov::ClipCovObjective, "aggregation = { kind = 'token_mean' }",
        "Clip-Cov: the clipped ratio, where some tokens of great covariance have no term.";
    "kl_cov": kl_cov::KlCovObjective, "aggregation = { kind = 'token_mean' }",
        "KL-Cov: the ratio, where the tokens of the greatest covariance have a penalty.";
    "dppo": dppo::DppoObjective, "aggregation = { kind = 'token_mean' }",
        "DPPO: a mask by total variation or divergence in place of the clip.";
    "dcpo": dcpo::DcpoObjective,
        "aggregation = { kind = 'seq_mean_token_mean', scope = 'local', sequences = 1.0 }",
        "DCPO: the clipped ratio with bounds by the old probability of the token.";
    "reinforce": likelihood::LikelihoodObjective, "aggregation = { kind = 'token_mean' }",
        "REINFORCE: the log-likelihood weighted by the advantage.";
    "gpg": likelihood::LikelihoodObjective, "aggregation = { kind = 'token_mean' }",
        "Group Policy Gradient: REINFORCE with the advantages of GPG.";
    "asymre": likelihood::LikelihoodObjective, "aggregation = { kind = 'seq_mean_token_sum' }",
        "Asymmetric REINFORCE: the log-likelihood of off-policy rollouts, weighted by their advantage.";
    "importance_sampling": importance_sampling::ImportanceSamplingObjective,
        "aggregation = { kind = 'token_sum' }",
        "The ratio with no bound.";
    "opmd": opmd::OpmdObjective, "aggregation = { kind = 'seq_mean_token_sum' }",
        "Online policy mirror descent (Kimi k1.5): the log-likelihood with a quadratic penalty of the \
         log ratio of the sequence.";
    "srft": srft::SrftObjective, "aggregation = { kind = 'token_mean' }",
        "SRFT: demonstrations and own rollouts in one loss, weighted by entropy.";
}

/// The kind called `kind`.
pub fn find(kind: &str) -> Option<&'static LossEntry> {
    ALL.iter().find(|entry| entry.kind == kind)
}

impl LossEntry {
    /// The settings that it has where none are given.
    ///
    /// # Errors
    /// The list is broken.
    pub fn defaults(&self) -> Result<Map<String, Value>, TrainerError> {
        toml::from_str(self.defaults)
            .map_err(|why| TrainerError::setting("kind", format!("\"{}\": {why}", self.kind)))
    }
}

fn read<T: DeserializeOwned + JsonSchema>(settings: Value) -> Result<T, TrainerError> {
    Ok(assay_verifiers::check::settings(settings)?)
}
