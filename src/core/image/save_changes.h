/* Saving when things were written, and what systems know of it. */
#ifndef ECS_CORE_IMAGE_SAVE_CHANGES_H
#define ECS_CORE_IMAGE_SAVE_CHANGES_H

#include "core/base/base.h"

struct saver;

/* Whether there is anything of that to be saved: it is not where nobody asks. What scripts ask by
** queries of their own does not count, as these may be gone by now. */
bool save_has_changes(const struct saver *saver);

/* Behind all else. */
void save_changes(struct saver *saver);

#endif
