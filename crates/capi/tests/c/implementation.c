/* VRDX_IMPLEMENTATION in a second file of a program. */
#define VRDX_IMPLEMENTATION
#include <vksort_vrdx.h>
