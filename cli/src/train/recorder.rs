//! Whoever watches a training: writes the files of the run folder, and tells people.

use std::io;
use std::sync::{Arc, Mutex};

use assay::setup::unix_seconds;
use assay::trainer::monitor::MonitorWarning;
use assay::trainer::training::metrics::{JsonLines, TensorBoard};
use assay::trainer::training::{EvaluationReport, RolloutReport, StepReport, TrainingObserver};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::output;
use super::super::text::inline;
use super::folder::{EVALUATIONS, METRICS, ROLLOUTS, TENSORBOARD, TrainFolder, WARNINGS};
use super::lines::StepLines;
use super::plain::{self, PlainLines};
use super::view::View;
use super::watched::{self, Phase, Watched};

/// Writes what a training reports into its run folder, and shows it.
pub(super) struct Recorder {
    /// The measurements: JSON lines, events.
    measurements: Vec<Box<dyn TrainingObserver + Send>>,
    /// How often the training went back.
    times_back: u32,
    rollouts: StepLines,
    evaluations: StepLines,
    warnings: StepLines,
    watched: Arc<Mutex<Watched>>,
    told: Told,
}

/// How progress is printed.
pub(super) enum Told {
    Nothing,
    Lines(PlainLines),
    View(View),
}

impl Told {
    fn say(&self, text: &str) {
        match self {
            Self::Nothing => {}
            Self::Lines(_) => output::note(text),
            Self::View(view) => view.say(text),
        }
    }

    /// The line of what the training is at, where lines are printed and one is due.
    fn line(&mut self, watched: &Watched) {
        if let Self::Lines(lines) = self
            && let Some(line) = lines.line(watched)
        {
            output::note(&line);
        }
    }
}

/// A line of `rollouts.jsonl`.
#[derive(Serialize)]
struct RolloutLine<'a> {
    step: u64,
    group: u64,
    task: &'a str,
    prompt: &'a str,
    /// Text, or messages where there is a tool.
    completion: Value,
    tokens: usize,
    truncated: bool,
    reward: Option<f64>,
    /// What it was combined from, by name.
    rewards: Map<String, Value>,
    correct: Option<f64>,
    fault: Option<&'a str>,
    advantage: f64,
    entropy: f64,
}

impl Recorder {
    /// Goes on in a run folder after what was written up to `step`; begins where there is none.
    pub(super) fn new(
        folder: &TrainFolder,
        step: Option<u64>,
        watched: Arc<Mutex<Watched>>,
        told: Told,
    ) -> io::Result<Self> {
        let after = |name: &str| StepLines::after(&folder.path(name), step);
        Ok(Self {
            measurements: measurements(folder, step, 0)?,
            times_back: 0,
            rollouts: after(ROLLOUTS)?,
            evaluations: after(EVALUATIONS)?,
            // A warning was told, whatever became of its step.
            warnings: StepLines::after(&folder.path(WARNINGS), step.map(|_| u64::MAX))?,
            watched,
            told,
        })
    }

    /// Takes note of what the training is at.
    pub(super) fn phase(&mut self, phase: Phase) {
        let mut watched = watched::lock(&self.watched);
        watched.phase = phase;
        if let Phase::Warmup { .. } = watched.phase {
            self.told.line(&watched);
        }
    }

    /// The training went back to a step, and goes on from there: so do the files.
    pub(super) fn go_back(&mut self, folder: &TrainFolder, step: u64) -> io::Result<()> {
        self.times_back += 1;
        self.measurements = measurements(folder, Some(step), self.times_back)?;
        self.rollouts = StepLines::after(&folder.path(ROLLOUTS), Some(step))?;
        self.evaluations = StepLines::after(&folder.path(EVALUATIONS), Some(step))?;
        watched::lock(&self.watched).go_back(step);
        self.told.say(&format!("went back to the checkpoint of step {step}"));
        Ok(())
    }

    /// Takes note of what the monitor warns of.
    fn warn(&mut self, warnings: &[MonitorWarning]) -> io::Result<()> {
        for MonitorWarning { alarm, step, message, .. } in warnings {
            let text = format!("{} after step {step}: {message}", alarm.name());
            self.told.say(&format!("warning: {}", inline(&text)));
        }
        self.warnings.write(warnings)
    }
}

impl TrainingObserver for Recorder {
    fn on_step(&mut self, report: &StepReport) -> io::Result<()> {
        self.measurements.iter_mut().try_for_each(|writer| writer.on_step(report))?;
        self.rollouts.write(report.rollouts.iter().map(|rollout| line(report, rollout)))?;
        let mut watched = watched::lock(&self.watched);
        watched.step(report);
        self.told.line(&watched);
        drop(watched);
        self.warn(&report.warnings)
    }

    fn on_evaluation(&mut self, report: &EvaluationReport) -> io::Result<()> {
        self.measurements.iter_mut().try_for_each(|writer| writer.on_evaluation(report))?;
        self.evaluations.write([report])?;
        watched::lock(&self.watched).evaluation(report);
        self.told.say(&plain::evaluation(report));
        self.warn(&report.warnings)
    }
}

/// Whoever writes measurements, behind `step`, after the training went back so many times.
fn measurements(
    folder: &TrainFolder,
    step: Option<u64>,
    times_back: u32,
) -> io::Result<Vec<Box<dyn TrainingObserver + Send>>> {
    let (lines, events) = (folder.path(METRICS), folder.path(TENSORBOARD));
    // In the place of the machine: no two files of a second have one name.
    let writer = format!("assay.{}.{times_back}", std::process::id());
    let clock = Box::new(unix_seconds);
    Ok(match step {
        None => vec![
            Box::new(JsonLines::create(&lines)?),
            Box::new(TensorBoard::create(&events, &writer, clock)?),
        ],
        Some(step) => vec![
            Box::new(JsonLines::resume(&lines, step)?),
            Box::new(TensorBoard::resume(&events, &writer, step, clock)?),
        ],
    })
}

fn line<'a>(report: &StepReport, rollout: &'a RolloutReport) -> RolloutLine<'a> {
    let rewards = report.parts.iter().zip(&rollout.parts);
    let rewards = rewards.map(|(name, reward)| (name.clone(), Value::from(*reward))).collect();
    let completion = match rollout.messages.as_slice() {
        [] => Value::from(rollout.completion.as_str()),
        messages => json!(messages),
    };
    RolloutLine {
        step: report.step,
        group: rollout.group,
        task: &rollout.task,
        prompt: &rollout.prompt,
        completion,
        tokens: rollout.tokens,
        truncated: rollout.truncated,
        reward: rollout.reward,
        rewards,
        correct: rollout.correct,
        fault: rollout.fault.as_deref(),
        advantage: rollout.advantage,
        entropy: rollout.entropy,
    }
}

#[cfg(test)]
mod tests {
    use super::super::watched::testing::step;
    use super::*;
    use assay::trainer::monitor::{Alarm, MonitorAction};

    #[test]
    fn what_is_reported_is_written_and_watched() {
        let place = tempfile::tempdir().unwrap();
        let folder = TrainFolder::open(&place.path().join("run"), 1).unwrap();
        let shared: Arc<Mutex<Watched>> = Arc::default();
        let mut recorder =
            Recorder::new(&folder, None, Arc::clone(&shared), Told::Nothing).unwrap();
        recorder.on_evaluation(&EvaluationReport::default()).unwrap();
        recorder.on_step(&step(1)).unwrap();
        let warning = MonitorWarning {
            alarm: Alarm::LengthPays,
            step: 2,
            message: "rewards rise".into(),
            rollouts: Vec::new(),
            action: MonitorAction::Warn,
        };
        recorder.on_step(&StepReport { warnings: vec![warning], ..step(2) }).unwrap();
        recorder.phase(Phase::Evaluation);
        let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
        let first: Value = serde_json::from_str(read(ROLLOUTS).lines().next().unwrap()).unwrap();
        assert_eq!((&first["step"], &first["rewards"]["correct"]), (&1.into(), &1.0.into()));
        assert_eq!(read(ROLLOUTS).lines().count(), 8);
        assert_eq!(read(EVALUATIONS).lines().count(), 1);
        let told: Value = serde_json::from_str(&read(WARNINGS)).unwrap();
        assert_eq!((&told["step"], &told["alarm"]), (&2.into(), &"length_pays".into()));
        let known = watched::lock(&shared).clone();
        assert_eq!((known.step, known.phase), (2, Phase::Evaluation));
        drop(recorder);
        drop(Recorder::new(&folder, Some(1), shared, Told::Nothing).unwrap());
        assert_eq!((read(ROLLOUTS).lines().count(), read(WARNINGS).lines().count()), (4, 1));
    }
}
