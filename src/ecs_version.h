/* The version of these headers, and of the library that they came with. */
#ifndef ECS_VERSION_H
#define ECS_VERSION_H

#define ECS_VERSION_MAJOR 0
#define ECS_VERSION_MINOR 2
#define ECS_VERSION_PATCH 0
#define ECS_VERSION "0.2.0"

#endif
