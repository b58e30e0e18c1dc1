/* A program that links the static library of vksort and another one made of Rust. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <vksort.h>

uint64_t other_sum(uint32_t n);

int main(void)
{
    VksortCapabilities capabilities = {.structSize = sizeof capabilities};
    if (vksortGetCapabilities(&capabilities) != VKSORT_SUCCESS || other_sum(5) != 10)
        return 1;
    /* An error allocates, formats and keeps a text for its thread. */
    VksortKeyTypeProperties properties = {.structSize = sizeof properties};
    if (vksortGetKeyTypeProperties(0, &properties) != VKSORT_ERROR_VALUE)
        return 1;
    return strstr(vksortGetLastErrorText(), "key is 0") == NULL;
}
