/* libFuzzer's way in; FUZZ_TARGET names the target. */
#include "fuzz.h"

#ifndef FUZZ_TARGET
#define FUZZ_TARGET fuzz_load
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FUZZ_TARGET(data, size);
  return 0;
}
