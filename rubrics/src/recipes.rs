//! Rewards of papers that are pure formulas over the answers of judges.
//!
//! One file a paper, under the name of the paper or of its method. Where the text of a paper gives no
//! formula, the simplest one that fits its abstract stands here and is marked "reconstructed". Parts
//! are shares from 0 to 1 unless it says otherwise; a formula is `None` where a part is missing or out
//! of range, for a fault is never a reward.

pub mod bridging;
pub mod capo;
pub mod crpo;
pub mod debate;
pub mod hrm;
pub mod medix;
pub mod micro;
pub mod mindora;
pub mod r1_reward;
pub mod rm_nlhf;
pub mod self_improving;
pub mod spark;
pub mod spct;
