/* Saving events. */
#ifndef ECS_CORE_IMAGE_SAVE_EVENT_H
#define ECS_CORE_IMAGE_SAVE_EVENT_H

struct component;
struct saver;

/* Behind an event's rows: how old they are, what systems have seen of them, and what is put off. */
void save_event(struct saver *saver, const struct component *component);

#endif
