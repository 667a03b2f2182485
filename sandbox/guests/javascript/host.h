// The functions that the prelude is given.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

// A part of the prelude, compiled when the guest was built.
typedef struct {
    const char *name;
    const uint8_t *bytes;
    size_t length;
} Part;

extern const Part PARTS[];
extern const size_t PARTS_COUNT;

// An object that holds the functions.
JSValue host_new(JSContext *ctx);
// Evaluates a part: it gives a function.
JSValue host_part(JSContext *ctx, const char *name);
// Writes out what is held back.
void host_flush(void);
// Takes the program, which stands before the input proper, and the stack that it may use.
char *host_program(uint32_t *stack_bytes, size_t *length);
