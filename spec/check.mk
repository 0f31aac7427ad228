# What tries the tree: tests, other builds, fuzzers, mutants, linters. Included by the Makefile.
#
#   JOBS                  how many checks run side by side
#   DEEP=small            test-deep with small counts
#   SECONDS=60            how long `make fuzz` runs each of its targets
#   N=40, SEED=1          how many changes `make mutate` tries, and which

GCC ?= gcc
GCOV ?= gcov
CLANG ?= clang
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

C_TESTS := $(wildcard spec/c/test_*.c spec/c/kernel/test_*.c)
C_SUPPORT := $(filter-out $(C_TESTS),$(wildcard spec/c/*.c))
C_BENCH := $(wildcard spec/bench/*.c)
C_FUZZ := $(wildcard spec/fuzz/*.c)
# $(call specs_in,folders): the files of specs in folders of spec/.
specs_in = $(wildcard $(1:%=spec/%/*_spec.lua))
DEEP_SPECS := $(call specs_in,deep)
SPECS := $(filter-out $(DEEP_SPECS),$(sort $(call specs_in,* */*)))

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

ifneq ($(shell uname -s),Darwin)
NODELETE := -Wl,-z,nodelete
endif

# 32-bit x86 computes in 80 bits unless told otherwise, and gcc for s390x computes f32 in doubles.
# What mingw-w64 makes of isnan and isinf converts its argument.
SSE2 := -msse2 -mfpmath=sse
MINGW := -Wno-float-conversion

DEBUG := $(BUILD)/debug
ASAN := $(BUILD)/asan
HASH := $(BUILD)/hash
PARANOID := $(BUILD)/paranoid
COV := $(BUILD)/cov
TSAN := $(BUILD)/tsan
FUZZ := $(BUILD)/fuzz
I686 := $(BUILD)/i686
AARCH64 := $(BUILD)/aarch64
S390X := $(BUILD)/s390x
WINDOWS := $(BUILD)/windows
MUSL := $(BUILD)/musl
WASM32 := $(BUILD)/wasm32
# Programs in WebAssembly: node runs them, and they have the files that it has.
NODE := -O1 --pre-js spec/support/node.js -sSINGLE_FILE=1 -sNODERAWFS=1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=1MB

I686_CC = $(eval I686_CC := $$(shell GCC="$(GCC)" sh spec/tools/find-i686 2>/dev/null))$(I686_CC)

SECONDS ?= 60
FUZZ_FLAGS := -O1 -g -DECS_DEBUG $(SANITIZE)
FUZZ_SRC := $(filter-out %/libfuzzer.c %/replay.c,$(C_FUZZ))
FUZZERS := $(FUZZ)/load $(FUZZ)/operations

# $(call tested,directory,compiler,flags): a variant, and the C tests against it.
define tested
$(call variant,$(1),$(2),$(3))
$(call tests_of,$(1),$(2),$(3))
endef

define tests_of
$(1)/spec/support/%.o: spec/c/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(BASE) $(3) $$(CFLAGS) -MMD -MP -c $$< -o $$@

$(1)/spec/%: spec/c/%.c $$(C_SUPPORT:spec/c/%.c=$(1)/spec/support/%.o) $$($(1)_CORE) Makefile
	@mkdir -p $$(@D)
	$(2) $$(BASE) $(3) $$(CFLAGS) -MMD -MP $$(LDFLAGS) -o $$@ \
	  $$(filter %.c %.o,$$^) $$(LIBS)

# What makes allocations fail for specs in Lua stays with the state that it is loaded into.
$(1)/spec/starve.so: spec/support/starve.c Makefile
	@mkdir -p $$(@D)
	@$$(need_lua)
	$(2) $$(BASE) -I$$(LUA_INCDIR) $(SHARED) $(3) $$(CFLAGS) $$(LDFLAGS) $(NODELETE) -o $$@ $$<

# C tests look inside, so they take the objects and not the libraries; one named test_lua...
# gets the binding and Lua as well.
$(1)/spec/test_lua%: spec/c/test_lua%.c $$(C_SUPPORT:spec/c/%.c=$(1)/spec/support/%.o) \
  $$($(1)_CORE) $$($(1)_BIND) $(1)/obj/embed.o $$(filter $$(BUILD)/liblua.a,$$(LUA_LIBS)) Makefile
	@mkdir -p $$(@D)
	$(2) $$(BASE) -I$$(LUA_INCDIR) $(3) $$(CFLAGS) -MMD -MP \
	  $$(LDFLAGS) -o $$@ $$(filter %.c %.o,$$^) $$(LUA_LIBS) $$(LIBS)

-include $$(C_TESTS:spec/c/%.c=$(1)/spec/%.d) $$(C_SUPPORT:spec/c/%.c=$(1)/spec/support/%.d)
endef

$(eval $(call tests_of,$(RELEASE),$(CC),-O2))
$(eval $(call tested,$(DEBUG),$(CC),-O1 -g -DECS_DEBUG))
$(eval $(call tested,$(ASAN),$(GCC),-O1 -g -DECS_DEBUG $(SANITIZE)))
$(eval $(call tested,$(HASH),$(CC),-O1 -DECS_DEBUG -DECS_CONSTANT_HASH))
$(eval $(call tested,$(PARANOID),$(CC),-O1 -DECS_DEBUG -DECS_PARANOID))
$(eval $(call tested,$(COV),$(GCC),-O0 -g --coverage))
$(eval $(call tested,$(TSAN),$(GCC),-O1 -g -fsanitize=thread))
$(eval $(call tested,$(FUZZ),$(CLANG),$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link))
$(eval $(call tested,$(I686),$$(I686_CC),-O2 -Werror -DECS_DEBUG $(SSE2)))
$(eval $(call tested,$(AARCH64),aarch64-linux-gnu-gcc,-O2 -Werror -DECS_DEBUG))
$(eval $(call tested,$(S390X),s390x-linux-gnu-gcc,-O2 -Werror -DECS_DEBUG \
  -fexcess-precision=fast))
$(eval $(call tested,$(WINDOWS),$(MINGW_CC),-O2 -Werror $(MINGW)))
$(eval $(call tested,$(MUSL),musl-gcc,-O2 -Werror -DECS_DEBUG))
$(eval $(call tested,$(WASM32),emcc,-O2 -Werror -DECS_DEBUG))

# The loops of kernels take most of the time of a build. Collisions do not touch kernels, but for
# what runs them over tables; the loops have no asserts for a debug build, and the fuzzers run none.
# What some sanitizers look for in them, AddressSanitizer sees, too. $(call copied,directory,names)
define copied
$(2:%=$(1)/obj/kernel/%.o): $(1)/obj/%.o: $(RELEASE)/obj/%.o
	@mkdir -p $$(@D)
	@cp $$< $$@
endef

KERNEL_LOOPS := $(patsubst src/kernel/%.c,%,$(wildcard src/kernel/ops_*.c))

$(eval $(call copied,$(HASH),$(patsubst src/kernel/%.c,%,$(wildcard src/kernel/*.c))))
$(eval $(call copied,$(DEBUG),$(KERNEL_LOOPS)))
$(eval $(call copied,$(PARANOID),$(KERNEL_LOOPS)))
$(eval $(call copied,$(FUZZ),$(KERNEL_LOOPS)))

$(ASAN)/obj/kernel/ops_%.o: CFLAGS += -fno-sanitize=object-size,pointer-overflow,null,bounds

# ---- tests ---------------------------------------------------------------------------
#
# A check is a target check-NAME that runs through spec/tools/check, which counts what
# passed and failed; spec/tools/summary adds the counts of a set of checks. The longest come
# first, so that the cores are done at the same time.

CHECK_DIR ?= $(BUILD)/check/alone
check = mkdir -p $(CHECK_DIR) && CHECK_DIR=$(CHECK_DIR) CHECK_SECONDS=$(CHECK_SECONDS) sh spec/tools/check
# $(call specs,directory of the build,files, options before them)
specs = env $(call module_env,$(1)) LUA=$(LUA) sh spec/tools/specs $(2)
# Worlds are short: what they freed need not wait for long. Keeping the stacks of allocations takes
# much of the time; what failed can be run again with them.
asan_usual = allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=1
asan_options = detect_leaks=0:abort_on_error=0:$(asan_usual)
asan_env = SPEC_RUNNER="env LD_PRELOAD=$$($(GCC) -print-file-name=libasan.so)" \
  ASAN_OPTIONS=$(asan_options) UBSAN_OPTIONS=print_stacktrace=1
asan_c_env = ASAN_OPTIONS=detect_leaks=1:$(asan_usual) \
  UBSAN_OPTIONS=print_stacktrace=1
valgrind = valgrind -q --leak-check=full --show-leak-kinds=definite,possible \
  --errors-for-leak-kinds=definite,possible --error-exitcode=99 --keep-debuginfo=yes
# With small counts only the deep specs run under the sanitizers: `make test` has run the others
# so; valgrind runs a part of them, and the fuzzers for some seconds. With all counts the seeds of
# the random traces, most of the work, are split.
deep_scale = $(if $(filter small,$(DEEP)),small,deep)
deep_specs = $(if $(filter small,$(DEEP)),,$(SPECS)) $(DEEP_SPECS)
c_programs = $(C_TESTS:spec/c/%.c=$(1)/spec/%)
spec_needs = $(1)/ecs/native.so $(1)/spec/starve.so $(EXAMPLES)

LINT_CHECKS := lint-gcc lint-clang lint-headers lint-luacheck lint-symbols lint-lengths lint-loops \
  lint-titles lint-rooms lint-figures lint-rockspec
TEST_CHECKS := asan plain lua55 rock $(if $(C_TESTS),asan-c) paranoid model \
  $(if $(C_TESTS),threads c) hash $(if $(C_TESTS),hash-c) install amalgamation costs digests corpus $(if $(C_EXAMPLES),examples) $(if $(wildcard examples/swarm/main.lua),demo) \
  $(LINT_CHECKS)
# The longest first, so that both halves of the machine end together.
DEEP_CHECKS := valgrind $(if $(deep_scale:small=),deep-traces-3 deep-traces-4 deep-traces-1 \
  deep-traces-2 tidy) $(if $(DEEP_SPECS),deep-asan $(if $(deep_scale:small=),deep-specs) deep-plain) \
  ordered luajit love \
  $(if $(C_TESTS),deep-c deep-threads) builds \
  $(if $(deep_scale:small=),deep-amalgamation) windows $(if $(C_TESTS),i686 aarch64 s390x) i686-specs windows-specs windows-jit-specs \
  aarch64-specs musl-specs $(if $(deep_scale:small=),s390x-specs) $(if $(C_TESTS),valgrind-c) cppcheck fuzz \
  $(if $(deep_scale:small=),coverage)

# $(call run_checks,set,names,seconds after which a check hangs)
define run_some
mkdir -p $(BUILD)/check/$(1) && rm -f $(BUILD)/check/$(1)/*
echo $(2) > $(BUILD)/check/$(1)/expected
$(MAKE) --no-print-directory -s -k -j$(JOBS) --output-sync=target \
  CHECK_DIR=$(BUILD)/check/$(1) CHECK_SECONDS=$(3) $(2:%=check-%) || true
endef

define run_checks
$(call run_some,$(1),$(2),$(3))
sh spec/tools/summary $(BUILD)/check/$(1)
endef

## make test       install what is missing, run every check of the every-run set
test:
	@$(call ready,test)
	@$(call run_checks,test,$(TEST_CHECKS),900)

## make test-deep  the long checks (DEEP=small: with small counts)
test-deep:
	@$(call ready,deep)
	@$(call run_checks,deep,$(DEEP_CHECKS),3600)

## make lint       warnings, luacheck, symbols, lengths, rooms, figures, titles, rockspecs
lint:
	@$(call ready,lint)
	@$(call run_checks,lint,$(LINT_CHECKS),600)

# The longest of all have a check of their own.
MODEL := spec/random/random_model_spec.lua

check-plain: $(call spec_needs,$(RELEASE))
	$(check) plain tap $(call specs,$(RELEASE),$(filter-out $(MODEL),$(SPECS)))

# All specs on Lua 5.5, where its interpreter and its headers are there.
LUA55_INCDIR = $(shell $(LUA55) -v >/dev/null 2>&1 && sh spec/tools/find-lua incdir 5.5 $(LUA55))
LUA55_LIBS = $(shell sh spec/tools/find-lua libs 5.5 $(LUA55) build/lua5.5)

check-lua55: $($(RELEASE)_CORE)
	@incdir="$(LUA55_INCDIR)"; if test -n "$$incdir"; then \
	  $(MAKE) --no-print-directory LUA_VERSION=5.5 LUA="$(LUA55)" LUA_INCDIR="$$incdir" \
	    LUA_LIBS="$(LUA55_LIBS)" CHECK_DIR=$(CHECK_DIR) CHECK_SECONDS=$(CHECK_SECONDS) lua55-specs; \
	else \
	  $(check) lua55 tap echo "1..0 # SKIP there is no $(LUA55) with its headers"; \
	fi

lua55-specs: $(call spec_needs,$(RELEASE))
	$(check) lua55 tap $(call specs,$(RELEASE),$(SPECS))

# All specs on LuaJIT, where it is there with its headers, but for those that spec/support/dialect.lua
# skips; with small counts only those of kernels and of LuaJIT. Examples in C are the modules of other
# Luas.
LUAJIT_NOT := %/examples_spec.lua %/module_spec.lua
LUAJIT_FEW := $(call specs_in,kernel/* system) \
  $(filter %/luajit_spec.lua %/everywhere_spec.lua %/random_order_spec.lua,$(SPECS))
luajit_specs = $(filter-out $(LUAJIT_NOT),$(if $(filter small,$(DEEP)),$(LUAJIT_FEW),$(SPECS)))
LUAJIT_INCDIR = $(shell $(LUAJIT) -v >/dev/null 2>&1 && sh spec/tools/find-lua incdir jit $(LUAJIT))

# Built once: both checks below use it, at the same time.
luajit-ready: $($(RELEASE)_CORE)
	@if test -n "$(LUAJIT_INCDIR)"; then $(MAKE) --no-print-directory -s LUA_VERSION=jit love-zip; fi

check-luajit: luajit-ready
	@incdir="$(LUAJIT_INCDIR)"; if test -n "$$incdir"; then \
	  $(MAKE) --no-print-directory LUA_VERSION=jit LUA="$(LUAJIT)" LUA_INCDIR="$$incdir" \
	    CHECK_DIR=$(CHECK_DIR) CHECK_SECONDS=$(CHECK_SECONDS) luajit-specs; \
	else \
	  $(check) luajit tap echo "1..0 # SKIP there is no $(LUAJIT) with its headers"; \
	fi

luajit-specs: $(RELEASE)/ecs/native.so $(RELEASE)/spec/starve.so
	$(check) luajit tap env ECS_SPEC_SCALE=small ECS_SPEC_SEEDS=1-2 $(call specs,$(RELEASE),$(luajit_specs))

# The game under LÖVE, with the zip unpacked beside its main.lua, where there are LÖVE and a screen that nobody sees.
LOVE_GAME := build/luajit/game

check-love: luajit-ready
	@if love --version >/dev/null 2>&1 && command -v xvfb-run >/dev/null && test -n "$(LUAJIT_INCDIR)"; \
	then rm -rf $(LOVE_GAME) && \
	  cp -R examples/love $(LOVE_GAME) && unzip -q build/luajit/love.zip -d $(LOVE_GAME) && \
	  $(check) love status env -u LUA_PATH -u LUA_CPATH SDL_AUDIODRIVER=dummy timeout 120 \
	    xvfb-run -a -s "-screen 0 1024x768x24" love $(LOVE_GAME) --frames 300; \
	else $(check) love tap echo "1..0 # SKIP there is no love, xvfb-run or luajit"; fi

check-model: $(call spec_needs,$(RELEASE))
	$(check) model tap $(call specs,$(RELEASE),$(MODEL))

# Where tables collide, neither wrong arguments nor examples go another way, nor kernels by
# themselves.
HASH_SPECS := $(filter-out $(call specs_in,kernel/numbers kernel/loops kernel/others \
  kernel/commands kernel/parallel random/kernels examples hostile),$(SPECS))

check-hash: $(call spec_needs,$(HASH))
	$(check) hash tap env ECS_SPEC_SCALE=small $(call specs,$(HASH),$(HASH_SPECS))

# Memory that is counted is another under the sanitizers, and examples are programs of their own, but
# for recipes and modules in C. Bodies of games are many, and random kernels go the same ways.
ASAN_SPECS := $(filter-out $(call specs_in,examples kernel/bodies) spec/memory/memory_spec.lua,$(SPECS)) \
  spec/examples/recipes_spec.lua spec/examples/module_spec.lua

check-asan: $(call spec_needs,$(ASAN))
	$(check) asan tap env ECS_SPEC_SCALE=small $(asan_env) $(call specs,$(ASAN),$(ASAN_SPECS))

# What is long by its numbers, not by what it does, is left to the other builds.
LONG := world/world world/identity query/terms_lasting query/where_query \
  image/declared image/replay live/live_saving
PARANOID_SPECS := $(filter-out $(LONG:%=spec/%_spec.lua),$(call specs_in,world entity query change \
  system kernel/rows kernel/refusals image live misuse)) $(wildcard spec/random/random_prefab*) $(MODEL)

check-paranoid: $(call spec_needs,$(PARANOID))
	$(check) paranoid tap env ECS_SPEC_SCALE=small ECS_SPEC_SEEDS=1-2 \
	  $(call specs,$(PARANOID),$(PARANOID_SPECS))

check-c: $(call c_programs,$(RELEASE))
	$(check) c tap sh spec/tools/c-tests $^

# What has tables to collide.
HASH_C := $(filter-out %/test_lua% $(HASH)/spec/kernel/%,$(call c_programs,$(HASH)))

check-hash-c: $(HASH_C)
	$(check) hash-c tap env ECS_SPEC_SCALE=small sh spec/tools/c-tests $^

check-deep-c: $(call c_programs,$(RELEASE))
	$(check) deep-c tap env ECS_SPEC_SCALE=$(deep_scale) sh spec/tools/c-tests $^

check-asan-c: $(call c_programs,$(ASAN))
	$(check) asan-c tap env ECS_SPEC_SCALE=small ECS_SPEC_SPARSE=1 \
	  $(asan_c_env) sh spec/tools/c-tests $^

# Worlds on threads, and threads of worlds. ThreadSanitizer needs an address space that is laid out
# as it expects.
THREAD_TESTS := $(filter %threads %/test_philox,$(call c_programs,$(TSAN)))

check-threads check-deep-threads: check-%: $(THREAD_TESTS)
	$(check) $* tap env ECS_SPEC_SCALE=$(if $(filter deep%,$*),$(deep_scale),small) \
	  TSAN_OPTIONS=halt_on_error=1:memory_limit_mb=4000 \
	  C_TEST_RUNNER="$$(setarch -R true 2>/dev/null && echo setarch -R)" \
	  sh spec/tools/c-tests $^

check-corpus: $(ASAN)/fuzz/replay
	$(check) corpus tap env $(asan_c_env) $< $(wildcard spec/fuzz/corpus/*/*)

check-digests: $(RELEASE)/ecs/native.so $(HASH)/ecs/native.so
	$(check) digests tap sh spec/tools/digests 40 500 $(RELEASE) $(HASH)

check-demo: $(RELEASE)/ecs/native.so
	$(check) demo status env $(call module_env,$(RELEASE)) \
	  $(LUA) examples/swarm/main.lua --frames 30

check-examples: $(EXAMPLE_PROGRAMS)
	$(check) examples tap sh spec/tools/c-tests $^

$(BUILD)/cost: spec/cost/cost.c $(RELEASE)/libecs.a Makefile
	$(CC) $(BASE) -O2 $(CFLAGS) $(LDFLAGS) -o $@ $< $(RELEASE)/libecs.a $(LIBS)

check-costs: $(BUILD)/cost $(RELEASE)/ecs/native.so
	$(check) costs tap env $(call module_env,$(RELEASE)) LUA=$(LUA) sh spec/tools/costs $<

check-rock:
	$(check) rock tap sh spec/tools/rock $(BUILD)/rock

check-install: all
	$(check) install tap sh spec/tools/install $(BUILD)/install

# One compiler does for every run, not optimized, but for what the sources ask for.
check-amalgamation check-deep-amalgamation: check-%: amalgamation all $(EXAMPLES)
	$(check) $* tap env LUA=$(LUA) $(if $(filter deep%,$*),,CFLAGS=-O0) LUA_INCDIR="$(LUA_INCDIR)" \
	  sh spec/tools/amalgamation $(AMALGAMATION) $(RELEASE) \
	  $(if $(filter deep%,$*),$(GCC) $(CLANG) $(MINGW_CC),$(CC))

check-deep-plain: $(RELEASE)/ecs/native.so
	$(check) deep-plain tap env ECS_SPEC_SCALE=$(deep_scale) \
	  $(call specs,$(RELEASE),$(DEEP_SPECS) spec/memory/memory_spec.lua)

# All specs run with deep counts against the release, and with the usual ones under the sanitizers.
check-deep-asan: $(call spec_needs,$(ASAN))
	$(check) deep-asan tap env ECS_SPEC_SCALE=$(if $(filter small,$(DEEP)),small,normal) \
	  ECS_SPEC_SEEDS=1 $(asan_env) $(call specs,$(ASAN),$(deep_specs))

check-deep-specs: $(call spec_needs,$(RELEASE))
	$(check) deep-specs tap env ECS_SPEC_SCALE=deep ECS_SPEC_SEEDS=1 \
	  $(call specs,$(RELEASE),$(SPECS))

# Random kernels all of which is done in the order of rows; then no systems run side by side.
ORDERED_SPECS := $(filter-out %/random_beside_spec.lua,$(call specs_in,random/kernels kernel/numbers))

check-ordered: $(call spec_needs,$(RELEASE))
	$(check) ordered tap env ECS_SPEC_SCALE=$(if $(filter small,$(DEEP)),small,normal) \
	  ECS_KERNELS=ordered \
	  $(call specs,$(RELEASE),$(ORDERED_SPECS))

# A fifth of the long traces run under the sanitizers, the others, at half of the time, against the
# release.
SEEDS_1 := 1-100
SEEDS_2 := 101-200
SEEDS_3 := 201-600
SEEDS_4 := 601-1000
TRACES = ECS_SPEC_SCALE=deep ECS_SPEC_SEEDS=$(SEEDS_$*)

SANE_TRACES := check-deep-traces-1 check-deep-traces-2

$(SANE_TRACES): check-deep-traces-%: $(call spec_needs,$(ASAN))
	$(check) deep-traces-$* tap env $(TRACES) $(asan_env) \
	  $(call specs,$(ASAN),--filter=agree.on.seeds $(MODEL))

check-deep-traces-3 check-deep-traces-4: check-deep-traces-%: $(call spec_needs,$(RELEASE))
	$(check) deep-traces-$* tap env $(TRACES) \
	  $(call specs,$(RELEASE),--filter=agree.on.seeds $(MODEL))

check-builds:
	$(check) builds tap env ECS_SPEC_SCALE=$(deep_scale) GCC="$(GCC)" CLANG="$(CLANG)" \
	  sh spec/tools/builds $(BUILD)/builds

# With small counts: specs of values, loops, systems and kernels, and C tests of what moves. Random
# programs and wrong arguments are many, and go the same ways under the sanitizers; the inspector
# shows as much as the time allows.
valgrind_specs = $(filter-out spec/world/inspector%,$(if $(filter small,$(DEEP)), \
  $(call specs_in,world entity query change system) $(wildcard spec/random/random_prefab*) \
  spec/kernel/rows/kernel_rows_spec.lua spec/image/save_spec.lua spec/misuse/error_spec.lua, \
  $(filter-out $(call specs_in,random random/kernels hostile),$(ASAN_SPECS))))
valgrind_c = $(if $(filter small,$(DEEP)),$(filter %/test_table %/test_scope %/test_value_any \
  %/test_migrate %/test_image,$^),$^)

check-valgrind: $(call spec_needs,$(DEBUG))
	$(check) valgrind tap env ECS_SPEC_SCALE=small ECS_SPEC_SEEDS=1-6 \
	  SPEC_RUNNER="$(valgrind)" $(call specs,$(DEBUG),$(valgrind_specs))

check-valgrind-c: $(filter-out %threads,$(call c_programs,$(DEBUG)))
	$(check) valgrind-c tap env ECS_SPEC_SCALE=small ECS_SPEC_SPARSE=1 \
	  C_TEST_RUNNER="$(valgrind)" sh spec/tools/c-tests $(valgrind_c)

check-coverage: $(call spec_needs,$(COV)) $(call c_programs,$(COV))
	$(check) coverage tap env ECS_SPEC_SCALE=small \
	  $(call module_env,$(COV)) LUA=$(LUA) SPECS="$(SPECS)" GCOV="$(GCOV)" sh spec/tools/coverage $(COV) $(call c_programs,$(COV))

check-fuzz: $(FUZZERS)
	$(check) fuzz status env $(if $(filter small,$(DEEP)),RUNS=1500,SECONDS=$(SECONDS)) sh spec/tools/fuzz $(FUZZ)/found $^

check-tidy:
	$(check) tidy status clang-tidy --quiet --warnings-as-errors='*' \
	  $(CORE_SRC) $(BIND_SRC) -- $(BASE) -DECS_DEBUG -I$(LUA_INCDIR)

# cppcheck does not know that functions which raise a Lua error do not return; it misreads
# hexadecimal floats, and a union's member that is computed from another; and it takes a function that
# fills in a struct of its own for one with side effects.
check-cppcheck:
	$(check) cppcheck status cppcheck --quiet --std=c99 --error-exitcode=1 \
	  --enable=warning,performance,portability --inline-suppr \
	  --suppress=missingIncludeSystem \
	  --suppress=nullPointerRedundantCheck --suppress=ctunullpointer \
  --suppress=incorrectLogicOperator --suppress=overlappingWriteUnion:src/kernel/share.c \
  --suppress=assertWithSideEffect:src/kernel/machine.c \
	  -D__GNUC__=12 -D__cppcheck__ -Isrc $(CORE_SRC) $(BIND_SRC)

# ---- other machines ------------------------------------------------------------------
#
# Debian's compilers for other machines build everything, and an interpreter with all modules that
# specs need; Lua itself is there for none of them, and is compiled from its sources. Emulators run
# what the system cannot. C tests run on 32-bit x86, and, those without Lua, on 64-bit ARM and on
# s390x, whose bytes stand in the other order. For Windows, where a module has to name the library
# that it takes symbols from, one is made of the names in Lua's headers.

FOREIGN := $(BUILD)/foreign
FOREIGN_LUA := $(FOREIGN)/lua
LUA_HEADERS := lua.h luaconf.h lauxlib.h lualib.h

$(FOREIGN_LUA)/lua.h:
	@mkdir -p $(BUILD)
	@sh spec/tools/foreign $(FOREIGN) >$(BUILD)/foreign.log 2>&1 || \
	  { sed 's#[a-z]*://[^ ]*#(a mirror)#g' $(BUILD)/foreign.log; exit 1; }

# LuaJIT's headers are those of this machine: what they say of Windows is the same everywhere.
WINDOWS_LUA := $(if $(filter jit,$(LUA_VERSION)),$(LUA_INCDIR),$(FOREIGN_LUA))
WINDOWS_DLL := lua$(subst .,,$(LUA_MODULES))

$(WINDOWS)/$(WINDOWS_DLL).def: $(WINDOWS_LUA)/lua.h
	@mkdir -p $(@D)
	@{ echo LIBRARY $(WINDOWS_DLL).dll; echo EXPORTS; cat $(LUA_HEADERS:%=$(<D)/%) | \
	  sed -n '/^LUA/s/.*[( *]\(lua[A-Za-z]*_[A-Za-z_]*\))\{0,1\}[[:space:]]*(.*/\1/p' | sort -u; } > $@

$(WINDOWS)/lib$(WINDOWS_DLL).a: $(WINDOWS)/$(WINDOWS_DLL).def
	@x86_64-w64-mingw32-dlltool -d $< -l $@

$(I686)/% $(AARCH64)/% $(S390X)/% $(MUSL)/% $(WASM32)/%: private LUA_INCDIR := $(FOREIGN_LUA)
$(AARCH64)/%: export CROSS := aarch64-linux-gnu-
$(S390X)/%: export CROSS := s390x-linux-gnu-
$(WINDOWS)/%: export CROSS := x86_64-w64-mingw32-
$(WASM32)/%: export CROSS := em
$(I686)/%: private LUA_LIBS := $(I686)/liblua.a
$(WINDOWS)/%: private LUA_INCDIR := $(WINDOWS_LUA)
$(WINDOWS)/%: private LUA_LIBS := $(WINDOWS)/lib$(WINDOWS_DLL).a
$(WINDOWS)/%: private LIBS := -lm
$(WINDOWS)/ecs/native.so: private LIBS := $(WINDOWS)/lib$(WINDOWS_DLL).a -lm
$(I686)/spec/% $(AARCH64)/spec/% $(S390X)/spec/%: private LDFLAGS += -static

$($(I686)_BIND) $($(AARCH64)_BIND) $($(S390X)_BIND) $($(MUSL)_BIND) $($(WASM32)_BIND): $(FOREIGN_LUA)/lua.h
$($(WINDOWS)_BIND): $(WINDOWS)/lib$(WINDOWS_DLL).a
$(WINDOWS)/ecs/native.so: | $(WINDOWS)/lib$(WINDOWS_DLL).a

# $(call machine,directory,compiler,flags,of Lua,of the program,how it ends): Lua and an interpreter.
# Lua, too, has to compute as the kernels do.
define machine
$(1)/liblua.a: $(FOREIGN_LUA)/lua.h
	@mkdir -p $(1)/lua
	@for file in $$$$(ls $(FOREIGN_LUA)/*.c | grep -v '/luac*\.c$$$$'); do \
	  $(2) -std=gnu99 -O2 $(3) $(4) -c $$$$file -o $(1)/lua/$$$$(basename $$$$file .c).o || exit 1; done
	@$$(CROSS)ar rcs $$@ $(1)/lua/*.o

$(1)/interpreter$(6): spec/support/interpreter.c spec/support/starve.c $(1)/libecs_lua.a $(1)/liblua.a
	$(2) -std=gnu99 -O2 $(3) -DALL_MODULES -I$(FOREIGN_LUA) -o $$@ \
	  $$(filter %.c,$$^) $(FOREIGN)/lfs/lfs.c $$(filter %.a,$$^) $(5)
endef

STATIC := -static $(LIBS)
$(eval $(call machine,$(I686),$$(I686_CC),$(SSE2),-DLUA_USE_POSIX,$(STATIC)))
$(eval $(call machine,$(AARCH64),aarch64-linux-gnu-gcc,,-DLUA_USE_POSIX,$(STATIC)))
$(eval $(call machine,$(S390X),s390x-linux-gnu-gcc,-fexcess-precision=fast,-DLUA_USE_POSIX,$(STATIC)))
$(eval $(call machine,$(WINDOWS),$(MINGW_CC),,,$(STATIC),.exe))
$(eval $(call machine,$(MUSL),musl-gcc,,-DLUA_USE_POSIX,$(STATIC)))
$(eval $(call machine,$(WASM32),emcc,,-DLUA_USE_POSIX,-lm $(NODE),.js))

without_lua = $(filter-out $(1)/spec/test_lua%,$(call c_programs,$(1)))
libraries = $(1)/ecs/native.so $(1)/libecs.a $(1)/libecs_lua.a

# Programs of 32 bits run by themselves where the system has not left that out.
i686_runner = $(shell $(I686)/interpreter -e '' >/dev/null 2>&1 || echo qemu-i386-static)

$(filter $(I686)/spec/test_lua%,$(call c_programs,$(I686))): $(I686)/liblua.a

check-i686: $(I686)/interpreter $(call c_programs,$(I686))
	$(check) i686 tap env ECS_SPEC_SCALE=small C_TEST_RUNNER="$(i686_runner)" \
	  sh spec/tools/c-tests $(filter $(I686)/spec/%,$^)

# The specs on a machine: NAME-specs. Examples are left out: they are programs and modules of their own.
# By ON all specs run, or a few (the first has the image that is to be the same everywhere); on 32-bit
# x86 all that every run has.
ALL_ON := $(filter-out spec/examples/%,$(SPECS))
FEW_ON := $(filter %/everywhere_spec.lua %/kernel_spec.lua,$(SPECS))
MOST_ON := $(FEW_ON) $(filter %/query_spec.lua %/system_spec.lua %/save_spec.lua %/file_spec.lua,$(SPECS))
ON ?= $(if $(filter small,$(DEEP)),FEW,MOST)
MACHINES := i686 musl windows windows-jit aarch64 s390x wasm32
WINE := env WINEPREFIX=$(abspath $(BUILD))/wine WINEDEBUG=-all wine

# $(call on_machine,name,interpreter,what runs it,specs)
define on_machine
check-$(1)-specs: $(BUILD)/$(1)/$(2)
	$$(check) $(1)-specs tap env ECS_SPEC_SCALE=small ECS_SPEC_SEEDS=1-6 $$(if $(3),ECS_SPEC_ALONE=1) \
	  $$(call module_env,$(BUILD)/$(1)) \
	  LUA_PATH="lua/?.lua;lua/?/init.lua;$$$$($$(LUA) -e 'print(package.path)')" \
	  SPEC_RUNNER="$(3)" LUA=$$< sh spec/tools/specs $$($(4))
endef

$(eval $(call on_machine,i686,interpreter,$$(i686_runner),ALL_ON))
$(eval $(call on_machine,musl,interpreter,,$$(ON)_ON))
$(eval $(call on_machine,windows,interpreter.exe,$(WINE),$$(ON)_ON))
$(eval $(call on_machine,aarch64,interpreter,qemu-aarch64-static,$$(ON)_ON))
$(eval $(call on_machine,s390x,interpreter,qemu-s390x-static,$$(ON)_ON))
$(eval $(call on_machine,wasm32,interpreter.js,node,$$(ON)_ON))

## make test-everywhere   build for each machine that is tested, and run all specs there (long)
test-everywhere: export ON := ALL
test-everywhere:
	@$(call ready,everywhere)
	@$(call run_some,everywhere,$(MACHINES:%=%-specs),14400)
	@sh spec/tools/machines $(BUILD)/check/everywhere $(MACHINES)

# $(call emulated,machine as qemu calls it)
define emulated
check-$(1): $(call without_lua,$(BUILD)/$(1)) $(call libraries,$(BUILD)/$(1))
	$$(check) $(1) tap env ECS_SPEC_SCALE=small C_TEST_RUNNER=qemu-$(1)-static \
	  sh spec/tools/c-tests $$(filter $(BUILD)/$(1)/spec/%,$$^)
endef

$(eval $(call emulated,aarch64))
$(eval $(call emulated,s390x))

# Programs' files end in .exe; threads are POSIX's. The headers have to bear <windows.h> before them.
check-windows: $(filter-out %threads,$(call c_programs,$(WINDOWS))) $(call libraries,$(WINDOWS))
	$(check) windows status $(MINGW_CC) $(BASE) -I$(WINDOWS_LUA) -Werror \
	  -fsyntax-only -x c -include windows.h -include src/ecs_lua.h /dev/null

# What is in the zip for games under LÖVE, on LuaJIT for Windows, which is compiled from its sources.
LUAJIT_DLL := $(FOREIGN)/luajit/src/lua51.dll

$(LUAJIT_DLL): $(FOREIGN_LUA)/lua.h
	@$(MAKE) -s -C $(@D) HOST_CC=$(CC) CROSS=$(MINGW_CC:gcc=) TARGET_SYS=Windows >$(BUILD)/luajit-dll.log 2>&1

check-windows-jit-specs: $(LUAJIT_DLL) luajit-ready
	@rm -rf $(BUILD)/windows-jit && mkdir -p $(BUILD)/windows-jit
	@cp $(LUAJIT_DLL) $(<D)/luajit.exe spec/support/everywhere.lua $(BUILD)/windows-jit
	@unzip -q build/luajit/love.zip -d $(BUILD)/windows-jit
	$(check) windows-jit-specs status sh -c "cd $(BUILD)/windows-jit && \
	  LUA_PATH='?.lua;?/init.lua' $(WINE) luajit.exe everywhere.lua | tr -d '\r' | \
	  diff - ../../spec/golden/everywhere.txt"

# ---- fuzz ----------------------------------------------------------------------------
#
# A target is a function of spec/fuzz/fuzz.h. libFuzzer starts from spec/fuzz/corpus/TARGET,
# gathers in build/fuzz/corpus and leaves what fails in build/fuzz/found, which
# build/asan/fuzz/replay FILE shows again.

## make fuzz       the fuzzers, SECONDS=60 each
fuzz:
	@$(call ready,fuzz)
	@$(MAKE) --no-print-directory -s $(FUZZERS)
	@SECONDS=$(SECONDS) sh spec/tools/fuzz $(FUZZ)/found $(FUZZERS)

$(FUZZERS): $(FUZZ)/%: spec/fuzz/libfuzzer.c $(FUZZ_SRC) $(wildcard spec/fuzz/*.h) \
  $(FUZZ)/spec/support/content.o $($(FUZZ)_CORE) Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BASE) $(FUZZ_FLAGS) -fsanitize=fuzzer -DFUZZ_TARGET=fuzz_$* $(CFLAGS) \
	  $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIBS)

$(ASAN)/fuzz/replay: spec/fuzz/replay.c $(FUZZ_SRC) $(wildcard spec/fuzz/*.h) \
  $(ASAN)/spec/support/content.o $($(ASAN)_CORE) Makefile
	@mkdir -p $(@D)
	$(GCC) $(BASE) $(FUZZ_FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIBS)

# ---- mutate --------------------------------------------------------------------------
#
# Whether the tests notice small changes to src and lua. Each is made in a copy of the tree below
# build/mutate, where all but the changed object is built already: one library that the C tests
# and Lua share, its functions visible, so that nothing else is linked again.

MUTANT := $(BUILD)/mutant
MUTANT_SO := $(MUTANT)/all/ecs/native.so
MUTANT_TESTS := $(C_TESTS:spec/c/%.c=$(MUTANT)/tests/%)
N ?= 40
SEED ?= 1

$(eval $(call tested,$(MUTANT),$(CC),-O1 -DECS_DEBUG -DECS_VISIBLE -fvisibility=default \
  -Werror=incompatible-pointer-types -Werror=int-conversion))

## make mutate     N=40 small changes to src and lua, drawn by SEED=1: which no test notices
mutate:
	@$(call ready,test)
	@env -u MAKEFLAGS -u MAKELEVEL N=$(N) SEED=$(SEED) JOBS=$(JOBS) LUA=$(LUA) \
	  LUA_INCDIR="$(LUA_INCDIR)" LUA_LIBS="$(LUA_LIBS)" sh spec/tools/mutate $(BUILD)/mutate

mutant: $(MUTANT_SO) $(MUTANT_TESTS) $(MUTANT)/spec/starve.so

$(MUTANT_SO): $($(MUTANT)_CORE) $($(MUTANT)_BIND) $(MUTANT)/obj/embed.o
	@mkdir -p $(@D)
	$(CC) $(SHARED) -Wl,-Bsymbolic $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(MUTANT)/tests/%: spec/c/%.c $(C_SUPPORT:spec/c/%.c=$(MUTANT)/spec/support/%.o) | $(MUTANT_SO)
	@mkdir -p $(@D)
	$(CC) $(BASE) -I$(LUA_INCDIR) -O1 -DECS_DEBUG -DECS_VISIBLE $(CFLAGS) -MMD -MP $(LDFLAGS) \
	  -o $@ $(filter %.c %.o,$^) $(MUTANT_SO) $(LUA_LIBS) $(LIBS)

-include $(MUTANT_TESTS:=.d)

# ---- lint ----------------------------------------------------------------------------

LINT_SRC := $(CORE_SRC) $(BIND_SRC) $(C_TESTS) $(C_SUPPORT) $(C_BENCH) $(C_FUZZ) $(C_EXAMPLES) \
  $(wildcard spec/support/*.c) spec/cost/cost.c

# gcc sees the release, clang, which needs not compile to warn, the asserts of a debug build.
# The loops of kernels are compiled by gcc in the release itself; here it only reads them.
$(BUILD)/lint/gcc/src/kernel/ops_%.o: src/kernel/ops_%.c Makefile
	@mkdir -p $(@D)
	$(GCC) $(BASE) -Werror -O2 -MMD -MP -MF $(@:.o=.d) -MT $@ -fsyntax-only $<
	@touch $@

$(BUILD)/lint/gcc/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(need_lua)
	$(GCC) $(BASE) -Wformat-signedness -Werror -O2 \
	  $(if $(filter $(CORE_SRC),$<),,-I$(LUA_INCDIR) -include spec/tools/formats.h) \
	  -MMD -MP -c $< -o $@

$(BUILD)/lint/clang/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(need_lua)
	$(CLANG) $(BASE) $(if $(filter $(CORE_SRC),$<),,-I$(LUA_INCDIR)) -Werror -DECS_DEBUG \
	  -MMD -MP -MF $(@:.o=.d) -MT $@ -fsyntax-only $<
	@touch $@

-include $(LINT_SRC:%.c=$(BUILD)/lint/gcc/%.d) $(LINT_SRC:%.c=$(BUILD)/lint/clang/%.d)

check-lint-gcc: $(LINT_SRC:%.c=$(BUILD)/lint/gcc/%.o)
	$(check) lint-gcc status true

check-lint-clang: $(LINT_SRC:%.c=$(BUILD)/lint/clang/%.o)
	$(check) lint-clang status true

check-lint-headers:
	$(check) lint-headers tap sh spec/tools/headers "$(LUA_INCDIR)" $(BASE)

check-lint-luacheck:
	$(check) lint-luacheck status luacheck --quiet --no-color \
	  $(wildcard lua spec examples) .busted .luacheckrc $(wildcard rockspec/*.rockspec)

check-lint-symbols: $($(RELEASE)_CORE)
	$(check) lint-symbols status sh spec/tools/symbols $^

check-lint-lengths:
	$(check) lint-lengths status $(LUA) spec/tools/lengths.lua

check-lint-loops:
	$(check) lint-loops status $(LUA) spec/tools/loop_variables.lua \
	  $(shell find lua spec examples -name '*.lua' | LC_ALL=C sort)

check-lint-titles:
	$(check) lint-titles status $(LUA) spec/tools/titles.lua

check-lint-rooms:
	$(check) lint-rooms status $(LUA) spec/tools/rooms.lua

## make figures    what the sources are in numbers, beside the most that each may be
figures:
	@$(call ready,lint)
	@sh spec/tools/figures

check-lint-figures:
	$(check) lint-figures status sh spec/tools/figures

check-lint-rockspec:
	$(check) lint-rockspec status $(LUA) spec/tools/rockspec.lua

.PHONY: lua55-specs luajit-ready test test-deep test-everywhere $(MACHINES:%=check-%-specs) fuzz mutate mutant lint $(TEST_CHECKS:%=check-%) $(DEEP_CHECKS:%=check-%)
