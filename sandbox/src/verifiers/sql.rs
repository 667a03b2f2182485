//! `sql`: the query comes to the rows of a gold query.

mod compare;
mod connection;
mod database;
mod dialect;
mod extract;
mod folder;
mod functions;
mod gauge;
mod gold;
mod grade;
mod growth;
mod guard;
mod lex;
mod memory;
mod numbers;
mod partial;
mod report;
mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::Digest;

pub use self::compare::Semantics;
use self::connection::QueryRun;
use self::database::Database;
pub use self::dialect::SqlDialect;
use self::dialect::{Translator, Unrun};
use self::gold::Gold;
use self::grade::{GoldAnswer, GradeRules};
use self::partial::Parts;
pub use self::partial::Weights;

/// Right when the query in the answer comes to the rows of a gold query, on `SQLite`.
///
/// **The query** is what is in the last pair of `<answer>`, `<sql>` or `<query>` tags, in the
/// member `sql` or `query` of a JSON object, in the last code fence marked as SQL (or without a
/// language), after the last label such as `SQL:`, or the whole answer; what was thought before `</think>` is not looked at, nor is prose after a
/// semicolon or an empty line. It must be one statement that only reads.
///
/// **The database** is one `database` for all rows; or one of several `databases` or of a `folder`, named
/// by the column `db_column` of the row; or the row's own. A file is SQL text as `sqlite3 FILE .dump`
/// writes it, or a file of `SQLite`. Where a name has a list of files, they are databases of the
/// same schema with different rows, and the query must be right on each of them, as with the test
/// suites of Spider: that is the only way to tell a query from its result written out as
/// constants. `must_read` tells the plain cases on one database: a query that reads no table, or
/// that finds no rows in a table that has nothing to do with the question.
///
/// **The reference** is a query, a list of queries of which each is right, or an object:
/// `query` or `queries`, and `schema` (SQL), `setup` (SQL) and `rows` (by table, lists or objects)
/// of a database of its own. It may be the JSON of these, too. A gold query that does not run
/// fails the verdict: that is the fault of the row, and no zero.
///
/// **The same rows**, by `semantics`:
/// - `spider`: each row as often, columns in any order; the order of the rows counts if the gold
///   query has an `ORDER BY` outside of parentheses (Zhong et al., "Semantic Evaluation for
///   Text-to-SQL with Distilled Test Suites").
/// - `bird`: the same set of rows, columns in the same order (Li et al., "Can LLM Already Serve as
///   a Database Interface?").
/// - `ordered`: the same list.
///
/// NULL equals NULL, 1 equals 1.0, text never equals a number. Real numbers may differ by
/// `float_tolerance`. Two results without rows are the same, whatever their columns.
///
/// **What a query may do.** It reads the tables of its own copy of the database, with the functions of `SQLite`, the
/// mathematical ones too: no writing, no other files, no pragmas, no extensions, no chance (`random()`), no clock
/// unless `now` sets it, no zone of the machine. It costs 8 units of fuel a step of `SQLite`'s machine, as long as its
/// values stay within 256 bytes; longer values, up to 1 MiB, cost more in proportion, and so does
/// the work inside `LIKE`, `GLOB`, `replace`, `trim` and `instr`. A candidate that runs out is
/// wrong; where the gold queries alone use up the fuel, the verdict fails and says so. Rows, their
/// bytes, the length and nesting of the query and the size of its program have limits. Memory has
/// none of its own, but every step that keeps a value pays for it: a query can hold some 50 bytes
/// a unit. The wall-clock limit is looked at between queries, not within one.
///
/// **With `dialect`**, queries are written for another database, and the gold queries and the answer are translated
/// to what `SQLite` says (`translated` in the evidence). A schema stays as `SQLite` has it. A query that is none of
/// its dialect is wrong, or fails the verdict where it is a gold query. Where `SQLite` cannot say what a query says,
/// the verifier abstains. Not everything is as it is there: texts are compared with `LIKE` without regard to case,
/// and dates are texts.
///
/// **With `partial`**, a wrong query earns a share for what it has in common with the gold query
/// it is closest to: that `SQLite` can run it, the tables and columns that it reads (Jaccard), and
/// pairs of neighbouring tokens (Jaccard). After Pourreza et al., "Reasoning-SQL: Reinforcement
/// Learning with SQL Tailored Partial Rewards for Reasoning-Enhanced Text-to-SQL", without its
/// judge, and without the format, for which there is `tags`.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Sql {
    /// The database of every row: a file, or several that the query must be right on.
    database: Option<FileNames>,
    /// Databases by the name that the row gives: `{ academic = "academic.sql" }`.
    databases: BTreeMap<String, FileNames>,
    /// A folder with a folder for each database, as Spider and BIRD have it: every `.sqlite` file of
    /// `NAME` is read, so that the query must be right on each, or else `NAME/NAME.sql`. One that
    /// cannot be read, such as one of more than 64 MiB, is a fault of the rows that name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The column with the SQL that makes the row's own database, where its reference is a query alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_column: Option<String>,
    /// The column that names the database of a row.
    #[default = "db"]
    db_column: String,
    /// The dialect of the queries, where they are not written for `SQLite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<SqlDialect>,
    /// When two results are the same.
    semantics: Semantics,
    /// How much real numbers may differ, relative to the larger.
    #[default(1e-9)]
    float_tolerance: f64,
    /// The query must read a table where the gold query does; where both find no rows, one of the
    /// same tables.
    #[default(true)]
    must_read: bool,
    /// Pay a share for a query that comes close.
    partial: bool,
    /// What each part counts for with `partial`; execution must weigh at least as much as the rest.
    weights: Weights,
    /// What the clock shows, such as `2024-01-31 12:00:00`. Without it, a query that reads the
    /// clock is refused.
    now: Option<String>,
    /// The most steps of `SQLite`'s machine for one query. The fuel of the verdict, 8 units a step,
    /// is shared by the gold queries and the candidate.
    #[default(1_000_000)]
    ops_max: u64,
    /// The most rows that a query may come to.
    #[default(100_000)]
    rows_max: usize,
    #[serde(skip)]
    loaded: BTreeMap<String, Result<Vec<Database>, String>>,
    #[serde(skip)]
    translator: Translator,
}

/// One file, or several.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a file, or a list of files")]
enum FileNames {
    /// One file.
    One(String),
    /// Several, each a database of its own.
    Many(Vec<String>),
}

impl FileNames {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// Gold queries are tried on so many samples, with so much fuel each.
const GOLD_ROWS_MAX: usize = 100;
const GOLD_FUEL: u64 = 1 << 28;

/// What stands before the reason why a query cannot be run.
const UNTRANSLATED: &str = "no translation to SQLite: ";

/// Whether a query does not run because of how it was translated. Tables and columns that are not there are its own
/// mistake.
fn is_of_translation(why: &str) -> bool {
    ["no such function", "syntax error", "wrong number of arguments"].iter().any(|part| why.contains(part))
}

/// The name under which the database of every row is kept.
const ONLY: &str = "";

/// `SQLite` limits its queries itself; the guest translates them.
impl super::sandboxed::Sandboxed for Sql {
    fn enter(&mut self, sandbox: &Arc<crate::Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        if self.dialect.is_some() { self.translator.enter(sandbox) } else { Ok(Vec::new()) }
    }
}

impl Check for Sql {
    const ID: &'static str = "sql";
    const VERSION: u32 = 5;
    const SLOW: bool = true;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        self.validate()?;
        let mut named: Vec<(String, &str, &FileNames)> = Vec::new();
        named.extend(self.database.iter().map(|files| ("database".to_owned(), ONLY, files)));
        named.extend(
            self.databases
                .iter()
                .map(|(name, files)| (format!("databases.{name}"), &**name, files)),
        );
        let mut loaded = BTreeMap::new();
        for (setting, name, names) in named {
            let databases = self.open(names, files).map_err(|why| BuildError::new(setting, why))?;
            loaded.insert(name.to_owned(), Ok(databases));
        }
        if let Some(folder) = &self.folder {
            let suites = folder::suites(folder, files);
            for (name, names) in suites.map_err(|why| BuildError::unreadable("folder", why))? {
                let opened = self.open(&FileNames::Many(names), files);
                loaded.insert(name, opened);
            }
        }
        self.loaded = loaded;
        Ok(())
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let reference = sample.reference()?;
        let unpacked = gold::unpacked(reference);
        let gold = gold::read(unpacked.as_ref().unwrap_or(reference)).ok()?;
        Some(gold.queries.into_iter().map(str::to_owned).collect())
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let database = self.folder.as_ref().map(|_| ("db_column", self.db_column.clone()));
        let schema = self.schema_column.clone().map(|column| ("schema_column", column));
        database.into_iter().chain(schema).collect()
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        let finds_none = |(at, sample): (usize, &&Sample)| {
            matches!(self.finds_rows(sample), Ok(Some(false))).then_some(at)
        };
        let samples: Vec<usize> =
            samples.iter().take(GOLD_ROWS_MAX).enumerate().filter_map(finds_none).collect();
        if samples.is_empty() {
            return Vec::new();
        }
        let message =
            "the gold query finds no rows: every query that finds none is right".to_owned();
        let help = "fill its tables: INSERTs in `schema` or `setup` of the reference, `rows`, or a \
                    `database` that has rows";
        vec![Slip { code: "gold_query_without_rows", setting: "", samples, message, help: help.to_owned() }]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let graded = self.with_gold(sample, meter, |gold, databases, meter| {
            self.grade(sample, gold, databases, meter)
        })?;
        Ok(graded.unwrap_or_else(Verdict::no_reference))
    }
}

impl Sql {
    fn validate(&self) -> Result<(), BuildError> {
        let wrong = |setting, message: &str| Err(BuildError::new(setting, message));
        if self.database.is_some() && !self.databases.is_empty() {
            return wrong("databases", "the database is given twice");
        }
        if self.folder.is_some() && (self.database.is_some() || !self.databases.is_empty()) {
            return wrong("folder", "the databases are given twice");
        }
        if !(0.0..=0.1).contains(&self.float_tolerance) {
            return wrong("float_tolerance", "is relative, from 0 to 0.1");
        }
        if self.rows_max == 0 || self.ops_max == 0 {
            let setting = if self.rows_max == 0 { "rows_max" } else { "ops_max" };
            return wrong(setting, "no query runs with none at all");
        }
        if self.now.as_ref().is_some_and(|now| !functions::is_time(now)) {
            return wrong("now", "expected a date or a time, such as 2024-01-31 12:00:00");
        }
        self.weights.validate()
    }

    fn open(&self, names: &FileNames, files: &dyn Files) -> Result<Vec<Database>, String> {
        if names.names().is_empty() {
            return Err("expected at least one file".to_owned());
        }
        let open = |name: &String| {
            let bytes = files.read(name)?;
            Database::from_file(bytes, self.now.as_deref())
                .map_err(|why| format!("file \"{name}\": {why}"))
        };
        names.names().iter().map(open).collect()
    }

    /// The databases that the row is about.
    fn databases_of(&self, sample: &Sample) -> Result<&[Database], Fault> {
        let known = |name: &str| self.loaded.get(name)?.as_deref().ok();
        if let Some(only) = known(ONLY).filter(|_| self.database.is_some()) {
            return Ok(only);
        }
        if self.loaded.is_empty() {
            return Err(Fault::bad_reference(
                "no database: the reference has no schema, and none of database, databases, folder \
                 and schema_column is set",
            ));
        }
        let column = &self.db_column;
        let name = sample.column(column).and_then(Value::as_str).ok_or_else(|| {
            Fault::bad_input(format!("column \"{column}\" is missing; it names the database"))
        })?;
        if let Some(Err(why)) = self.loaded.get(name) {
            return Err(Fault::bad_input(format!("database \"{name}\": {why}")));
        }
        known(name).ok_or_else(|| {
            let names: Vec<&str> = self.loaded.keys().map(String::as_str).collect();
            Fault::bad_input(format!(
                "column \"{column}\" is \"{name}\", which is not among the databases; has: {}",
                names.join(", ")
            ))
        })
    }

    /// What `judge` makes of the gold queries of a sample and their databases; `None` without a reference.
    fn with_gold<T>(
        &self,
        sample: &Sample,
        meter: &mut Meter<'_>,
        judge: impl FnOnce(&Gold<'_>, &[Database], &mut Meter<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let Some(reference) = sample.reference() else { return Ok(None) };
        let unpacked = gold::unpacked(reference);
        let mut gold = gold::read(unpacked.as_ref().unwrap_or(reference))?;
        let schema = self.schema_column.as_ref().and_then(|column| sample.column(column)?.as_str());
        gold.sql.extend(schema.filter(|_| gold.sql.is_empty()));
        if gold.sql.is_empty() {
            judge(&gold, self.databases_of(sample)?, meter).map(Some)
        } else {
            let database = self.own_database(&gold, meter)?;
            judge(&gold, std::slice::from_ref(&database), meter).map(Some)
        }
    }

    /// Whether a gold query finds rows in a database of the sample; `None` without a reference.
    fn finds_rows(&self, sample: &Sample) -> Result<Option<bool>, Fault> {
        self.with_gold(sample, &mut Meter::new(GOLD_FUEL), |gold, databases, meter| {
            let Ok(queries) = self.translated_gold(gold, meter)? else { return Ok(true) };
            let queries: Vec<&str> = queries.iter().map(|query| &**query).collect();
            for database in databases {
                let answers = grade::answers(database, &queries, self.rules(), meter)?;
                if answers.iter().any(|answer| answer.table.rows() > 0) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn own_database(&self, gold: &Gold<'_>, meter: &mut Meter<'_>) -> Result<Database, Fault> {
        let now = self.now.as_deref();
        let (database, units) = Database::from_parts(&gold.sql, gold.rows, now, meter.left())
            .map_err(|why| {
                Fault::bad_reference(format!("reference: the schema or its rows: {why}"))
            })?;
        meter.spend(units)?;
        Ok(database)
    }

    fn rules(&self) -> GradeRules {
        GradeRules {
            semantics: self.semantics,
            tolerance: self.float_tolerance,
            ops_max: self.ops_max,
            rows_max: self.rows_max,
            must_read: self.must_read,
        }
    }

    /// The gold queries run first, whatever the answer: a row that is broken is so for all.
    fn grade(
        &self,
        sample: &Sample,
        gold: &Gold<'_>,
        databases: &[Database],
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let gold_queries = match self.translated_gold(gold, meter)? {
            Ok(queries) => queries,
            Err(why) => return Ok(Verdict::abstained(format!("a gold query: {why}"))),
        };
        let gold_queries: Vec<&str> = gold_queries.iter().map(|query| &**query).collect();
        let mut answers = Vec::with_capacity(databases.len());
        for database in databases {
            meter.spend(database.size() as u64 / 64)?;
            match grade::answers(database, &gold_queries, self.rules(), meter) {
                Err(fault) if self.dialect.is_some() && is_of_translation(&fault.why) => {
                    return Ok(Verdict::abstained(format!("{UNTRANSLATED}{}", fault.why)));
                }
                found => answers.push(found?),
            }
        }
        let completion = sample.completion();
        meter.spend(10 * completion.len() as u64)?;
        let Some((query, span)) = extract::query(completion) else {
            return Ok(Verdict::graded(false).because("no-query"));
        };
        let written = &*query;
        let translated = match self.translated(written, meter)? {
            Ok(translated) => translated,
            Err(Unrun::Unparsed(why)) => {
                let verdict = Verdict::graded(false).with_extracted(written, span);
                return Ok(verdict.with("error", why).because("unparsed"));
            }
            Err(Unrun::Untranslated(why)) => {
                return Ok(Verdict::abstained(format!("{UNTRANSLATED}{why}")).with_extracted(written, span));
            }
        };
        let query = &*translated;
        let mut standing = vec![true; gold.queries.len()];
        let extracted = || {
            let verdict = Verdict::graded(true).with_extracted(written, span);
            if self.dialect.is_some() { verdict.with("translated", query) } else { verdict }
        };
        let mut verdict = extracted();
        for (at, (database, answers)) in databases.iter().zip(&answers).enumerate() {
            let ran = grade::candidate(database, query, answers, self.rules(), meter)?;
            if let (Some(_), Err(stop)) = (self.dialect, &ran.result)
                && !ran.compiled
                && is_of_translation(&stop.why)
            {
                let why = format!("{UNTRANSLATED}{}", stop.why);
                return Ok(Verdict::abstained(why).with_extracted(written, span).with("translated", query));
            }
            let matches = grade::matches(answers, &ran, &mut standing, self.rules(), meter)?;
            verdict = extracted();
            if databases.len() > 1 {
                verdict = verdict.with("database", at);
            }
            verdict = report::run(verdict, &ran, answers, &matches);
            if !standing.contains(&true) {
                return self.wrong(verdict, query, &ran, answers, meter);
            }
        }
        Ok(verdict)
    }

    /// A query as `SQLite` is asked it.
    fn translated<'q>(
        &self,
        query: &'q str,
        meter: &Meter<'_>,
    ) -> Result<Result<Cow<'q, str>, Unrun>, Fault> {
        let Some(dialect) = self.dialect else { return Ok(Ok(query.into())) };
        Ok(self.translator.translated(dialect, query, meter)?.map(Cow::Owned))
    }

    /// The gold queries as `SQLite` is asked them, or why one cannot be.
    fn translated_gold<'g>(
        &self,
        gold: &Gold<'g>,
        meter: &Meter<'_>,
    ) -> Result<Result<Vec<Cow<'g, str>>, String>, Fault> {
        let mut queries = Vec::with_capacity(gold.queries.len());
        for query in &gold.queries {
            match self.translated(query, meter)? {
                Ok(query) => queries.push(query),
                Err(Unrun::Unparsed(why)) => {
                    return Err(Fault::bad_reference(format!("a gold query does not parse: {why}")));
                }
                Err(Unrun::Untranslated(why)) => return Ok(Err(format!("{UNTRANSLATED}{why}"))),
            }
        }
        Ok(Ok(queries))
    }

    /// The verdict on a query that is wrong, with its share where one is paid.
    fn wrong(
        &self,
        mut verdict: Verdict,
        query: &str,
        ran: &QueryRun,
        answers: &[GoldAnswer<'_>],
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let mut reward = 0.0;
        if self.partial {
            let parts = self.closest_parts(query, ran, answers, meter)?;
            reward = self.weights.reward(parts);
            verdict = verdict
                .with("syntax", parts.syntax)
                .with("schema", parts.schema)
                .with("ngram", parts.ngram);
        }
        verdict.outcome = Outcome::Scored(Reward::new(reward).unwrap_or(Reward::ZERO));
        Ok(verdict)
    }

    /// What the query has in common with the gold query that it is closest to.
    fn closest_parts(
        &self,
        query: &str,
        ran: &QueryRun,
        answers: &[GoldAnswer<'_>],
        meter: &mut Meter<'_>,
    ) -> Result<Parts, Fault> {
        let mut best = Parts::default();
        for answer in answers {
            let schema = partial::schema(&answer.reads, &ran.reads);
            let parts = Parts {
                syntax: f64::from(u8::from(ran.compiled)),
                schema: if ran.compiled { schema } else { 0.0 },
                ngram: partial::ngram(answer.sql, query, meter)?,
            };
            if self.weights.reward(parts) > self.weights.reward(best) {
                best = parts;
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests;
