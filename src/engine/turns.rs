//! Multi-turn conversations: which messages a reward judges, and how the verdicts on several become one.

use assay_verifiers::{Fault, Outcome, Reward, Sample, Step, Turn, Verdict};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Which message of a completion a reward judges. A completion that is text has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgedTurn {
    /// The last message of the assistant; of a conversation without one, the last message.
    #[default]
    LastAssistant,
    /// The first message of the assistant; of a conversation without one, the last message.
    FirstAssistant,
    /// The last message, of any role.
    Last,
    /// Every message of the assistant by itself. The reward is the mean, and `steps` holds a reward
    /// for each message.
    EachAssistant,
    /// The message at this place, counted from 0.
    #[serde(untagged)]
    At(usize),
}

impl<'de> Deserialize<'de> for JudgedTurn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let turn = match value.as_str() {
            Some("last_assistant") => Some(Self::LastAssistant),
            Some("first_assistant") => Some(Self::FirstAssistant),
            Some("last") => Some(Self::Last),
            Some("each_assistant") => Some(Self::EachAssistant),
            _ => value.as_u64().and_then(|at| usize::try_from(at).ok()).map(Self::At),
        };
        turn.ok_or_else(|| {
            let known = "\"last_assistant\", \"first_assistant\", \"last\", \"each_assistant\", or the \
                         place of a message, from 0";
            D::Error::custom(format!("expected {known}, found {value}"))
        })
    }
}

/// The samples that a reward judges of one.
pub(super) enum Turns {
    One(Sample),
    /// With the places of the messages.
    Each(Vec<(usize, Sample)>),
    /// Why there is nothing to judge.
    Missing(String),
}

impl JudgedTurn {
    /// Whether it is what a configuration without the setting asks for.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn of(self, sample: &Sample) -> Turns {
        let turn = match self {
            Self::LastAssistant => return Turns::One(sample.clone()),
            Self::FirstAssistant => Turn::FirstAssistant,
            Self::Last => Turn::Last,
            Self::At(at) => Turn::At(at),
            Self::EachAssistant => return each(sample),
        };
        match sample.at_turn(turn) {
            Some(sample) => Turns::One(sample),
            None => Turns::Missing(match self {
                Self::At(at) => format!("the completion has no message {at}"),
                _ => "the completion has no messages".to_owned(),
            }),
        }
    }
}

fn each(sample: &Sample) -> Turns {
    let Some(places) = sample.assistant_turns() else { return Turns::One(sample.clone()) };
    let turns: Vec<(usize, Sample)> =
        places.into_iter().filter_map(|at| Some((at, sample.at_turn(Turn::At(at))?))).collect();
    if turns.is_empty() {
        return Turns::Missing("the completion has no message of the assistant".to_owned());
    }
    Turns::Each(turns)
}

/// The verdict on one message of several.
pub(super) struct TurnVerdict {
    /// The place of the message.
    pub(super) turn: usize,
    /// The bytes of its text.
    pub(super) length: usize,
    pub(super) verdict: Verdict,
}

/// The verdict on the message at this place: its steps are of that message.
pub(super) fn at_place(mut verdict: Verdict, place: Option<usize>) -> Verdict {
    for step in &mut verdict.steps {
        step.turn = step.turn.or(place);
    }
    verdict
}

/// The mean of the messages that were scored, with a step for each. One that failed fails all; where
/// every message abstained, so does the verdict.
pub(super) fn merged(turns: Vec<TurnVerdict>) -> Verdict {
    let failed = |one: &&TurnVerdict| matches!(one.verdict.outcome, Outcome::Failed(_));
    if let Some(one) = turns.iter().find(failed) {
        return one.verdict.clone().with("turn", one.turn);
    }
    let (count, mut scored, mut sum) = (turns.len(), 0_u32, 0.0);
    let mut merged = Verdict::graded(false).with("turns", count);
    let mut why = None;
    for TurnVerdict { turn, length, verdict } in turns {
        merged.usage += verdict.usage;
        match verdict.outcome {
            Outcome::Scored(reward) => {
                scored += 1;
                sum += reward.get();
                let whole = Step::new((0, length), reward);
                let steps = if verdict.steps.is_empty() { vec![whole] } else { verdict.steps };
                merged
                    .steps
                    .extend(steps.into_iter().map(|step| Step { turn: Some(turn), ..step }));
            }
            Outcome::Abstained(reason) => why = Some(reason),
            Outcome::Failed(_) => {}
        }
    }
    merged.outcome = match why {
        Some(why) if scored == 0 => Outcome::Abstained(why),
        _ => match Reward::new(sum / f64::from(scored.max(1))) {
            Some(mean) => Outcome::Scored(mean),
            None => Outcome::Failed(Fault::trap("the mean of the turns is not a finite number")),
        },
    };
    merged
}

#[cfg(test)]
mod tests {
    use assay_verifiers::Message;

    use super::*;

    #[test]
    fn the_reward_of_many_turns_is_their_mean_and_each_is_a_step() {
        let turns = |verdicts: Vec<Verdict>| {
            let one = |(turn, verdict)| TurnVerdict { turn, length: 7, verdict };
            merged(verdicts.into_iter().enumerate().map(one).collect())
        };
        let verdict = turns(vec![
            Verdict::graded(true),
            Verdict::abstained("no answer"),
            Verdict::graded(false),
        ]);
        assert_eq!(verdict.outcome.reward(), Reward::new(0.5));
        let steps: Vec<_> = verdict.steps.iter().map(|step| (step.turn, step.span)).collect();
        assert_eq!(steps, [(Some(0), (0, 7)), (Some(2), (0, 7))]);
        let none = turns(vec![Verdict::abstained("a"), Verdict::abstained("b")]);
        assert!(matches!(none.outcome, Outcome::Abstained(_)));
        let failed = turns(vec![Verdict::graded(true), Verdict::failed(Fault::internal("x"))]);
        assert!(matches!(failed.outcome, Outcome::Failed(_)));
    }

    #[test]
    fn steps_are_of_the_message_that_was_judged() {
        let said = ["assistant", "tool", "assistant", "tool"].map(|role| Message::new(role, "x"));
        let sample = Sample::builder(said.to_vec()).build();
        let step = Step::new((0, 1), Reward::ONE);
        for (judged, place) in [
            (JudgedTurn::FirstAssistant, Some(0)),
            (JudgedTurn::LastAssistant, Some(2)),
            (JudgedTurn::At(1), Some(1)),
            (JudgedTurn::Last, None),
        ] {
            let Turns::One(own) = judged.of(&sample) else { unreachable!("{judged:?}") };
            let verdict = Verdict { steps: vec![step], ..Verdict::graded(true) };
            assert_eq!(at_place(verdict, own.earlier_place()).steps[0].turn, place, "{judged:?}");
        }
    }

    #[test]
    fn a_turn_is_named_by_a_word_or_by_its_place() {
        let read = |text: &str| serde_json::from_str::<JudgedTurn>(text).ok();
        assert_eq!(read("\"each_assistant\""), Some(JudgedTurn::EachAssistant));
        assert_eq!(read("3"), Some(JudgedTurn::At(3)));
        assert_eq!((read("-1"), read("\"all\"")), (None, None));
    }

    #[test]
    fn text_has_one_turn_and_a_message_may_be_missing() {
        let text = Sample::builder("t").build();
        assert!(matches!(JudgedTurn::EachAssistant.of(&text), Turns::One(_)));
        assert!(matches!(JudgedTurn::At(4).of(&text), Turns::One(_)));
        let asked = Sample::builder(vec![Message::new("user", "q")]).build();
        assert!(matches!(JudgedTurn::EachAssistant.of(&asked), Turns::Missing(_)));
        assert!(matches!(JudgedTurn::At(1).of(&asked), Turns::Missing(_)));
    }
}
