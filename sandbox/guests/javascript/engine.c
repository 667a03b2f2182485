// QuickJS as one unit, so that two things which it keeps to itself are within reach: the stack
// check that it leaves out on WASI, and the entries that an iterator has yet to give.

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// WASI has a stack like any other target: with the check, deep recursion is a RangeError.
#undef __wasi__
#define __STDC_NO_ATOMICS__ 1
#include "quickjs.c"

#include "engine.h"

void engine_seed(JSContext *ctx, uint64_t seed) {
    ctx->random_state = seed ? seed : 1;
}

// The entries that a Map or Set iterator has yet to give, in order: keys, values, or both. The
// iterator stays where it is. Undefined for anything else.
JSValue engine_remaining(JSContext *ctx, JSValueConst iterator) {
    bool is_map = JS_GetClassID(iterator) == JS_CLASS_MAP_ITERATOR;
    if (!is_map && JS_GetClassID(iterator) != JS_CLASS_SET_ITERATOR)
        return JS_UNDEFINED;
    JSMapIteratorData *it =
        JS_GetOpaque(iterator, is_map ? JS_CLASS_MAP_ITERATOR : JS_CLASS_SET_ITERATOR);
    JSValue found = JS_NewArray(ctx);
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
            JS_SetPropertyUint32(ctx, found, count++, js_dup(record->key));
        if (it->kind != JS_ITERATOR_KIND_KEY)
            JS_SetPropertyUint32(ctx, found, count++, js_dup(is_map ? record->value : record->key));
    }
    return found;
}

bool engine_gives_pairs(JSValueConst iterator) {
    JSClassID id = JS_GetClassID(iterator);
    if (id != JS_CLASS_MAP_ITERATOR && id != JS_CLASS_SET_ITERATOR)
        return false;
    JSMapIteratorData *it = JS_GetOpaque(iterator, id);
    return it && it->kind == JS_ITERATOR_KIND_KEY_AND_VALUE;
}
