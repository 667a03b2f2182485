//! Protocols that trainers and their clients speak already: one file each, which says what is taken for
//! what. `docs/protocols.md` has it for people.

mod embeddings;
mod llama_factory;
mod models;
mod nemo_gym;
mod openai_graders;
mod openrlhf;
#[cfg(feature = "sandbox")]
mod piston;
#[cfg(feature = "sandbox")]
mod program_files;
#[cfg(feature = "sandbox")]
mod programs;
#[cfg(feature = "sandbox")]
mod sandbox_fusion;
mod slime;
mod tei;
mod vllm;

use crate::serve::prelude::*;

/// A protocol: its paths, and what `/openapi.json` says of them.
type Protocol = (fn() -> Router<Arc<Shared>>, fn() -> Vec<Operation>);

const ALL: &[Protocol] = &[
    (embeddings::router, embeddings::operations),
    (llama_factory::router, llama_factory::operations),
    (nemo_gym::router, nemo_gym::operations),
    (openai_graders::router, openai_graders::operations),
    (openrlhf::router, openrlhf::operations),
    #[cfg(feature = "sandbox")]
    (piston::router, piston::operations),
    #[cfg(feature = "sandbox")]
    (sandbox_fusion::router, sandbox_fusion::operations),
    (slime::router, slime::operations),
    (tei::router, tei::operations),
    (vllm::router, vllm::operations),
];

/// All of their paths.
pub(crate) fn router() -> Router<Arc<Shared>> {
    ALL.iter().fold(Router::new(), |all, (router, _)| all.merge(router()))
}

/// The base URL of a profile, where it ends in a slash.
pub(crate) fn base() -> Router<Arc<Shared>> {
    tei::base()
}

/// What `/openapi.json` says of them.
pub(crate) fn operations() -> Vec<Operation> {
    ALL.iter().flat_map(|(_, operations)| operations()).collect()
}
