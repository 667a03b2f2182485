"""Copies quickjs.c, with a guard around the functions that call themselves.

WebAssembly keeps a stack that the program cannot see beside the one in memory, which is all that
QuickJS can measure. Most of its functions use both alike. Those named here use so little of the
one in memory that the other would be full first, and that ends the guest where an exception is
due. Each gets a wrapper that takes its share of memory and looks whether there is more.
"""

import re
import sys

# The function, the bytes that it takes, the context, and what it returns after an exception.
GUARDED = [
    ("js_parse_unary", 768, "s->ctx", "-1"),
    ("js_parse_postfix_expr", 128, "s->ctx", "-1"),
    ("js_parse_assign_expr2", 96, "s->ctx", "-1"),
    ("json_parse_value", 64, "s->ctx", "JS_EXCEPTION"),
    ("js_json_to_str", 640, "ctx", "-1"),
    ("js_proxy_get", 128, "ctx", "JS_EXCEPTION"),
    ("JS_FlattenIntoArray", 96, "ctx", "-1"),
]

WRAPPER = """
static {returns} {name}_bare({parameters});

static __attribute__((noinline)) {returns} {name}({parameters})
{{
    char share[{size}];
    __asm__ volatile("" : : "r"(share) : "memory");
    if (js_check_stack_overflow({context}->rt, 0)) {{
        JS_ThrowStackOverflow({context});
        return {failure};
    }}
    {returns} value = {name}_bare({arguments});
    __asm__ volatile("" : : "r"(share) : "memory");
    return value;
}}

"""


def guarded(source, name, size, context, failure):
    """The source with a wrapper before the definition of the function."""
    pattern = r"^static (?:__exception )?(\w+) " + name + r"\(([^;{]*?)\)\s*\{"
    found = list(re.finditer(pattern, source, re.MULTILINE))
    if len(found) != 1:
        sys.exit(f"patch.py: quickjs.c defines {name} {len(found)} times")
    returns, parameters = found[0].groups()
    names = [re.search(r"(\w+)$", one.strip()).group(1) for one in parameters.split(",")]
    wrapper = WRAPPER.format(
        returns=returns,
        name=name,
        parameters=parameters,
        size=size,
        context=context,
        failure=failure,
        arguments=", ".join(names),
    )
    start = found[0].start()
    definition = source[start:].replace(f"{name}(", f"{name}_bare(", 1)
    return source[:start] + wrapper.lstrip() + definition


def main():
    source = open(sys.argv[1], encoding="utf-8").read()
    for one in GUARDED:
        source = guarded(source, *one)
    with open(sys.argv[2], "w", encoding="utf-8") as target:
        target.write(source)


main()
