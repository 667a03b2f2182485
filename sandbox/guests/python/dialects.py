"""Queries in the dialects of other databases, translated to that of SQLite by sqlglot."""

import sys

import sqlglot
from plain import cut, dumps
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ErrorLevel, ParseError, TokenError, UnsupportedError

NAMES = ("bigquery", "clickhouse", "databricks", "duckdb", "hive", "mysql", "oracle", "postgres", "presto",
         "redshift", "snowflake", "spark", "sqlite", "trino", "tsql")
"""The dialects that are read. Each is a module of sqlglot, loaded here, because there are no files later."""

_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S"}
_BEGINS = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}
_TIMES = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.DATETIME,
          exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.TIMESTAMPLTZ)


def _part(generator, unit, value):
    """A part of a date, as a number."""
    form = _PARTS.get(unit)
    if form is None:
        generator.unsupported(f"{unit} of a date")
        return ""
    return f"CAST(STRFTIME('{form}', {generator.sql(value)}) AS INTEGER)"


def _bare(value):
    """A date without the call that says that it is one."""
    return value.this if isinstance(value, (exp.TsOrDsToDate, exp.TsOrDsToTimestamp)) else value


def _extract(generator, node):
    return _part(generator, node.this.name.upper(), node.expression)


def _named(unit):
    return lambda generator, node: _part(generator, unit, _bare(node.this))


def _begin(tail):
    def sql(generator, node):
        unit = node.text("unit").upper()
        form = _BEGINS.get(unit)
        if form is None:
            generator.unsupported(f"a date cut to its {unit}")
            return ""
        return f"STRFTIME('{form}{tail}', {generator.sql(_bare(node.this))})"
    return sql


def _cast(generator, node):
    """SQLite would make a number of a text that is cast to a date."""
    kind = node.to.this if isinstance(node.to, exp.DataType) else None
    if kind is exp.DataType.Type.DATE:
        return f"DATE({generator.sql(node.this)})"
    if kind in _TIMES:
        return f"DATETIME({generator.sql(node.this)})"
    return generator.cast_sql(node)


def _interval(generator, node):
    generator.unsupported("arithmetic with intervals")
    return ""


class _Target(SQLite):
    """SQLite, with dates as its functions have them."""

    class Generator(SQLite.Generator):
        TRANSFORMS = SQLite.Generator.TRANSFORMS | {
            exp.Cast: _cast,
            exp.DateTrunc: _begin(""),
            exp.Day: _named("DAY"),
            exp.Extract: _extract,
            exp.Interval: _interval,
            exp.Month: _named("MONTH"),
            exp.TimestampTrunc: _begin(" 00:00:00"),
            exp.Year: _named("YEAR"),
        }


for _name in NAMES:
    sqlglot.parse_one("SELECT a, COUNT(*) FROM t WHERE b > 1 GROUP BY a", read=Dialect.get_or_raise(_name)).sql(_Target)

# Programs do not find them: they are put back where a query is translated.
_MODULES = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "sqlglot"}
for _name in _MODULES:
    del sys.modules[_name]


def translate(dialect, queries):
    """Each query in SQLite's words: `sql` and the query, or why there is none, `unparsed` or `untranslated`."""
    sys.modules.update(_MODULES)
    return dumps((0, 0, [_translated(dialect, query) for query in queries]), 2)


def _translated(dialect, query):
    try:
        statements = [one for one in sqlglot.parse(query, read=dialect) if one is not None]
        if any(one.find(exp.Pseudocolumn) for one in statements):
            return ("untranslated", "a column that only its database has, such as ROWNUM")
        for table in (table for one in statements for table in one.find_all(exp.Table)):
            table.set("db", None)
            table.set("catalog", None)
        lines = [one.sql(_Target, unsupported_level=ErrorLevel.RAISE, comments=False) for one in statements]
    except UnsupportedError as why:
        return ("untranslated", cut(str(why)))
    except (ParseError, TokenError) as why:
        return ("unparsed", cut(str(why).replace("\x1b[4m", "").replace("\x1b[0m", "")))
    except RecursionError:
        return ("unparsed", "the query is nested too deeply")
    except Exception as why:
        return ("untranslated", cut(f"{type(why).__name__}: {why}"))
    return ("sql", ";\n".join(lines))
