//! What scripts can call: rhai's own functions, except that those which can build much out of
//! little pay for it first, and that nothing sleeps, exits, or reads the clock.

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package as _,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Position};
use serde_json::Value;

use super::account::{FUEL_PER_ELEMENT, pay};
use super::limits::{ELEMENTS_MAX, STRING_BYTES_MAX};
use super::value::to_dynamic;

type Result<T> = std::result::Result<T, Box<EvalAltResult>>;

/// The memory of one piece of a text: a string, and its element in the array.
const FUEL_PER_PIECE: usize = 16;

pub(super) fn register(engine: &mut Engine) {
    for module in [
        ArithmeticPackage::new().as_shared_module(),
        BasicStringPackage::new().as_shared_module(),
        BasicIteratorPackage::new().as_shared_module(),
        BasicFnPackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicMathPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
    ] {
        engine.register_global_module(module);
    }
    register_splitting(engine);
    register_building(engine);
    engine.register_fn("parse_json", parse_json);
}

fn register_splitting(engine: &mut Engine) {
    engine
        .register_fn("split", |text: ImmutableString| pieces(text.split_whitespace()))
        .register_fn("split", |text: ImmutableString, by: ImmutableString| {
            pieces(text.split(by.as_str()))
        })
        .register_fn("split", |text: ImmutableString, by: char| pieces(text.split(by)))
        .register_fn("split", |text: ImmutableString, by: ImmutableString, most: i64| {
            pieces(text.splitn(segments(most), by.as_str()))
        })
        .register_fn("split", |text: ImmutableString, by: char, most: i64| {
            pieces(text.splitn(segments(most), by))
        })
        .register_fn("split_rev", |text: ImmutableString, by: ImmutableString| {
            pieces(text.rsplit(by.as_str()))
        })
        .register_fn("split_rev", |text: ImmutableString, by: char| pieces(text.rsplit(by)))
        .register_fn("split_rev", |text: ImmutableString, by: ImmutableString, most: i64| {
            pieces(text.rsplitn(segments(most), by.as_str()))
        })
        .register_fn("split_rev", |text: ImmutableString, by: char, most: i64| {
            pieces(text.rsplitn(segments(most), by))
        })
        .register_fn("to_chars", |text: ImmutableString| pieces(text.chars()))
        .register_fn("lines", |text: ImmutableString| pieces(text.lines()));
}

fn register_building(engine: &mut Engine) {
    engine
        .register_fn(
            "replace",
            |text: &mut ImmutableString, a: ImmutableString, b: ImmutableString| {
                replace(text, &a, &b)
            },
        )
        .register_fn("replace", |text: &mut ImmutableString, a: ImmutableString, b: char| {
            replace(text, &a, b.encode_utf8(&mut [0; 4]))
        })
        .register_fn("replace", |text: &mut ImmutableString, a: char, b: ImmutableString| {
            replace(text, a.encode_utf8(&mut [0; 4]), &b)
        })
        .register_fn("replace", |text: &mut ImmutableString, a: char, b: char| {
            replace(text, a.encode_utf8(&mut [0; 4]), b.encode_utf8(&mut [0; 4]))
        })
        .register_fn("pad", |text: &mut ImmutableString, length: i64, with: char| {
            pad(text, length, with.encode_utf8(&mut [0; 4]))
        })
        .register_fn("pad", |text: &mut ImmutableString, length: i64, with: ImmutableString| {
            pad(text, length, &with)
        })
        .register_fn("pad", |array: &mut Array, length: i64, with: Dynamic| {
            pad_array(array, length, &with)
        })
        .register_fn("to_upper", |text: ImmutableString| {
            pay(text.len()).map(|()| text.to_uppercase())
        })
        .register_fn("to_lower", |text: ImmutableString| {
            pay(text.len()).map(|()| text.to_lowercase())
        });
}

fn segments(most: i64) -> usize {
    usize::try_from(most).unwrap_or(1).max(1)
}

fn pieces<T: Into<Dynamic>>(texts: impl Iterator<Item = T>) -> Result<Array> {
    let mut array = Array::new();
    for text in texts {
        pay(FUEL_PER_PIECE)?;
        if array.len() == ELEMENTS_MAX {
            return Err(too_large("array"));
        }
        array.push(text.into());
    }
    Ok(array)
}

fn replace(text: &mut ImmutableString, find: &str, with: &str) -> Result<()> {
    pay(text.len())?;
    let found = text.matches(find).count();
    let grown = found.saturating_mul(with.len().saturating_sub(find.len()));
    if text.len().saturating_add(grown) > STRING_BYTES_MAX {
        return Err(too_large("string"));
    }
    pay(text.len() + grown + found)?;
    *text = text.replace(find, with).into();
    Ok(())
}

/// Pads to `length` characters; the last repetition is cut.
fn pad(text: &mut ImmutableString, length: i64, with: &str) -> Result<()> {
    pay(text.len())?;
    let missing = usize::try_from(length).unwrap_or(0).saturating_sub(text.chars().count());
    if with.is_empty() || missing == 0 {
        return Ok(());
    }
    if text.len().saturating_add(missing) > STRING_BYTES_MAX {
        return Err(too_large("string"));
    }
    pay(4 * missing)?;
    let padded: String = text.chars().chain(with.chars().cycle().take(missing)).collect();
    *text = padded.into();
    Ok(())
}

/// Only flat values may fill an array: copies of an array would take quadratic memory.
fn pad_array(array: &mut Array, length: i64, with: &Dynamic) -> Result<()> {
    let length = usize::try_from(length).unwrap_or(0);
    if length <= array.len() {
        return Ok(());
    }
    if length > ELEMENTS_MAX || with.is_array() || with.is_map() {
        return Err(too_large("array"));
    }
    pay(FUEL_PER_ELEMENT * length)?;
    array.resize(length, with.clone());
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "rhai passes texts so")]
fn parse_json(text: ImmutableString) -> Result<Dynamic> {
    pay(FUEL_PER_PIECE * text.len())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(to_dynamic(&value))
}

#[expect(clippy::unnecessary_box_returns, reason = "rhai boxes its errors")]
fn too_large(what: &str) -> Box<EvalAltResult> {
    EvalAltResult::ErrorDataTooLarge(format!("size of {what}"), Position::NONE).into()
}
