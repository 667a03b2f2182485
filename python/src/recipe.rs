//! Recipes for Python: rewards of the literature as functions of columns.

use assay::trainer::TrainerError;
use assay::verifiers::recipe::{self, Recipe, RecipeCase, case};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::error;
use crate::value;

/// The ids of the recipes that come with assay.
#[pyfunction]
pub(crate) fn recipe_ids() -> Vec<&'static str> {
    recipe::ids().collect()
}

/// A recipe by its id, its number, or the text of its file: all that its file says.
#[pyfunction]
pub(crate) fn recipe_file<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let recipe = read(name)?;
    let file =
        serde_json::to_value(&recipe).map_err(|error| PyValueError::new_err(error.to_string()))?;
    value::to_python(py, &file)
}

/// What a recipe that is a formula gives of inputs by name.
#[pyfunction]
pub(crate) fn recipe_values<'py>(
    py: Python<'py>,
    name: &str,
    settings: &Bound<'py, PyDict>,
    inputs: &Bound<'py, PyDict>,
    groups: Vec<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let recipe = read(name)?;
    let (settings, inputs) = (members(settings)?, members(inputs)?);
    let case =
        RecipeCase { name: String::new(), settings, inputs, groups, ..RecipeCase::default() };
    let found = case::computed(&recipe, &case)
        .map_err(|error| error::of_trainer(TrainerError::Setting(error)))?;
    value::to_python(py, &Value::Object(found))
}

fn read(name: &str) -> PyResult<Recipe> {
    if name.contains('\n') {
        return Recipe::parse(name).map_err(PyValueError::new_err);
    }
    let unknown = || PyKeyError::new_err(format!("no recipe is called \"{name}\""));
    recipe::find(name).cloned().ok_or_else(unknown)
}

fn members(given: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    match value::to_json(given.as_any()) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Ok(Map::new()),
        Err(unreadable) => Err(PyValueError::new_err(unreadable.to_string())),
    }
}
