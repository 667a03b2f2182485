"""Chat templates as both transformers and assay can render them."""

from __future__ import annotations

import re
from datetime import date

from jinja2 import TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

UNSET = ("tools", "documents")


class Generation(Extension):
    """The tag `generation`, by which transformers marks what the assistant wrote: here, what stands in it."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The inside alone."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def environment() -> ImmutableSandboxedEnvironment:
    """Jinja as chat templates are written for."""
    extensions = ["jinja2.ext.loopcontrols", Generation]
    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)


def dated(template: str) -> str:
    """The template with the day of the export for today: a score may not depend on the day it is asked for."""
    today = date.today()
    template = re.sub(r"strftime_now\s+is\s+defined", "true", template)
    return re.sub(r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""", lambda found: repr(today.strftime(found[2])), template)


def portable(template: str) -> str:
    """The template without what is transformers' own: the tag `generation`, and names that it always sets."""
    try:
        names = meta.find_undeclared_variables(environment().parse(template))
    except TemplateSyntaxError as wrong:
        raise ValueError(f"the chat template does not parse: {wrong}") from wrong
    template = re.sub(r"(\{%[-+]?\s*)generation(\s*[-+]?%\})", r"\1if true\2", template)
    template = re.sub(r"(\{%[-+]?\s*)endgeneration(\s*[-+]?%\})", r"\1endif\2", template)
    return "".join(f"{{% set {name} = none %}}" for name in UNSET if name in names) + template
