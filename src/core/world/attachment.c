#include "core/world/attachment.h"

#include "core/ids/world.h"

void world_attach_to(ecs_world *world, struct attachment *attachment) {
  attachment->next = world->attachments;
  world->attachments = attachment;
}

void world_detach_from(ecs_world *world, struct attachment *attachment) {
  struct attachment **at = &world->attachments;
  while (*at != attachment) {
    assert(*at);
    at = &(*at)->next;
  }
  *at = attachment->next;
}
