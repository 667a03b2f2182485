// What the prelude may ask of the machine: bytes in and out, time, chance, and looks into values
// that JavaScript itself does not allow.

#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "text.h"

// Output is held back so that a line costs no call of the host. What is printed first goes out at
// once: of a program that never ends, the start is what one wants to see.
#define HELD_MAX (64 << 10)
#define EAGER_BYTES 2048

typedef struct {
    int fd;
    size_t held;
    size_t written;
    uint8_t bytes[HELD_MAX];
} Sink;

static Sink OUT = {.fd = 1};
static Sink ERR = {.fd = 2};

static void push(int fd, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (done > 0) {
            bytes += done;
            length -= (size_t)done;
        }
    }
}

static void flush(Sink *sink) {
    push(sink->fd, sink->bytes, sink->held);
    sink->held = 0;
}

static void sink_write(Sink *sink, const uint8_t *bytes, size_t length) {
    if (sink->held + length > HELD_MAX)
        flush(sink);
    if (length > HELD_MAX) {
        push(sink->fd, bytes, length);
    } else {
        memcpy(sink->bytes + sink->held, bytes, length);
        sink->held += length;
    }
    sink->written += length;
    if (sink->written < EAGER_BYTES)
        flush(sink);
}

void host_flush(void) {
    flush(&OUT);
    flush(&ERR);
}

// All of standard input up to `limit` bytes, to be freed.
static uint8_t *gather(size_t limit, size_t *length) {
    size_t room = limit < (64 << 10) ? limit : (64 << 10);
    uint8_t *bytes = malloc(room + 1);
    *length = 0;
    while (bytes && *length < limit) {
        if (*length == room) {
            room = room > limit / 2 ? limit : room * 2;
            uint8_t *larger = realloc(bytes, room + 1);
            if (!larger) {
                free(bytes);
                return NULL;
            }
            bytes = larger;
        }
        ssize_t got = read(0, bytes + *length, room - *length);
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    return bytes;
}

static bool number(uint32_t *value) {
    uint8_t bytes[4];
    size_t got = 0;
    while (got < sizeof bytes) {
        ssize_t more = read(0, bytes + got, sizeof bytes - got);
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    *value = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return true;
}

char *host_program(uint32_t *stack_bytes, size_t *length) {
    uint32_t wanted;
    if (!number(stack_bytes) || !number(&wanted))
        return NULL;
    char *program = (char *)gather(wanted, length);
    if (!program || *length != wanted)
        return NULL;
    program[wanted] = 0;
    return program;
}

// The bytes of a typed array or a buffer.
static uint8_t *view(JSContext *ctx, JSValueConst value, size_t *length) {
    if (JS_IsArrayBuffer(value))
        return JS_GetArrayBuffer(ctx, length, value);
    return JS_GetUint8Array(ctx, length, value);
}

// write(fd, text or bytes)
static JSValue host_write(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    int32_t fd;
    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    size_t length;
    bool is_text = JS_IsString(argv[1]);
    uint8_t *bytes = is_text ? text_encode(ctx, argv[1], &length) : view(ctx, argv[1], &length);
    if (!bytes && (is_text || length))
        return JS_EXCEPTION;
    sink_write(fd == 2 ? &ERR : &OUT, bytes, length);
    if (is_text)
        free(bytes);
    return JS_NewInt64(ctx, (int64_t)length);
}

static void *resize(JSRuntime *rt, void *opaque, void *bytes, size_t length) {
    if (length > 0)
        return realloc(bytes, length);
    free(bytes);
    return NULL;
}

static JSValue buffer(JSContext *ctx, uint8_t *bytes, size_t length) {
    return JS_NewArrayBuffer(ctx, bytes, length, 0, resize, NULL, false);
}

// read(limit) -> buffer, empty at the end
static JSValue host_read(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    int64_t limit;
    if (JS_ToInt64(ctx, &limit, argv[0]))
        return JS_EXCEPTION;
    size_t length;
    uint8_t *bytes = gather(limit < 0 ? SIZE_MAX / 4 : (size_t)limit, &length);
    if (!bytes)
        return JS_ThrowOutOfMemory(ctx);
    return buffer(ctx, bytes, length);
}

// exit(code)
static JSValue host_exit(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    int32_t code = 0;
    JS_ToInt32(ctx, &code, argv[0]);
    host_flush();
    _Exit(code & 0xff);
}

static double now_ms(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

// now() -> milliseconds since the program started
static JSValue host_now(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    return JS_NewFloat64(ctx, now_ms(CLOCK_MONOTONIC));
}

// sleep(milliseconds)
static JSValue host_sleep(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    double ms;
    if (JS_ToFloat64(ctx, &ms, argv[0]))
        return JS_EXCEPTION;
    // Whoever never wakes up should have shown what it wrote.
    host_flush();
    struct timespec wait = {.tv_sec = (time_t)(ms / 1e3)};
    wait.tv_nsec = (long)((ms - (double)wait.tv_sec * 1e3) * 1e6);
    nanosleep(&wait, NULL);
    return JS_UNDEFINED;
}

// random(count) -> buffer
static JSValue host_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    uint32_t count;
    if (JS_ToUint32(ctx, &count, argv[0]))
        return JS_EXCEPTION;
    uint8_t *bytes = malloc(count + 1);
    if (!bytes)
        return JS_ThrowOutOfMemory(ctx);
    for (uint32_t at = 0; at < count; at += 256)
        if (getentropy(bytes + at, count - at < 256 ? count - at : 256))
            break;
    return buffer(ctx, bytes, count);
}

// encode(text) -> buffer
static JSValue host_encode(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    size_t length;
    uint8_t *bytes = text_encode(ctx, argv[0], &length);
    if (!bytes)
        return JS_EXCEPTION;
    return buffer(ctx, bytes, length);
}

// decode(bytes, fatal) -> text
static JSValue host_decode(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    size_t length;
    uint8_t *bytes = view(ctx, argv[0], &length);
    if (!bytes && length)
        return JS_EXCEPTION;
    return text_decode(ctx, bytes, length, JS_ToBool(ctx, argv[1]));
}

// unfinished(bytes) -> how many bytes at the end start a character that more may finish
static JSValue host_unfinished(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    size_t length;
    uint8_t *bytes = view(ctx, argv[0], &length);
    if (!bytes && length)
        return JS_EXCEPTION;
    return JS_NewInt64(ctx, (int64_t)text_unfinished(bytes, length));
}

// promise(value) -> [state, result]: 0 pending, 1 kept, 2 broken
static JSValue host_promise(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    JSPromiseStateEnum state = JS_PromiseState(ctx, argv[0]);
    JSValue found = JS_NewArray(ctx);
    int number = state == JS_PROMISE_FULFILLED ? 1 : state == JS_PROMISE_REJECTED ? 2 : 0;
    JS_SetPropertyUint32(ctx, found, 0, JS_NewInt32(ctx, number));
    JS_SetPropertyUint32(ctx, found, 1, number ? JS_PromiseResult(ctx, argv[0]) : JS_UNDEFINED);
    return found;
}

// target(value) -> what a proxy stands for; undefined for anything else
static JSValue host_target(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    return JS_IsProxy(argv[0]) ? JS_GetProxyTarget(ctx, argv[0]) : JS_UNDEFINED;
}

// kind(value) -> the class that the engine made it of
static JSValue host_kind(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    if (!JS_IsObject(argv[0]))
        return JS_UNDEFINED;
    if (JS_IsProxy(argv[0]))
        return JS_NewString(ctx, "Proxy");
    JSAtom name = JS_GetClassName(JS_GetRuntime(ctx), JS_GetClassID(argv[0]));
    JSValue text = JS_AtomToString(ctx, name);
    JS_FreeAtom(ctx, name);
    return text;
}

// remaining(iterator) -> entries to come
static JSValue host_remaining(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    return engine_remaining(ctx, argv[0]);
}

// pairs(iterator) -> whether it gives keys with values
static JSValue host_pairs(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    return JS_NewBool(ctx, engine_gives_pairs(argv[0]));
}

// jobs(): runs promise callbacks until none is left. What one throws is thrown on.
static JSValue host_jobs(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    JSContext *of;
    int more;
    while ((more = JS_ExecutePendingJob(JS_GetRuntime(ctx), &of)) > 0) {
    }
    return more < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue REJECTED;

static void rejected(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled,
                     void *opaque) {
    JSValueConst args[] = {promise, reason, is_handled ? JS_TRUE : JS_FALSE};
    JS_FreeValue(ctx, JS_Call(ctx, REJECTED, JS_UNDEFINED, 3, args));
}

// rejections(function): told of every promise that is broken, and of those that are then caught
static JSValue host_rejections(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    REJECTED = JS_DupValue(ctx, argv[0]);
    JS_SetHostPromiseRejectionTracker(JS_GetRuntime(ctx), rejected, NULL);
    return JS_UNDEFINED;
}

// A module knows its own address.
static JSValue evaluate(JSContext *ctx, JSValue code, const char *name) {
    if (JS_IsException(code))
        return code;
    char url[64];
    snprintf(url, sizeof url, "file://%s", name);
    JSModuleDef *module = JS_VALUE_GET_PTR(code);
    JSValue meta = JS_GetImportMeta(ctx, module);
    JS_SetPropertyStr(ctx, meta, "url", JS_NewString(ctx, url));
    JS_SetPropertyStr(ctx, meta, "filename", JS_NewString(ctx, name));
    JS_SetPropertyStr(ctx, meta, "dirname", JS_NewString(ctx, "/"));
    JS_SetPropertyStr(ctx, meta, "main", JS_TRUE);
    JS_FreeValue(ctx, meta);
    return JS_EvalFunction(ctx, code);
}

// script(source, name) -> the value of the script
// module(source, name) -> a promise
static JSValue host_run(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int type) {
    size_t length;
    const char *source = JS_ToCStringLen(ctx, &length, argv[0]);
    const char *name = source ? JS_ToCString(ctx, argv[1]) : NULL;
    JSValue value = name ? JS_Eval(ctx, source, length, name, type) : JS_EXCEPTION;
    if (type & JS_EVAL_TYPE_MODULE)
        value = evaluate(ctx, value, name);
    JS_FreeCString(ctx, name);
    JS_FreeCString(ctx, source);
    return value;
}

// part(name) -> what that part of the prelude comes to
static JSValue host_load(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    const char *name = JS_ToCString(ctx, argv[0]);
    JSValue value = name ? host_part(ctx, name) : JS_EXCEPTION;
    JS_FreeCString(ctx, name);
    return value;
}

// gc()
static JSValue host_gc(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    JS_RunGC(JS_GetRuntime(ctx));
    return JS_UNDEFINED;
}

JSValue host_part(JSContext *ctx, const char *name) {
    for (size_t at = 0; at < PARTS_COUNT; at++) {
        if (strcmp(PARTS[at].name, name) != 0)
            continue;
        JSValue code = JS_ReadObject(ctx, PARTS[at].bytes, PARTS[at].length, JS_READ_OBJ_BYTECODE);
        return JS_IsException(code) ? code : JS_EvalFunction(ctx, code);
    }
    return JS_UNDEFINED;
}

static const JSCFunctionListEntry FUNCTIONS[] = {
    JS_CFUNC_DEF("decode", 2, host_decode),
    JS_CFUNC_DEF("encode", 1, host_encode),
    JS_CFUNC_DEF("exit", 1, host_exit),
    JS_CFUNC_DEF("gc", 0, host_gc),
    JS_CFUNC_DEF("jobs", 0, host_jobs),
    JS_CFUNC_DEF("kind", 1, host_kind),
    JS_CFUNC_MAGIC_DEF("module", 2, host_run, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY),
    JS_CFUNC_DEF("now", 0, host_now),
    JS_CFUNC_DEF("pairs", 1, host_pairs),
    JS_CFUNC_DEF("part", 1, host_load),
    JS_CFUNC_DEF("promise", 1, host_promise),
    JS_CFUNC_DEF("random", 1, host_random),
    JS_CFUNC_DEF("read", 1, host_read),
    JS_CFUNC_DEF("rejections", 1, host_rejections),
    JS_CFUNC_DEF("remaining", 1, host_remaining),
    JS_CFUNC_MAGIC_DEF("script", 2, host_run, JS_EVAL_TYPE_GLOBAL),
    JS_CFUNC_DEF("sleep", 1, host_sleep),
    JS_CFUNC_DEF("target", 1, host_target),
    JS_CFUNC_DEF("unfinished", 1, host_unfinished),
    JS_CFUNC_DEF("write", 2, host_write),
};

JSValue host_new(JSContext *ctx) {
    JSValue host = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, host, FUNCTIONS, sizeof FUNCTIONS / sizeof *FUNCTIONS);
    return host;
}
