/* The text of a query:
**   query = [ term { "," term } ]
**   term  = "!" component | name [ "?" ] | [ "with" ] name { "|" name }
**   name  = component [ "." leaf ], with ":in" behind it or not, on either side of the "?" */
#include "core/store/builtin.h"
#include "core/store/query.h"
#include "core/store/world.h"

struct parser {
  ecs_world *world;
  const char *at, *end;
  ecs_string text;
  struct query_terms *terms;
  uint32_t groups;
};

static void skip_space(struct parser *parser) {
  while (parser->at < parser->end && strchr(" \t\r\n", *parser->at)) parser->at++;
}

static bool accept(struct parser *parser, char c) {
  skip_space(parser);
  if (parser->at == parser->end || *parser->at != c) return false;
  parser->at++;
  return true;
}

static ecs_status fail(struct parser *parser, const char *what) {
  ecs_string rest = {parser->at, (size_t)(parser->end - parser->at)};
  if (rest.size > 24) rest.size = 24;
  if (rest.size == 0) rest = (ecs_string){"the end", 7};
  return world_fail(parser->world, ECS_EINVAL, "query '%S': %s at '%S'", &parser->text, what,
                    &rest);
}

static ecs_status later(struct parser *parser, const char *what) {
  return world_fail(parser->world, ECS_EINVAL, "query '%S': %s are not in this version",
                    &parser->text, what);
}

static bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_';
}

static ecs_string read_while(struct parser *parser, bool path) {
  skip_space(parser);
  ecs_string name = {parser->at, 0};
  while (parser->at < parser->end &&
         (is_name_part(*parser->at) || (path && memchr(".[]", *parser->at, 3))))
    parser->at++;
  name.size = (size_t)(parser->at - name.data);
  return name;
}

static ecs_status read_leaf(struct parser *parser, struct term *term) {
  ecs_string path = read_while(parser, true);
  term->leaf = component_leaf(term->component, path.data, path.size);
  if (term->leaf != NONE) return ECS_OK;
  uint32_t field = component_field(term->component, path.data, path.size);
  if (field == NONE)
    return component_no_field(parser->world, term->component, path.data, path.size);
  const struct field *found = &term->component->fields[field];
  return world_fail(parser->world, ECS_EINVAL,
                    "query '%S': '%s.%s' is not a single value; name one, as in '%s.%s'",
                    &parser->text, term->component->name, found->name,
                    term->component->name, term->component->leaves[found->first_leaf].name);
}

/* What is behind a colon. */
static ecs_status read_access(struct parser *parser, struct term *term) {
  ecs_string word = read_while(parser, false);
  if (text_equal("in", word.data, word.size)) {
    if (term->read_only) return fail(parser, "':in' is there twice");
    term->read_only = true;
    return ECS_OK;
  }
  if (text_equal("changed", word.data, word.size)) return later(parser, "':changed' terms");
  if (text_equal("off", word.data, word.size) || text_equal("any", word.data, word.size))
    return later(parser, "':off' and ':any' terms");
  parser->at = word.data;
  return fail(parser, "':in' expected");
}

/* What may follow a name, in any order. */
static ecs_status read_modifiers(struct parser *parser, struct term *term) {
  for (;;) {
    ecs_status status = ECS_OK;
    if (accept(parser, ':')) {
      status = read_access(parser, term);
    } else if (accept(parser, '?')) {
      if (term->kind == TERM_OPTIONAL) status = fail(parser, "'?' is there twice");
      term->kind = TERM_OPTIONAL;
    } else {
      return ECS_OK;
    }
    if (status != ECS_OK) return status;
  }
}

static ecs_status add_term(struct parser *parser, const struct term *term) {
  struct query_terms *terms = parser->terms;
  if (terms->count == TERM_LIMIT)
    return world_fail(parser->world, ECS_ELIMIT, "a query has at most 1024 terms");
  struct term *grown = memory_grow(&parser->world->memory, terms->terms, &terms->capacity,
                                   terms->count + 1ull, sizeof *grown);
  if (!grown) return world_nomem(parser->world);
  terms->terms = grown;
  terms->terms[terms->count++] = *term;
  return ECS_OK;
}

static ecs_status read_name(struct parser *parser, struct term *term) {
  *term = (struct term){.leaf = NONE, .group = NONE, .slot = NONE};
  skip_space(parser);
  if (parser->at < parser->end && *parser->at == '(')
    return later(parser, "pairs '(relation, target)'");
  ecs_string name = read_while(parser, false);
  if (name.size == 0) return fail(parser, "a component's name expected");
  ecs_status status = component_need_or_builtin(parser->world, name.data, name.size,
                                                &term->component);
  if (status != ECS_OK) return status;
  term->id = term->component->id;
  if (term->component->ties.relation && !term->component->ties.exclusive)
    return later(parser, "relations of several targets");
  if (accept(parser, '.')) status = read_leaf(parser, term);
  return status == ECS_OK ? read_modifiers(parser, term) : status;
}

static void give_slot(struct parser *parser, struct term *term) {
  assert(term->component);
  if (term_gives(term, term->component)) term->slot = parser->terms->slots++;
}

/* The alternatives behind the first of A|B|C. */
static ecs_status read_alternatives(struct parser *parser, struct term *term) {
  uint32_t group = parser->groups++;
  bool filters = term->filters;
  for (;;) {
    if (term->kind == TERM_OPTIONAL)
      return fail(parser, "'|' and '?' do not go together: one of A|B is there in any case");
    term->filters = filters;
    term->kind = TERM_OR;
    term->group = group;
    give_slot(parser, term);
    parser->terms->choices |= term->slot != NONE;
    ecs_status status = add_term(parser, term);
    if (status != ECS_OK || !accept(parser, '|')) return status;
    status = read_name(parser, term);
    if (status != ECS_OK) return status;
  }
}

static bool is_next(struct parser *parser, char c) {
  skip_space(parser);
  return parser->at < parser->end && *parser->at == c;
}

/* A component may be called so, too: then no other name follows. */
static bool accept_with(struct parser *parser) {
  const char *start = parser->at;
  ecs_string word = read_while(parser, false);
  skip_space(parser);
  bool other = parser->at < parser->end &&
               (is_name_part(*parser->at) || *parser->at == '!' || *parser->at == '(');
  if (other && text_equal("with", word.data, word.size)) return true;
  parser->at = start;
  return false;
}

static ecs_status check_alone(struct parser *parser, const struct term *term) {
  bool alone = term->kind == TERM_WITH && !term->read_only && term->leaf == NONE;
  return alone && !is_next(parser, '|')
             ? ECS_OK : fail(parser, "'!' goes with a component's name alone");
}

static ecs_status read_term(struct parser *parser) {
  struct term term;
  bool without = accept(parser, '!');
  bool filters = !without && accept_with(parser);
  if (filters && accept(parser, '!'))
    return fail(parser, "'!' without 'with' is meant: it gives nothing anyhow");
  ecs_status status = read_name(parser, &term);
  if (status == ECS_OK && without) status = check_alone(parser, &term);
  if (status != ECS_OK) return status;
  term.filters = filters;
  if (is_next(parser, '|')) return read_alternatives(parser, &term);
  if (without) term.kind = TERM_WITHOUT;
  if (filters && term.kind == TERM_OPTIONAL)
    return fail(parser, "'with' is for what has to be there: an optional term filters nothing");
  give_slot(parser, &term);
  parser->terms->choices |= term.kind == TERM_OPTIONAL;
  return add_term(parser, &term);
}

ecs_status query_parse(ecs_world *world, const char *text, size_t size,
                       struct query_terms *out) {
  memset(out, 0, sizeof *out);
  struct parser parser = {world, text, text + size, {text, size}, out, 0};
  skip_space(&parser);
  ecs_status status = ECS_OK;
  if (parser.at < parser.end) {
    do status = read_term(&parser);
    while (status == ECS_OK && accept(&parser, ','));
    if (status == ECS_OK && parser.at < parser.end) status = fail(&parser, "',' expected");
  }
  if (status != ECS_OK) query_terms_free(world, out);
  return status;
}

void query_terms_free(ecs_world *world, struct query_terms *terms) {
  memory_free(&world->memory, terms->terms, terms->capacity * sizeof *terms->terms);
  memset(terms, 0, sizeof *terms);
}
