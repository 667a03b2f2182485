// Text between JavaScript and bytes: UTF-8 as the web platform has it.

#include "text.h"

#include <stdlib.h>
#include <string.h>

// QuickJS writes a lone surrogate as three bytes of its own; UTF-8 has none, so each becomes
// U+FFFD, which is as long.
static void mend(uint8_t *bytes, size_t length) {
    for (size_t at = 0; at + 2 < length; at++) {
        if (bytes[at] == 0xed && bytes[at + 1] >= 0xa0) {
            bytes[at] = 0xef;
            bytes[at + 1] = 0xbf;
            bytes[at + 2] = 0xbd;
            at += 2;
        }
    }
}

uint8_t *text_encode(JSContext *ctx, JSValueConst text, size_t *length) {
    const char *utf8 = JS_ToCStringLen(ctx, length, text);
    if (!utf8)
        return NULL;
    uint8_t *bytes = malloc(*length + 1);
    if (bytes) {
        memcpy(bytes, utf8, *length);
        mend(bytes, *length);
    } else {
        JS_ThrowOutOfMemory(ctx);
    }
    JS_FreeCString(ctx, utf8);
    return bytes;
}

// How many bytes a character takes that starts with `first`, and which second bytes it allows.
static int shape(uint8_t first, uint8_t *low, uint8_t *high) {
    *low = 0x80;
    *high = 0xbf;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef) {
        if (first == 0xe0)
            *low = 0xa0;
        if (first == 0xed)
            *high = 0x9f;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if (first == 0xf0)
            *low = 0x90;
        if (first == 0xf4)
            *high = 0x8f;
        return 4;
    }
    return 0;
}

// The bytes of the longest prefix that may start a character; `whole` tells whether it is one.
static size_t take(const uint8_t *bytes, size_t length, int *whole) {
    uint8_t low, high;
    int need = shape(bytes[0], &low, &high);
    *whole = need == 1;
    if (need <= 1)
        return 1;
    size_t got = 1;
    while (got < length && got < (size_t)need && bytes[got] >= low && bytes[got] <= high) {
        low = 0x80;
        high = 0xbf;
        got++;
    }
    *whole = got == (size_t)need;
    return got;
}

static size_t wrong(const uint8_t *bytes, size_t length) {
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        int whole = 1;
        at += bytes[at] < 0x80 ? 1 : take(bytes + at, length - at, &whole);
        count += !whole;
    }
    return count;
}

JSValue text_decode(JSContext *ctx, const uint8_t *bytes, size_t length, bool fatal) {
    size_t mistakes = wrong(bytes, length);
    if (mistakes == 0)
        return JS_NewStringLen(ctx, (const char *)bytes, length);
    if (fatal)
        return JS_ThrowTypeError(ctx, "The encoded data was not valid for encoding utf-8");
    uint8_t *mended = malloc(length + 3 * mistakes);
    if (!mended)
        return JS_ThrowOutOfMemory(ctx);
    size_t to = 0;
    for (size_t at = 0; at < length;) {
        int whole;
        size_t taken = take(bytes + at, length - at, &whole);
        memcpy(mended + to, whole ? bytes + at : (const uint8_t *)"\xef\xbf\xbd", whole ? taken : 3);
        to += whole ? taken : 3;
        at += taken;
    }
    JSValue text = JS_NewStringLen(ctx, (const char *)mended, to);
    free(mended);
    return text;
}

size_t text_unfinished(const uint8_t *bytes, size_t length) {
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        const uint8_t *from = bytes + length - back;
        uint8_t low, high;
        if ((*from & 0xc0) == 0x80)
            continue;
        int whole;
        bool open = shape(*from, &low, &high) > (int)back && take(from, back, &whole) == back;
        return open ? back : 0;
    }
    return 0;
}
