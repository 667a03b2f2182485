//! Sources and programs that want more than they may have.

use assay_sandbox::languages::c::{Dialect, Refused};
use assay_sandbox::runtime::{Run, Stop};
use assay_verifiers::FaultKind;

/// What became of a source.
pub(crate) type End = Result<Run, Refused>;

/// A source, and whether it ended as it should.
pub(crate) struct Hostile {
    pub(crate) name: &'static str,
    pub(crate) dialect: Dialect,
    pub(crate) source: fn() -> String,
    pub(crate) holds: fn(&End) -> bool,
}

/// The compiler says that the source is wrong, and shows nothing of a file of the machine.
fn refused(end: &End) -> bool {
    matches!(end, Err(Refused::Source(why)) if why.len() < 3000 && !why.contains("root:"))
}

/// The compiler came to one of its own limits.
fn at_a_limit(end: &End) -> bool {
    let kinds = [FaultKind::Timeout, FaultKind::OutOfMemory];
    matches!(end, Err(Refused::Fault(fault)) if kinds.contains(&fault.kind))
}

fn printed(end: &End, text: &str) -> bool {
    matches!(end, Ok(run) if run.end == Ok(0) && run.used.stdout == text.as_bytes())
}

fn stopped(end: &End, stop: &Stop) -> bool {
    matches!(end, Ok(run) if run.end.as_ref() == Err(stop))
}

const C: Dialect = Dialect::C;
const CPP: Dialect = Dialect::Cpp;

macro_rules! hostile {
    ($($name:literal, $dialect:ident, $source:expr, $holds:expr;)*) => {
        pub(crate) const HOSTILE: &[Hostile] = &[$(Hostile {
            name: $name, dialect: $dialect, source: || String::from($source), holds: $holds,
        }),*];
    };
}

hostile! {
    "includes a file", C, "#include \"/etc/passwd\"\nint main(void) {}", refused;
    "includes a file of C++", CPP, "#include </etc/passwd>\nint main() {}", refused;
    "includes a file by a way up", C, "#include \"../../../../../../../../etc/passwd\"", refused;
    "includes a file by a macro", C, "#define F \"/etc/passwd\"\n%:inc\\\nlude F\n", refused;
    "includes a device", C, "#include \"/dev/zero\"\nint main(void) {}", refused;
    "includes itself", C, "#include __FILE__\n#include \"/proc/self/fd/0\"", refused;
    "includes the environment", C, "#include \"/proc/self/environ\"", refused;
    "includes a header that includes the source", CPP, "#include \"/c/assay/../../../etc/passwd\"",
        refused;
    "embeds a file", C,
        "const char x[] = {\n#embed \"/etc/passwd\"\n};\n#include <stdio.h>\nint main(void) { puts(x); }",
        refused;
    "asks whether files are there", C,
        "#include <stdio.h>\nint main(void) {\n#if __has_include(\"/etc/passwd\") || \
         __has_include(\"/proc/self/maps\") || __has_embed(\"/etc/passwd\")\nputs(\"there\");\n#endif\n}",
        |end| printed(end, "");
    "takes in a file by the assembler", C,
        "asm(\".section .data.x,\\\"\\\",@\\n.incbin \\\"/etc/passwd\\\"\\n.section .text.y,\\\"\\\",@\");\n\
         int main(void) {}",
        refused;
    "takes in a file by the assembler, by a way up", C,
        "asm(\".section .data.x,\\\"\\\",@\\n.incbin \\\"../../../../../../../../etc/passwd\\\"\\n\
         .section .text.y,\\\"\\\",@\");\nint main(void) {}",
        refused;
    "takes in a device by the assembler", C,
        "asm(\".section .data.x,\\\"\\\",@\\n.incbin \\\"/dev/zero\\\"\\n.section .text.y,\\\"\\\",@\");\n\
         int main(void) {}",
        refused;
    "loads a plugin", CPP, "#pragma clang module import std\n#pragma comment(lib, \"/etc/passwd\")\n\
        #pragma clang attribute push(x)\nint main() {}", refused;
    "asks for what is not WASI", C,
        "__attribute__((import_module(\"env\"), import_name(\"shell\"))) int shell(int);\n\
         int main(void) { return shell(1); }",
        refused;
    "templates without end", CPP,
        "template <int N> struct T { static constexpr int v = T<N + 1>::v; };\n\
         int main() { return T<0>::v; }",
        refused;
    "templates that double", CPP,
        "template <int D, long P> struct T { T<D - 1, 2 * P> a; T<D - 1, 2 * P + 1> b; };\n\
         template <long P> struct T<0, P> {};\nint main() { return sizeof(T<40, 0>) > 1; }",
        at_a_limit;
    "macros that double", C,
        format!("#define m0 x,x\n{}int main(void) {{ int x = (m40); }}", (0..40)
            .map(|n| format!("#define m{} m{n},m{n}\n", n + 1)).collect::<Vec<_>>().concat()),
        at_a_limit;
    "a constant that never ends", CPP,
        "constexpr int f() { for (;;) {} }\nconstexpr int x = f();\nint main() {}", refused;
    "brackets without end", C, format!("int main(void) {{ return {}", "(".repeat(100_000)), refused;
    "a sum of a million context", C,
        format!("int main(void) {{ return 0{}; }}", "+1".repeat(1_000_000)),
        |end| end.is_err() || printed(end, "") || matches!(end, Ok(run) if run.end.is_ok());
    "an array that is written out", C, "char x[1 << 30] = {1};\nint main(void) { return x[5]; }",
        |end| end.as_ref().is_err();
    "an array that no memory holds", C,
        "char x[3u << 30];\nint main(int n, char **v) { x[n] = 1; return x[n]; }",
        |end| refused(end) || at_a_limit(end) || matches!(end, Ok(run) if run.end.is_err());
    "a flood of errors", CPP, format!("{}", "y z;\n".repeat(100_000)), refused;
    "a message that is long", C, format!("#error {}", "x".repeat(1 << 20)), refused;
    "claims to be out of memory", C, "#error LLVM ERROR: out of memory", refused;
    "no program", C, "int other(void) { return 1; }",
        |end| matches!(end, Ok(run) if run.end.is_err()) || refused(end);
    "nothing but noise", C, "\u{0}\u{1}\u{fffd}((((", refused;

    "spins", C, "int main(void) { for (volatile int i = 0;; i++); }",
        |end| stopped(end, &Stop::OutOfFuel);
    "recurses without end", C,
        "int f(volatile int *n) { volatile int here = *n; return f(&here) + here; }\n\
         int main(void) { volatile int n = 1; return f(&n); }",
        |end| matches!(end, Ok(run) if matches!(run.end, Err(Stop::Trap(_))));
    "takes 4 GB at once", C,
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {\n\
         char *volatile x = malloc(4294000000u); puts(x ? \"got\" : \"none\");\nif (x) memset(x, 1, 1 << 30);\n}",
        |end| printed(end, "none\n");
    "takes memory without end", C,
        "#include <stdlib.h>\n#include <string.h>\nint main(void) {\n\
         for (;;) { char *volatile x = malloc(1 << 20); if (!x) return 7; memset(x, 1, 1 << 20); }\n}",
        |end| matches!(end, Ok(run) if run.end == Ok(7) && run.used.memory_bytes_peak <= 512 << 20);
    "a vector without end", CPP,
        "#include <vector>\nint main() { std::vector<int> v; for (;;) v.push_back(1); }",
        |end| matches!(end, Ok(run) if run.end.is_err() && run.used.memory_bytes_peak <= 512 << 20);
    "floods its output", C, "#include <stdio.h>\nint main(void) { for (;;) puts(\"flood\"); }",
        |end| stopped(end, &Stop::TooMuchOutput);
    "throws", CPP, "#include <stdexcept>\nint main() { try { throw std::runtime_error(\"x\"); } \
        catch (...) { return 0; } }",
        |end| matches!(end, Ok(run) if run.end.is_err()
            && run.used.stderr.starts_with(b"terminate called after throwing"));
    "leaves a vector", CPP, "#include <vector>\nint main() { std::vector<int> v(3); return v.at(5); }",
        |end| matches!(end, Ok(run) if run.end.is_err());
    "opens files", C,
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n\
         printf(\"%d\", fopen(\"/etc/passwd\", \"r\") || fopen(\"x\", \"w\") || getenv(\"PATH\") || \
         !system(\"id\"));\n}",
        |end| printed(end, "0");
    "ends as it likes", C, "#include <stdlib.h>\nint main(void) { exit(3); }",
        |end| matches!(end, Ok(run) if run.end == Ok(3));
    "sleeps", C, "#include <unistd.h>\nint main(void) { for (;;) sleep(1000); }",
        |end| stopped(end, &Stop::SleptTooLong);
}
