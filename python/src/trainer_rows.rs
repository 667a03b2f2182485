//! Rows of a trainer as columns of an engine.

use std::collections::HashMap;

use assay::engine::Plan;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use crate::error::DataTypeError;
use crate::rows::Taken;
use crate::value::{is_data, kind};

/// A mapping for each sample, or one of columns, and what the trainer gives beside: completions, prompts,
/// references, token ids, and the names of columns that are none.
#[derive(FromPyObject)]
pub(crate) struct TrainerRows<'py>(
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Vec<String>,
);

type Lists<'py> = Vec<(String, Bound<'py, PyAny>)>;

impl TrainerRows<'_> {
    /// Takes every column that holds data.
    ///
    /// The completion and the prompt are those of the trainer, whatever the rows say, and so are the
    /// token ids where the configuration names a column for them. The reference is the column that the
    /// configuration names, where there is one, else that of the trainer.
    pub(crate) fn taken(self, plan: &Plan) -> PyResult<Taken> {
        let roles = &plan.config.data;
        let Self(rows, completions, prompts, references, token_ids, taken) = self;
        let is_own = |name: &str| {
            let is_given = name == roles.completion || (prompts.is_some() && name == roles.prompt);
            !is_given && !taken.iter().any(|one| one == name)
        };
        let mut columns = Vec::new();
        for (name, list) in columns_of(&rows)? {
            if is_own(&name) && holds_data(&list)? {
                columns.push((name, list));
            }
        }
        let root = roles.reference.split('.').next();
        let is_reference = |name: &str| name == roles.reference || Some(name) == root;
        let has_reference = columns.iter().any(|(name, _)| is_reference(name));
        let given = [
            Some((&roles.completion, completions)),
            prompts.map(|prompts| (&roles.prompt, prompts)),
            references.filter(|_| !has_reference).map(|given| (&roles.reference, given)),
        ];
        let mut lists: Lists<'_> =
            given.into_iter().flatten().map(|(name, list)| (name.clone(), list)).collect();
        lists.append(&mut columns);
        lists.extend(roles.token_ids.clone().zip(token_ids));
        Taken::lists(lists, &plan.reader)
    }
}

/// Whether the first value that is there is data.
fn holds_data(list: &Bound<'_, PyAny>) -> PyResult<bool> {
    for value in list.try_iter()? {
        let value = value?;
        if !value.is_none() {
            return is_data(&value);
        }
    }
    Ok(true)
}

/// The columns of rows, in the order in which rows name them.
fn columns_of<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Lists<'py>> {
    // To ask a list whether it is a mapping takes longer than to read its only row.
    if !rows.is_instance_of::<PyList>()
        && let Ok(columns) = rows.cast::<PyMapping>()
    {
        return members(columns)?.iter().map(|(name, list)| Ok((name.extract()?, list))).collect();
    }
    let py = rows.py();
    let (mut places, mut columns, mut count) = (HashMap::new(), Vec::new(), 0);
    for (row, members) in rows.try_iter()?.enumerate() {
        count = row + 1;
        let members = members?;
        let Ok(mapping) = members.cast::<PyMapping>() else {
            let why = format!("rows[{row}]: expected a dict, found {}", kind(&members));
            return Err(DataTypeError::new_err(why));
        };
        for (name, value) in self::members(mapping)? {
            let name: String = name.extract()?;
            let at = *places.entry(name).or_insert_with_key(|name| {
                columns.push((name.clone(), Vec::new()));
                columns.len() - 1
            });
            if let Some((_, values)) = columns.get_mut(at) {
                // Rows before this one have no such member.
                values.resize(row, py.None().into_bound(py));
                values.push(value);
            }
        }
    }
    let list = |(name, mut values): (String, Vec<Bound<'py, PyAny>>)| {
        values.resize(count, py.None().into_bound(py));
        Ok((name, PyList::new(py, values)?.into_any()))
    };
    columns.into_iter().map(list).collect()
}

/// A mapping as a dict.
fn members<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Bound<'py, PyDict>> {
    if let Ok(dict) = mapping.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let dict = PyDict::new(mapping.py());
    dict.update(mapping)?;
    Ok(dict)
}
