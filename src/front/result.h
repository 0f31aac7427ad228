/* What a function is compiled for. */
#ifndef ECS_FRONT_RESULT_H
#define ECS_FRONT_RESULT_H

/* What the values that it returns are: nothing that is looked at, what the fields become that it is
** given first, a truth for each row, numbers that are brought to one, or a number for each row, by
** which an index finds it. */
enum front_result {
  RESULT_NONE, RESULT_MAP, RESULT_TRUTH, RESULT_SUM, RESULT_MIN, RESULT_MAX, RESULT_KEY
};

/* Whether a run comes to something else than what it writes. */
#define RESULT_IS_USED(result) ((result) > RESULT_MAP)

/* Whether the function changes nothing, and is given no dt. */
#define RESULT_IS_ASKED(result) ((result) == RESULT_TRUTH || (result) == RESULT_KEY)

#endif
