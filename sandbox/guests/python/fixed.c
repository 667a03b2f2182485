/* Fixed bytes and a fixed clock for the builder of the guest, so that the same inputs give the
   same component. The builder draws the seed of Python's string hash from getrandom while it
   takes its snapshot; nothing of this is in the component, and nothing runs with it later. */

#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    (void)flags;
    memset(buffer, 0x5a, length);
    return (ssize_t)length;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    now->tv_sec = 1735689600;
    now->tv_nsec = 0;
    return 0;
}
