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
pub(super) enum Unrun {
    /// It is no query of its dialect.
    Unparsed(String),
    /// `SQLite` cannot say what it says.
    Untranslated(String),
}

#[cfg(feature = "wasm")]
mod translator {
    use assay_verifiers::{BuildError, Digest, Fault, Meter, canonical};

    use super::super::super::sandboxed::Python;
    use super::super::Sql;
    use super::{SqlDialect, Unrun};
    use crate::Sandbox;
    use crate::isolation::{RunContext, Translated, translate};
    use crate::memo::VerdictMemo;
    use crate::runtime::{Limits, Stop};

    /// Translates queries, each once.
    #[derive(Debug, Default)]
    pub(in super::super) struct Translator {
        python: Python,
        memo: VerdictMemo<Translated>,
    }

    impl Translator {
        pub(in super::super) fn enter(
            &mut self,
            sandbox: &Sandbox,
        ) -> Result<Vec<(String, Digest)>, BuildError> {
            self.python.enter(sandbox, &Limits::default())
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
            let python = self.python.guest::<Sql>()?;
            let limits = Limits { fuel: FUEL, ..Limits::default() };
            let context = RunContext { limits, seed: 0, expired: &mut || meter.expired() };
            let dialect = serde_json::to_value(dialect).unwrap_or_default();
            let dialect = dialect.as_str().unwrap_or_default();
            match translate(python, dialect, &[query], context) {
                Ok(found) => {
                    found.into_iter().next().ok_or_else(|| Fault::internal("no translation"))
                }
                Err(stop @ (Stop::Deadline | Stop::Internal(_))) => {
                    Err(Fault::new(stop.fault_kind(), stop.to_string()))
                }
                Err(stop) => {
                    Ok(Translated::Unparsed(format!("too much for the translation: {stop}")))
                }
            }
        }
    }

    /// What one translation may use: some hundred times what the query of a benchmark takes.
    const FUEL: u64 = 20_000_000_000;
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
