/* Which terms of a query are decided row by row, in which order, and where its variables get their
** values. The first term, in that order, to name a variable that was not given finds its values;
** the others compare. */
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/ids/world.h"

struct ordering {
  ecs_world *world;
  const ecs_string *text;
  struct query_terms *terms;
  bool bound[QUERY_VARIABLES];
};

/* Whether the term can find values for its variable. */
static bool can_bind(const struct term *term) {
  return term->form == TERM_PAIR && term->kind != TERM_OR &&
         (term->kind == TERM_WITH || term->kind == TERM_OPTIONAL);
}

bool variable_is_anonymous(const struct query_terms *terms, uint32_t variable) {
  return terms->variables[variable].name.size == 0;
}

bool term_repeats(const struct query_terms *terms, const struct term *term) {
  return term->binds && (!term->filters || !variable_is_anonymous(terms, term->variable));
}

static ecs_status order_add_step(struct ordering *o, uint32_t at) {
  struct query_terms *terms = o->terms;
  if (terms->step_count == QUERY_STEPS)
    return world_fail(o->world, ECS_ELIMIT, "query '%.*s': at most 16 of its terms can be about "
                      "ties, others and sparse components", SHOW(*o->text));
  terms->steps[terms->step_count++] = (uint16_t)at;
  return ECS_OK;
}

/* A group of alternatives is one step, that of its first term. */
static bool is_step(const struct query_terms *terms, uint32_t at) {
  const struct term *term = &terms->terms[at];
  if (term->group == NONE) return term_is_by_row(term);
  if (at > 0 && terms->terms[at - 1].group == term->group) return false;
  for (uint32_t i = at; i < terms->count && terms->terms[i].group == term->group; i++)
    if (term_is_by_row(&terms->terms[i])) return true;
  return false;
}

/* Whether all that the step compares with is known when it comes next. */
static bool order_is_ready(const struct ordering *o, uint32_t at) {
  const struct query_terms *terms = o->terms;
  uint32_t group = terms->terms[at].group;
  for (uint32_t i = at; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (i > at && (group == NONE || term->group != group)) break;
    if (term->variable == NONE || o->bound[term->variable]) continue;
    bool anonymous = variable_is_anonymous(terms, term->variable);
    if (term->kind == TERM_WITHOUT && term->form == TERM_PAIR && anonymous) continue;
    if (!can_bind(term)) return false;
    if (term->kind == TERM_OPTIONAL && !anonymous) return false;
  }
  return true;
}

static ecs_status order_take(struct ordering *o, uint32_t at) {
  struct term *term = &o->terms->terms[at];
  term->binds = term->variable != NONE && !o->bound[term->variable] && can_bind(term);
  if (term->binds) o->bound[term->variable] = true;
  return order_add_step(o, at);
}

/* The steps in the order of the text, but for those that wait for a variable. */
static ecs_status order_order(struct ordering *o) {
  struct query_terms *terms = o->terms;
  uint64_t taken[(TERM_LIMIT + 63) / 64] = {0};
  for (uint32_t at = 0; at < terms->count;) {
    bool open = is_step(terms, at) && !(taken[at / 64] >> at % 64 & 1);
    if (!open || !order_is_ready(o, at)) {
      at++;
      continue;
    }
    ecs_status status = order_take(o, at);
    if (status != ECS_OK) return status;
    taken[at / 64] |= UINT64_C(1) << at % 64;
    at = 0;
  }
  return ECS_OK;
}

/* Raises what no term gives a value to. */
static ecs_status check_bound(const struct ordering *o) {
  const struct query_terms *terms = o->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->variable == NONE || o->bound[term->variable]) continue;
    if (variable_is_anonymous(o->terms, term->variable)) {
      if (term->kind == TERM_WITHOUT) continue;
      return world_fail(o->world, ECS_EINVAL, "query '%.*s': '*' is not for alternatives",
                        SHOW(*o->text));
    }
    const ecs_string *name = &terms->variables[term->variable].name;
    return world_fail(o->world, ECS_EINVAL, "query '%.*s': nothing says what $%.*s is: give it "
                      "with the query, or name it in a term that has to match, as in '(Relation, "
                      "$%.*s)'", SHOW(*o->text), SHOW(*name), SHOW(*name));
  }
  return ECS_OK;
}

static bool has_own(const struct query_terms *terms, ecs_id id) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (term_is_own(&terms->terms[i]) && terms->terms[i].id == id &&
        terms->terms[i].kind != TERM_WITHOUT)
      return true;
  return false;
}

/* The relation along which parents come first: asked for, or ChildOf to what the row has, too. */
static struct component *find_cascade(const struct ordering *o) {
  const struct query_terms *terms = o->terms;
  const struct relation *child_of = o->world->relations.child_of;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->form != TERM_PATH || term->through_leaf != NONE) continue;
    bool child = child_of && term->through == child_of->component;
    if (term->cascade || (child && has_own(terms, term->id))) return term->through;
  }
  return NULL;
}

static bool is_given_out(const struct query_terms *terms, uint32_t variable) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].variable == variable && term_repeats(terms, &terms->terms[i])) return true;
  return false;
}

bool query_note_toggles(struct query_terms *terms) {
  bool changed = false;
  terms->toggled = false;
  for (uint32_t i = 0; i < terms->count; i++) {
    struct term *term = &terms->terms[i];
    bool off = term->state == TERM_OFF || (term->state == TERM_ON && term->component->toggle);
    bool toggled = (term->form == TERM_OWN && off) || (term->news && !term_is_by_row(term));
    changed |= toggled != term->toggled;
    term->toggled = toggled;
    terms->toggled |= toggled;
  }
  terms->plain = !terms->toggled && !terms->targets && !terms_walk(terms);
  return changed;
}

/* Where components of rows are kept, they say. */
static void find_forms(struct query_terms *terms) {
  for (uint32_t i = 0; i < terms->count; i++) {
    struct term *term = &terms->terms[i];
    if (term_is_own(term)) term->form = term->component->is_sparse ? TERM_SPARSE : TERM_OWN;
  }
}

ecs_status query_order_steps(ecs_world *world, const ecs_string *text, struct query_terms *terms) {
  struct ordering o = {world, text, terms, {false}};
  terms->step_count = terms->values = 0;
  find_forms(terms);
  ecs_status status = order_order(&o);
  if (status == ECS_OK) status = check_bound(&o);
  for (uint32_t i = 0; i < terms->variable_count; i++) {
    struct variable *variable = &terms->variables[i];
    variable->output = is_given_out(terms, i) ? terms->values++ : NONE;
  }
  for (uint32_t i = 0; i < terms->count; i++) terms->targets |= term_is_known(&terms->terms[i]);
  query_note_toggles(terms);
  terms->cascade = find_cascade(&o);
  const struct term *first = terms->terms;
  terms->sources = terms->count && first->form == TERM_PAIR && first->kind == TERM_WITH &&
                   first->component->ties.exclusive && first->target != ECS_NULL;
  terms->packed = terms->count && first->form == TERM_SPARSE && first->kind == TERM_WITH;
  return status;
}
