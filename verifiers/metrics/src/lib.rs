//! Metrics of texts, tables, lists, rankings and boxes, as pure functions: no I/O, no clock,
//! deterministic to the bit.
//!
//! Each equals the scorer that its field uses, which its page names: [`bleu`], [`chrf`] and [`ter`]
//! those of sacrebleu, [`rouge`] rouge-score, [`squad`] the scripts of `SQuAD`, [`edit`] jiwer and
//! rapidfuzz, [`teds`] `PubTabNet`, [`ranking`] scikit-learn, [`meteor`] NLTK without stems and synonyms.
//!
//! Functions whose time is linear in their input say so. All others take `pay`, which is called with
//! about one unit for each elementary step (1 to 10 ns) before the step is done.

mod bits;
pub mod bleu;
pub mod boxes;
pub mod chrf;
pub mod edit;
mod grams;
mod intern;
pub mod meteor;
pub mod porter;
pub mod ranking;
pub mod repetition;
pub mod rouge;
mod scan;
pub mod score;
pub mod sets;
pub mod squad;
pub mod table_tree;
pub mod teds;
pub mod ter;
pub mod tokens;
