// Compiles the parts of the prelude to bytecode and writes them as C. Runs when the guest is built.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

static char *slurp(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (text && fread(text, 1, *length, file) != *length)
        text = NULL;
    fclose(file);
    if (text)
        text[*length] = 0;
    return text;
}

static int tell(JSContext *ctx, const char *path) {
    JSValue error = JS_GetException(ctx);
    const char *text = JS_ToCString(ctx, error);
    JSValue stack = JS_GetPropertyStr(ctx, error, "stack");
    const char *where = JS_ToCString(ctx, stack);
    fprintf(stderr, "%s: %s\n%s", path, text ? text : "cannot be read", where ? where : "");
    return 1;
}

// Writes the part as an array named after its place.
static int bake(JSContext *ctx, const char *path, int at) {
    size_t length, count;
    char *text = slurp(path, &length);
    if (!text)
        return tell(ctx, path);
    JSValue code = JS_Eval(ctx, text, length, "node:prelude",
                           JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(code))
        return tell(ctx, path);
    uint8_t *bytes =
        JS_WriteObject(ctx, &count, code, JS_WRITE_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);
    if (!bytes)
        return tell(ctx, path);
    printf("static const uint8_t PART_%d[] = {", at);
    for (size_t byte = 0; byte < count; byte++)
        printf("%s%d,", byte % 32 == 0 ? "\n" : "", bytes[byte]);
    printf("\n};\n\n");
    return 0;
}

// The name of a part is that of its file, without folder and ending.
static void name(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *from = slash ? slash + 1 : path;
    printf("%.*s", (int)strcspn(from, "."), from);
}

int main(int argc, char **argv) {
    JSContext *ctx = JS_NewContext(JS_NewRuntime());
    printf("#include \"host.h\"\n\n");
    for (int at = 1; at < argc; at++)
        if (bake(ctx, argv[at], at))
            return 1;
    printf("const Part PARTS[] = {\n");
    for (int at = 1; at < argc; at++) {
        printf("    {\"");
        name(argv[at]);
        printf("\", PART_%d, sizeof PART_%d},\n", at, at);
    }
    printf("};\n\nconst size_t PARTS_COUNT = %d;\n", argc - 1);
    return 0;
}
