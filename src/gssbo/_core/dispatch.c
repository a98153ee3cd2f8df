/* Choice of the instruction set, at run time, once per process: the best that the processor has, and no better than the
 * environment asks for. `gssbo._core` refuses other names. */
#include "simd.h"

#include <stdlib.h>
#include <string.h>

extern const gssbo_simd_table gssbo_simd_baseline;
#ifdef GSSBO_HAVE_V3
extern const gssbo_simd_table gssbo_simd_v3;
#endif
#ifdef GSSBO_HAVE_V4
extern const gssbo_simd_table gssbo_simd_v4;
#endif

#if defined(GSSBO_HAVE_V3) || defined(GSSBO_HAVE_V4)
static int has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int asked_for(const char *name)
{
    const char *const most = getenv("GSSBO_INSTRUCTION_SET");
    return most != NULL && strcmp(most, name) == 0;
}
#endif

const gssbo_simd_table *gssbo_simd(void)
{
#if defined(GSSBO_HAVE_V3) || defined(GSSBO_HAVE_V4)
    __builtin_cpu_init();
    if (asked_for("baseline"))
        return &gssbo_simd_baseline;
#endif
#ifdef GSSBO_HAVE_V4
    if (!asked_for("v3") && has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &gssbo_simd_v4;
#endif
#ifdef GSSBO_HAVE_V3
    if (has_v3())
        return &gssbo_simd_v3;
#endif
    return &gssbo_simd_baseline;
}
