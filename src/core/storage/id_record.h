/* The tables of a world, and what it knows of each id: see graph.h. */
#ifndef ECS_CORE_STORAGE_ID_RECORD_H
#define ECS_CORE_STORAGE_ID_RECORD_H

#include "core/base/hash_map.h"

struct table;

/* What the world knows of one id: its tables, and the queries that cannot match without it. The
** record of id 0 has all tables, and the queries that no id is needed for. */
struct id_record {
  ecs_id id;
  uint32_t *tables;
  uint32_t table_count;
  uint32_t table_capacity;
  ecs_query **queries;
  uint32_t query_count;
  uint32_t query_capacity;
  uint32_t doomed;        /* how many of its tables are */
  uint64_t arranged;      /* graph.placings when its tables were put in order */
};

struct graph {
  struct table **tables;          /* by index; a free one is NULL */
  uint32_t table_count;           /* indices given out */
  uint32_t table_capacity;
  uint32_t live;
  uint32_t *free_tables;          /* room for table_capacity */
  uint32_t free_count;
  uint32_t free_capacity;
  uint32_t *empties;              /* tables that may be without rows; room for all */
  uint32_t empty_count;
  uint32_t empty_capacity;
  uint32_t next_serial;
  uint64_t next_order;
  uint64_t placings;              /* how often tables have got another place in the order */
  struct map by_hash;             /* hash of a sorted id set -> first table */
  struct map records;             /* id -> index in record_list */
  struct id_record **record_list;
  uint32_t record_count;
  uint32_t record_capacity;
  uint32_t pair_tables;           /* that have pairs */
  struct table *empty;            /* the table of entities without components */
};

#endif
