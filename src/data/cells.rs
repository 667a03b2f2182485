//! The cells of a row of columns as JSON: the same values that the row would have as a line.
//!
//! What JSON cannot express, bytes that are not UTF-8 or a number that is not finite, is left out where
//! nothing is judged by it, and an error elsewhere.
//!
//! Times are RFC 3339 text, decimals are text with the digits that they have, bytes are text where
//! they are UTF-8, and a map is an object. Columns may come from another program, so that text is
//! not believed to be UTF-8. How values are stored makes no difference: a dictionary, a run and a
//! view are the values that they stand for, an extension type is what it is stored as.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ByteArrayType, ByteViewType, Int16Type, Int32Type, Int64Type};
use arrow_array::{
    Array, GenericByteArray, GenericByteViewArray, OffsetSizeTrait, RecordBatch, StructArray,
};
use arrow_schema::DataType;
use assay_verifiers::code::Code;
use serde_json::{Map, Value};

use super::error::{Defect, escape};
use super::json::OBJECT_VALUES;
use super::limits::ReadLimits;
use super::scalars::{self, index, scalar};

/// The longest value that is held in its view.
const INLINE_BYTES_MAX: usize = 12;

/// Reads row `at` of a batch. What is at these paths must be values of JSON.
pub(super) fn row(
    batch: &RecordBatch,
    at: usize,
    limits: &ReadLimits,
    is_judged: impl Fn(&str) -> bool,
) -> Result<Map<String, Value>, Defect> {
    let reader = Reader {
        values_left: Cell::new(limits.row_values_max),
        bytes_left: Cell::new(limits.row_bytes_max),
        lost: RefCell::default(),
    };
    let mut row = Map::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let value = reader.member(field.name(), column, at);
        insert(&mut row, field.name(), value.map_err(|defect| defect.at_field(field.name()))?)?;
    }
    match reader.lost.into_inner().into_iter().find(|(path, _)| is_judged(path)) {
        Some((path, defect)) => Err(defect.at_field(&path)),
        None => Ok(row),
    }
}

/// Row `at` of a batch as the text of a JSON object, its columns in their order.
pub(super) fn text(batch: &RecordBatch, at: usize, limits: &ReadLimits) -> Result<String, Defect> {
    let mut row = row(batch, at, limits, |_| true)?;
    let mut text = String::from("{");
    for field in batch.schema_ref().fields() {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&Value::from(field.name().as_str()).to_string());
        text.push(':');
        text.push_str(&row.remove(field.name()).unwrap_or_default().to_string());
    }
    text.push('}');
    Ok(text)
}

/// Whether columns of a type can be read.
pub(super) fn readable(data_type: &DataType) -> bool {
    use DataType::{
        Binary, BinaryView, Boolean, Dictionary, FixedSizeBinary, FixedSizeList, LargeBinary,
        LargeList, LargeListView, LargeUtf8, List, ListView, Map, Null, RunEndEncoded, Struct,
        Utf8, Utf8View,
    };
    match data_type {
        Struct(fields) => fields.iter().all(|field| readable(field.data_type())),
        List(field)
        | LargeList(field)
        | FixedSizeList(field, _)
        | ListView(field)
        | LargeListView(field)
        | Map(field, _)
        | RunEndEncoded(_, field) => readable(field.data_type()),
        Dictionary(_, values) => readable(values),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView
        | FixedSizeBinary(_) => true,
        other => scalars::readable(other),
    }
}

/// What reading a row has used up.
struct Reader {
    values_left: Cell<usize>,
    bytes_left: Cell<usize>,
    /// Where what has no form as JSON lies in its row, and what it is.
    lost: RefCell<Vec<(String, Defect)>>,
}

impl Reader {
    fn pay(&self, values: usize) -> Result<(), Defect> {
        let left = self.values_left.get().checked_sub(values);
        self.values_left
            .set(left.ok_or_else(|| Defect::new(Code::Limit, "more values than a row may have"))?);
        Ok(())
    }

    fn text(&self, text: &str) -> Result<Value, Defect> {
        let left = self.bytes_left.get().checked_sub(text.len());
        self.bytes_left
            .set(left.ok_or_else(|| Defect::new(Code::Limit, "more bytes than a row may have"))?);
        Ok(Value::String(text.to_owned()))
    }

    fn bytes(&self, bytes: &[u8]) -> Result<Value, Defect> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text),
            Err(_) => Ok(self.lose(Defect::new(Code::Encoding, "bytes that are not UTF-8"))),
        }
    }

    fn lose(&self, defect: Defect) -> Value {
        self.lost.borrow_mut().push((String::new(), defect));
        Value::Null
    }

    /// A value that is a part of another.
    fn member(&self, name: impl Display, array: &dyn Array, at: usize) -> Result<Value, Defect> {
        let before = self.lost.borrow().len();
        let value = self.value(array, at)?;
        for (path, _) in self.lost.borrow_mut().iter_mut().skip(before) {
            let dot = if path.is_empty() { "" } else { "." };
            path.insert_str(0, &format!("{name}{dot}"));
        }
        Ok(value)
    }

    fn value(&self, array: &dyn Array, at: usize) -> Result<Value, Defect> {
        self.pay(1)?;
        if array.is_null(at) {
            return Ok(Value::Null);
        }
        match array.data_type() {
            DataType::Null => Ok(Value::Null),
            DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(at))),
            DataType::Utf8 => self.stored(array.as_string::<i32>(), at),
            DataType::LargeUtf8 => self.stored(array.as_string::<i64>(), at),
            DataType::Utf8View => self.viewed(array.as_string_view(), at),
            DataType::Binary => self.stored(array.as_binary::<i32>(), at),
            DataType::LargeBinary => self.stored(array.as_binary::<i64>(), at),
            DataType::BinaryView => self.viewed(array.as_binary_view(), at),
            DataType::FixedSizeBinary(_) => self.bytes(array.as_fixed_size_binary().value(at)),
            DataType::List(_) => self.list(&array.as_list::<i32>().value(at)),
            DataType::LargeList(_) => self.list(&array.as_list::<i64>().value(at)),
            DataType::FixedSizeList(..) => self.list(&array.as_fixed_size_list().value(at)),
            DataType::ListView(_) => self.list(&array.as_list_view::<i32>().value(at)),
            DataType::LargeListView(_) => self.list(&array.as_list_view::<i64>().value(at)),
            DataType::Map(..) => self.map(&array.as_map().value(at)),
            DataType::Struct(_) => self.object(array.as_struct(), at),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                self.entry(dictionary.values(), index(dictionary.keys(), at))
            }
            DataType::RunEndEncoded(ends, _) => self.run(ends.data_type(), array, at),
            _ => Ok(scalar(array, at).unwrap_or_else(|defect| self.lose(defect))),
        }
    }

    /// A value that others share.
    fn entry(&self, values: &dyn Array, at: Option<usize>) -> Result<Value, Defect> {
        match at.filter(|at| *at < values.len()) {
            Some(at) => self.value(values, at),
            None => Err(Defect::new(Code::Damaged, "a value beyond the end of its dictionary")),
        }
    }

    fn run(&self, ends: &DataType, array: &dyn Array, at: usize) -> Result<Value, Defect> {
        match ends {
            DataType::Int16 => {
                let runs = array.as_run::<Int16Type>();
                self.entry(runs.values(), Some(runs.get_physical_index(at)))
            }
            DataType::Int32 => {
                let runs = array.as_run::<Int32Type>();
                self.entry(runs.values(), Some(runs.get_physical_index(at)))
            }
            _ => {
                let runs = array.as_run::<Int64Type>();
                self.entry(runs.values(), Some(runs.get_physical_index(at)))
            }
        }
    }

    fn stored<T: ByteArrayType>(
        &self,
        array: &GenericByteArray<T>,
        at: usize,
    ) -> Result<Value, Defect> {
        let offsets = array.value_offsets();
        let range = place(offsets, at).zip(place(offsets, at + 1));
        let value = range.and_then(|(start, end)| array.value_data().get(start..end));
        self.bytes(
            value.ok_or_else(|| {
                Defect::new(Code::Damaged, "a value beyond the end of its buffer")
            })?,
        )
    }

    #[expect(clippy::indexing_slicing, reason = "a view has 16 bytes")]
    fn viewed<T: ByteViewType + ?Sized>(
        &self,
        array: &GenericByteViewArray<T>,
        at: usize,
    ) -> Result<Value, Defect> {
        let outside = || Defect::new(Code::Damaged, "a value beyond the end of its buffer");
        let view = array.views().get(at).ok_or_else(outside)?.to_le_bytes();
        // Four bytes of length, then the value, or four bytes of it, its buffer and its place.
        let word =
            |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| view[at + byte])) as usize;
        let length = word(0);
        if length <= INLINE_BYTES_MAX {
            return self.bytes(&view[4..4 + length]);
        }
        let (buffer, start) = (word(8), word(12));
        let buffer = array.data_buffers().get(buffer);
        self.bytes(buffer.and_then(|all| all.get(start..start + length)).ok_or_else(outside)?)
    }

    fn list(&self, values: &dyn Array) -> Result<Value, Defect> {
        (0..values.len())
            .map(|at| self.member(at, values, at))
            .collect::<Result<_, _>>()
            .map(Value::Array)
    }

    fn object(&self, array: &StructArray, at: usize) -> Result<Value, Defect> {
        self.pay(OBJECT_VALUES)?;
        let mut object = Map::new();
        for (field, column) in array.fields().iter().zip(array.columns()) {
            insert(&mut object, field.name(), self.member(field.name(), column, at)?)?;
        }
        Ok(Value::Object(object))
    }

    fn map(&self, entries: &StructArray) -> Result<Value, Defect> {
        self.pay(OBJECT_VALUES)?;
        let mut object = Map::new();
        let [keys, values] = entries.columns() else {
            return Err(Defect::new(Code::Damaged, "a map without keys and values"));
        };
        for at in 0..entries.len() {
            let key = match self.member("key", keys, at)? {
                Value::String(key) => key,
                Value::Null => continue,
                other => other.to_string(),
            };
            insert(&mut object, &key, self.member(&key, values, at)?)?;
        }
        Ok(Value::Object(object))
    }
}

fn place<O: OffsetSizeTrait>(offsets: &[O], at: usize) -> Option<usize> {
    offsets.get(at).map(|offset| offset.as_usize())
}

/// A null member is as good as none.
fn insert(object: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), Defect> {
    if object.contains_key(key) {
        return Err(Defect::new(Code::DuplicateKey, format!("duplicate key \"{}\"", escape(key))));
    }
    if !value.is_null() {
        object.insert(key.to_owned(), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{BinaryBuilder, ListBuilder};
    use arrow_array::types::{Int8Type, UInt16Type};
    use arrow_array::{
        ArrayRef, BinaryArray, Date64Array, Decimal64Array, DictionaryArray, DurationSecondArray,
        FixedSizeListArray, Float64Array, Int32Array, LargeBinaryArray, LargeListArray,
        LargeStringArray, ListViewArray, RunArray, StringArray, StringViewArray,
    };
    use serde_json::json;

    use super::*;

    const LONG: &str = "a text of more than twelve bytes";

    fn rows(column: ArrayRef) -> Vec<Result<Value, String>> {
        let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
        let limits = ReadLimits::default();
        let one = |at| {
            let read = row(&batch, at, &limits, |path| path == "c.0").map_err(|d| d.to_string());
            read.map(|mut row| row.remove("c").unwrap_or_default())
        };
        (0..batch.num_rows()).map(one).collect()
    }

    fn values(column: ArrayRef) -> Vec<Value> {
        assert!(readable(column.data_type()), "{}", column.data_type());
        rows(column).into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn text_is_text_however_it_is_stored() {
        let texts = || [Some("4"), None, Some(LONG), Some("")];
        let strings = StringArray::from_iter(texts());
        let runs = RunArray::try_new(&Int32Array::from(vec![1, 2, 3, 4]), &strings).unwrap();
        let columns: [ArrayRef; 7] = [
            Arc::new(strings),
            Arc::new(LargeStringArray::from_iter(texts())),
            Arc::new(StringViewArray::from_iter(texts())),
            Arc::new(BinaryArray::from_iter(texts())),
            Arc::new(LargeBinaryArray::from_iter(texts())),
            Arc::new(DictionaryArray::<Int8Type>::from_iter(texts())),
            Arc::new(runs),
        ];
        for column in columns {
            let sliced = column.slice(1, 3);
            assert_eq!(values(column), [json!("4"), Value::Null, json!(LONG), json!("")]);
            assert_eq!(values(sliced), [Value::Null, json!(LONG), json!("")]);
        }
    }

    #[test]
    fn lists_are_lists_however_they_are_stored() {
        let lists = || [Some(vec![Some(1), None]), None];
        let expected = [json!([1, null]), Value::Null];
        let fixed = FixedSizeListArray::from_iter_primitive::<UInt16Type, _, _>(lists(), 2);
        assert_eq!(values(Arc::new(fixed)), expected);
        let large = LargeListArray::from_iter_primitive::<UInt16Type, _, _>(lists());
        assert_eq!(values(Arc::new(large)), expected);
        let view = ListViewArray::from_iter_primitive::<UInt16Type, _, _>(lists());
        assert_eq!(values(Arc::new(view)), expected);
    }

    #[test]
    fn dates_and_decimals_have_one_form() {
        let days = Date64Array::from(vec![1_709_164_800_000, -1]);
        assert_eq!(values(Arc::new(days)), ["2024-02-29", "1969-12-31"]);
        let decimals = Decimal64Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(values(Arc::new(decimals)), ["1.50"]);
    }

    #[test]
    fn what_has_no_form_is_refused() {
        assert!(!readable(DurationSecondArray::from(vec![1]).data_type()));
    }

    #[test]
    fn what_is_no_json_is_left_out_where_nothing_is_judged_by_it() {
        let not_text = || -> ArrayRef { Arc::new(BinaryArray::from_iter([Some(b"\xff")])) };
        assert_eq!(values(not_text()), [Value::Null]);
        let infinite: ArrayRef = Arc::new(Float64Array::from(vec![f64::INFINITY]));
        assert_eq!(values(infinite), [Value::Null]);
        let paths: ArrayRef = Arc::new(StringArray::from_iter([Some("a.png")]));
        let image = StructArray::try_from(vec![("bytes", not_text()), ("path", paths)]).unwrap();
        assert_eq!(values(Arc::new(image)), [json!({"path": "a.png"})]);
        let mut list = ListBuilder::new(BinaryBuilder::new());
        list.values().append_value(b"\xff");
        list.append(true);
        assert_eq!(
            rows(Arc::new(list.finish())),
            [Err("c.0: bytes that are not UTF-8".to_owned())]
        );
    }
}
