/* Work that several threads share: stages of parts, done one stage after the other.
 *
 * Every thread goes through all stages: it claims parts while there are any, then waits until those that others claimed
 * are done. It waits only for parts that are being worked on, so one thread alone finishes too, and one that comes late
 * joins in where the others are. Stages begin as zeros.
 */
#ifndef GSSBO_TEAM_H
#define GSSBO_TEAM_H

#include <stddef.h>
#ifdef _WIN32
#include <windows.h>
#define gssbo_yield() SwitchToThread()
#else
#include <sched.h>
#define gssbo_yield() sched_yield()
#endif

typedef struct gssbo_stage {
    ptrdiff_t claimed, done;
} gssbo_stage;

/* A part from 0 to parts - 1 that nobody has, or -1 if there is none. */
static inline ptrdiff_t gssbo_claim(gssbo_stage *stage, ptrdiff_t parts)
{
    const ptrdiff_t part = __atomic_fetch_add(&stage->claimed, 1, __ATOMIC_RELAXED);
    return part < parts ? part : -1;
}

static inline void gssbo_finish(gssbo_stage *stage)
{
    __atomic_fetch_add(&stage->done, 1, __ATOMIC_RELEASE);
}

/* Finishes a part and claims another. */
static inline ptrdiff_t gssbo_next(gssbo_stage *stage, ptrdiff_t parts)
{
    gssbo_finish(stage);
    return gssbo_claim(stage, parts);
}

/* A word that one writes while those who are behind may still read it for an earlier stage. */
static inline void gssbo_put(ptrdiff_t *word, ptrdiff_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline ptrdiff_t gssbo_get(const ptrdiff_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Returns when all parts are done; their results can be read then. */
static inline void gssbo_await(gssbo_stage *stage, ptrdiff_t parts)
{
    for (int spins = 0; __atomic_load_n(&stage->done, __ATOMIC_ACQUIRE) < parts; spins++) {
        if (spins >= 2000) /* some 10 to 50 microseconds: whoever works may want this processor */
            gssbo_yield();
#if defined(__x86_64__) || defined(__i386__)
        else
            __builtin_ia32_pause();
#endif
    }
}

#endif
