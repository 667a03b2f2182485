//! The results of a call, held by some together. What is big is freed by a thread of its own: whoever
//! drops a list of results holds the interpreter.

use std::ops::Deref;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};

use assay::Scored;

/// Results that are held together: keeping one keeps so many.
pub(crate) const TOGETHER: usize = 64;
/// Fewer are freed where they are dropped.
const FREED_APART_MIN: usize = 16;

/// The thread that frees, and the process that it is of: a forked one has none.
static FREEING: OnceLock<(u32, Sender<Vec<Scored>>)> = OnceLock::new();

/// One result of a call.
pub(crate) struct Held {
    together: Arc<Together>,
    at: usize,
}

struct Together(Vec<Scored>);

impl Held {
    /// The results of a call, in their order.
    pub(crate) fn all(scored: Vec<Scored>) -> Vec<Self> {
        let mut held = Vec::with_capacity(scored.len());
        let mut scored = scored.into_iter();
        loop {
            let together: Vec<Scored> = scored.by_ref().take(TOGETHER).collect();
            if together.is_empty() {
                return held;
            }
            let (count, together) = (together.len(), Arc::new(Together(together)));
            held.extend((0..count).map(|at| Self { together: Arc::clone(&together), at }));
        }
    }
}

impl From<Scored> for Held {
    fn from(scored: Scored) -> Self {
        Self { together: Arc::new(Together(vec![scored])), at: 0 }
    }
}

impl Deref for Held {
    type Target = Scored;

    #[expect(clippy::indexing_slicing, reason = "`all` gives no place beyond the end")]
    fn deref(&self) -> &Scored {
        &self.together.0[self.at]
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        if self.0.len() < FREED_APART_MIN {
            return;
        }
        let own = std::process::id();
        let (process, freeing) = FREEING.get_or_init(|| (own, start()));
        if *process == own {
            // Where there is no thread, what comes back is freed here.
            let _ = freeing.send(std::mem::take(&mut self.0));
        }
    }
}

/// Starts the thread. Without one nothing is received, and what is sent comes back.
fn start() -> Sender<Vec<Scored>> {
    let (sender, receiver) = mpsc::channel();
    let free = move || receiver.into_iter().for_each(drop);
    let _ = std::thread::Builder::new().name("assay-free".to_owned()).spawn(free);
    sender
}
