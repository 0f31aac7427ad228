/* The types that the other headers use: ids, pairs, statuses, field types, policies. */
#ifndef ECS_TYPES_H
#define ECS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Define ECS_SHARED to build the sources as a shared library that others link to. The Lua module
** exports none of these functions: the program that loads it may have the same names. */
#if !defined(ECS_SHARED)
#define ECS_API
#elif defined(_WIN32)
#define ECS_API __declspec(dllexport)
#else
#define ECS_API __attribute__((visibility("default")))
#endif

typedef struct ecs_world ecs_world;
typedef struct ecs_query ecs_query;
typedef struct ecs_system ecs_system;

/* An entity, component or tag. Bits 0-27: index; 28-43: generation; 44-51: the world's tag. */
typedef uint64_t ecs_id;

#define ECS_NULL ((ecs_id)0)

typedef enum ecs_status {
  ECS_OK,
  ECS_ENOMEM,   /* the allocator refused; nothing changed, the call may be tried again */
  ECS_ELIMIT,   /* a limit of the runtime was reached (ids, rows, fields, sizes) */
  ECS_EINVAL,   /* an invalid argument */
  ECS_ENAME,    /* no component, system, phase or field of that name */
  ECS_ETYPE,    /* a value of the wrong type for its field */
  ECS_ERANGE,   /* a value out of range for its field */
  ECS_EDEAD,    /* the entity is dead */
  ECS_EUNBORN,  /* the id was never issued */
  ECS_EWORLD,   /* the id belongs to another world */
  ECS_ENOID,    /* the number is not an id */
  ECS_ETAKEN,   /* a slot or name is in use */
  ECS_EBUSY,    /* not allowed inside a system, a function form or defer */
  ECS_ECYCLE,   /* before/after contradict each other; a component would require itself */
  ECS_EABSENT,  /* the entity does not have the component */
  ECS_EUSER,    /* a callback of the host failed */
  ECS_ECORRUPT  /* ecs_check found a broken invariant; ecs_load found no image */
} ecs_status;

/* Like lua_Alloc: frees if nsize is 0; osize is the exact size of ptr (0 for NULL). */
typedef void *(*ecs_alloc)(void *ud, void *ptr, size_t osize, size_t nsize);

static inline uint32_t ecs_id_index(ecs_id id) { return (uint32_t)(id & 0xFFFFFFF); }
static inline uint32_t ecs_id_generation(ecs_id id) { return (uint32_t)(id >> 28) & 0xFFFF; }
static inline uint32_t ecs_id_tag(ecs_id id) { return (uint32_t)(id >> 44) & 0xFF; }

/* The id of a pair, valid while its target lives; ecs_add, ecs_remove, ecs_has, ecs_set, ecs_get
** and the spawning functions take it like a component's. */
static inline ecs_id ecs_pair(ecs_id relation, ecs_id target) {
  return (ecs_id)1 << 52 | (ecs_id)ecs_id_index(relation) << 28 | ecs_id_index(target);
}

typedef enum ecs_type {
  ECS_F32, ECS_F64, ECS_I8, ECS_I16, ECS_I32, ECS_I64, ECS_U8, ECS_U16, ECS_U32,
  ECS_BOOL, ECS_ENTITY, ECS_STRING, ECS_ANY, ECS_ENUM,
  ECS_NESTED,  /* the fields of another component */
  ECS_U64
} ecs_type;

/* A string, in values and in native structs; need not be zero-terminated. What ecs_get returns
** stays valid until the next call that changes the world. */
typedef struct ecs_string {
  const char *data;
  size_t size;
} ecs_string;

/* What happens to a source of a relation when its target dies. */
typedef enum ecs_policy {
  ECS_TARGET_REMOVE,         /* it loses the tie */
  ECS_TARGET_DESPAWN,        /* it dies too */
  ECS_TARGET_ERROR           /* the target cannot be despawned while it has sources */
} ecs_policy;

#ifdef __cplusplus
}
#endif

#endif
