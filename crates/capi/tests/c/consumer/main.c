/* Ends well if header and library are of one version. It needs no device. */
#include <stdio.h>

#ifndef HEADER
#define HEADER <vksort.h>
#endif
#include HEADER

int main(void)
{
    VksortCapabilities capabilities = {.structSize = sizeof capabilities};
    if (vksortGetCapabilities(&capabilities) != VKSORT_SUCCESS) {
        fprintf(stderr, "%s\n", vksortGetLastErrorText());
        return 1;
    }
    return capabilities.keyTypes != VKSORT_KEY_TYPES;
}
