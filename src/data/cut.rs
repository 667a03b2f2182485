//! Batches of columns: whether they can be read, and how they are cut into blocks of a size that one
//! thread takes at a time.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ByteViewType, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::cells;
use super::error::escape;
use super::limits::ReadLimits;
use super::lines::BLOCK_ROWS;
use super::scalars::index;

/// How much text the rows of one block hold, in bytes, unless one row has more.
const BLOCK_TEXT_BYTES: usize = 4 << 20;

/// How deep columns may nest.
const DEPTH_MAX: usize = 64;

/// Refuses columns of another program that cannot be read.
pub(super) fn check_foreign(schema: &Schema, limits: &ReadLimits) -> Result<(), String> {
    let (columns, most) = (schema.fields().len(), limits.row_columns_max);
    if columns > most {
        return Err(format!("{columns} columns; at most {most} are read"));
    }
    check_depth(schema)?;
    check_readable(schema)
}

/// Refuses columns that nest too deep.
pub(super) fn check_depth(schema: &Schema) -> Result<(), String> {
    match schema.fields().iter().find(|field| depth(field.data_type()) > DEPTH_MAX) {
        Some(field) => Err(format!("column \"{}\" nests too deep", escape(field.name()))),
        None => Ok(()),
    }
}

/// Refuses columns of types that have no form as JSON.
pub(super) fn check_readable(schema: &Schema) -> Result<(), String> {
    let Some(odd) = schema.fields().iter().find(|field| !cells::readable(field.data_type())) else {
        return Ok(());
    };
    let (name, kind) = (escape(odd.name()), escape(&odd.data_type().to_string()));
    Err(format!("column \"{name}\" is of type {kind}"))
}

fn depth(data_type: &DataType) -> usize {
    let inner = match data_type {
        DataType::Struct(fields) => {
            fields.iter().map(|field| depth(field.data_type())).max().unwrap_or(0)
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => depth(field.data_type()),
        DataType::Dictionary(_, values) => depth(values),
        _ => 0,
    };
    inner + 1
}

/// A batch in parts of no more rows and no more text than a block has, in order.
pub(super) fn parts(batch: &RecordBatch) -> Vec<RecordBatch> {
    let mut parts = Vec::new();
    for start in (0..batch.num_rows()).step_by(BLOCK_ROWS) {
        let mut stack = Vec::new();
        halve(batch.slice(start, BLOCK_ROWS.min(batch.num_rows() - start)), &mut stack);
        parts.extend(stack.into_iter().rev());
    }
    parts
}

/// Cuts a batch until no part has too much text, and stacks the parts, the first one on top.
pub(super) fn halve(batch: RecordBatch, ready: &mut Vec<RecordBatch>) {
    let rows = batch.num_rows();
    let text =
        batch.columns().iter().map(|column| text_bytes(column)).fold(0, usize::saturating_add);
    if rows < 2 || text <= BLOCK_TEXT_BYTES {
        if rows > 0 {
            ready.push(batch);
        }
        return;
    }
    halve(batch.slice(rows / 2, rows - rows / 2), ready);
    halve(batch.slice(0, rows / 2), ready);
}

/// How much text an array comes to when every value is written out.
fn text_bytes(array: &dyn Array) -> usize {
    match array.data_type() {
        DataType::Utf8 => span(array.as_string::<i32>().value_offsets()).1,
        DataType::LargeUtf8 => span(array.as_string::<i64>().value_offsets()).1,
        DataType::Binary => span(array.as_binary::<i32>().value_offsets()).1,
        DataType::LargeBinary => span(array.as_binary::<i64>().value_offsets()).1,
        DataType::Utf8View => view_bytes(array.as_string_view()),
        DataType::BinaryView => view_bytes(array.as_binary_view()),
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|column| text_bytes(column)).sum()
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            within(list.value_offsets(), list.values())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            within(list.value_offsets(), list.values())
        }
        DataType::Map(..) => {
            let map = array.as_map();
            within(map.offsets(), map.entries())
        }
        DataType::FixedSizeList(..) => each(array, |at| array.as_fixed_size_list().value(at)),
        DataType::ListView(_) => each(array, |at| array.as_list_view::<i32>().value(at)),
        DataType::LargeListView(_) => each(array, |at| array.as_list_view::<i64>().value(at)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = |at| index(dictionary.keys(), at).unwrap_or(usize::MAX);
            each(array, |at| one(dictionary.values(), key(at)))
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => {
                let runs = array.as_run::<Int16Type>();
                each(array, |at| one(runs.values(), runs.get_physical_index(at)))
            }
            DataType::Int32 => {
                let runs = array.as_run::<Int32Type>();
                each(array, |at| one(runs.values(), runs.get_physical_index(at)))
            }
            _ => {
                let runs = array.as_run::<Int64Type>();
                each(array, |at| one(runs.values(), runs.get_physical_index(at)))
            }
        },
        _ => 0,
    }
}

/// Where text starts, and how long it is.
fn span<O: OffsetSizeTrait>(offsets: &[O]) -> (usize, usize) {
    let offset = |end: Option<&O>| end.map_or(0, |end| end.as_usize());
    let start = offset(offsets.first());
    (start, offset(offsets.last()).saturating_sub(start))
}

fn within<O: OffsetSizeTrait>(offsets: &[O], values: &dyn Array) -> usize {
    let (start, length) = span(offsets);
    text_bytes(&values.slice(start, length))
}

/// The text of values that are found one by one.
fn each(array: &dyn Array, value: impl Fn(usize) -> ArrayRef) -> usize {
    let rows = (0..array.len()).filter(|at| !array.is_null(*at));
    rows.map(|at| text_bytes(&value(at))).fold(0, usize::saturating_add)
}

/// A value of a dictionary by itself; none where there is no such value.
fn one(values: &dyn Array, at: usize) -> ArrayRef {
    if at < values.len() { values.slice(at, 1) } else { values.slice(0, 0) }
}

fn view_bytes<T: ByteViewType + ?Sized>(array: &GenericByteViewArray<T>) -> usize {
    // The low half of a view's first word is the length of its value.
    array.views().iter().map(|view| usize::try_from(view & 0xffff_ffff).unwrap_or(usize::MAX)).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, DurationSecondArray, StringArray};

    use super::super::source::Block;
    use super::*;

    fn batch(column: ArrayRef) -> RecordBatch {
        RecordBatch::try_from_iter([("completion", column)]).unwrap()
    }

    #[test]
    fn blocks_have_few_rows_and_little_text() {
        let long = "x".repeat(1 << 20);
        let texts = || (0..600).map(|at| Some(if at < 8 { long.as_str() } else { "4" }));
        let columns: [ArrayRef; 2] = [
            Arc::new(texts().collect::<StringArray>()),
            Arc::new(texts().collect::<DictionaryArray<Int32Type>>()),
        ];
        for column in columns {
            let limits = ReadLimits::default();
            let blocks = Block::of_batch("table", 1000, &batch(column), &limits).unwrap();
            let shape: Vec<(u64, usize)> =
                blocks.iter().map(|block| (block.index(), block.len())).collect();
            let small = [(1000, 4), (1004, 4), (1008, 8), (1016, 16), (1032, 32), (1064, 64)];
            assert_eq!(shape[..6], small);
            assert_eq!(shape[6..], [(1128, 128), (1256, 256), (1512, 88)]);
            let rows = blocks[0].rows(&super::super::Columns::default());
            assert_eq!(rows[3].place.to_string(), "table:1004");
            assert_eq!(rows[3].sample.as_ref().unwrap().completion(), long);
        }
    }

    #[test]
    fn a_column_that_cannot_be_read_is_named_with_its_type() {
        let spans = batch(Arc::new(DurationSecondArray::from(vec![1])));
        let why = Block::of_batch("table", 0, &spans, &ReadLimits::default()).err().unwrap();
        assert_eq!(why.to_string(), "table: column \"completion\" is of type Duration(s)");
        let limits = ReadLimits { row_columns_max: 0, ..ReadLimits::default() };
        let text = batch(Arc::new(StringArray::from(vec!["4"])));
        let why = Block::of_batch("table", 0, &text, &limits).err().unwrap();
        assert_eq!(why.to_string(), "table: 1 columns; at most 0 are read");
    }
}
