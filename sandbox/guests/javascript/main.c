// The JavaScript guest: a WASI command that runs one program as node would.
//
// Standard input starts with two numbers, each as four bytes with the lowest first: the bytes of
// stack that the program may use, and the length of the program. The program follows, as UTF-8, and
// then its own standard input. Arguments after the first are the program's own.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "host.h"

// `import` takes the modules that `require` knows, by whole name.
static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque) {
    return js_strdup(ctx, name);
}

static JSValue REQUIRE;

static int fill(JSContext *ctx, JSModuleDef *module) {
    JSValue exports = JS_GetModulePrivateValue(ctx, module);
    JSPropertyEnum *names = NULL;
    uint32_t count = 0;
    int failed = JS_GetOwnPropertyNames(ctx, &names, &count, exports,
                                        JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY);
    for (uint32_t at = 0; !failed && at < count; at++) {
        const char *name = JS_AtomToCString(ctx, names[at].atom);
        if (name && strcmp(name, "default") != 0)
            failed = JS_SetModuleExport(ctx, module, name,
                                        JS_GetProperty(ctx, exports, names[at].atom));
        JS_FreeCString(ctx, name);
    }
    JS_FreePropertyEnum(ctx, names, count);
    return failed ? -1 : JS_SetModuleExport(ctx, module, "default", exports);
}

static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque) {
    JSValue text = JS_NewString(ctx, name);
    JSValueConst args[] = {text};
    JSValue exports = JS_Call(ctx, REQUIRE, JS_UNDEFINED, 1, args);
    JS_FreeValue(ctx, text);
    if (JS_IsException(exports))
        return NULL;
    JSModuleDef *module = JS_NewCModule(ctx, name, fill);
    JSPropertyEnum *names = NULL;
    uint32_t count = 0;
    if (!module || JS_GetOwnPropertyNames(ctx, &names, &count, exports,
                                          JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return NULL;
    JS_AddModuleExport(ctx, module, "default");
    for (uint32_t at = 0; at < count; at++) {
        const char *key = JS_AtomToCString(ctx, names[at].atom);
        if (key && strcmp(key, "default") != 0)
            JS_AddModuleExport(ctx, module, key);
        JS_FreeCString(ctx, key);
    }
    JS_FreePropertyEnum(ctx, names, count);
    JS_SetModulePrivateValue(ctx, module, exports);
    return module;
}

static int complain(const char *what) {
    fprintf(stderr, "javascript guest: %s\n", what);
    return 70;
}

// Hands the program to the prelude, which gives `require` before it starts anything.
static int start(JSContext *ctx, const char *program, size_t length, int argc, char **argv) {
    JSValue host = host_new(ctx);
    JSValue prelude = host_part(ctx, "main");
    JSValueConst given[] = {host};
    JSValue made = JS_Call(ctx, prelude, JS_UNDEFINED, 1, given);
    if (JS_IsException(made))
        return complain("the prelude failed");
    REQUIRE = JS_GetPropertyStr(ctx, made, "require");
    JSValue run = JS_GetPropertyStr(ctx, made, "run");
    JSValue args = JS_NewArray(ctx);
    for (int at = 1; at < argc; at++)
        JS_SetPropertyUint32(ctx, args, (uint32_t)at - 1, JS_NewString(ctx, argv[at]));
    JSValueConst call[] = {JS_NewStringLen(ctx, program, length), args};
    JSValue ended = JS_Call(ctx, run, JS_UNDEFINED, 2, call);
    if (!JS_IsException(ended))
        return 0;
    // The prelude catches what programs throw, so only want of memory or stack leads here.
    JSValue error = JS_GetException(ctx);
    const char *text = JS_ToCString(ctx, error);
    host_flush();
    fprintf(stderr, "Uncaught %s\n", text ? text : "error");
    return 1;
}

int main(int argc, char **argv) {
    size_t length;
    uint32_t stack_bytes;
    char *program = host_program(&stack_bytes, &length);
    if (!program)
        return complain("standard input does not start with a program");
    JSRuntime *rt = JS_NewRuntime();
    JSContext *ctx = rt ? JS_NewContext(rt) : NULL;
    uint64_t seed = 0;
    if (!ctx || getentropy(&seed, sizeof seed))
        return complain("no memory to start");
    engine_seed(ctx, seed);
    JS_SetMaxStackSize(rt, stack_bytes);
    JS_UpdateStackTop(rt);
    JS_SetModuleLoaderFunc(rt, normalize, load, NULL);
    int code = start(ctx, program, length, argc, argv);
    host_flush();
    // The instance ends here; taking its memory apart would only cost time.
    _Exit(code);
}
