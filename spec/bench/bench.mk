# What measures: `make bench`, against floors in C and in Lua. Included by the Makefile.
#
#   JSON=file             where `make bench` also writes its table; ONLY=Loops: that section

# spec/bench/mod_*.c are Lua modules, bench_*.c programs; the others are linked into both.

BENCH_MODULES := $(patsubst spec/bench/%.c,$(BUILD)/bench/%.so,$(wildcard spec/bench/mod_*.c))
BENCH_PROGRAMS := $(patsubst spec/bench/%.c,$(BUILD)/bench/%,$(wildcard spec/bench/bench_*.c))
BENCH_SUPPORT := $(filter-out spec/bench/mod_% spec/bench/bench_%,$(C_BENCH))
BENCH_OBJ := $(BENCH_SUPPORT:spec/bench/%.c=$(BUILD)/bench/%.o)

## make bench      ratios against the floors (JSON=file writes them down, ONLY=Kernels
##                 runs the sections with that in their titles)
bench: all $(BENCH_MODULES) $(BENCH_PROGRAMS)
	@JSON="$(JSON)" ONLY="$(ONLY)" ECS_BENCH=$(BUILD)/bench \
	  LUA_PATH="spec/bench/?.lua;lua/?.lua;lua/?/init.lua;./?.lua;;" \
	  LUA_CPATH="$(BUILD)/?.so;$(BUILD)/bench/?.so;;" $(LUA) spec/bench/run.lua

$(BUILD)/bench/%.o: spec/bench/%.c $(wildcard spec/bench/*.h) Makefile
	@mkdir -p $(@D)
	$(CC) $(BASE) -O3 $(CFLAGS) -c -o $@ $<

$(BUILD)/bench/%.so: spec/bench/%.c $(BENCH_OBJ) Makefile
	@mkdir -p $(@D)
	$(CC) $(BASE) -I$(LUA_INCDIR) -O3 $(CFLAGS) $(SHARED) $(LDFLAGS) -o $@ \
	  $(filter %.c %.o,$^) $(LIBS)

$(BUILD)/bench/%: spec/bench/%.c $(BENCH_OBJ) $(RELEASE)/libecs.a Makefile
	@mkdir -p $(@D)
	$(CC) $(BASE) -O3 $(CFLAGS) $(LDFLAGS) -o $@ $< $(BENCH_OBJ) $(RELEASE)/libecs.a $(LIBS)

# Fused loops that kernels of the same instruction set are compared with.
FLOOR_FLAGS := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off
floor_sse2 := -DFLOOR=sse2
floor_avx2 := -DFLOOR=avx2 -mavx2 -mfma
floor_avx512 := -DFLOOR=avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
FLOORS := $(patsubst %,$(BUILD)/bench/floor_%.o,sse2 \
  $(if $(filter x86_64 amd64,$(shell uname -m)),avx2 avx512))

$(BUILD)/bench/mod_kernel.so: $(FLOORS) $($(RELEASE)_CORE)
$(BUILD)/bench/mod_reach.so: $($(RELEASE)_CORE)

$(BUILD)/bench/floor_%.o: spec/bench/kernel/floor.c spec/bench/kernel/floor.h Makefile
	@mkdir -p $(@D)
	$(CC) $(BASE) $(FLOOR_FLAGS) $(floor_$*) -c -o $@ $<

.PHONY: bench
