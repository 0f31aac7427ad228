# ecs: build, test, measure, install. `make help` lists what can be asked for.
#
#   CC, CFLAGS, LDFLAGS   compiler and further flags
#   LUA_VERSION           5.4; or 5.5, or jit: then all goes to build/lua5.5, or build/luajit
#   LUA                   interpreter (lua5.4); LUA_INCDIR, LUA_LIBS its headers and library
#   LUA55                 interpreter for LUA_VERSION=5.5 (lua5.5); LUAJIT: that for jit (luajit)
#   PREFIX, DESTDIR       where `make install` goes; LUA_LMOD, LUA_CMOD the module directories
# What tests and what measures is in spec/check.mk and spec/bench/bench.mk, with its variables.

CC ?= cc
LUA_VERSION ?= 5.4
LUA55 ?= lua5.5
LUAJIT ?= luajit
LUA ?= $(if $(filter 5.5,$(LUA_VERSION)),$(LUA55),$(if $(filter jit,$(LUA_VERSION)),$(LUAJIT),lua$(LUA_VERSION)))
BUILD := build$(if $(filter-out 5.4,$(LUA_VERSION)),/lua$(LUA_VERSION))

PREFIX ?= /usr/local
# LuaJIT looks for modules where Lua 5.1 does.
LUA_MODULES := $(LUA_VERSION:jit=5.1)
LUA_LMOD ?= $(PREFIX)/share/lua/$(LUA_MODULES)
LUA_CMOD ?= $(PREFIX)/lib/lua/$(LUA_MODULES)
INSTALL ?= install

ifndef LUA_INCDIR
LUA_INCDIR := $(shell sh spec/tools/find-lua incdir $(LUA_VERSION) $(LUA))
endif
ifndef LUA_LIBS
LUA_LIBS := $(shell sh spec/tools/find-lua libs $(LUA_VERSION) $(LUA) $(BUILD))
endif

SRC := $(sort $(shell find src -name '*.c'))
BIND_SRC := $(filter src/front/% src/lua/%,$(SRC))
CORE_SRC := $(filter-out $(BIND_SRC),$(SRC))
# What only a host that links statically can use: not part of the module.
HOST_SRC := $(filter %/hosting.c,$(SRC))
LUA_SRC := $(wildcard lua/ecs/*.lua lua/ecs/live/*.lua lua/ecs/inspect/*.lua)
C_EXAMPLES := $(wildcard examples/*.c examples/*/*.c)

STD := -std=c99 $(if $(filter s390%,$(shell uname -m)),-fexcess-precision=fast)
WARN := -Wall -Wextra -pedantic -Wshadow -Wconversion -Wcast-qual -Wvla -Wundef \
  -Wformat=2
BASE := $(STD) $(WARN) -fvisibility=hidden -fPIC -Isrc
LIBS := -lm -lpthread
# What of Lua 5.4's interface LuaJIT has not.
ifeq ($(LUA_VERSION),jit)
LUA_FLAGS := -include src/lua/bind/luajit.h
endif

ifeq ($(shell uname -s),Darwin)
SHARED := -bundle -undefined dynamic_lookup
else
SHARED := -shared
endif

# Every variant has its own directory with ecs/native.so, libecs.a and obj/.
RELEASE := $(BUILD)
## make            the module, build/libecs.a and build/libecs_lua.a
all: $(RELEASE)/ecs/native.so $(RELEASE)/libecs.a $(RELEASE)/libecs_lua.a

.DELETE_ON_ERROR:
.SECONDARY:

# $(call variant,directory,compiler,flags)
define variant
$(1)_CORE := $$(CORE_SRC:src/%.c=$(1)/obj/%.o)
$(1)_BIND := $$(BIND_SRC:src/%.c=$(1)/obj/%.o)
$(1)_HOST := $$(HOST_SRC:src/%.c=$(1)/obj/%.o)

$(1)/obj/%.o: src/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(BASE) $(3) $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c $$< -o $$@

$$($(1)_BIND): $(1)/obj/%.o: src/%.c Makefile
	@mkdir -p $$(@D)
	@$$(need_lua)
	$(2) $$(BASE) -I$$(LUA_INCDIR) $$(LUA_FLAGS) $(3) $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c $$< -o $$@

$(1)/obj/embed.o: $$(BUILD)/embed.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(BASE) $(3) $$(CFLAGS) -c $$< -o $$@

$(1)/ecs/native.so: $$($(1)_CORE) $$(filter-out $$($(1)_HOST),$$($(1)_BIND))
	@mkdir -p $$(@D)
	$(2) $$(SHARED) $(3) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)

$(1)/libecs.a: $$($(1)_CORE)
	@sh spec/tools/archive $$@ $$^

$(1)/libecs_lua.a: $$($(1)_CORE) $$($(1)_BIND) $(1)/obj/embed.o
	@sh spec/tools/archive $$@ $$^

-include $$($(1)_CORE:.o=.d) $$($(1)_BIND:.o=.d)
endef

need_lua = test -n "$(LUA_INCDIR)" || { echo "lua.h of Lua $(LUA_VERSION) not found: install its \
  headers (Debian: liblua$(LUA_VERSION)-dev) or give LUA_INCDIR=directory" >&2; exit 1; }

$(eval $(call variant,$(RELEASE),$(CC),-O2))

# What knows no Lua is compiled once for all versions.
ifneq ($(BUILD),build)
$(eval $(call variant,build,$(CC),-O2))

$($(BUILD)_CORE): $(BUILD)/obj/%.o: build/obj/%.o
	@mkdir -p $(@D)
	@cp $< $@
endif

# Of a Lua that is there as its sources.
$(BUILD)/liblua.a: $(LUA_INCDIR)/onelua.c
	@mkdir -p $(@D)/lua
	@for file in $$(ls $(<D)/*.c | grep -vE '/(luac?|onelua|ltests)\.c$$'); do \
	  $(CC) -O2 -w -DLUA_USE_LINUX -c -o $(@D)/lua/$$(basename $$file .c).o $$file || exit 1; done
	@rm -f $@ && ar rcs $@ $(@D)/lua/*.o

$(BUILD)/embed.c: $(LUA_SRC) spec/tools/embed
	@mkdir -p $(@D)
	sh spec/tools/embed $(LUA_SRC) > $@

## make amalgamation   ecs.h, ecs.c, ecs_lua.h, ecs_lua.c, CMakeLists.txt, into build/amalgamation
AMALGAMATION := $(BUILD)/amalgamation
amalgamation: $(BUILD)/embed.c
	@mkdir -p $(AMALGAMATION)
	$(LUA) spec/tools/amalgamate.lua $(AMALGAMATION) $< $(CORE_SRC) -- $(BIND_SRC)
	@rm -rf $(AMALGAMATION)/lua && mkdir -p $(AMALGAMATION)/lua && cp -R lua/ecs $(AMALGAMATION)/lua

module_env = LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="$(1)/?.so;;" ECS_BUILD=$(1)

# Installs what is missing for FOR=demo, love, test, lint, fuzz, deep or everywhere: the only target that installs.
# $(call ready,demo) is what the others call: it looks, and asks for it only when there is need.
FOR ?= test
ready = sh spec/tools/setup --look $(1) || $(MAKE) --no-print-directory -s setup FOR=$(1)

## make setup      install what FOR=demo, love, test, lint, fuzz, deep or everywhere needs and is missing
setup:
	@sh spec/tools/setup $(FOR)

## make demo       install what is missing, build, run examples/swarm (ARGS=--inspect: and inspect it)
demo:
	@$(call ready,demo)
	@$(MAKE) --no-print-directory -s all
	@$(call module_env,$(RELEASE)) $(LUA) examples/swarm/main.lua $(ARGS)

# Those of these directories are Lua modules, the others programs.
MODULE_DIRS := examples/module/% examples/survivors/%
EXAMPLE_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(filter-out $(MODULE_DIRS),$(C_EXAMPLES)))
EXAMPLE_MODULES := $(patsubst %.c,$(BUILD)/%.so,$(filter $(MODULE_DIRS),$(C_EXAMPLES)))
EXAMPLES := $(EXAMPLE_PROGRAMS) $(EXAMPLE_MODULES)

## make examples   the examples in C, into build/examples
examples: all $(EXAMPLES)

$(EXAMPLE_MODULES): $(BUILD)/%.so: %.c $(wildcard src/*.h) Makefile
	@mkdir -p $(@D)
	@$(need_lua)
	$(CC) $(STD) $(WARN) -fPIC -Isrc -I$(LUA_INCDIR) -O2 $(CFLAGS) $(SHARED) $(LDFLAGS) \
	  -o $@ $< -lm

$(BUILD)/examples/%: examples/%.c $(RELEASE)/libecs_lua.a $(filter %/liblua.a,$(LUA_LIBS)) Makefile
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) -Isrc -I$(LUA_INCDIR) -O2 $(CFLAGS) $(LDFLAGS) -o $@ $< \
	  $(RELEASE)/libecs_lua.a $(LUA_LIBS) $(LIBS)

## make love       build/luajit/love.zip: ecs/, to be unpacked beside the main.lua of a game
love:
	@$(call ready,love)
	@$(MAKE) --no-print-directory -s LUA_VERSION=jit love-zip

# With the module for this machine and, where there is a compiler for it, that for Windows (x86-64).
MINGW_CC := x86_64-w64-mingw32-gcc
LOVE_WINDOWS := $(if $(shell command -v $(MINGW_CC)),$(BUILD)/windows/ecs/native.so)

love-zip: $(RELEASE)/ecs/native.so $(LOVE_WINDOWS)
	@rm -rf $(BUILD)/love $(BUILD)/love.zip
	@$(INSTALL) -d $(BUILD)/love/ecs/live $(BUILD)/love/ecs/inspect
	@$(INSTALL) -m 644 $(wildcard lua/ecs/*.lua) LICENSE $(RELEASE)/ecs/native.so $(BUILD)/love/ecs
	@for module in $(LOVE_WINDOWS); do $(INSTALL) -m 644 $$module $(BUILD)/love/ecs/native.dll; done
	@$(INSTALL) -m 644 $(wildcard lua/ecs/live/*.lua) $(BUILD)/love/ecs/live
	@$(INSTALL) -m 644 $(wildcard lua/ecs/inspect/*.lua) $(BUILD)/love/ecs/inspect
	@cd $(BUILD)/love && zip -q -X -r ../love.zip ecs

## make install    PREFIX=/usr/local, LUA_LMOD, LUA_CMOD, DESTDIR
install: all $(BUILD)/ecs.pc
	$(INSTALL) -d "$(DESTDIR)$(LUA_CMOD)/ecs" "$(DESTDIR)$(LUA_LMOD)/ecs/include" \
	  "$(DESTDIR)$(LUA_LMOD)/ecs/live" "$(DESTDIR)$(LUA_LMOD)/ecs/inspect" "$(DESTDIR)$(PREFIX)/include" \
	  "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	$(INSTALL) -m 755 $(RELEASE)/ecs/native.so "$(DESTDIR)$(LUA_CMOD)/ecs/native.so"
	$(INSTALL) -m 644 $(wildcard lua/ecs/*.lua) "$(DESTDIR)$(LUA_LMOD)/ecs"
	$(INSTALL) -m 644 $(wildcard lua/ecs/live/*.lua) "$(DESTDIR)$(LUA_LMOD)/ecs/live"
	$(INSTALL) -m 644 $(wildcard lua/ecs/inspect/*.lua) "$(DESTDIR)$(LUA_LMOD)/ecs/inspect"
	$(INSTALL) -m 644 $(wildcard src/*.h) "$(DESTDIR)$(LUA_LMOD)/ecs/include"
	$(INSTALL) -m 644 $(wildcard src/*.h) "$(DESTDIR)$(PREFIX)/include"
	$(INSTALL) -m 644 $(RELEASE)/libecs.a $(RELEASE)/libecs_lua.a "$(DESTDIR)$(PREFIX)/lib"
	$(INSTALL) -m 644 $(BUILD)/ecs.pc "$(DESTDIR)$(PREFIX)/lib/pkgconfig"

# For hosts in C without Lua: `pkg-config --cflags --libs ecs`, from any directory.
$(BUILD)/ecs.pc: src/ecs.pc.in
	@mkdir -p $(@D)
	@version=$$(sed -n 's/^#define ECS_VERSION "\(.*\)"/\1/p' src/ecs_version.h); \
	  case "$(PREFIX)" in /*) prefix="$(PREFIX)" ;; *) prefix="$$(pwd)/$(PREFIX)" ;; esac; \
	  sed -e "s|@PREFIX@|$$prefix|; s|@VERSION@|$$version|; s|@LIBS@|$(LIBS)|" $< > $@

## make rockspecs  write the lists of sources and modules into the rockspecs
rockspecs:
	$(LUA) spec/tools/rockspec.lua write

## make clean
clean:
	rm -rf $(BUILD) ecs
	find src lua spec examples \( -name '*.o' -o -name '*.so' -o -name '*.a' \
	  -o -name '*.gcda' -o -name '*.gcno' -o -name '*.gcov' \) -exec rm -f {} +

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

include spec/check.mk spec/bench/bench.mk

.PHONY: $(BUILD)/ecs.pc all love love-zip setup demo amalgamation examples install rockspecs clean help
