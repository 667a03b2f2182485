//! Packages beside the library of the guest: wheels and single modules, which every instance is handed.

use super::message::{lossy, request};
use super::{RunContext, run_program};
use crate::runtime::{Guest, Limits, Setup, drive};
use crate::value::{PyValue, marshal};

/// The guest with these packages, each a file name and its bytes, and the names that can be imported from them.
///
/// # Errors
/// Why one of them is no package that it can read.
pub fn mount(
    python: &Guest,
    packages: Vec<(String, Vec<u8>)>,
    limits: &Limits,
) -> Result<(Guest, Vec<String>), String> {
    let package = |(name, bytes): (String, Vec<u8>)| {
        PyValue::Tuple(vec![name.as_str().into(), PyValue::Bytes(bytes)])
    };
    let list = PyValue::List(packages.into_iter().map(package).collect());
    let message = request("packages", [list]);
    let tried = async {
        let setup = Setup { limits: limits.clone(), ..Setup::default() };
        python.start(setup).await?.call(message.clone()).await
    };
    let reply = drive(tried, &mut || false).map_err(|stop| stop.to_string())?;
    let unread = || "the guest gave no answer".to_owned();
    let Ok((PyValue::Tuple(items), _)) = marshal::decode(&reply) else { return Err(unread()) };
    match items.as_slice() {
        [_, _, PyValue::List(names)] => {
            Ok((python.clone().with_prelude(message), names.iter().map(lossy).collect()))
        }
        [_, _, why] => Err(lossy(why)),
        _ => Err(unread()),
    }
}

/// Whether a program can import a module.
pub fn has_module(python: &Guest, name: &str, limits: &Limits) -> bool {
    let is_name = name.split('.').all(|part| {
        !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    });
    let source = format!("import {name}");
    let context = RunContext { limits: limits.clone(), seed: 0, expired: &mut || false };
    is_name && run_program(python, &source, b"", context).end == Ok(0)
}
