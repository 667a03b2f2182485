//! In place of what reads and writes Parquet, in a build without the feature `parquet`: a file is
//! refused when it is opened.

pub(super) mod table {
    use std::fs::File;

    use crate::data::{DataError, ReadLimits};

    /// Never made.
    pub(in crate::data) enum Batch {}

    /// Never made.
    pub(in crate::data) enum Table {}

    impl Batch {
        pub(in crate::data) fn num_rows(&self) -> usize {
            match *self {}
        }
    }

    pub(in crate::data) fn bytes(batch: &Batch) -> usize {
        match *batch {}
    }

    impl Table {
        pub(in crate::data) fn open(
            _: File,
            name: &str,
            _: &ReadLimits,
        ) -> Result<Self, DataError> {
            let what = "this build reads no Parquet: built without the feature `parquet`";
            Err(DataError::Refused {
                file: name.to_owned(),
                code: assay_verifiers::code::Code::FeatureOff,
                what: what.to_owned(),
            })
        }

        pub(in crate::data) fn next(&mut self, _: &str) -> Result<Option<(u64, Batch)>, DataError> {
            match *self {}
        }

        pub(in crate::data) fn bytes_of(&self, _: usize) -> u64 {
            match *self {}
        }
    }
}

pub(super) mod cells {
    use serde_json::{Map, Value};

    use super::table::Batch;
    use crate::data::ReadLimits;
    use crate::data::error::Defect;

    pub(in crate::data) fn row(
        batch: &Batch,
        _: usize,
        _: &ReadLimits,
        _: impl Fn(&str) -> bool,
    ) -> Result<Map<String, Value>, Defect> {
        match *batch {}
    }

    pub(in crate::data) fn text(batch: &Batch, _: usize, _: &ReadLimits) -> Result<String, Defect> {
        match *batch {}
    }
}

pub(super) mod export {
    use std::convert::Infallible;
    use std::io::Write;
    use std::marker::PhantomData;

    use assay_verifiers::Scored;

    use crate::data::{DataError, FoundColumns};

    /// Never made: this build is without the feature `parquet`.
    pub struct ParquetWriter<W: Write + Send>(Infallible, PhantomData<W>);

    impl<W: Write + Send> ParquetWriter<W> {
        /// An error that names the feature.
        pub fn new(_: W, _: &[String]) -> Result<Self, DataError> {
            let why = "this build writes no Parquet: built without the feature `parquet`";
            Err(DataError::Write { why: why.to_owned() })
        }

        /// Never called.
        pub fn write(&mut self, _: Scored) -> Result<(), DataError> {
            match self.0 {}
        }

        /// Never called.
        pub fn finish(self) -> Result<W, DataError> {
            match self.0 {}
        }
    }

    /// Never made: this build is without the feature `parquet`.
    pub struct TableWriter<W: Write + Send>(Infallible, PhantomData<W>);

    impl<W: Write + Send> TableWriter<W> {
        /// An error that names the feature.
        pub fn new(_: W, _: &FoundColumns) -> Result<Self, DataError> {
            let why = "this build writes no Parquet: built without the feature `parquet`";
            Err(DataError::Write { why: why.to_owned() })
        }

        /// Never called.
        pub fn write(
            &mut self,
            _: impl IntoIterator<Item = Option<String>>,
        ) -> Result<(), DataError> {
            match self.0 {}
        }

        /// Never called.
        pub fn finish(self) -> Result<W, DataError> {
            match self.0 {}
        }
    }
}
