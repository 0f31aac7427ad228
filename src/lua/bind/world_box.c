#include "lua/bind/world_box.h"

const char kind_world = 0;
