/* The text of a query:
**   query = [ term { "," term } ]
**   term  = "!" what | name [ "?" ] | [ "with" ] name { "|" name }
**   name  = what [ "." leaf ], then ":in", ":changed", ":added", ":off" or ":any", on either
**           side of the "?"
**   what  = component | "(" relation "," target ")" | path | component "($" variable ")"
**   target = component | "*" | "$" variable
**   path  = relation [ "*" ] "->" component | component "." leaf "->" component */
#include "core/base/text.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_value.h"

struct parser {
  ecs_world *world;
  const char *at, *end;
  ecs_string text;
  struct query_terms *terms;
  uint32_t groups;
  const ecs_variable *given;
  uint32_t given_count;
  uint64_t given_named;      /* variables named so far, a bit each */
  struct component *made[2];   /* built-in relations named for the first time */
  uint32_t made_count;
};

static void parse_skip_space(struct parser *parser) {
  while (parser->at < parser->end && strchr(" \t\r\n", *parser->at)) parser->at++;
}

static bool parse_accept(struct parser *parser, char c) {
  parse_skip_space(parser);
  if (parser->at == parser->end || *parser->at != c) return false;
  parser->at++;
  return true;
}

static ecs_status parse_fail(struct parser *parser, const char *what) {
  ecs_string rest = {parser->at, (size_t)(parser->end - parser->at)};
  if (rest.size > 24) rest.size = 24;
  if (rest.size == 0) rest = (ecs_string){"the end", 7};
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': %s at '%.*s'", SHOW(parser->text),
                    what, SHOW(rest));
}

static bool parse_is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name at the current place. */
static ecs_string parse_read_here(struct parser *parser, bool path) {
  ecs_string name = {parser->at, 0};
  while (parser->at < parser->end &&
         (parse_is_name_part(*parser->at) || (path && memchr(".[]", *parser->at, 3))))
    parser->at++;
  name.size = (size_t)(parser->at - name.data);
  return name;
}

static ecs_string parse_read_while(struct parser *parser, bool path) {
  parse_skip_space(parser);
  return parse_read_here(parser, path);
}

static ecs_status parse_read_leaf(struct parser *parser, struct term *term) {
  ecs_string path = parse_read_while(parser, true);
  term->leaf = component_leaf(term->component, path.data, path.size);
  if (term->leaf != NONE) return ECS_OK;
  uint32_t field = component_field(term->component, path.data, path.size);
  uint32_t leaf;
  struct component *other;
  if (field == NONE && term->component->relation &&
      component_path(parser->world, path.data, path.size, &other, &leaf) == ECS_OK)
    return world_fail(parser->world, ECS_EINVAL, "query '%.*s': '%s' is a relation: write "
                      "'%s->%.*s' for its target", SHOW(parser->text), term->component->name,
                      term->component->name, SHOW(path));
  if (field == NONE)
    return component_no_field(parser->world, term->component, path.data, path.size);
  const struct field *found = &term->component->fields[field];
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': '%s.%s' is not a single value; name "
                    "one, as in '%s.%s'", SHOW(parser->text), term->component->name, found->name,
                    term->component->name, term->component->leaves[found->first_leaf].name);
}

static ecs_status parse_read_cascade(struct parser *parser, struct term *term) {
  if (term->cascade) return parse_fail(parser, "':cascade' is given twice");
  term->cascade = true;
  if (term->form == TERM_PATH && term->through_leaf == NONE && term->through->ties.acyclic)
    return ECS_OK;
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': ':cascade' needs a path along an "
                    "acyclic relation, as in 'ChildOf->%s:cascade'", SHOW(parser->text),
                    term->component->name);
}

static ecs_status parse_read_state(struct parser *parser, struct term *term,
                                   enum term_state state) {
  if (term->state != TERM_ON) return parse_fail(parser, "':off' and ':any' exclude each other");
  term->state = state;
  if (term->component->toggle) return ECS_OK;
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': '%s' cannot be switched off, so "
                    "':off' and ':any' have no meaning: declare it with toggle = true",
                    SHOW(parser->text), term->component->name);
}

/* A write through a path marks the entity it leads to, not the row. */
static ecs_status parse_refuse_news(const struct parser *parser, const struct term *term,
                                    const char *word) {
  const char *name = term->component->name;
  bool event = term->through && term->through->is_event;
  if (event)
    return world_fail(parser->world, ECS_EINVAL, "query '%.*s': ':%s' applies only to a component "
                      "of the row itself, and a path from an event leads to another entity: leave "
                      "it out, since each event comes only once", SHOW(parser->text), word);
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': ':%s' applies only to a component "
                    "of the row itself, and this '%s' is another entity's: write a system over "
                    "'%s:%s' that finds the others with world:sources or world:children, or that "
                    "emits an event", SHOW(parser->text), word, name, name, word);
}

/* Marks say when the row's own component was written, not another entity's. */
static ecs_status parse_read_news(struct parser *parser, struct term *term, enum term_news news) {
  const char *word = news == TERM_ADDED ? "added" : "changed";
  const struct component *component = term->component;
  ecs_world *world = parser->world;
  bool known = term->form == TERM_PAIR && !component->ties.exclusive && term->target != ECS_NULL;
  if (term->news) return parse_fail(parser, "':changed' or ':added' is given twice");
  if (term->form == TERM_PATH || term->form == TERM_OF)
    return parse_refuse_news(parser, term, word);
  if (component->is_event || (term->form != TERM_OWN && !known))
    return world_fail(world, ECS_EINVAL, "query '%.*s': ':%s' applies only to a component of the "
                      "row itself, as in 'Position:%s', or to a tie with a known target",
                      SHOW(parser->text), word, word);
  if (news == TERM_ADDED && !component->track)
    return world_fail(world, ECS_EINVAL, "query '%.*s': ':added' needs '%s' to be declared with "
                      "track = true", SHOW(parser->text), component->name);
  term->news = news;
  parser->terms->changes = true;
  return ECS_OK;
}

/* Reads what follows a colon. */
static ecs_status parse_read_access(struct parser *parser, struct term *term) {
  ecs_string word = parse_read_while(parser, false);
  if (text_equal("in", word.data, word.size)) {
    if (term->read_only) return parse_fail(parser, "':in' is given twice");
    term->read_only = true;
    return ECS_OK;
  }
  if (text_equal("cascade", word.data, word.size)) return parse_read_cascade(parser, term);
  if (text_equal("changed", word.data, word.size))
    return parse_read_news(parser, term, TERM_CHANGED);
  if (text_equal("added", word.data, word.size)) return parse_read_news(parser, term, TERM_ADDED);
  if (text_equal("off", word.data, word.size)) return parse_read_state(parser, term, TERM_OFF);
  if (text_equal("any", word.data, word.size)) return parse_read_state(parser, term, TERM_ANY);
  parser->at = word.data;
  return parse_fail(parser, "':in', ':changed', ':added', ':off', ':any' or ':cascade' expected");
}

/* Reads what may follow a name, in any order. */
static ecs_status parse_read_modifiers(struct parser *parser, struct term *term) {
  for (;;) {
    ecs_status status = ECS_OK;
    if (parse_accept(parser, ':')) {
      status = parse_read_access(parser, term);
    } else if (parse_accept(parser, '?')) {
      if (term->kind == TERM_OPTIONAL) status = parse_fail(parser, "'?' is given twice");
      term->kind = TERM_OPTIONAL;
    } else {
      return ECS_OK;
    }
    if (status != ECS_OK) return status;
  }
}

static ecs_status parse_add_term(struct parser *parser, const struct term *term) {
  struct query_terms *terms = parser->terms;
  if (terms->count == TERM_LIMIT)
    return world_fail(parser->world, ECS_ELIMIT, "a query has at most 1024 terms");
  if (!GROW(&parser->world->memory, terms->terms, terms->capacity, terms->count + 1ull))
    return world_nomem(parser->world);
  struct term *added = &terms->terms[terms->count++];
  *added = *term;
  return added->news ? picks_new(parser->world, added) : ECS_OK;
}

/* ---- ties, paths and variables ---- */

static ecs_status parse_need_named(struct parser *parser, ecs_string name, struct component **out) {
  uint32_t before = parser->world->relations.count;
  ecs_status status = component_need_or_builtin(parser->world, name.data, name.size, out);
  if (parser->world->relations.count == before) return status;
  assert(status == ECS_OK && parser->made_count < 2);
  parser->made[parser->made_count++] = *out;
  return ECS_OK;
}

static bool parse_is_next(struct parser *parser, char c) {
  parse_skip_space(parser);
  return parser->at < parser->end && *parser->at == c;
}

static ecs_status parse_need_component(struct parser *parser, struct component **out) {
  ecs_string name = parse_read_while(parser, false);
  if (name.size == 0 && (parse_is_next(parser, '-') || parse_is_next(parser, '~')))
    return parse_fail(parser, "'!' expected before an absent component, as in '!Frozen',");
  if (name.size == 0) return parse_fail(parser, "a component's name expected");
  *out = component_find(parser->world, name.data, name.size);
  if (*out && (*out)->is_event) return ECS_OK;
  bool absent = text_equal("not", name.data, name.size) ||
                text_equal("without", name.data, name.size);
  if (!*out && absent)
    return parse_fail(
        parser, "'!' expected before an absent component, as in '!Frozen', not a word,");
  return parse_need_named(parser, name, out);
}

/* Returns the variable of that name, or adds one; those without a name are always new. */
static ecs_status parse_add_variable(struct parser *parser, ecs_string name, uint32_t *out) {
  struct query_terms *terms = parser->terms;
  for (*out = 0; name.size && *out < terms->variable_count; ++*out)
    if (text_same(terms->variables[*out].name, name)) return ECS_OK;
  if (terms->variable_count == QUERY_VARIABLES)
    return world_fail(parser->world, ECS_ELIMIT, "a query has at most 16 variables and '*'");
  *out = terms->variable_count++;
  terms->variables[*out] = (struct variable){name, NONE};
  return ECS_OK;
}

/* Reads after the $. */
static ecs_status parse_read_variable(struct parser *parser, struct term *term) {
  ecs_string name = parse_read_here(parser, false);
  if (name.size == 0) return parse_fail(parser, "a variable's name expected after '$'");
  for (uint32_t i = 0; i < parser->given_count; i++) {
    if (!text_equal(parser->given[i].name, name.data, name.size)) continue;
    parser->given_named |= UINT64_C(1) << i;
    term->target = parser->given[i].value;
    break;
  }
  return term->target != ECS_NULL ? ECS_OK : parse_add_variable(parser, name, &term->variable);
}

static ecs_status parse_read_target(struct parser *parser, struct term *term) {
  if (parse_accept(parser, '*'))
    return parse_add_variable(parser, (ecs_string){NULL, 0}, &term->variable);
  if (parse_accept(parser, '$')) return parse_read_variable(parser, term);
  struct component *target;
  ecs_string name = parse_read_while(parser, false);
  if (name.size == 0)
    return parse_fail(parser, "a target expected: a component's or tag's name, '$name' or '*'");
  ecs_status status = parse_need_named(parser, name, &target);
  if (status == ECS_OK) term->target = target->id;
  if (status == ECS_ENAME && name_lookup(parser->world, name.data, name.size) != ECS_NULL)
    return world_fail(parser->world, ECS_ENAME, "query '%.*s': '%.*s' is the name of an entity, "
                      "which a query cannot hold: write '(%s, $x)' and pass its id as x",
                      SHOW(parser->text), SHOW(name), term->component->name);
  return status;
}

/* Reads after the parenthesis. */
static ecs_status parse_read_pair(struct parser *parser, struct term *term) {
  term->form = TERM_PAIR;
  struct relation *relation;
  ecs_status status = parse_need_component(parser, &term->component);
  assert(status != ECS_OK || term->component);
  /* A component that is being redeclared has no struct relation yet. */
  if (status == ECS_OK && !term->component->ties.relation)
    status = relation_need(parser->world, term->component->id, &relation);
  if (status != ECS_OK) return status;
  term->id = term->component->id;
  if (!parse_accept(parser, ',')) return parse_fail(parser, "',' and a target expected");
  status = parse_read_target(parser, term);
  if (status != ECS_OK) return status;
  if (!term->component->ties.exclusive)
    term->id = pair_make(ecs_id_index(term->id), ecs_id_index(term->target));
  return parse_accept(parser, ')') ? ECS_OK : parse_fail(parser, "')' expected");
}

/* Whether "->" or "*->" follows. */
static bool parse_accept_arrow(struct parser *parser, bool *nearest) {
  const char *start = parser->at;
  *nearest = parse_accept(parser, '*');
  if (parse_accept(parser, '-') && parser->at < parser->end && *parser->at == '>') {
    parser->at++;
    return true;
  }
  parser->at = start;
  return false;
}

static ecs_status parse_check_way(struct parser *parser, const struct term *term) {
  const struct component *through = term->through;
  ecs_world *world = parser->world;
  if (term->through_leaf != NONE) {
    const struct leaf *leaf = &through->leaves[term->through_leaf];
    if (leaf->type != ECS_ENTITY)
      return world_fail(world, ECS_ETYPE, "query '%.*s': '%s.%s' is not an entity field, so a "
                        "path cannot go through it", SHOW(parser->text), through->name,
                        leaf->name);
    if (term->nearest)
      return world_fail(world, ECS_EINVAL, "query '%.*s': '*->' needs a relation, and '%s.%s' is "
                        "a field: write '->'", SHOW(parser->text), through->name, leaf->name);
    return ECS_OK;
  }
  if (!through->ties.relation)
    return world_fail(world, ECS_EINVAL, "query '%.*s': '%s' is not a relation: name its entity "
                      "field, as in '%s.field->'", SHOW(parser->text), through->name,
                      through->name);
  if (!through->ties.exclusive)
    return world_fail(world, ECS_EINVAL, "query '%.*s': a path needs an exclusive relation, and "
                      "'%s' can have several targets: join with '(%s, $to), Component($to)'",
                      SHOW(parser->text), through->name, through->name);
  return ECS_OK;
}

/* Reads after the arrow: what was read so far is the path to it. */
static ecs_status parse_read_end(struct parser *parser, struct term *term, bool nearest) {
  term->form = TERM_PATH;
  term->through = term->component;
  term->through_id = term->component->id;
  term->through_leaf = term->leaf;
  term->nearest = nearest;
  term->leaf = NONE;
  ecs_status status = parse_check_way(parser, term);
  if (status == ECS_OK) status = parse_need_component(parser, &term->component);
  if (status == ECS_OK) term->id = term->component->id;
  return status;
}

/* Reads a component, a path, or C($of). */
static ecs_status parse_read_component(struct parser *parser, struct term *term) {
  bool nearest;
  ecs_status status = parse_need_component(parser, &term->component);
  if (status != ECS_OK) return status;
  assert(term->component);
  term->id = term->component->id;
  if (parse_accept(parser, '.')) status = parse_read_leaf(parser, term);
  if (status == ECS_OK && parse_accept_arrow(parser, &nearest))
    status = parse_read_end(parser, term, nearest);
  if (status != ECS_OK) return status;
  if (component_has_pairs(term->component))
    return world_fail(parser->world, ECS_EINVAL,
                      "query '%.*s': '%s' can have several targets: write '(%s, *)' for each "
                      "target, '!(%s, *)' for none", SHOW(parser->text), term->component->name,
                      term->component->name, term->component->name);
  if (term->form != TERM_OWN || term->leaf != NONE || !parse_accept(parser, '(')) return ECS_OK;
  term->form = TERM_OF;
  if (!parse_accept(parser, '$')) return parse_fail(parser, "'$' and a variable's name expected");
  status = parse_read_variable(parser, term);
  if (status != ECS_OK) return status;
  return parse_accept(parser, ')') ? ECS_OK : parse_fail(parser, "')' expected");
}

static ecs_status parse_read_name(struct parser *parser, struct term *term) {
  *term = (struct term){.leaf = NONE, .group = NONE, .slot = NONE, .variable = NONE,
                        .through_leaf = NONE};
  ecs_status status = parse_accept(parser, '(') ? parse_read_pair(parser, term)
                                                : parse_read_component(parser, term);
  if (status == ECS_OK && term->form != TERM_OWN && parse_accept(parser, '.'))
    status = parse_read_leaf(parser, term);
  return status == ECS_OK ? parse_read_modifiers(parser, term) : status;
}

/* ---- terms ---- */

static void parse_give_slot(struct parser *parser, struct term *term) {
  assert(term->component);
  if (term_gives(term, term->component)) term->slot = parser->terms->slots++;
}

/* Reads the alternatives after the first of A|B|C. */
static ecs_status parse_read_alternatives(struct parser *parser, struct term *term) {
  uint32_t group = parser->groups++;
  bool filters = term->filters;
  for (;;) {
    if (term->kind == TERM_OPTIONAL)
      return parse_fail(parser, "'|' and '?' exclude each other: A|B always yields one value");
    term->filters = filters;
    term->kind = TERM_OR;
    term->group = group;
    parse_give_slot(parser, term);
    parser->terms->choices |= term->slot != NONE;
    ecs_status status = parse_add_term(parser, term);
    if (status != ECS_OK || !parse_accept(parser, '|')) return status;
    status = parse_read_name(parser, term);
    if (status != ECS_OK) return status;
  }
}

/* A component may be named `with`, too: then no other name follows. */
static bool parse_accept_with(struct parser *parser) {
  const char *start = parser->at;
  ecs_string word = parse_read_while(parser, false);
  parse_skip_space(parser);
  bool other = parser->at < parser->end &&
               (parse_is_name_part(*parser->at) || *parser->at == '!' || *parser->at == '(');
  if (other && text_equal("with", word.data, word.size)) return true;
  parser->at = start;
  return false;
}

static ecs_status parse_read_term(struct parser *parser) {
  struct term term;
  bool without = parse_accept(parser, '!');
  bool filters = !without && parse_accept_with(parser);
  if (filters && parse_accept(parser, '!'))
    return parse_fail(parser, "remove 'with': a '!' term never yields a value");
  ecs_status status = parse_read_name(parser, &term);
  bool alone = term.kind == TERM_WITH && !term.read_only && !term.news && term.leaf == NONE;
  if (status == ECS_OK && without && (!alone || parse_is_next(parser, '|')))
    status = parse_fail(parser, "'!' takes only a component's name");
  if (status != ECS_OK) return status;
  term.filters = filters;
  if (parse_is_next(parser, '|')) return parse_read_alternatives(parser, &term);
  if (without) term.kind = TERM_WITHOUT;
  if (filters && term.kind == TERM_OPTIONAL)
    return parse_fail(
        parser, "remove 'with': an optional term does not filter");
  parse_give_slot(parser, &term);
  parser->terms->choices |= term.kind == TERM_OPTIONAL;
  return parse_add_term(parser, &term);
}

/* Fails because what follows a term is neither a comma nor the end. */
static ecs_status parse_fail_behind(struct parser *parser) {
  if (parse_is_next(parser, '('))
    return parse_fail(
        parser, "',' expected ('($name)' follows the component's name at once, as in "
                "'Position($to).x:in')");
  if (parse_is_next(parser, '-'))
    return parse_fail(parser, "',' expected (a path begins with an exclusive relation or an "
                      "entity field, as in 'ChildOf->Position'; join other relations, as in "
                      "'(Likes, $to), Position($to)')");
  return parse_fail(parser, "',' expected");
}

/* ---- events ---- */

static struct component *parse_event_of(const struct term *term) {
  if (term->component->is_event) return term->component;
  return term->through && term->through->is_event ? term->through : NULL;
}

static ecs_status parse_refuse_term(const struct parser *parser, const struct term *term) {
  const struct component *event = parser->terms->event;
  if (parse_event_of(term) && parse_event_of(term) != event)
    return world_fail(parser->world, ECS_EINVAL, "query '%.*s' names two events, '%s' and '%s': a "
                      "query reads one; write a system for each", SHOW(parser->text), event->name,
                      parse_event_of(term)->name);
  return world_fail(parser->world, ECS_EINVAL, "query '%.*s': '%s' is an event, which no entity "
                    "has: its query can also follow its entity fields, as in "
                    "'%s.field->Position', and read a given entity, as in 'Position($who)'",
                    SHOW(parser->text), event->name, event->name);
}

/* Checks that an event comes first, is required, and is read-only; with it there may be its fields,
** and components of entities that it leads to or that are passed with the query. */
static ecs_status parse_check_events(struct parser *parser) {
  struct query_terms *terms = parser->terms;
  const struct term *first = terms->terms;
  struct component *event = NULL;
  for (uint32_t i = 0; i < terms->count && !event; i++) event = parse_event_of(&terms->terms[i]);
  if (!event) return ECS_OK;
  if (first->component != event || first->form != TERM_OWN || first->kind != TERM_WITH)
    return world_fail(parser->world, ECS_EINVAL, "query '%.*s': '%s' is an event and must come "
                      "first, as in '%s' or '%s, %s.field->Position'", SHOW(parser->text),
                      event->name, event->name, event->name, event->name);
  terms->event = event;
  for (uint32_t i = 0; i < terms->count; i++) {
    struct term *term = &terms->terms[i];
    bool fits = term->form == TERM_OWN && term->component == event && term->kind == TERM_WITH;
    if (!term->component->is_event)
      fits = term->form == TERM_OF ? term->target != ECS_NULL
                                   : term->form == TERM_PATH && term->through == event;
    if (!fits) return parse_refuse_term(parser, term);
    term->read_only |= term->component == event;
  }
  return ECS_OK;
}

static ecs_status parse_check_given(struct parser *parser) {
  for (uint32_t i = 0; i < parser->given_count; i++) {
    const char *name = parser->given[i].name;
    for (uint32_t before = 0; before < i; before++)
      if (strcmp(parser->given[before].name, name) == 0)
        return world_fail(parser->world, ECS_ETAKEN, "query '%.*s' is given its variable $%s "
                          "twice", SHOW(parser->text), name);
    if (!(parser->given_named >> i & 1))
      return world_fail(parser->world, ECS_ENAME, "query '%.*s' has no variable $%s",
                        SHOW(parser->text), name);
  }
  return ECS_OK;
}

ecs_status query_parse(ecs_world *world, ecs_string text, const ecs_variable *given,
                       uint32_t given_count, struct query_terms *out) {
  memset(out, 0, sizeof *out);
  if (given_count > QUERY_VARIABLES)
    return world_fail(world, ECS_ELIMIT, "a query has at most 16 variables");
  for (uint32_t i = 0; i < given_count; i++)
    if (!given[i].name) return world_fail(world, ECS_EINVAL, "a variable needs a name");
  struct parser parser = {world, text.data, text.data + text.size, text, out, 0, given,
                          given_count, 0, {NULL, NULL}, 0};
  parse_skip_space(&parser);
  ecs_status status = ECS_OK;
  if (parser.at < parser.end) {
    do status = parse_read_term(&parser);
    while (status == ECS_OK && parse_accept(&parser, ','));
    if (status == ECS_OK && parser.at < parser.end) status = parse_fail_behind(&parser);
  }
  if (status == ECS_OK) status = parse_check_given(&parser);
  if (status == ECS_OK) status = parse_check_events(&parser);
  if (status == ECS_OK) status = query_order_steps(world, &text, out);
  if (status == ECS_OK) return ECS_OK;
  query_terms_free(world, out);
  while (parser.made_count) registry_take_back(world, parser.made[--parser.made_count]);
  return status;
}

void query_terms_free(ecs_world *world, struct query_terms *terms) {
  picks_free(world, terms);
  for (uint32_t i = 0; i < terms->count; i++) map_free(&world->memory, &terms->terms[i].known);
  FREE_LIST(&world->memory, terms->terms, terms->capacity);
  memset(terms, 0, sizeof *terms);
}
