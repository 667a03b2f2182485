//! The `assay` command.

use std::process::ExitCode;

/// A row is parsed by one thread and freed by another: the allocator of the system takes a lock for
/// that, and then threads wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    assay_cli::run(std::env::args_os(), |_| ()).into()
}
