//! From what was prepared to a policy that has learned: warm-up, steps, and the folder of the policy.

use std::io;

use assay::engine::CancellationToken;
use assay::setup::Monotonic;
use assay::trainer::TrainerError;
use assay::trainer::policy::{Decoder, PolicyTokenizer, folder as policy_folder};
use assay::trainer::selection::SelectConfig;
use assay::trainer::training::checkpoint::newest_checkpoint;
use assay::trainer::training::{GrpoTrainer, TrainingSetup, Warmup, WarmupReport};
use assay::training::{EngineRewards, TaskSamples};

use super::super::exit::Failure;
use super::folder::{CHECKPOINTS, MODEL, TrainFolder};
use super::policy::{OpenPolicy, refused};
use super::prepared::Prepared;
use super::recorder::Recorder;
use super::session::{Ended, Session, failed};
use super::watched::Phase;

/// Trains what was prepared, and says how it ended. `recorder` makes whoever watches, of the step that
/// the training goes on from, where it does.
pub(super) fn learn(
    prepared: Prepared,
    folder: &TrainFolder,
    stop: &CancellationToken,
    recorder: impl FnOnce(Option<u64>) -> io::Result<Recorder>,
) -> Result<Ended, Failure> {
    let OpenPolicy { mut decoder, tokenizer } = OpenPolicy::open(&prepared)?;
    let kept = newest_checkpoint(&folder.path(CHECKPOINTS)).map_err(refused)?;
    let (trainer, mut recorder) = if let Some(kept) = &kept {
        let mut trainer = trainer(decoder, prepared, &tokenizer)?;
        trainer.resume_from_checkpoint(kept).map_err(refused)?;
        let recorder = recorder(Some(trainer.state().step))?;
        (trainer, recorder)
    } else {
        let mut recorder = recorder(None)?;
        if !warm_up(&prepared, &mut decoder, &tokenizer, (&mut recorder, stop))? {
            return Ok(Ended::Stopped);
        }
        (trainer(decoder, prepared, &tokenizer)?, recorder)
    };
    let recorder = &mut recorder;
    let mut session = Session { trainer, tokenizer: &tokenizer, recorder, folder, stop };
    if kept.is_none() {
        session.start()?;
    }
    let ended = session.run()?;
    if ended == Ended::Complete {
        let policy = session.trainer.policy();
        policy_folder::save(&folder.path(MODEL), policy, &tokenizer).map_err(refused)?;
    }
    Ok(ended)
}

fn trainer(
    decoder: Decoder,
    mut prepared: Prepared,
    tokenizer: &PolicyTokenizer,
) -> Result<GrpoTrainer<Decoder>, Failure> {
    let tool = prepared.tool.take();
    let trainer = GrpoTrainer::new(decoder, setup(prepared, tokenizer)?).map_err(failed)?;
    match tool {
        Some(tool) => trainer.with_tool(tool).map_err(failed),
        None => Ok(trainer),
    }
}

/// Learns from demonstrations, where there are any, and says whether it came to the end.
fn warm_up(
    prepared: &Prepared,
    policy: &mut Decoder,
    tokenizer: &PolicyTokenizer,
    (recorder, stop): (&mut Recorder, &CancellationToken),
) -> Result<bool, Failure> {
    let Some(config) = &prepared.config.warmup else { return Ok(true) };
    let warmup = Warmup {
        config,
        tokens_per_pass: prepared.config.tokens_per_pass,
        seed: prepared.config.seed,
        tokenizer,
        tool: prepared.config.tool.as_ref(),
    };
    let watch = |report: WarmupReport| {
        let (update, loss) = (report.update, report.loss);
        recorder.phase(Phase::Warmup { update, updates: config.steps, loss });
        !stop.is_cancelled()
    };
    warmup.run(policy, &prepared.demonstrations, watch).map_err(failed)?;
    Ok(!stop.is_cancelled())
}

/// What the policy is trained with.
fn setup(prepared: Prepared, tokenizer: &PolicyTokenizer) -> Result<TrainingSetup, Failure> {
    let refused = |error: TrainerError| Failure::usage(error.to_string());
    let selector = prepared.engine.plan().config.select.as_ref();
    let selector = selector.map(SelectConfig::build).transpose().map_err(refused)?;
    let samples = TaskSamples { train: prepared.tasks.rows, held_out: prepared.held_out.rows };
    let clock = Monotonic::start();
    Ok(TrainingSetup {
        estimator: prepared.advantage.build().map_err(refused)?,
        loss: prepared.loss.build().map_err(refused)?,
        selector,
        tasks: prepared.tasks.tasks,
        held_out: prepared.held_out.tasks,
        tokenizer: Box::new(tokenizer.clone()),
        rewards: Box::new(EngineRewards::new(prepared.engine, samples)?),
        clock: Box::new(move || clock.seconds()),
        config: prepared.config,
    })
}
