//! Queries in the dialect of another database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "wasm")]
pub(super) use translator::Translator;
#[cfg(not(feature = "wasm"))]
pub(super) use without::Translator;

/// The dialect that queries are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SqlDialect {
    /// `BigQuery`.
    BigQuery,
    /// `ClickHouse`.
    ClickHouse,
    /// `Databricks`.
    Databricks,
    /// `DuckDB`.
    DuckDb,
    /// `Hive`.
    Hive,
    /// `MySQL` and `MariaDB`.
    MySql,
    /// `Oracle`.
    Oracle,
    /// `PostgreSQL`.
    Postgres,
    /// `Presto`.
    Presto,
    /// `Redshift`.
    Redshift,
    /// `Snowflake`.
    Snowflake,
    /// `Spark` SQL.
    Spark,
    /// `Trino`.
    Trino,
    /// `Transact-SQL`, of Microsoft's SQL Server.
    TSql,
}

/// A query that is not run as it was written.
#[cfg_attr(not(feature = "wasm"), expect(dead_code, reason = "nothing is translated"))]
pub(super) enum Unrun {
    /// It is not a query of its dialect.
    Unparsed(String),
    /// `SQLite` cannot say what it says.
    Untranslated(String),
}

#[cfg(feature = "wasm")]
mod translator {
    use std::sync::Arc;

    use assay_verifiers::{BuildError, Digest, Fault, Meter, canonical};

    use super::{SqlDialect, Unrun};
    use crate::Sandbox;
    use crate::isolation::{self, Translated};
    use crate::memo::VerdictMemo;
    use crate::runtime::Stop;

    /// Bytes of a query; longer ones are not translated.
    const QUERY_BYTES_MAX: usize = 64 << 10;
    /// Translates queries, each once.
    #[derive(Debug, Default)]
    pub(in super::super) struct Translator {
        loaded: Option<Arc<isolation::Translator>>,
        memo: VerdictMemo<Translated>,
    }

    impl Translator {
        pub(in super::super) fn enter(
            &mut self,
            sandbox: &Sandbox,
        ) -> Result<Vec<(String, Digest)>, BuildError> {
            let (translator, identity) = sandbox.translator()?;
            self.loaded = Some(translator);
            Ok(identity)
        }

        /// The query as `SQLite` is asked it.
        pub(in super::super) fn translated(
            &self,
            dialect: SqlDialect,
            query: &str,
            meter: &Meter<'_>,
        ) -> Result<Result<String, Unrun>, Fault> {
            let key = canonical::digest_parts(&[query.as_bytes()]);
            let found = self.memo.verdict(key, || self.run(dialect, query, meter))?;
            Ok(match found {
                Translated::Sql(sql) => Ok(sql),
                Translated::Unparsed(why) => Err(Unrun::Unparsed(why)),
                Translated::Untranslated(why) => Err(Unrun::Untranslated(why)),
            })
        }

        fn run(
            &self,
            dialect: SqlDialect,
            query: &str,
            meter: &Meter<'_>,
        ) -> Result<Translated, Fault> {
            if query.len() > QUERY_BYTES_MAX {
                return Ok(Translated::Unparsed(format!("longer than {QUERY_BYTES_MAX} bytes")));
            }
            let unset = || Fault::internal("sql was not loaded");
            let translator = self.loaded.as_ref().ok_or_else(unset)?;
            let dialect = serde_json::to_value(dialect).unwrap_or_default();
            let dialect = dialect.as_str().unwrap_or_default();
            match translator.translated(dialect, query, &mut || meter.expired()) {
                Ok(found) => Ok(found),
                Err(stop @ (Stop::Deadline | Stop::Internal(_))) => {
                    Err(Fault::new(stop.fault_kind(), stop.to_string()))
                }
                Err(stop) => {
                    Ok(Translated::Unparsed(format!("too much for the translation: {stop}")))
                }
            }
        }
    }
}

#[cfg(not(feature = "wasm"))]
mod without {
    use assay_verifiers::{BuildError, Digest, Fault, Meter};

    use super::{SqlDialect, Unrun};
    use crate::Sandbox;

    /// In place of the translator: this build runs no guest.
    #[derive(Debug, Default)]
    pub(in super::super) struct Translator;

    #[expect(
        clippy::unused_self,
        clippy::needless_pass_by_ref_mut,
        reason = "as the translator has them"
    )]
    impl Translator {
        pub(in super::super) fn enter(
            &mut self,
            _: &Sandbox,
        ) -> Result<Vec<(String, Digest)>, BuildError> {
            let why = "this build translates no queries: it is built with `--features sandbox`";
            Err(BuildError::new("dialect", why))
        }

        pub(in super::super) fn translated(
            &self,
            _: SqlDialect,
            _: &str,
            _: &Meter<'_>,
        ) -> Result<Result<String, Unrun>, Fault> {
            Err(Fault::internal("no translator"))
        }
    }
}
