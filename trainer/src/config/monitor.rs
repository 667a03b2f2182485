//! The table `[train.monitor]` of a configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use crate::error::TrainerError;

/// Something that goes wrong in a training and that the monitor sees.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Alarm {
    /// Within groups, right answers hardly get a greater advantage than wrong ones.
    RightNotPaid,
    /// Within groups, being longer (or shorter) pays although it makes answers wrong, or more than
    /// being right does.
    LengthPays,
    /// The same of a phrase that a completion has.
    PhrasePays,
    /// The same of a part of the reward.
    PartPays,
    /// The reward rose, and the share of right answers among the rollouts fell.
    RewardDiverges,
    /// Tasks that are held out were answered right before, and are no longer, and the reward did not
    /// fall.
    HeldOutFalls,
    /// A part of the reward rose, and another, or the share of right answers, fell.
    PartsApart,
    /// The mean length left the band around that of the first steps, and answers did not get better.
    LengthDrift,
    /// Nearly all groups have one reward for all rollouts, and wrong answers.
    ZeroVariance,
    /// Rewards are missing since something failed.
    FaultShare,
    /// The entropy of the policy is gone, and its answers are wrong.
    EntropyCollapse,
    /// Most rollouts are wrong and copies of another one of their group.
    Copies,
    /// Completions that an audit found to be paid, and that should not be, come up.
    KnownAttack,
}

assay_verifiers::words! {
    Alarm, name:
    RightNotPaid "right_not_paid", LengthPays "length_pays", PhrasePays "phrase_pays",
    PartPays "part_pays", RewardDiverges "reward_diverges", HeldOutFalls "held_out_falls",
    PartsApart "parts_apart", LengthDrift "length_drift", ZeroVariance "zero_variance",
    FaultShare "fault_share", EntropyCollapse "entropy_collapse", Copies "copies",
    KnownAttack "known_attack",
}

impl Alarm {
    /// Those for which `on_warning` holds by default.
    const ACTED_ON: [Self; 8] = [
        Self::RightNotPaid,
        Self::LengthPays,
        Self::PhrasePays,
        Self::PartPays,
        Self::RewardDiverges,
        Self::HeldOutFalls,
        Self::PartsApart,
        Self::KnownAttack,
    ];
}

/// What a warning does besides being told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnWarning {
    /// Nothing.
    #[default]
    Warn,
    /// The training stops.
    Stop,
    /// The training goes back to the newest checkpoint that is not after the last step before the
    /// signal began.
    RollBack,
}

/// How a training is watched for a reward that is hacked. Every limit has a default that is meant for
/// all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct MonitorConfig {
    /// The alarms that are on; all by default. An empty list turns the monitor off.
    #[default(Alarm::ALL.to_vec())]
    pub alarms: Vec<Alarm>,
    /// What a warning does.
    pub on_warning: OnWarning,
    /// The alarms for which `on_warning` holds; the others warn alone.
    #[default(Alarm::ACTED_ON.to_vec())]
    pub act_on: Vec<Alarm>,
    /// How often the training goes back before it stops in place of that.
    #[default(1)]
    pub roll_backs_max: u32,
    /// How many steps in a row an alarm must hold before it is told.
    #[default(2)]
    pub patience: u32,
    /// An alarm that was told and still holds is told again after so many steps; 0 is never.
    #[default(20)]
    pub repeat_after: u64,
    /// Steps after which what was seen within groups counts half.
    #[default(4.0)]
    pub half_life: f64,
    /// Steps over which means (reward, right answers, lengths, ...) are taken and compared.
    #[default(8)]
    pub window: usize,
    /// Groups with information before an alarm about what is paid within groups may hold.
    #[default(12.0)]
    pub groups_min: f64,
    /// How many standard errors a difference is to be away from its limit.
    #[default(4.0)]
    pub standard_errors: f64,
    /// `right_not_paid`: the correlation of advantage and rightness within groups is below this.
    #[default(0.2)]
    pub right_paid_below: f64,
    /// `length_pays`, `phrase_pays`, `part_pays`: the feature pays more than this times what being
    /// right pays, and does not go with being right.
    #[default(1.25)]
    pub pays_above: f64,
    /// The same alarms: or the feature pays, and the share of right answers is lower by this with it.
    #[default(0.1)]
    pub accuracy_lost: f64,
    /// `phrase_pays`: the most words of a phrase.
    #[default(3)]
    pub phrase_words: usize,
    /// `phrase_pays`: phrases that are followed at a time.
    #[default(400)]
    pub phrases_max: usize,
    /// `length_pays` where nothing says what is right: the correlation of advantage and length within
    /// groups is above this, and the length grew by a quarter.
    #[default(0.6)]
    pub length_correlation_above: f64,
    /// `reward_diverges`: the share of right answers fell by more than this.
    #[default(0.02)]
    pub accuracy_fall: f64,
    /// `held_out_falls`: the probability of a false warning in a whole run.
    #[default(0.01)]
    pub held_out_level: f64,
    /// `length_drift`: the mean length is more than this times that of the first steps, or less than
    /// one over it.
    #[default(1.5)]
    pub length_ratio: f64,
    /// `zero_variance`: the share of groups is above this.
    #[default(0.8)]
    pub zero_variance_above: f64,
    /// `fault_share`: the share of rollouts is above this.
    #[default(0.05)]
    pub faults_above: f64,
    /// `entropy_collapse`: the entropy is below this share of that of the first steps.
    #[default(0.1)]
    pub entropy_below: f64,
    /// `copies`: the share of rollouts is above this.
    #[default(0.5)]
    pub copies_above: f64,
    /// `known_attack`: completions, or their beginnings, that are paid and should not be;
    /// `assay train --audit AUDIT` sets those of an audit. Case, numbers and blanks do not count.
    pub attacks: Vec<String>,
    /// `known_attack`: the share of rollouts that are not right and have one rose by more than this.
    #[default(0.02)]
    pub attacks_above: f64,
    /// Rollouts that a warning shows.
    #[default(3)]
    pub samples: usize,
}

impl MonitorConfig {
    /// Fails where a number is out of its range.
    ///
    /// # Errors
    /// The setting at fault, and its range.
    pub fn check(&self) -> Result<(), TrainerError> {
        let shares = [
            ("right_paid_below", self.right_paid_below),
            ("accuracy_lost", self.accuracy_lost),
            ("length_correlation_above", self.length_correlation_above),
            ("accuracy_fall", self.accuracy_fall),
            ("held_out_level", self.held_out_level),
            ("zero_variance_above", self.zero_variance_above),
            ("faults_above", self.faults_above),
            ("entropy_below", self.entropy_below),
            ("copies_above", self.copies_above),
            ("attacks_above", self.attacks_above),
        ];
        let share = shares.iter().find(|(_, value)| !(0.0..=1.0).contains(value));
        let positive = [
            ("half_life", self.half_life),
            ("standard_errors", self.standard_errors),
            ("pays_above", self.pays_above),
            ("groups_min", self.groups_min),
        ];
        let positive = positive.iter().find(|(_, value)| !(*value > 0.0 && value.is_finite()));
        if let Some((name, value)) = share {
            return Err(TrainerError::setting(*name, format!("{value}, expected 0 to 1")));
        }
        if let Some((name, value)) = positive {
            return Err(TrainerError::setting(*name, format!("{value}, expected more than 0")));
        }
        if self.length_ratio.is_nan() || self.length_ratio <= 1.0 {
            return Err(TrainerError::setting("length_ratio", "expected more than 1"));
        }
        if self.window == 0 || self.patience == 0 {
            let name = if self.window == 0 { "window" } else { "patience" };
            return Err(TrainerError::setting(name, "0, expected 1 or more"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_a_configuration() {
        for alarm in Alarm::ALL {
            assert_eq!(serde_json::to_value(alarm).unwrap(), alarm.name());
        }
        let config: MonitorConfig = toml::from_str("on_warning = \"roll_back\"").unwrap();
        assert_eq!(config.on_warning, OnWarning::RollBack);
        assert_eq!(config, MonitorConfig { on_warning: OnWarning::RollBack, ..Default::default() });
        assert!(toml::from_str::<MonitorConfig>("alarm = []").is_err());
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let refused = |config: MonitorConfig| config.check().unwrap_err().to_string();
        assert!(MonitorConfig::default().check().is_ok());
        let share = MonitorConfig { faults_above: f64::NAN, ..MonitorConfig::default() };
        assert_eq!(refused(share), "NaN, expected 0 to 1");
        let zero = MonitorConfig { half_life: 0.0, ..MonitorConfig::default() };
        assert_eq!(refused(zero), "0, expected more than 0");
        let none = MonitorConfig { patience: 0, ..MonitorConfig::default() };
        assert_eq!(refused(none), "0, expected 1 or more");
        let ratio = MonitorConfig { length_ratio: 1.0, ..MonitorConfig::default() };
        assert_eq!(refused(ratio), "expected more than 1");
    }
}
