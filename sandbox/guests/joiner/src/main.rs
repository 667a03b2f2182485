//! `assay-guest-joiner IN OUT`: writes the component IN to OUT with its core modules joined.

use std::env::args_os;
use std::error::Error;
use std::fs;

#[expect(
    clippy::disallowed_methods,
    reason = "the build moves the guest into place when it is whole"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = args_os().skip(1).collect();
    let [from, to] = paths.as_slice() else { return Err("expected two paths: IN OUT".into()) };
    fs::write(to, assay_guest_joiner::join(&fs::read(from)?)?)?;
    Ok(())
}
