/* The basis of every file of the core: the public types, and small limits. */
#ifndef ECS_CORE_BASE_BASE_H
#define ECS_CORE_BASE_BASE_H

/* Asserts are for debug builds: a release build prints nothing and never aborts. */
#if !defined(ECS_DEBUG) && !defined(NDEBUG)
#define NDEBUG
#endif

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "ecs_types.h"

/* Results equal those of Lua and kernels only if each step is rounded to its own type. By default,
** 32-bit x86 computes with 80 bits, and gcc for s390x computes f32 in doubles. */
#if FLT_EVAL_METHOD != 0
#error "ecs needs arithmetic without excess precision: give the compiler -msse2 -mfpmath=sse for \
32-bit x86, -fexcess-precision=fast for s390x"
#endif

/* Include system headers before this one: what follows is hidden from other objects, except where
** tests link to a shared one. */
#if defined(__GNUC__)
#ifndef ECS_VISIBLE
#pragma GCC visibility push(hidden)
#endif
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Prefetches what will be read soon. */
#define FETCH(pointer) __builtin_prefetch(pointer)
/* For common and for rare paths: rare ones are kept out of line, so common ones need few
** registers. */
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define RARE __attribute__((noinline, cold))
#define NORETURN __attribute__((noreturn))
#else
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#define FETCH(pointer) ((void)(pointer))
#define INLINE static inline
#define APART
#define RARE
#define NORETURN
#endif

/* FORMAT makes compilers check a format of core/base/text.h, parameter `at`, against the arguments
** from `first` on (0: a list); not on Windows, whose printf differs. SHOW_ID formats an id's index,
** generation and tag; SHOW gives the arguments of "%.*s" for a string. */
#if defined(__GNUC__) && !defined(_WIN32)
#define FORMAT(at, first) __attribute__((format(printf, at, first)))
#define SHOW_ID "%" PRIx64
#else
#define FORMAT(at, first)
#define SHOW_ID "%llx"
#endif
#define SHOW(string) (int)(string).size, (string).data

/* Stands for "no index": of a table, row, column, leaf or slot. */
#define NONE UINT32_MAX

#define INDEX_BITS 28
#define INDEX_LIMIT (1u << INDEX_BITS)
#define GENERATION_LIMIT 0xFFFFu
#define TAG_LIMIT 0xFFu
#define FIRST_ENTITY 65536u /* lower indices are components, tags, relations */
#define PAIR_BIT ((ecs_id)1 << 52)
#define ROW_LIMIT INDEX_LIMIT
#define TABLE_BITS 25
#define TABLE_LIMIT ((1u << TABLE_BITS) - 1)
#define MESSAGE_SIZE 512 /* bytes of a world's message */

#endif
