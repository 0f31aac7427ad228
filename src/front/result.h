/* What a function is compiled for. */
#ifndef ECS_FRONT_RESULT_H
#define ECS_FRONT_RESULT_H

/* What the values that it returns are: nothing that is looked at, what the fields become that it is
** given first, a truth for each row, or numbers that are brought to one. */
enum front_result { RESULT_NONE, RESULT_MAP, RESULT_TRUTH, RESULT_SUM, RESULT_MIN, RESULT_MAX };

/* Whether a run comes to something else than what it writes. */
#define RESULT_IS_USED(result) ((result) > RESULT_MAP)

#endif
