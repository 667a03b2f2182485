// Text between JavaScript and bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

// The text as UTF-8, to be freed; NULL after an exception.
uint8_t *text_encode(JSContext *ctx, JSValueConst text, size_t *length);
// What is not UTF-8 becomes U+FFFD, or an exception where it is `fatal`.
JSValue text_decode(JSContext *ctx, const uint8_t *bytes, size_t length, bool fatal);
// How many bytes at the end start a character that more bytes may finish.
size_t text_unfinished(const uint8_t *bytes, size_t length);
