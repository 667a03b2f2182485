//! Advantages of a million rewards in groups of 16, beside a plain `x * 2.0` over the same numbers in
//! the same run. `cargo bench -p assay-trainer --bench advantages`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]

use std::hint::black_box;
use std::time::Instant;

use assay_trainer::Groups;
use assay_trainer::advantages::{AdvantageConfig, RewardBatch};

const REWARDS: usize = 1_000_000;
const GROUP: usize = 16;

/// The best of some runs, in seconds: noise only ever adds.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..20).map(time).fold(f64::INFINITY, f64::min)
}

fn main() {
    let rewards: Vec<f64> = (0..REWARDS).map(|at| ((at * 7919) % 1000) as f64 / 1000.0).collect();
    let plain = best(|| {
        let doubled: Vec<f64> = black_box(&rewards).iter().map(|reward| reward * 2.0).collect();
        black_box(&doubled);
    });
    println!("x * 2.0                      {:>8.3} ms", plain * 1e3);
    let even = Groups::of_size(REWARDS, GROUP).unwrap();
    let sorted = Groups::by_key((0..REWARDS).map(|at| at / GROUP));
    let strewn = Groups::by_key((0..REWARDS).map(|at| at % (REWARDS / GROUP)));
    for (layout, groups) in [("of one size", &even), ("by key", &sorted), ("strewn", &strewn)] {
        for kind in ["grpo", "dr_grpo", "rloo"] {
            let config = AdvantageConfig { kind: Some(kind.to_owned()), ..Default::default() };
            let estimator = config.build().unwrap();
            let batch = RewardBatch::new(groups, &rewards).unwrap();
            let seconds = best(|| {
                black_box(estimator.estimate(black_box(&batch)).unwrap());
            });
            let name = format!("{kind}, {layout}");
            let mut out = vec![0.0; REWARDS];
            let into = best(|| {
                estimator.estimate_into(black_box(&batch), black_box(&mut out)).unwrap();
            });
            let (times, times_into) = (seconds / plain, into / plain);
            println!(
                "{name:<28} {:>8.3} ms {times:>6.2} x, in place {times_into:>6.2} x",
                seconds * 1e3
            );
        }
    }
}
