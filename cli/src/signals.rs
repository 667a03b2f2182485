//! Signals that ask a long command to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay::engine::CancellationToken;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::exit::{Exit, Failure};

/// The first signal hands out no more rows; those under way may take half a second more. The second
/// ends the process.
pub(super) fn stop_on_signals() -> Result<CancellationToken, Failure> {
    let (stop, signalled) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        let code = Exit::Interrupted as i32;
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&signalled))?;
        signal_hook::flag::register(signal, Arc::clone(&signalled))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let token = stop.clone();
    let wait = move || {
        if signals.forever().next().is_some() {
            token.cancel();
        }
    };
    std::thread::Builder::new().name("assay-signals".to_owned()).spawn(wait)?;
    Ok(stop)
}
