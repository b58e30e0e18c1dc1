/* A GPU that is not there: preloaded into a program, this library shows Mesa's Vulkan drivers one render node.
 *
 *   NULLGPU=nouveau:162   NVK, chipset in hex: 162 TU102, 172 GA102, 192 AD102, 180 GH100, 1b2 GB202
 *   NULLGPU=i915:tgl      anv, a name of the table below, or i915:PCIID:SLICES:SUBSLICES:EUS
 *   NULLGPU=msm:740       Turnip, a number of the table below
 *   NULLGPU=asahi:m1      Honeykrisp, a name of the table below
 *   NULLGPU_DEBUG=1       print what is asked for
 *
 * The node's kernel driver takes everything and does nothing, which is enough to create devices and compile pipelines.
 * The library takes over libdrm's device list and ioctl(). The node is a memfd, so that open, close, dup and mmap need no
 * help. The layouts below are those of the kernel's drm.h, nouveau_drm.h, i915_drm.h, msm_drm.h and asahi_drm.h, and of Mesa's
 * nvif. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* ---- libdrm's view of a device ---- */
typedef struct { u16 domain; u8 bus, dev, func; } pci_bus;
typedef struct { u16 vendor, device, subvendor, subdevice; u8 revision; } pci_device;
typedef struct { char fullname[512]; } platform_bus;
typedef struct { char **compatible; } platform_device;
typedef struct { char **nodes; int available, bustype; void *businfo, *deviceinfo; } drm_device;

enum kind { NONE, NOUVEAU, I915, MSM, ASAHI };
static enum kind kind;
static const char *driver_name = "none";
static int version[3] = { 1, 0, 0 };
static pci_bus bus = { 0, 1, 0, 0 };
static pci_device pci;
static int debug, node_fd = -1;
static char node_path[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u32 chipset;

struct intel { const char *name; u16 id; int slices, subslices, eus, local; };
static const struct intel intels[] = {
    { "skl", 0x1912, 1, 3, 8, 0 },    { "cfl", 0x3e92, 1, 3, 8, 0 },   { "icl", 0x8a52, 1, 8, 8, 0 },
    { "tgl", 0x9a49, 1, 6, 16, 0 },   { "adl", 0x46a6, 1, 6, 16, 0 },  { "rpl", 0xa780, 1, 2, 16, 0 },
    { "dg1", 0x4905, 1, 6, 16, 1 },   { "dg2", 0x56a0, 1, 32, 16, 1 }, { "mtl", 0x7d55, 1, 8, 16, 0 },
    { "arl", 0x7d51, 1, 8, 16, 0 },   { "lnl", 0x64a0, 1, 8, 8, 0 },   { "bmg", 0xe20b, 1, 20, 8, 1 },
    { "ptl", 0xb080, 1, 12, 8, 0 },
};
static struct intel intel;

struct msm { u32 id; u64 chip; u32 gmem; };
static const struct msm msms[] = {
    { 630, 0x060300ff, 1 << 20 }, { 660, 0x060600ff, 3 << 19 }, { 730, 0x07030001, 2 << 20 },
    { 740, 0x43050a01, 3 << 20 }, { 750, 0x43051401, 3 << 20 },
};
static struct msm msm;

/* The variant is G for the plain chip, S for Pro, C for Max, D for Ultra. */
struct apple { const char *name; u32 generation, variant, revision, chip, dies, clusters, cores, khz; };
static const struct apple apples[] = {
    { "m1", 13, 'G', 0x11, 0x8103, 1, 1, 8, 1278000 },
    { "m1max", 13, 'C', 0x20, 0x6001, 1, 4, 8, 1296000 },
    { "m2", 14, 'G', 0x10, 0x8112, 1, 1, 10, 1398000 },
};
static struct apple apple;

/* ---- buffers: places in the node's file ---- */
#define ARENA (1ull << 38)
static u64 arena_next = 1 << 16;
static struct { u64 at, size; } *bos;
static u32 bo_count, bo_room;

static u32 bo_new(u64 size, u64 align, u64 *at) {
    pthread_mutex_lock(&lock);
    if (align < 1 << 16) align = 1 << 16;
    arena_next = (arena_next + align - 1) & ~(align - 1);
    if (bo_count == bo_room) bos = realloc(bos, (bo_room = bo_room ? 2 * bo_room : 64) * sizeof *bos);
    bos[bo_count].at = arena_next;
    bos[bo_count].size = size;
    if (at) *at = arena_next;
    arena_next += (size + 0xffff) & ~0xffffull;
    u32 handle = ++bo_count;
    pthread_mutex_unlock(&lock);
    return handle;
}
static u64 bo_at(u32 handle) { return handle - 1 < bo_count ? bos[handle - 1].at : 0; }
static u64 bo_size(u32 handle) { return handle - 1 < bo_count ? bos[handle - 1].size : 0; }
static void bo_close(u32 handle) {
    if (handle - 1 >= bo_count || !bos[handle - 1].size) return;
    fallocate(node_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, bo_at(handle), (bo_size(handle) + 4095) & ~4095ull);
    bos[handle - 1].size = 0;
}

/* ---- setup ---- */
static void setup(void) __attribute__((constructor));
static void setup(void) {
    static int done;
    if (done) return;
    done = 1;
    const char *want = getenv("NULLGPU");
    debug = getenv("NULLGPU_DEBUG") != NULL;
    if (!want) return;
    const char *arg = strchr(want, ':');
    arg = arg ? arg + 1 : "";
    if (!strncmp(want, "nouveau", 7)) {
        kind = NOUVEAU;
        driver_name = "nouveau";
        version[1] = 4, version[2] = 0;
        chipset = strtoul(*arg ? arg : "162", NULL, 16);
        static const struct { u32 chipset; u16 id; } ids[] = {
            { 0x132, 0x1b06 }, { 0x140, 0x1d81 }, { 0x162, 0x1e04 }, { 0x164, 0x1e84 }, { 0x170, 0x20b0 },
            { 0x172, 0x2204 }, { 0x174, 0x2484 }, { 0x180, 0x2330 }, { 0x192, 0x2684 }, { 0x194, 0x2786 },
            { 0x1a0, 0x2901 }, { 0x1b2, 0x2b85 },
        };
        pci = (pci_device){ 0x10de, 0x1e04, 0x10de, 0x1234, 0xa1 };
        for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
            if (ids[i].chipset == chipset) pci.device = ids[i].id;
    } else if (!strncmp(want, "i915", 4)) {
        kind = I915;
        driver_name = "i915";
        version[1] = 6;
        int id, slices, subslices, eus;
        for (unsigned i = 0; i < sizeof intels / sizeof *intels; i++)
            if (!strcmp(intels[i].name, arg)) intel = intels[i];
        if (sscanf(arg, "%x:%d:%d:%d", &id, &slices, &subslices, &eus) == 4)
            intel = (struct intel){ "custom", id, slices, subslices, eus, 0 };
        if (!intel.name) intel = intels[3];
        pci = (pci_device){ 0x8086, intel.id, 0x8086, 0x1234, 0 };
        bus = (pci_bus){ 0, 0, 2, 0 };
    } else if (!strncmp(want, "msm", 3)) {
        kind = MSM;
        driver_name = "msm";
        version[1] = 12;
        msm = msms[4];
        for (unsigned i = 0; i < sizeof msms / sizeof *msms; i++)
            if (msms[i].id == (u32)atoi(arg)) msm = msms[i];
    } else if (!strncmp(want, "asahi", 5)) {
        kind = ASAHI;
        driver_name = "asahi";
        apple = apples[0];
        for (unsigned i = 0; i < sizeof apples / sizeof *apples; i++)
            if (!strcmp(apples[i].name, arg)) apple = apples[i];
    } else {
        return;
    }
    node_fd = memfd_create("nullgpu", 0);
    if (node_fd < 0 || ftruncate(node_fd, ARENA)) perror("nullgpu");
    snprintf(node_path, sizeof node_path, "/proc/self/fd/%d", node_fd);
}

/* ---- libdrm ---- */
static drm_device *device_new(void) {
    setup();
    if (kind == NONE) return NULL;
    drm_device *device = calloc(1, sizeof *device);
    device->nodes = calloc(3, sizeof *device->nodes);
    for (int i = 0; i < 3; i++) device->nodes[i] = strdup(i == 2 ? node_path : "");
    device->available = 1 << 2;
    if (kind == MSM || kind == ASAHI) {
        device->bustype = 2;
        platform_bus *b = calloc(1, sizeof *b);
        strcpy(b->fullname, "/soc/gpu");
        platform_device *d = calloc(1, sizeof *d);
        d->compatible = calloc(2, sizeof *d->compatible);
        d->compatible[0] = strdup(kind == MSM ? "qcom,adreno" : "apple,agx");
        device->businfo = b;
        device->deviceinfo = d;
    } else {
        device->businfo = malloc(sizeof bus);
        memcpy(device->businfo, &bus, sizeof bus);
        device->deviceinfo = malloc(sizeof pci);
        memcpy(device->deviceinfo, &pci, sizeof pci);
    }
    return device;
}
int drmGetDevices2(u32 flags, drm_device **devices, int most) {
    (void)flags;
    if (debug) fprintf(stderr, "nullgpu: drmGetDevices2\n");
    setup();
    if (kind == NONE) return 0;
    if (devices && most > 0) devices[0] = device_new();
    return 1;
}
int drmGetDevices(drm_device **devices, int most) { return drmGetDevices2(0, devices, most); }
int drmGetDevice2(int fd, u32 flags, drm_device **device) {
    (void)fd, (void)flags;
    *device = device_new();
    return *device ? 0 : -ENODEV;
}
int drmGetDevice(int fd, drm_device **device) { return drmGetDevice2(fd, 0, device); }
int drmGetDeviceFromDevId(dev_t id, u32 flags, drm_device **device) {
    (void)id;
    return drmGetDevice2(-1, flags, device);
}
void drmFreeDevice(drm_device **device) {
    if (device) *device = NULL; /* small and few: left to the end of the process */
}
void drmFreeDevices(drm_device **devices, int count) {
    for (int i = 0; devices && i < count; i++) devices[i] = NULL;
}
int drmGetNodeTypeFromFd(int fd) {
    (void)fd;
    return 2;
}
char *drmGetRenderDeviceNameFromFd(int fd) {
    (void)fd;
    return strdup(node_path);
}
char *drmGetDeviceNameFromFd2(int fd) {
    (void)fd;
    return strdup(node_path);
}

/* ---- the kernel ---- */
static int fails(int error) {
    errno = error;
    return -1;
}

struct version_call { int major, minor, patch; size_t name_len; char *name; size_t date_len; char *date; size_t desc_len; char *desc; };

static void put(char *to, size_t *len, const char *text) {
    if (to && *len) strncpy(to, text, *len);
    *len = strlen(text);
}

static int core_ioctl(unsigned nr, void *arg) {
    static u32 syncobjs;
    switch (nr) {
    case 0x00: {
        struct version_call *v = arg;
        v->major = version[0], v->minor = version[1], v->patch = version[2];
        put(v->name, &v->name_len, driver_name);
        put(v->date, &v->date_len, "20250101");
        put(v->desc, &v->desc_len, "nullgpu");
        return 0;
    }
    case 0x01: { /* GET_UNIQUE */
        struct { size_t len; char *text; } *u = arg;
        u->len = 0;
        return 0;
    }
    case 0x09: /* GEM_CLOSE */
        bo_close(*(u32 *)arg);
        return 0;
    case 0x0c: { /* GET_CAP */
        struct { u64 capability, value; } *c = arg;
        switch (c->capability) {
        case 0x5: c->value = 3; return 0;  /* PRIME */
        case 0x13: c->value = 1; return 0; /* SYNCOBJ */
        case 0x14: c->value = 1; return 0; /* SYNCOBJ_TIMELINE */
        default: c->value = 0; return 0;
        }
    }
    case 0x2d: { /* PRIME_HANDLE_TO_FD */
        struct { u32 handle, flags; int fd; } *p = arg;
        p->fd = dup(node_fd);
        return 0;
    }
    case 0xbf: { /* SYNCOBJ_CREATE */
        struct { u32 handle, flags; } *s = arg;
        s->handle = ++syncobjs;
        return 0;
    }
    case 0xc1: { /* SYNCOBJ_HANDLE_TO_FD */
        struct { u32 handle, flags; int fd; u32 pad; } *s = arg;
        s->fd = memfd_create("nullgpu-sync", 0);
        return 0;
    }
    case 0xc2: { /* SYNCOBJ_FD_TO_HANDLE */
        struct { u32 handle, flags; int fd; u32 pad; } *s = arg;
        if (!(s->flags & 1)) s->handle = ++syncobjs;
        return 0;
    }
    case 0xcb: { /* SYNCOBJ_QUERY: everything is done already */
        struct { u64 handles, points; u32 count, flags; } *q = arg;
        for (u32 i = 0; i < q->count; i++) ((u64 *)(uintptr_t)q->points)[i] = 1ull << 62;
        return 0;
    }
    default: /* other calls about sync objects: done */
        if (nr >= 0xbf && nr <= 0xcf) return 0;
        return fails(EINVAL);
    }
}

/* nouveau */
struct nvif { u8 version, type, pad[4], owner, route; u64 token, object; };
struct gem_info { u32 handle, domain; u64 size, offset, map_handle; u32 tile_mode, tile_flags; };

static void nv_classes(u16 list[5]) {
    u32 group = chipset & ~0xfu;
    list[0] = 0x902d; /* 2D */
    list[1] = 0xa140; /* inline to memory */
    u16 copy = 0xc5b5, draw = 0xc597, compute = 0xc5c0;
    if (group >= 0x1b0) copy = 0xcab5, draw = 0xce97, compute = 0xcec0;
    else if (group == 0x1a0) copy = 0xc9b5, draw = 0xcd97, compute = 0xcdc0;
    else if (group == 0x190) copy = 0xc7b5, draw = 0xc997, compute = 0xc9c0;
    else if (group == 0x180) copy = 0xc8b5, draw = 0xcb97, compute = 0xcbc0;
    else if (chipset >= 0x172) copy = 0xc7b5, draw = 0xc797, compute = 0xc7c0;
    else if (chipset >= 0x170) copy = 0xc6b5, draw = 0xc697, compute = 0xc6c0;
    else if (group == 0x160) ;
    else if (group == 0x140) copy = 0xc3b5, draw = 0xc397, compute = 0xc3c0;
    else if (group == 0x130) copy = 0xc1b5, draw = 0xc197, compute = 0xc1c0;
    else if (group == 0x120) copy = 0xb0b5, draw = 0xb197, compute = 0xb1c0;
    else copy = 0xa0b5, draw = 0xa197, compute = 0xa1c0;
    list[2] = copy, list[3] = draw, list[4] = compute;
}

static int nv_ioctl(unsigned nr, void *arg) {
    static int channels;
    switch (nr) {
    case 0x00: { /* GETPARAM */
        struct { u64 param, value; } *p = arg;
        switch (p->param) {
        case 3: p->value = 0x10de; return 0;
        case 4: p->value = pci.device; return 0;
        case 5: p->value = 2; return 0;            /* bus: PCIe */
        case 8: p->value = 16ull << 30; return 0;  /* VRAM */
        case 9: p->value = 1ull << 40; return 0;   /* GART */
        case 11: p->value = chipset; return 0;
        case 13: p->value = 7 | 36 << 8; return 0; /* GPCs, TPCs */
        case 14: p->value = 1000; return 0;        /* time */
        case 15: p->value = 1; return 0;
        case 17: p->value = 512; return 0;         /* EXEC_PUSH_MAX */
        case 18: p->value = 16ull << 30; return 0; /* VRAM_BAR_SIZE */
        case 19: p->value = 1 << 20; return 0;     /* VRAM_USED */
        case 20: p->value = 0; return 0;           /* HAS_VMA_TILEMODE */
        default:
            if (debug) fprintf(stderr, "nullgpu: nouveau param %llu\n", (unsigned long long)p->param);
            return fails(EINVAL);
        }
    }
    case 0x02: { /* CHANNEL_ALLOC */
        struct { u32 fb, tt; int channel; u32 domains, notifier, subchan[16], subchans; } *c = arg;
        c->channel = channels++;
        c->domains = 6;
        c->notifier = bo_new(4096, 0, NULL);
        return 0;
    }
    case 0x07: { /* NVIF */
        struct nvif *n = arg;
        if (n->type == 0x01) { /* SCLASS */
            struct { struct nvif n; u8 version, count, pad[6]; struct { int oclass; short min, max; } list[]; } *s = arg;
            u16 classes[5];
            nv_classes(classes);
            unsigned room = s->count;
            for (unsigned i = 0; i < room && i < 5; i++) {
                s->list[i].oclass = classes[i];
                s->list[i].min = s->list[i].max = -1;
            }
            s->count = 5;
        } else if (n->type == 0x04) { /* MTHD */
            struct {
                struct nvif n;
                u8 version, method, pad[6];
                struct { u8 version, platform; u16 chipset; u8 revision, family, pad[2]; u64 ram_size, ram_user; char chip[16], name[64]; } info;
            } *m = arg;
            if (m->method == 0) {
                m->info.platform = 3; /* PCIe */
                m->info.chipset = chipset;
                m->info.ram_size = m->info.ram_user = 16ull << 30;
                snprintf(m->info.chip, sizeof m->info.chip, "NV%X", chipset);
                snprintf(m->info.name, sizeof m->info.name, "NV%X (nullgpu)", chipset);
            }
        }
        return 0;
    }
    case 0x40: { /* GEM_NEW */
        struct { struct gem_info info; u32 hint, align; } *g = arg;
        g->info.handle = bo_new(g->info.size, g->align, &g->info.offset);
        g->info.map_handle = g->info.offset;
        return 0;
    }
    case 0x41: { /* PUSHBUF */
        return 0;
    }
    case 0x44: { /* GEM_INFO */
        struct gem_info *g = arg;
        g->offset = g->map_handle = bo_at(g->handle);
        g->size = bo_size(g->handle);
        g->domain = 6;
        return 0;
    }
    default:
        return 0;
    }
}

/* i915 */
static int i915_topology(u8 *data, int size) {
    struct topology { u16 flags, slices, subslices, eus, ss_offset, ss_stride, eu_offset, eu_stride; u8 data[]; } *t = (void *)data;
    int ss_stride = (intel.subslices + 7) / 8, eu_stride = (intel.eus + 7) / 8, s_bytes = (intel.slices + 7) / 8;
    int need = sizeof *t + s_bytes + intel.slices * ss_stride + intel.slices * intel.subslices * eu_stride;
    if (!size) return need;
    if (size < need) return -EINVAL;
    memset(t, 0, need);
    t->slices = intel.slices, t->subslices = intel.subslices, t->eus = intel.eus;
    t->ss_offset = s_bytes, t->ss_stride = ss_stride;
    t->eu_offset = s_bytes + intel.slices * ss_stride, t->eu_stride = eu_stride;
    for (int s = 0; s < intel.slices; s++) {
        t->data[s / 8] |= 1 << s % 8;
        for (int ss = 0; ss < intel.subslices; ss++) {
            t->data[t->ss_offset + s * ss_stride + ss / 8] |= 1 << ss % 8;
            for (int eu = 0; eu < intel.eus; eu++)
                t->data[t->eu_offset + (s * intel.subslices + ss) * eu_stride + eu / 8] |= 1 << eu % 8;
        }
    }
    return need;
}
static int i915_query(u64 id, u8 *data, int size) {
    switch (id) {
    case 1: /* TOPOLOGY_INFO */
    case 6: /* GEOMETRY_SUBSLICES */
        return i915_topology(data, size);
    case 2: { /* ENGINE_INFO: render, copy and, where there is one, compute */
        struct engine { u16 class, instance; u32 rsvd; u64 flags, caps; u16 logical, rsvd1[3]; u64 rsvd2[3]; };
        struct { u32 count, rsvd[3]; struct engine engines[]; } *e = (void *)data;
        int need = 16 + 2 * sizeof(struct engine);
        if (!size) return need;
        memset(data, 0, need);
        e->count = 2;
        e->engines[1].class = 1;
        return need;
    }
    case 4: { /* MEMORY_REGIONS */
        struct region { u16 class, instance; u32 rsvd; u64 probed, unallocated, rest[8]; };
        struct { u32 count, rsvd[3]; struct region regions[]; } *m = (void *)data;
        int need = 16 + (1 + intel.local) * sizeof(struct region);
        if (!size) return need;
        memset(data, 0, need);
        m->count = 1 + intel.local;
        for (u32 i = 0; i < m->count; i++) {
            m->regions[i].class = i;
            m->regions[i].probed = m->regions[i].unallocated = 8ull << 30;
            if (i) m->regions[i].rest[0] = m->regions[i].rest[1] = 8ull << 30;
        }
        return need;
    }
    case 7: { /* GUC_SUBMISSION_VERSION */
        u32 *g = (void *)data;
        if (!size) return 16;
        g[0] = 0, g[1] = 1, g[2] = 70, g[3] = 0;
        return 16;
    }
    default:
        return -EINVAL;
    }
}
static int i915_ioctl(unsigned nr, void *arg) {
    static u32 ids;
    switch (nr) {
    case 0x06: { /* GETPARAM */
        struct { int param; int *value; } *p = arg;
        switch (p->param) {
        case 4: *p->value = intel.id; return 0;
        case 32: *p->value = 0; return 0;              /* REVISION */
        case 18: *p->value = 3; return 0;              /* ALIASING_PPGTT: full */
        case 30: case 40: *p->value = 4; return 0;     /* MMAP versions */
        case 33: *p->value = intel.slices * intel.subslices; return 0;
        case 34: *p->value = intel.slices * intel.subslices * intel.eus; return 0;
        case 46: *p->value = (1 << intel.slices) - 1; return 0;
        case 47: *p->value = (1 << intel.subslices) - 1; return 0;
        case 51: *p->value = 19200000; return 0;       /* CS_TIMESTAMP_FREQUENCY */
        case 17: *p->value = 0; return 0;              /* LLC */
        case 56: *p->value = 0; return 0;              /* USERPTR_PROBE */
        case 28: *p->value = 10; return 0;             /* CMD_PARSER_VERSION */
        case 54: *p->value = 3; return 0;              /* PERF_REVISION */
        default: *p->value = 1; return 0;
        }
    }
    case 0x1b: { /* GEM_CREATE */
        struct { u64 size; u32 handle, pad; } *c = arg;
        c->handle = bo_new(c->size, 0, NULL);
        return 0;
    }
    case 0x3c: { /* GEM_CREATE_EXT */
        struct { u64 size; u32 handle, flags; u64 ext; } *c = arg;
        c->handle = bo_new(c->size, 0, NULL);
        return 0;
    }
    case 0x24: { /* GEM_MMAP_OFFSET */
        struct { u32 handle, pad; u64 offset; } *m = arg;
        m->offset = bo_at(m->handle);
        return 0;
    }
    case 0x1e: { /* GEM_MMAP */
        struct { u32 handle, pad; u64 offset, size, addr, flags; } *m = arg;
        m->addr = (uintptr_t)mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, node_fd, bo_at(m->handle) + m->offset);
        return 0;
    }
    case 0x33: { /* GEM_USERPTR */
        struct { u64 at, size; u32 flags, handle; } *u = arg;
        u->handle = bo_new(u->size, 0, NULL);
        return 0;
    }
    case 0x2d: /* GEM_CONTEXT_CREATE */
        *(u32 *)arg = ++ids;
        return 0;
    case 0x34: { /* GEM_CONTEXT_GETPARAM */
        struct { u32 context, size; u64 param, value; } *p = arg;
        p->value = p->param == 3 ? 1ull << 48 : 0;
        return 0;
    }
    case 0x3a: { /* VM_CREATE */
        struct { u64 ext; u32 flags, id; } *v = arg;
        v->id = ++ids;
        return 0;
    }
    case 0x23: { /* GET_APERTURE */
        struct { u64 size, available; } *a = arg;
        a->size = a->available = 1ull << 48;
        return 0;
    }
    case 0x39: { /* QUERY */
        struct item { u64 id; int length; u32 flags; u64 data; };
        struct { u32 count, flags; u64 items; } *q = arg;
        struct item *items = (void *)(uintptr_t)q->items;
        for (u32 i = 0; i < q->count; i++) {
            if (debug) fprintf(stderr, "nullgpu: i915 query %llu\n", (unsigned long long)items[i].id);
            items[i].length = i915_query(items[i].id, (void *)(uintptr_t)items[i].data, items[i].length);
        }
        return 0;
    }
    default:
        return 0;
    }
}

/* msm */
static int msm_ioctl(unsigned nr, void *arg) {
    static u32 queues;
    switch (nr) {
    case 0x00: { /* GET_PARAM */
        struct { u32 pipe, param; u64 value; u32 len, pad; } *p = arg;
        switch (p->param) {
        case 1: p->value = msm.id; return 0;
        case 2: p->value = msm.gmem; return 0;
        case 3: p->value = msm.chip; return 0;
        case 4: p->value = 1000000; return 0;       /* MAX_FREQ */
        case 5: p->value = 0; return 0;             /* TIMESTAMP */
        case 6: p->value = 0x100000; return 0;      /* GMEM_BASE */
        case 7: p->value = 3; return 0;             /* PRIORITIES */
        case 8: p->value = 1; return 0;             /* PP_PGTABLE */
        case 9: case 13: p->value = 0; return 0;    /* FAULTS, SUSPENDS */
        case 14: p->value = 0x100000000ull; return 0; /* VA_START */
        case 15: p->value = 0x1000000000ull; return 0; /* VA_SIZE */
        case 16: p->value = 14; return 0;           /* HIGHEST_BANK_BIT */
        case 17: p->value = 1; return 0;            /* RAYTRACING */
        case 18: p->value = 0; return 0;            /* UBWC_SWIZZLE */
        case 19: p->value = 1; return 0;            /* MACROTILE_MODE */
        case 20: p->value = 1 << 20; return 0;      /* UCHE_TRAP_BASE */
        default:
            if (debug) fprintf(stderr, "nullgpu: msm param %u\n", p->param);
            return fails(EINVAL);
        }
    }
    case 0x02: { /* GEM_NEW */
        struct { u64 size; u32 flags, handle; } *g = arg;
        g->handle = bo_new(g->size, 0, NULL);
        return 0;
    }
    case 0x03: { /* GEM_INFO */
        struct { u32 handle, info; u64 value; u32 len, pad; } *g = arg;
        if (g->info == 0 || g->info == 1) g->value = bo_at(g->handle);
        return 0;
    }
    case 0x08: { /* GEM_MADVISE */
        struct { u32 handle, madv, retained; } *m = arg;
        m->retained = 1;
        return 0;
    }
    case 0x0a: { /* SUBMITQUEUE_NEW */
        struct { u32 flags, prio, id; } *q = arg;
        q->id = ++queues;
        return 0;
    }
    default:
        return 0;
    }
}

/* asahi */
struct asahi_params {
    u64 features;
    u32 generation, variant, revision, chip, dies, clusters, cores_per_cluster, khz;
    u64 core_masks[64], vm_start, vm_end, vm_kernel_min;
    u32 max_commands, max_attachments;
    u64 timestamp_hz;
};

static int asahi_ioctl(unsigned nr, void *arg) {
    static u32 ids;
    switch (nr) {
    case 0x00: { /* GET_PARAMS */
        struct { u32 group, pad; u64 pointer, size; } *g = arg;
        struct asahi_params p = {
            .features = 1, /* loads of unmapped memory give 0 */
            .generation = apple.generation, .variant = apple.variant, .revision = apple.revision, .chip = apple.chip,
            .dies = apple.dies, .clusters = apple.clusters, .cores_per_cluster = apple.cores, .khz = apple.khz,
            .vm_start = 1 << 14, .vm_end = 1ull << 39, .vm_kernel_min = 1 << 29,
            .max_commands = 64, .max_attachments = 16, .timestamp_hz = 24000000,
        };
        for (u32 i = 0; i < apple.clusters; i++) p.core_masks[i] = (1ull << apple.cores) - 1;
        if (g->size > sizeof p) g->size = sizeof p;
        memcpy((void *)(uintptr_t)g->pointer, &p, g->size);
        return 0;
    }
    case 0x01: { /* GET_TIME */
        struct { u64 flags, time; } *t = arg;
        t->time = 1000;
        return 0;
    }
    case 0x02: { /* VM_CREATE */
        struct { u64 kernel_start, kernel_end; u32 id, pad; } *v = arg;
        v->id = ++ids;
        return 0;
    }
    case 0x05: { /* GEM_CREATE */
        struct { u64 size; u32 flags, vm, handle, pad; } *g = arg;
        g->handle = bo_new(g->size, 0, NULL);
        return 0;
    }
    case 0x06: { /* GEM_MMAP_OFFSET */
        struct { u32 handle, flags; u64 offset; } *m = arg;
        m->offset = bo_at(m->handle);
        return 0;
    }
    case 0x07: { /* GEM_BIND_OBJECT */
        struct { u32 op, flags, handle, vm; u64 offset, range; u32 object, pad; } *b = arg;
        if (b->op == 0) b->object = ++ids;
        return 0;
    }
    case 0x08: { /* QUEUE_CREATE */
        struct { u32 flags, vm, priority, id; u64 usc_base; } *q = arg;
        q->id = ++ids;
        return 0;
    }
    default:
        return 0;
    }
}

int ioctl(int fd, unsigned long request, ...) {
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    if ((request >> 8 & 0xff) != 'd' || kind == NONE) return syscall(SYS_ioctl, fd, request, arg);
    unsigned nr = request & 0xff;
    int result;
    if (nr >= 0x40 && nr < 0xa0)
        result = kind == NOUVEAU ? nv_ioctl(nr - 0x40, arg) : kind == I915 ? i915_ioctl(nr - 0x40, arg) :
                 kind == MSM ? msm_ioctl(nr - 0x40, arg) : asahi_ioctl(nr - 0x40, arg);
    else
        result = core_ioctl(nr, arg);
    if (debug) fprintf(stderr, "nullgpu: %s ioctl 0x%02x -> %d\n", nr >= 0x40 && nr < 0xa0 ? driver_name : "core", nr >= 0x40 && nr < 0xa0 ? nr - 0x40 : nr, result);
    return result;
}
