"""Queries in the dialects of other databases, translated to that of SQLite by sqlglot, which the host mounts."""

from plain import cut, dumps

_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S"}
_BEGINS = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}
_TIMES = ("TIMESTAMP", "TIMESTAMPTZ", "DATETIME", "TIMESTAMPNTZ", "TIMESTAMPLTZ")
_target = None


def _part(generator, unit, value):
    """A part of a date, as a number."""
    form = _PARTS.get(unit)
    if form is None:
        generator.unsupported(f"{unit} of a date")
        return ""
    return f"CAST(STRFTIME('{form}', {generator.sql(value)}) AS INTEGER)"


def _bare(value):
    """A date without the call that says that it is one."""
    return value.this if type(value).__name__ in ("TsOrDsToDate", "TsOrDsToTimestamp") else value


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
    kind = getattr(node.to.this, "name", None)
    if kind == "DATE":
        return f"DATE({generator.sql(node.this)})"
    if kind in _TIMES:
        return f"DATETIME({generator.sql(node.this)})"
    return generator.cast_sql(node)


def _interval(generator, node):
    generator.unsupported("arithmetic with intervals")
    return ""


def _load():
    """The dialect that queries are translated to: SQLite, with dates as its functions have them."""
    global _target
    if _target is None:
        from sqlglot import exp
        from sqlglot.dialects.sqlite import SQLite

        class Target(SQLite):
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

        _target = Target
    return _target


def translate(dialect, queries):
    """Each query in SQLite's words: `sql` and the query, or why there is none, `unparsed` or `untranslated`."""
    return dumps((0, 0, [_translated(dialect, query) for query in queries]), 2)


def _translated(dialect, query):
    target = _load()
    import sqlglot
    from sqlglot import errors, exp
    try:
        statements = [one for one in sqlglot.parse(query, read=dialect) if one is not None]
        if dialect == "oracle" and any(
                column.name.upper() == "ROWNUM" for one in statements for column in one.find_all(exp.Column)):
            return ("untranslated", "ROWNUM")
        for table in [table for one in statements for table in one.find_all(exp.Table)]:
            table.set("db", None)
            table.set("catalog", None)
        level = errors.ErrorLevel.RAISE
        lines = [one.sql(target, unsupported_level=level, comments=False) for one in statements]
    except errors.UnsupportedError as why:
        return ("untranslated", cut(str(why)))
    except (errors.ParseError, errors.TokenError) as why:
        return ("unparsed", cut(str(why).replace("\x1b[4m", "").replace("\x1b[0m", "")))
    except RecursionError:
        return ("unparsed", "the query is nested too deeply")
    except Exception as why:
        return ("untranslated", cut(f"{type(why).__name__}: {why}"))
    return ("sql", ";\n".join(lines))
