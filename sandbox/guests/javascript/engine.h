// What the guest needs of QuickJS beyond its public interface.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "quickjs.h"

void engine_seed(JSContext *ctx, uint64_t seed);
JSValue engine_remaining(JSContext *ctx, JSValueConst iterator);
bool engine_gives_pairs(JSValueConst iterator);
