#include "kernel/program.h"
#include "kernel/vector.h"
#include "kernel/math32.h"

float k_sin(float x) { return sin_any(x, 0); }
float k_cos(float x) { return sin_any(x, 1); }
float k_exp(float x) { return exp_lane(x); }
float k_log(float x) { return log_lane(x); }
