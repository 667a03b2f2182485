// The JavaScript guest: a WASI command that runs one program as node would.
//
// Standard input starts with two numbers, each as four bytes with the lowest first: the bytes of
// stack that the program may use, and the length of the program. The program follows, as UTF-8, and
// then its own standard input. The first argument is the path of the program, and those after it are the
// program's own. Files are those that the host gives.
//
// The engine and the prelude are started when the guest is built: wizer runs `wizer.initialize`, and
// the memory that it leaves behind is what every program starts with.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The clock stands still while the guest is built, so that the same bytes come out each time.
static bool STARTED;
#define STILL(call, at) (STARTED ? call : (memset(at, 0, sizeof *(at)), 0))
#define gettimeofday(at, zone) STILL(gettimeofday(at, zone), at)
#define clock_gettime(clock, at) STILL(clock_gettime(clock, at), at)

// QuickJS is part of this unit, because some things that it keeps to itself are needed here. WASI has
// a stack like any other target: with the check for it, deep recursion is a RangeError.
#undef __wasi__
#define __STDC_NO_ATOMICS__ 1
#include "quickjs.c"

// Output is held back so that a line costs no call of the host. What is printed first goes out at
// once: of a program that never ends, the start is what one wants to see.
#define HELD_BYTES_MAX (64 << 10)
#define EAGER_BYTES 2048
#define PRELUDE_BYTES_MAX (1 << 20)

static JSContext *CONTEXT;
static JSValue LOAD, RESOLVE, RUN, REJECTED;
static char HELD[2][HELD_BYTES_MAX];

static void flush(void) {
    fflush(stdout);
    fflush(stderr);
}

static int complain(const char *what) {
    fprintf(stderr, "javascript guest: %s\n", what);
    return 70;
}

// All of standard input up to `limit` bytes, to be freed.
static uint8_t *gather(size_t limit, size_t *length) {
    size_t room = limit < (64 << 10) ? limit : (64 << 10);
    uint8_t *bytes = malloc(room + 1);
    *length = 0;
    while (bytes) {
        *length += fread(bytes + *length, 1, room - *length, stdin);
        if (*length < room || room == limit)
            return bytes;
        room = room > limit / 2 ? limit : room * 2;
        uint8_t *larger = realloc(bytes, room + 1);
        if (!larger)
            free(bytes);
        bytes = larger;
    }
    return NULL;
}

static void *resize(JSRuntime *rt, void *opaque, void *bytes, size_t length) {
    if (length > 0)
        return realloc(bytes, length);
    free(bytes);
    return NULL;
}

static JSValue buffer(JSContext *ctx, uint8_t *bytes, size_t length) {
    if (!bytes)
        return JS_ThrowOutOfMemory(ctx);
    return JS_NewArrayBuffer(ctx, bytes, length, 0, resize, NULL, false);
}

// The bytes of a typed array or a buffer; NULL with a length after an exception.
static uint8_t *view(JSContext *ctx, JSValueConst value, size_t *length) {
    if (JS_IsArrayBuffer(value))
        return JS_GetArrayBuffer(ctx, length, value);
    return JS_GetUint8Array(ctx, length, value);
}

// The bytes of the character that starts here, or of the longest start of one where it is wrong.
static size_t character(const uint8_t *bytes, size_t length, bool *whole) {
    const uint8_t *end;
    uint32_t code = utf8_decode_len(bytes, length, &end);
    *whole = code == 0xfffd ? end - bytes == 3 : !is_surrogate(code);
    for (size_t prefix = 3; !*whole && prefix > 1; prefix--) {
        uint8_t finished[4] = {0x80, 0x80, 0x80, 0x80};
        memcpy(finished, bytes, prefix < length ? prefix : length);
        code = utf8_decode(finished, &end);
        if (prefix <= length && code != 0xfffd && !is_surrogate(code) && end - finished > prefix)
            return prefix;
    }
    return *whole ? (size_t)(end - bytes) : 1;
}

// Bytes to text as the web platform decodes them: what is not UTF-8 becomes U+FFFD, or an exception
// where it is `fatal`. QuickJS takes mistakes for more characters, and knows surrogates.
static JSValue text(JSContext *ctx, const uint8_t *bytes, size_t length, bool fatal) {
    size_t mistakes = 0, to = 0;
    bool whole = true;
    for (size_t at = 0; at < length; mistakes += !whole) {
        whole = true;
        at += bytes[at] < 0x80 ? 1 : character(bytes + at, length - at, &whole);
    }
    if (mistakes == 0)
        return JS_NewStringLen(ctx, (const char *)bytes, length);
    if (fatal)
        return JS_ThrowTypeError(ctx, "The encoded data was not valid for encoding utf-8");
    uint8_t *mended = malloc(length + 3 * mistakes);
    if (!mended)
        return JS_ThrowOutOfMemory(ctx);
    for (size_t at = 0; at < length;) {
        size_t taken = character(bytes + at, length - at, &whole);
        memcpy(mended + to, whole ? bytes + at : (const uint8_t *)"\xef\xbf\xbd", whole ? taken : 3);
        to += whole ? taken : 3;
        at += taken;
    }
    JSValue made = JS_NewStringLen(ctx, (const char *)mended, to);
    free(mended);
    return made;
}

#define FUNCTION(name) \
    static JSValue host_##name(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)

// The text as UTF-8, which has no surrogates; NULL after an exception.
static const char *utf8(JSContext *ctx, JSValueConst text, size_t *length) {
    JSValue whole = js_string_toWellFormed(ctx, text, 0, NULL);
    const char *chars = JS_ToCStringLen(ctx, length, whole);
    JS_FreeValue(ctx, whole);
    return chars;
}

// write(fd, text or bytes)
FUNCTION(write) {
    static size_t written[2];
    int32_t fd;
    size_t length;
    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    const char *chars = JS_IsString(argv[1]) ? utf8(ctx, argv[1], &length) : NULL;
    const void *bytes = chars ? chars : (const char *)view(ctx, argv[1], &length);
    if (!bytes && (JS_IsString(argv[1]) || length))
        return JS_EXCEPTION;
    FILE *file = fd == 2 ? stderr : stdout;
    fwrite(bytes, 1, length, file);
    written[fd == 2] += length;
    if (written[fd == 2] < EAGER_BYTES)
        fflush(file);
    JS_FreeCString(ctx, chars);
    return JS_NewInt64(ctx, (int64_t)length);
}

// read(limit) -> buffer, empty at the end
FUNCTION(read) {
    int64_t limit;
    size_t length;
    if (JS_ToInt64(ctx, &limit, argv[0]))
        return JS_EXCEPTION;
    uint8_t *bytes = gather(limit < 0 ? SIZE_MAX / 4 : (size_t)limit, &length);
    return buffer(ctx, bytes, length);
}

// What a call on a file gives: a number that is not negative, or the number of the error below zero.
static JSValue outcome(JSContext *ctx, int64_t result) {
    return JS_NewInt64(ctx, result < 0 ? -errno : result);
}

// open(path, flags as node has them) -> fd
FUNCTION(open) {
    static const struct { int node, here; } FLAGS[] = {
        {0100, O_CREAT}, {0200, O_EXCL}, {01000, O_TRUNC}, {02000, O_APPEND}};
    int32_t asked;
    if (JS_ToInt32(ctx, &asked, argv[1]))
        return JS_EXCEPTION;
    int flags = (asked & 3) == 2 ? O_RDWR : (asked & 3) == 1 ? O_WRONLY : O_RDONLY;
    for (size_t at = 0; at < countof(FLAGS); at++)
        if (asked & FLAGS[at].node)
            flags |= FLAGS[at].here;
    const char *path = JS_ToCString(ctx, argv[0]);
    if (!path)
        return JS_EXCEPTION;
    JSValue result = outcome(ctx, open(path, flags, 0666));
    JS_FreeCString(ctx, path);
    return result;
}

// close(fd)
FUNCTION(close) {
    int32_t fd;
    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    return outcome(ctx, close(fd));
}

// get(fd, limit, place or -1) -> buffer
FUNCTION(get) {
    int32_t fd;
    int64_t limit, at;
    if (JS_ToInt32(ctx, &fd, argv[0]) || JS_ToInt64(ctx, &limit, argv[1]) || JS_ToInt64(ctx, &at, argv[2]))
        return JS_EXCEPTION;
    uint8_t *bytes = malloc((size_t)limit + 1);
    size_t length = 0;
    while (bytes && length < (size_t)limit) {
        ssize_t more = at < 0 ? read(fd, bytes + length, (size_t)limit - length)
                              : pread(fd, bytes + length, (size_t)limit - length, at + (off_t)length);
        if (more < 0) {
            free(bytes);
            return outcome(ctx, more);
        }
        if (more == 0)
            break;
        length += (size_t)more;
    }
    return buffer(ctx, bytes, length);
}

// put(fd, bytes, place or -1) -> how many
FUNCTION(put) {
    int32_t fd;
    int64_t at;
    size_t length, done = 0;
    if (JS_ToInt32(ctx, &fd, argv[0]) || JS_ToInt64(ctx, &at, argv[2]))
        return JS_EXCEPTION;
    uint8_t *bytes = view(ctx, argv[1], &length);
    if (!bytes && length)
        return JS_EXCEPTION;
    while (done < length) {
        ssize_t more = at < 0 ? write(fd, bytes + done, length - done)
                              : pwrite(fd, bytes + done, length - done, at + (off_t)done);
        if (more < 0)
            return outcome(ctx, more);
        done += (size_t)more;
    }
    return JS_NewInt64(ctx, (int64_t)done);
}

// truncate(fd, length)
FUNCTION(truncate) {
    int32_t fd;
    int64_t length;
    if (JS_ToInt32(ctx, &fd, argv[0]) || JS_ToInt64(ctx, &length, argv[1]))
        return JS_EXCEPTION;
    return outcome(ctx, ftruncate(fd, length));
}

// stat(path or fd) -> [whether it is a folder, its size, milliseconds of its last change, its number]
FUNCTION(stat) {
    struct stat found;
    int32_t fd;
    const char *path = JS_IsNumber(argv[0]) ? NULL : JS_ToCString(ctx, argv[0]);
    if (!path && (!JS_IsNumber(argv[0]) || JS_ToInt32(ctx, &fd, argv[0])))
        return JS_EXCEPTION;
    int failed = path ? stat(path, &found) : fstat(fd, &found);
    JS_FreeCString(ctx, path);
    if (failed)
        return outcome(ctx, failed);
    double changed = (double)found.st_mtim.tv_sec * 1e3 + (double)found.st_mtim.tv_nsec / 1e6;
    JSValue parts[] = {JS_NewBool(ctx, S_ISDIR(found.st_mode)), JS_NewInt64(ctx, found.st_size),
                       JS_NewFloat64(ctx, changed), JS_NewInt64(ctx, (int64_t)found.st_ino)};
    return JS_NewArrayFrom(ctx, 4, parts);
}

// list(path) -> the names in a folder
FUNCTION(list) {
    const char *path = JS_ToCString(ctx, argv[0]);
    if (!path)
        return JS_EXCEPTION;
    DIR *folder = opendir(path);
    JS_FreeCString(ctx, path);
    if (!folder)
        return outcome(ctx, -1);
    JSValue names = JS_NewArray(ctx);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            JS_SetPropertyUint32(ctx, names, count++, JS_NewString(ctx, entry->d_name));
    closedir(folder);
    return names;
}

// alter(what, path, other path): `unlink`, `rmdir`, `mkdir` or `rename`
FUNCTION(alter) {
    const char *what = JS_ToCString(ctx, argv[0]);
    const char *path = what ? JS_ToCString(ctx, argv[1]) : NULL;
    const char *other = path ? JS_ToCString(ctx, argv[2]) : NULL;
    if (!other)
        return JS_EXCEPTION;
    int result = !strcmp(what, "unlink")  ? unlink(path)
                 : !strcmp(what, "rmdir") ? rmdir(path)
                 : !strcmp(what, "mkdir") ? mkdir(path, 0777)
                                          : rename(path, other);
    JSValue told = outcome(ctx, result);
    JS_FreeCString(ctx, other);
    JS_FreeCString(ctx, path);
    JS_FreeCString(ctx, what);
    return told;
}

// exit(code)
FUNCTION(exit) {
    int32_t code = 0;
    JS_ToInt32(ctx, &code, argv[0]);
    flush();
    _Exit(code & 0xff);
}

// now() -> milliseconds since the program started
FUNCTION(now) {
    return JS_NewFloat64(ctx, (double)js__hrtime_ns() / 1e6);
}

// sleep(milliseconds)
FUNCTION(sleep) {
    double ms;
    if (JS_ToFloat64(ctx, &ms, argv[0]))
        return JS_EXCEPTION;
    // A program that never wakes up should have shown what it wrote.
    flush();
    struct timespec wait = {.tv_sec = (time_t)(ms / 1e3)};
    wait.tv_nsec = (long)((ms - (double)wait.tv_sec * 1e3) * 1e6);
    nanosleep(&wait, NULL);
    return JS_UNDEFINED;
}

// random(count) -> buffer
FUNCTION(random) {
    uint32_t count;
    if (JS_ToUint32(ctx, &count, argv[0]))
        return JS_EXCEPTION;
    uint8_t *bytes = malloc(count + 1);
    for (uint32_t at = 0; bytes && at < count; at += 256)
        if (getentropy(bytes + at, count - at < 256 ? count - at : 256))
            break;
    return buffer(ctx, bytes, count);
}

// encode(text) -> buffer
FUNCTION(encode) {
    size_t length;
    const char *text = utf8(ctx, argv[0], &length);
    if (!text)
        return JS_EXCEPTION;
    uint8_t *bytes = malloc(length + 1);
    if (bytes)
        memcpy(bytes, text, length);
    JS_FreeCString(ctx, text);
    return buffer(ctx, bytes, length);
}

// decode(bytes, fatal) -> text
FUNCTION(decode) {
    size_t length;
    uint8_t *bytes = view(ctx, argv[0], &length);
    if (!bytes && length)
        return JS_EXCEPTION;
    return text(ctx, bytes, length, JS_ToBool(ctx, argv[1]));
}

// promise(value) -> [state, result]: 0 pending, 1 fulfilled, 2 rejected
FUNCTION(promise) {
    JSPromiseStateEnum state = JS_PromiseState(ctx, argv[0]);
    int number = state == JS_PROMISE_FULFILLED ? 1 : state == JS_PROMISE_REJECTED ? 2 : 0;
    JSValue result = number ? JS_PromiseResult(ctx, argv[0]) : JS_UNDEFINED;
    return JS_NewArrayFrom(ctx, 2, (JSValue[]){JS_NewInt32(ctx, number), result});
}

// target(value) -> what a proxy stands for; undefined for anything else
FUNCTION(target) {
    return JS_IsProxy(argv[0]) ? JS_GetProxyTarget(ctx, argv[0]) : JS_UNDEFINED;
}

// kind(value) -> the class that the engine made it of
FUNCTION(kind) {
    if (!JS_IsObject(argv[0]))
        return JS_UNDEFINED;
    if (JS_IsProxy(argv[0]))
        return JS_NewString(ctx, "Proxy");
    JSAtom name = JS_GetClassName(JS_GetRuntime(ctx), JS_GetClassID(argv[0]));
    JSValue text = JS_AtomToString(ctx, name);
    JS_FreeAtom(ctx, name);
    return text;
}

// names(object, all) -> the keys that are no index, or of those the enumerable ones
FUNCTION(names) {
    JSPropertyEnum *names = NULL;
    uint32_t count = 0, kept = 0;
    int flags = JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK;
    if (!JS_ToBool(ctx, argv[1]))
        flags |= JS_GPN_ENUM_ONLY;
    if (JS_GetOwnPropertyNames(ctx, &names, &count, argv[0], flags))
        return JS_EXCEPTION;
    JSValue found = JS_NewArray(ctx);
    for (uint32_t at = 0; at < count; at++)
        if (!__JS_AtomIsTaggedInt(names[at].atom))
            JS_SetPropertyUint32(ctx, found, kept++, JS_AtomToValue(ctx, names[at].atom));
    JS_FreePropertyEnum(ctx, names, count);
    return found;
}

// remaining(iterator) -> [entries that a Map or Set iterator has yet to give, whether they are
// pairs]. The iterator stays where it is. Undefined for anything else.
FUNCTION(remaining) {
    bool is_map = JS_GetClassID(argv[0]) == JS_CLASS_MAP_ITERATOR;
    if (!is_map && JS_GetClassID(argv[0]) != JS_CLASS_SET_ITERATOR)
        return JS_UNDEFINED;
    JSMapIteratorData *it =
        JS_GetOpaque(argv[0], is_map ? JS_CLASS_MAP_ITERATOR : JS_CLASS_SET_ITERATOR);
    JSValue entries = JS_NewArray(ctx);
    JSValue pairs = JS_NewBool(ctx, it && it->kind == JS_ITERATOR_KIND_KEY_AND_VALUE);
    JSValue found = JS_NewArrayFrom(ctx, 2, (JSValue[]){entries, pairs});
    if (!it || JS_IsUndefined(it->obj))
        return found;
    JSMapState *state = JS_GetOpaque(it->obj, is_map ? JS_CLASS_MAP : JS_CLASS_SET);
    struct list_head *at = it->cur_record ? it->cur_record->link.next : state->records.next;
    uint32_t count = 0;
    for (; at != &state->records; at = at->next) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        if (record->empty)
            continue;
        if (it->kind != JS_ITERATOR_KIND_VALUE)
            JS_SetPropertyUint32(ctx, entries, count++, js_dup(record->key));
        if (it->kind != JS_ITERATOR_KIND_KEY)
            JS_SetPropertyUint32(ctx, entries, count++,
                                 js_dup(is_map ? record->value : record->key));
    }
    return found;
}

// jobs(): runs promise callbacks until none is left. What one throws is thrown on.
FUNCTION(jobs) {
    JSContext *of;
    int more;
    while ((more = JS_ExecutePendingJob(JS_GetRuntime(ctx), &of)) > 0) {
    }
    return more < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

static void rejected(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled,
                     void *opaque) {
    JSValueConst args[] = {promise, reason, is_handled ? JS_TRUE : JS_FALSE};
    JS_FreeValue(ctx, JS_Call(ctx, REJECTED, JS_UNDEFINED, 3, args));
}

// rejections(function): told of every promise that is rejected, and of those that are then handled
FUNCTION(rejections) {
    REJECTED = JS_DupValue(ctx, argv[0]);
    JS_SetHostPromiseRejectionTracker(JS_GetRuntime(ctx), rejected, NULL);
    return JS_UNDEFINED;
}

// script(source, name) -> the value of the script
FUNCTION(script) {
    size_t length;
    const char *source = JS_ToCStringLen(ctx, &length, argv[0]);
    const char *name = source ? JS_ToCString(ctx, argv[1]) : NULL;
    int type = argc < 3 ? JS_EVAL_TYPE_GLOBAL : JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY;
    JSValue value = name ? JS_Eval(ctx, source, length, name, type) : JS_EXCEPTION;
    JS_FreeCString(ctx, name);
    JS_FreeCString(ctx, source);
    if (argc < 3 || JS_IsException(value))
        return value;
    JSValue meta = JS_GetImportMeta(ctx, JS_VALUE_GET_PTR(value));
    int failed = JS_CopyDataProperties(ctx, meta, argv[2], JS_UNDEFINED, false);
    JS_FreeValue(ctx, meta);
    return failed ? JS_EXCEPTION : value;
}

// module(source, name, what `import.meta` holds) -> a promise
FUNCTION(module) {
    JSValue code = host_script(ctx, self, argc, argv);
    return JS_IsException(code) ? code : JS_EvalFunction(ctx, code);
}

// Missing arguments are undefined.
#define ENTRY(name) JS_CFUNC_DEF(#name, 3, host_##name)

static const JSCFunctionListEntry FUNCTIONS[] = {
    ENTRY(alter), ENTRY(close), ENTRY(decode), ENTRY(encode), ENTRY(exit), ENTRY(get), ENTRY(jobs),
    ENTRY(kind), ENTRY(list), ENTRY(module), ENTRY(names), ENTRY(now), ENTRY(open), ENTRY(promise),
    ENTRY(put), ENTRY(random), ENTRY(read), ENTRY(rejections), ENTRY(remaining), ENTRY(script),
    ENTRY(sleep), ENTRY(stat), ENTRY(target), ENTRY(truncate), ENTRY(write),
};

// `import` takes the modules that `require` knows, by whole name, and files by their paths.
static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque) {
    JSValueConst args[] = {JS_NewString(ctx, base), JS_NewString(ctx, name)};
    JSValue found = JS_Call(ctx, RESOLVE, JS_UNDEFINED, 2, args);
    const char *text = JS_IsException(found) ? NULL : JS_ToCString(ctx, found);
    return text ? js_strdup(ctx, text) : NULL;
}

// The prelude gives the source of a module, and what its `import.meta` holds.
static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque) {
    JSValueConst args[3] = {JS_UNDEFINED, JS_NewString(ctx, name), JS_UNDEFINED};
    JSValue found = JS_Call(ctx, LOAD, JS_UNDEFINED, 1, args + 1);
    if (JS_IsException(found))
        return NULL;
    args[0] = JS_GetPropertyUint32(ctx, found, 0);
    args[2] = JS_GetPropertyUint32(ctx, found, 1);
    JSValue code = host_script(ctx, JS_UNDEFINED, 3, args);
    return JS_IsException(code) ? NULL : JS_VALUE_GET_PTR(code);
}

static void wiped_free(void *opaque, void *bytes) {
    if (bytes)
        explicit_bzero(bytes, malloc_usable_size(bytes));
    free(bytes);
}

static void *wiped_realloc(void *opaque, void *bytes, size_t size) {
    void *larger = malloc(size);
    size_t had = bytes ? malloc_usable_size(bytes) : 0;
    memcpy(larger, bytes, had < size ? had : size);
    wiped_free(opaque, bytes);
    return larger;
}

// Functions of the prelude forget their source, as those of node have none.
static void strip(JSRuntime *rt) {
    struct list_head *at;
    list_for_each(at, &rt->gc_obj_list) {
        JSGCObjectHeader *header = list_entry(at, JSGCObjectHeader, link);
        if (JS_GC_TYPE(header) != JS_GC_OBJ_TYPE_FUNCTION_BYTECODE)
            continue;
        JSFunctionBytecode *code = (JSFunctionBytecode *)header;
        js_free_rt(rt, code->source);
        code->source = NULL;
        code->source_len = 0;
    }
}

// Runs when the guest is built. The prelude comes on standard input: a script that gives a function
// of the host. What is freed here leaves zeros behind, which take no room in the guest.
__attribute__((export_name("wizer.initialize"))) void initialize(void) {
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, HELD[0], _IOFBF, HELD_BYTES_MAX);
    setvbuf(stderr, HELD[1], _IOFBF, HELD_BYTES_MAX);
    JSRuntime *rt = JS_NewRuntime();
    JSMallocFunctions usual = rt->mf;
    rt->mf.js_free = wiped_free;
    rt->mf.js_realloc = wiped_realloc;
    JSContext *ctx = CONTEXT = JS_NewContext(rt);
    JS_SetMaxStackSize(rt, 0);
    JS_SetModuleLoaderFunc(rt, normalize, load, NULL);
    char *source = calloc(1, PRELUDE_BYTES_MAX);
    size_t length = fread(source, 1, PRELUDE_BYTES_MAX - 1, stdin);
    JSValue made = JS_Eval(ctx, source, length, "node:prelude", JS_EVAL_FLAG_STRICT);
    wiped_free(NULL, source);
    JSValue host = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, host, FUNCTIONS, countof(FUNCTIONS));
    JSValueConst args[] = {host};
    JSValue given = JS_Call(ctx, made, JS_UNDEFINED, 1, args);
    if (JS_IsException(given)) {
        complain(JS_ToCString(ctx, JS_GetException(ctx)));
        flush();
        abort();
    }
    LOAD = JS_GetPropertyStr(ctx, given, "load");
    RESOLVE = JS_GetPropertyStr(ctx, given, "resolve");
    RUN = JS_GetPropertyStr(ctx, given, "run");
    JS_FreeValue(ctx, given);
    JS_FreeValue(ctx, made);
    JS_FreeValue(ctx, host);
    strip(rt);
    JS_RunGC(rt);
    // Nothing of the build may stay.
    clearerr(stdin);
    rt->mf = usual;
    STARTED = true;
    rt->malloc_gc_threshold = rt->malloc_state.malloc_size / 2 * 3;
}

int main(int argc, char **argv) {
    uint8_t head[8];
    uint32_t stack_bytes, wanted;
    size_t length = fread(head, 1, sizeof head, stdin);
    // WebAssembly has the lowest byte first, too.
    memcpy(&stack_bytes, head, 4);
    memcpy(&wanted, head + 4, 4);
    char *program = length < sizeof head ? NULL : (char *)gather(wanted, &length);
    if (!program || length != wanted)
        return complain("standard input does not start with a program");
    program[length] = 0;
    uint64_t seed = 0;
    if (getentropy(&seed, sizeof seed))
        return complain("no random numbers");
    CONTEXT->random_state = seed ? seed : 1;
    JS_SetMaxStackSize(CONTEXT->rt, stack_bytes);
    JS_UpdateStackTop(CONTEXT->rt);
    JSValue args = JS_NewArray(CONTEXT);
    for (int at = 1; at < argc; at++)
        JS_SetPropertyUint32(CONTEXT, args, at - 1, JS_NewString(CONTEXT, argv[at]));
    JSValueConst given[] = {JS_NewStringLen(CONTEXT, program, length), args,
                            JS_NewString(CONTEXT, argc > 0 ? argv[0] : "/main.js")};
    bool failed = JS_IsException(JS_Call(CONTEXT, RUN, JS_UNDEFINED, 3, given));
    // The prelude catches what programs throw, so only want of memory or stack leads here.
    const char *why = failed ? JS_ToCString(CONTEXT, JS_GetException(CONTEXT)) : NULL;
    if (failed)
        fprintf(stderr, "Uncaught %s\n", why ? why : "error");
    flush();
    // The instance ends here; taking its memory apart would only cost time.
    _Exit(failed);
}
