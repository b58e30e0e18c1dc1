/* vksort under the name that programs include: put the directory of this file before any that has the original. */
#if defined(VK_RADIX_SORT_H) && !defined(VKSORT_VRDX_H)
#error "the original vk_radix_sort.h was included before that of vksort: take it out of the include path"
#endif

#include "../vksort_vrdx.h"

#ifndef VK_RADIX_SORT_H
#define VK_RADIX_SORT_H
#endif
