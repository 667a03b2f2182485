//! What a graph knows before it runs.

use rten_onnx::onnx::{DataType, GraphProto};

/// Integers of a graph that are known before it runs, by name.
pub(super) fn constants(graph: &GraphProto) -> impl Iterator<Item = (&str, Vec<i64>)> {
    let named =
        graph.initializer.iter().filter_map(|tensor| Some((tensor.name.as_deref()?, tensor)));
    let constant = graph.node.iter().filter(|node| node.op_type.as_deref() == Some("Constant"));
    let inline = constant.filter_map(|node| {
        let value = node.attribute.iter().find_map(|attribute| attribute.t.as_ref())?;
        Some((node.output.first()?.as_str(), value))
    });
    named.chain(inline).filter(|(_, tensor)| tensor.data_type == Some(DataType::INT64)).map(
        |(name, tensor)| {
            let raw = tensor.raw_data.as_ref().map(|raw| raw.borrow());
            let raw = raw.as_ref().map_or(&[][..], |raw| raw.as_chunks().0);
            let raw = raw.iter().map(|bytes| i64::from_le_bytes(*bytes));
            (name, raw.chain(tensor.int64_data.iter().copied()).collect())
        },
    )
}
