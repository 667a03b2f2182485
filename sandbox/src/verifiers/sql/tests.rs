//! The fixture cases, hostile queries and properties of the comparison.

use assay_verifiers::cases::{self, Case};
use assay_verifiers::check::build;
use assay_verifiers::{Earlier, Lane};

use super::*;

const CASES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/sql.toml"));

fn run(case: &Case) -> Result<Verdict, BuildError> {
    match build::<Sql>(Value::Object(case.config.clone()), case)?.lane {
        Lane::Compute(verifier) => {
            Ok(verifier.verify(&case.sample(), Earlier::default(), &mut Meter::default()))
        }
        _ => panic!("sql runs on its own"),
    }
}

#[test]
fn every_case_of_the_fixtures_holds() {
    let file = cases::parse(CASES).unwrap();
    assert_eq!(file.check, Sql::ID);
    let told: Vec<String> = file
        .cases
        .iter()
        // The translator of dialects runs in the Python guest: `tests/cases` has it.
        .filter(|case| !case.config.contains_key("dialect"))
        .filter_map(|case| match run(case) {
            Ok(verdict) => case.disagreement(&verdict).map(|why| format!("{}: {why}", case.name)),
            Err(error) => Some(format!("{}: {}: {error}", case.name, error.setting)),
        })
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Files by name.
struct Texts<'a>(&'a [(&'a str, &'a str)]);

impl Files for Texts<'_> {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let file = self.0.iter().find(|(have, _)| *have == name);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| format!("no file \"{name}\""))
    }
}

/// Rows without end.
const FOREVER: &str = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c)";
/// As many rows as are set.
const COUNTED: &str = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < ";

const SHOP: &str = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);\n\
    INSERT INTO item VALUES(1,'ink',2.5),(2,'pen',1.0),(3,'cap',NULL);\n\
    CREATE VIEW cheap AS SELECT * FROM item WHERE price < 2;";

fn shop(settings: Value) -> Sql {
    let mut settings = settings;
    settings["database"] = json!("shop.sql");
    let mut check: Sql = serde_json::from_value(settings).unwrap();
    check.load(&Texts(&[("shop.sql", SHOP)])).unwrap();
    check
}

fn judge(check: &Sql, completion: &str, reference: &str) -> Verdict {
    let sample = Sample::builder(completion).reference(reference).build();
    check.check(&sample, &mut Meter::default()).into()
}

fn reason(verdict: &Verdict) -> &str {
    verdict.evidence.get("reason").and_then(Value::as_str).unwrap_or_default()
}

/// The reason by which a query is refused; none of them may earn, fault or take long.
fn refusal(check: &Sql, completion: &str) -> String {
    let verdict = judge(check, completion, "SELECT id FROM item");
    assert_eq!(verdict.outcome, Outcome::Scored(Reward::ZERO), "{completion:.200}: {verdict:?}");
    reason(&verdict).to_owned()
}

#[test]
fn only_reading_is_allowed() {
    let check = shop(json!({}));
    for (query, wanted) in [
        ("DROP TABLE item", "not-read-only"),
        ("INSERT INTO item(id) VALUES(9) RETURNING id", "not-read-only"),
        ("WITH c AS (SELECT 1) DELETE FROM item", "not-read-only"),
        ("CREATE TEMP TABLE t AS SELECT id FROM item", "not-read-only"),
        ("ATTACH ':memory:' AS x", "not-read-only"),
        ("PRAGMA writable_schema=ON", "not-read-only"),
        ("PRAGMA table_info(item)", "not-read-only"),
        ("VACUUM INTO '/tmp/stolen'", "not-read-only"),
        ("EXPLAIN SELECT id FROM item", "not-read-only"),
        ("BEGIN", "not-read-only"),
        ("```sql\nSELECT name FROM pragma_table_info('item')\n```", "forbidden-table"),
        ("SELECT count(*) FROM pragma_database_list", "forbidden-table"),
        ("SELECT pageno FROM dbstat", "error"),
        ("SELECT count(*) FROM dbstat", "error"),
        ("SELECT load_extension('x')", "forbidden-function"),
        ("SELECT fts3_tokenizer('simple')", "forbidden-function"),
        ("SELECT hex(randomblob(4))", "not-deterministic"),
        ("SELECT datetime('now')", "not-deterministic"),
        ("SELECT CURRENT_TIMESTAMP FROM item", "not-deterministic"),
        ("SELECT writefile('/tmp/x', 'y')", "unknown-name"),
        ("SELECT readfile('/etc/hostname')", "unknown-name"),
        ("SELECT id FROM item; DROP TABLE item", "not-read-only"),
        ("SELECT id FROM item; -- a\n/* b */ SELECT 2", "two-statements"),
        ("SELECT id FROM item\0; DROP TABLE item", "syntax"),
        ("SELECT id FROM item WHERE id = ?", "error"),
        ("SELECT id FROM item WHERE 'unfinished", "syntax"),
        ("SELECT id /* hidden FROM item", "unknown-name"),
        ("SELECT abs(-9223372036854775808)", "error"),
    ] {
        let found = refusal(&check, query);
        assert_eq!(found, wanted, "{query}");
    }
    let verdict = judge(&check, "SELECT id FROM item", "SELECT id FROM item");
    assert_eq!(reason(&verdict), "equal-bag", "nothing was left behind");
}

/// Work that one step does, and values that are all there at once.
#[test]
fn one_step_cannot_work_or_hold_without_end() {
    let check = shop(json!({}));
    let zeros = "replace(printf('%.900000d',0),'0'";
    let product = format!("SELECT length(unhex({zeros},'x'),{zeros},'z')||'x')) FROM item");
    assert_eq!(refusal(&check, &product), "out-of-ops");
    let many = "hex(zeroblob(500000)),".repeat(95);
    let nested = (0..20).fold("1".to_owned(), |inner, _| format!("max({many}{inner})"));
    let open = "replace(printf('%.900c','x'),'x','[')";
    let pretty = format!(
        "SELECT length(json_pretty({open}||replace({open},'[',']'),printf('%.2000c','a')))"
    );
    let group = "SELECT length(json_group_array(v)) FROM (WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT \
                 i+1 FROM c WHERE i<400) SELECT printf('%.500000c',char(1)) v FROM c)";
    for query in [format!("SELECT length({nested}) FROM item"), pretty, group.to_owned()] {
        let found = refusal(&check, &query);
        assert!(
            ["too-complex", "out-of-ops", "value-too-long"].contains(&found.as_str()),
            "{found}"
        );
    }
    let verdict = judge(&check, "SELECT id FROM item", "SELECT id FROM item");
    assert_eq!(reason(&verdict), "equal-bag", "nothing was left behind");
}

/// Long values cost more, and are no reason to refuse a query.
#[test]
fn long_values_are_read() {
    let check = shop(json!({}));
    let long = "printf('%.*c', 70000, 'x') || id";
    let query = format!("SELECT id FROM item WHERE {long} LIKE '%x2' ORDER BY {long}");
    let verdict = judge(&check, &query, "SELECT id FROM item WHERE id = 2");
    assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE), "{verdict:?}");
}

#[test]
fn what_a_reader_needs_is_allowed() {
    let check = shop(json!({}));
    for query in [
        "SELECT id FROM item;",
        "SELECT id FROM item; -- the end",
        "SELECT \"id\" FROM [item] WHERE `id` = \"id\"",
        "SELECT i.id FROM item i LEFT JOIN cheap c USING(id)",
        "WITH t AS (SELECT * FROM item) SELECT id FROM t WHERE (SELECT count(*) FROM t) = 3",
        "SELECT id FROM item WHERE id IN (SELECT value FROM json_each('[1,2,3]'))",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3) \
         SELECT id FROM item JOIN c ON i=id",
        "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) r FROM item)",
        "SELECT id FROM item WHERE name LIKE '%n%' OR replace(name, 'c', '') = 'ap'",
        "SELECT id FROM item WHERE (SELECT count(*) FROM sqlite_master) = 2",
        "SELECT id FROM item UNION ALL SELECT id FROM item WHERE 0",
    ] {
        let verdict = judge(&check, query, "SELECT id FROM item");
        assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE), "{query}: {verdict:?}");
    }
}

#[test]
fn bombs_are_out_of_ops_or_too_complex() {
    let check = shop(json!({}));
    let forever = FOREVER;
    let expected =
        ["out-of-ops", "too-complex", "value-too-long", "query-too-long", "too-many-rows"];
    let crossed = |tables: usize| -> String {
        (0..tables).map(|at| format!("item t{at}")).collect::<Vec<_>>().join(", ")
    };
    let doubling = |levels: usize| -> String {
        let tables = (1..levels)
            .map(|at| format!("t{at} AS (SELECT 1 FROM t{0} a, t{0} b)", at - 1))
            .collect::<Vec<_>>()
            .join(", ");
        format!("WITH t0 AS (SELECT 1), {tables} SELECT 1 FROM t{0}, item", levels - 1)
    };
    let nested = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    let selects = format!("SELECT {}1{}", "(SELECT ".repeat(3000), ")".repeat(3000));
    let ors = format!("SELECT id FROM item WHERE {}", vec!["id=1"; 5000].join(" OR "));
    let unions = vec!["SELECT 1"; 2000].join(" UNION ");
    let joins = format!("SELECT 1 FROM {}", crossed(60));
    for query in [
        format!("{forever} SELECT i FROM c"),
        format!("{forever} SELECT count(*) FROM c"),
        format!("{forever} SELECT i FROM c ORDER BY i"),
        format!("{forever} SELECT printf('%1000d', i) FROM c ORDER BY 1"),
        format!("{forever} SELECT group_concat(i) FROM c"),
        format!("{forever} SELECT trim(printf('%.*c', 999, 'a'), hex(zeroblob(499)) || i) FROM c"),
        format!(
            "{forever} SELECT sum(hex(zeroblob(99)) LIKE '%' || hex(zeroblob(40)) || i) FROM c"
        ),
        format!("{forever} SELECT sum(length(zeroblob(100000))) FROM c"),
        format!("SELECT count(*) FROM {}", crossed(16)),
        "SELECT zeroblob(1000000000)".to_owned(),
        "SELECT length(zeroblob(1000000000))".to_owned(),
        "SELECT printf('%.*c', 1000000000, 'x')".to_owned(),
        "SELECT hex(zeroblob(100000000))".to_owned(),
        "SELECT replace(hex(zeroblob(200000)), '0', 'aaaaaaaaaa')".to_owned(),
        doubling(12),
        doubling(18),
        doubling(28),
        doubling(40),
        nested,
        selects,
        ors,
        unions,
        joins,
        format!("SELECT {}", vec!["1"; 5000].join(",")),
        format!("SELECT '{}'", "x".repeat(1 << 20)),
        format!("SELECT {} FROM item", vec!["*"; 900].join(",")),
    ] {
        let reason = refusal(&check, &query);
        assert!(expected.contains(&reason.as_str()), "{reason}: {query:.200}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let files = Texts(&[("a.sql", "CREATE TABLE t(x)"), ("bad.sql", "CREATE TABEL t(x)")]);
    for (settings, at) in [
        (json!({"database": "none.sql"}), "database"),
        (json!({"database": "bad.sql"}), "database"),
        (json!({"database": []}), "database"),
        (json!({"databases": {"a": ["a.sql", "bad.sql"]}}), "databases.a"),
        (json!({"database": "a.sql", "databases": {"a": "a.sql"}}), "databases"),
        (json!({"folder": "a"}), "folder"),
        (json!({"folder": "a", "database": "a.sql"}), "folder"),
        (json!({"float_tolerance": 1}), "float_tolerance"),
        (json!({"rows_max": 0}), "rows_max"),
        (json!({"ops_max": 0}), "ops_max"),
        (json!({"now": "now"}), "now"),
        (json!({"now": "soon"}), "now"),
        (json!({"weights": {"syntax": 5}}), "weights.execution"),
        (json!({"semantics": "exact"}), "semantics"),
        (json!({"semantic": "bird"}), "semantic"),
    ] {
        let error = build::<Sql>(settings.clone(), &files).err();
        let error = error.unwrap_or_else(|| panic!("{settings} is taken"));
        assert_eq!(error.setting, at, "{settings}: {error}");
        if error.message.contains("bad.sql") {
            assert!(error.message.contains("statement 1"), "{error}");
        }
    }
}

#[test]
fn a_broken_row_is_no_zero() {
    let check = shop(json!({"ops_max": 1000}));
    let forever = format!("{FOREVER} SELECT count(*) FROM c");
    for (gold, wanted) in [
        ("SELECT nope FROM item", "gold query 1: unknown-name: no such column: nope"),
        ("DROP TABLE item", "gold query 1: not-read-only: a change of the schema"),
        ("SELECT date('now')", "the clock can be set with now"),
        (forever.as_str(), "raise ops_max"),
        (r#"{"schema": "CREATE TABEL", "query": "SELECT 1"}"#, "statement 1: near \"TABEL\""),
    ] {
        let verdict = judge(&check, "nothing to see", gold);
        let Outcome::Failed(fault) = &verdict.outcome else { panic!("{verdict:?}") };
        assert_eq!(fault.kind, FaultKind::BadReference);
        assert!(fault.why.contains(wanted), "{fault}");
    }
}

/// A candidate is not wrong because the gold queries used up the fuel.
#[test]
fn gold_queries_that_use_up_the_fuel_are_the_fault() {
    let check = shop(json!({}));
    let gold = format!("{COUNTED} 5000) SELECT count(*) FROM c");
    let sample = Sample::builder(gold.as_str()).reference(json!([gold, gold])).build();
    let mut tight = Meter::new(1_500_000);
    let fault = check.check(&sample, &mut tight).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfFuel, "{fault}");
    let verdict = check.check(&sample, &mut Meter::default()).unwrap();
    assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
}

#[test]
fn the_meter_decides_and_the_same_every_time() {
    let check = shop(json!({}));
    let query = format!("{COUNTED} 3000) SELECT printf('%2000d', i) FROM c, item LIMIT 50");
    let first = judge(&check, &query, "SELECT id FROM item");
    for _ in 0..3 {
        assert_eq!(judge(&check, &query, "SELECT id FROM item"), first);
    }
    assert!(first.evidence.get("ops").and_then(Value::as_u64).is_some_and(|ops| ops > 0));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the words, there is a verdict, and a gold query is right against itself.
        #[test]
        fn any_words_have_a_verdict(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "SELECT", "id", "*", ",", "FROM", "item", "WHERE", "(", ")", "name", "=", "'x'",
                    "1", "ORDER BY", "LIMIT", "UNION", "WITH", "t", "AS", "count(", "JOIN", "ON",
                    "LIKE", "GROUP BY", "NULL", "random()", ";", "--", "\n",
                ]),
                0..14,
            )
        ) {
            let check = shop(json!({"partial": true}));
            let query = format!("SELECT {}", words.join(" "));
            let verdict = judge(&check, &query, "SELECT id FROM item");
            prop_assert!(matches!(verdict.outcome, Outcome::Scored(_)), "{query}: {verdict:?}");
            let mirrored = judge(&check, &format!("```sql\n{query}\n```"), &query);
            let is_sound = match &mirrored.outcome {
                Outcome::Scored(reward) => *reward == Reward::ONE,
                Outcome::Failed(fault) => fault.kind == FaultKind::BadReference,
                Outcome::Abstained(_) => false,
            };
            prop_assert!(is_sound, "{query}: {mirrored:?}");
        }
    }
}
