// GLSL's types and built-in functions in CUDA C++, as far as compute shaders of 32 lanes a subgroup use them.
#pragma once
#include <cstdint>
typedef unsigned int uint;
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define DONT_UNROLL _Pragma("unroll 1")

// ---- vectors

template <class T> struct vec2 {
    T x, y;
    vec2() = default;
    DEVICE constexpr explicit vec2(T a) : x(a), y(a) {}
    DEVICE constexpr vec2(T a, T b) : x(a), y(b) {}
    template <class U> DEVICE constexpr explicit vec2(const vec2<U>& o) : x(T(o.x)), y(T(o.y)) {}
    DEVICE constexpr T& operator[](uint i) { return (&x)[i]; }
    DEVICE constexpr const T& operator[](uint i) const { return (&x)[i]; }
};
template <class T> struct vec3 {
    T x, y, z;
    vec3() = default;
    DEVICE constexpr explicit vec3(T a) : x(a), y(a), z(a) {}
    DEVICE constexpr vec3(T a, T b, T c) : x(a), y(b), z(c) {}
    template <class U> DEVICE constexpr explicit vec3(const vec3<U>& o) : x(T(o.x)), y(T(o.y)), z(T(o.z)) {}
    DEVICE constexpr T& operator[](uint i) { return (&x)[i]; }
    DEVICE constexpr const T& operator[](uint i) const { return (&x)[i]; }
};
template <class T> struct alignas(16) vec4 {
    union {
        struct { T x, y, z, w; };
        struct { vec2<T> xy, zw; };
    };
    vec4() = default;
    DEVICE constexpr explicit vec4(T a) : x(a), y(a), z(a), w(a) {}
    DEVICE constexpr vec4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
    DEVICE constexpr vec4(vec2<T> a, vec2<T> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
    DEVICE constexpr vec4(vec2<T> a, T b, T c) : x(a.x), y(a.y), z(b), w(c) {}
    template <class U> DEVICE constexpr explicit vec4(const vec4<U>& o) : x(T(o.x)), y(T(o.y)), z(T(o.z)), w(T(o.w)) {}
    DEVICE constexpr T& operator[](uint i) { return (&x)[i]; }
    DEVICE constexpr const T& operator[](uint i) const { return (&x)[i]; }
};
typedef vec2<uint> uvec2;
typedef vec3<uint> uvec3;
typedef vec4<uint> uvec4;
typedef vec2<int> ivec2;
typedef vec3<int> ivec3;
typedef vec4<int> ivec4;
typedef vec2<bool> bvec2;
typedef vec3<bool> bvec3;
typedef vec4<bool> bvec4;

#define EACH2(OF) vec2<decltype(OF(x))>(OF(x), OF(y))
#define EACH3(OF) vec3<decltype(OF(x))>(OF(x), OF(y), OF(z))
#define EACH4(OF) vec4<decltype(OF(x))>(OF(x), OF(y), OF(z), OF(w))
#define BINARY(OP) \
    template <class T> DEVICE vec2<T> operator OP(vec2<T> a, vec2<T> b) { return {a.x OP b.x, a.y OP b.y}; } \
    template <class T> DEVICE vec3<T> operator OP(vec3<T> a, vec3<T> b) { return {a.x OP b.x, a.y OP b.y, a.z OP b.z}; } \
    template <class T> DEVICE vec4<T> operator OP(vec4<T> a, vec4<T> b) { \
        return {a.x OP b.x, a.y OP b.y, a.z OP b.z, a.w OP b.w}; \
    } \
    template <class T> DEVICE vec2<T> operator OP(vec2<T> a, T b) { return a OP vec2<T>(b); } \
    template <class T> DEVICE vec3<T> operator OP(vec3<T> a, T b) { return a OP vec3<T>(b); } \
    template <class T> DEVICE vec4<T> operator OP(vec4<T> a, T b) { return a OP vec4<T>(b); } \
    template <class T> DEVICE vec2<T> operator OP(T a, vec2<T> b) { return vec2<T>(a) OP b; } \
    template <class T> DEVICE vec4<T> operator OP(T a, vec4<T> b) { return vec4<T>(a) OP b; } \
    template <class T, class U> DEVICE vec2<T>& operator OP##=(vec2<T>& a, U b) { return a = a OP b; } \
    template <class T, class U> DEVICE vec3<T>& operator OP##=(vec3<T>& a, U b) { return a = a OP b; } \
    template <class T, class U> DEVICE vec4<T>& operator OP##=(vec4<T>& a, U b) { return a = a OP b; }
BINARY(+) BINARY(-) BINARY(*) BINARY(/) BINARY(%) BINARY(&) BINARY(|) BINARY(^) BINARY(<<) BINARY(>>)
template <class T> DEVICE vec2<T> operator~(vec2<T> a) { return {~a.x, ~a.y}; }
template <class T> DEVICE vec3<T> operator~(vec3<T> a) { return {~a.x, ~a.y, ~a.z}; }
template <class T> DEVICE vec4<T> operator~(vec4<T> a) { return {~a.x, ~a.y, ~a.z, ~a.w}; }
template <class T> DEVICE bool operator==(vec2<T> a, vec2<T> b) { return a.x == b.x && a.y == b.y; }
template <class T> DEVICE bool operator==(vec3<T> a, vec3<T> b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
template <class T> DEVICE bool operator==(vec4<T> a, vec4<T> b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}
template <class T> DEVICE bvec4 equal(vec4<T> a, vec4<T> b) { return {a.x == b.x, a.y == b.y, a.z == b.z, a.w == b.w}; }
template <class T> DEVICE bvec4 notEqual(vec4<T> a, vec4<T> b) { return {a.x != b.x, a.y != b.y, a.z != b.z, a.w != b.w}; }
DEVICE bool any(bvec4 a) { return a.x || a.y || a.z || a.w; }
DEVICE bool all(bvec4 a) { return a.x && a.y && a.z && a.w; }

// ---- integers

DEVICE uint clamp(uint v, uint low, uint high) { return min(max(v, low), high); }
DEVICE int clamp(int v, int low, int high) { return min(max(v, low), high); }
DEVICE ivec4 clamp(ivec4 v, int low, int high) {
    return ivec4(clamp(v.x, low, high), clamp(v.y, low, high), clamp(v.z, low, high), clamp(v.w, low, high));
}
template <class T> DEVICE T mix(T a, T b, bool second) { return second ? b : a; }
DEVICE uint bitfieldExtract(uint value, int offset, int bits) {
    uint r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(value), "r"(offset), "r"(bits));
    return r;
}
DEVICE int bitfieldExtract(int value, int offset, int bits) {
    int r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(value), "r"(offset), "r"(bits));
    return r;
}
DEVICE uint bitfieldInsert(uint base, uint insert, int offset, int bits) {
    uint r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(insert), "r"(base), "r"(offset), "r"(bits));
    return r;
}
DEVICE uint bitfieldReverse(uint v) { return __brev(v); }
DEVICE int bitCount(uint v) { return __popc(v); }
DEVICE int bitCount(int v) { return __popc(v); }
DEVICE ivec2 bitCount(uvec2 v) { return ivec2(__popc(v.x), __popc(v.y)); }
DEVICE ivec4 bitCount(uvec4 v) { return ivec4(__popc(v.x), __popc(v.y), __popc(v.z), __popc(v.w)); }
DEVICE int findLSB(uint v) { return __ffs(v) - 1; }
DEVICE int findMSB(uint v) { return 31 - __clz(v); }
DEVICE int findMSB(int v) { return 31 - __clz(v < 0 ? ~v : v); }
DEVICE uint uaddCarry(uint a, uint b, uint& carry) {
    uint sum = a + b;
    carry = sum < a ? 1 : 0;
    return sum;
}
DEVICE uint usubBorrow(uint a, uint b, uint& borrow) {
    borrow = a < b ? 1 : 0;
    return a - b;
}
DEVICE void umulExtended(uint a, uint b, uint& high, uint& low) {
    high = __umulhi(a, b);
    low = a * b;
}

// ---- where an invocation is

#define gl_LocalInvocationIndex ((uint)threadIdx.x)
#define gl_LocalInvocationID (uvec3(threadIdx.x, 0, 0))
#define gl_GlobalInvocationID (uvec3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y, blockIdx.z))
#define gl_WorkGroupID (blockIdx)
#define gl_NumWorkGroups (gridDim)
#define gl_WorkGroupSize (blockDim)
#define gl_SubgroupSize 32u
#define gl_NumSubgroups ((uint)blockDim.x >> 5)
#define gl_SubgroupID ((uint)threadIdx.x >> 5)
#define gl_SubgroupInvocationID ((uint)threadIdx.x & 31u)
#define LANE_MASK(glsl, ptx) \
    DEVICE uvec4 lane_mask_##ptx() { \
        uint r; \
        asm("mov.u32 %0, %%lanemask_" #ptx ";" : "=r"(r)); \
        return uvec4(r, 0, 0, 0); \
    }
LANE_MASK(Lt, lt) LANE_MASK(Le, le) LANE_MASK(Gt, gt) LANE_MASK(Ge, ge) LANE_MASK(Eq, eq)
#define gl_SubgroupLtMask lane_mask_lt()
#define gl_SubgroupLeMask lane_mask_le()
#define gl_SubgroupGtMask lane_mask_gt()
#define gl_SubgroupGeMask lane_mask_ge()
#define gl_SubgroupEqMask lane_mask_eq()

// ---- barriers and atomics

enum Scope { gl_ScopeDevice, gl_ScopeQueueFamily, gl_ScopeWorkgroup, gl_ScopeSubgroup, gl_ScopeInvocation };
enum { gl_StorageSemanticsNone = 0, gl_StorageSemanticsBuffer = 0x40, gl_StorageSemanticsShared = 0x100 };
enum {
    gl_SemanticsRelaxed = 0, gl_SemanticsAcquire = 2, gl_SemanticsRelease = 4, gl_SemanticsAcquireRelease = 8,
    gl_SemanticsMakeAvailable = 0x2000, gl_SemanticsMakeVisible = 0x4000, gl_SemanticsVolatile = 0x8000
};
DEVICE void memoryBarrier() { __threadfence(); }
DEVICE void memoryBarrierBuffer() { __threadfence(); }
DEVICE void memoryBarrierShared() { __threadfence_block(); }
DEVICE void groupMemoryBarrier() { __threadfence_block(); }
DEVICE void memoryBarrier(Scope scope, int, int) {
    if (scope == gl_ScopeDevice || scope == gl_ScopeQueueFamily) __threadfence();
    else if (scope == gl_ScopeWorkgroup) __threadfence_block();
}
DEVICE void barrier() { __syncthreads(); }
DEVICE void controlBarrier(Scope execution, Scope memory, int storage, int semantics) {
    if (execution == gl_ScopeSubgroup) return __syncwarp();
    if (memory == gl_ScopeDevice && (storage & gl_StorageSemanticsBuffer) != 0) __threadfence();
    __syncthreads();
}
DEVICE void controlBarrier(Scope execution, Scope memory, int storage, int semantics, int) {
    controlBarrier(execution, memory, storage, semantics);
}

#define ATOMIC(GLSL, CUDA) \
    DEVICE uint GLSL(uint& m, uint v) { return CUDA(&m, v); } \
    DEVICE int GLSL(int& m, int v) { return CUDA(&m, v); } \
    DEVICE uint GLSL(uint& m, uint v, Scope, int, int) { return CUDA(&m, v); }
ATOMIC(atomicAdd, ::atomicAdd)
ATOMIC(atomicOr, ::atomicOr)
ATOMIC(atomicAnd, ::atomicAnd)
ATOMIC(atomicXor, ::atomicXor)
ATOMIC(atomicMin, ::atomicMin)
ATOMIC(atomicMax, ::atomicMax)
ATOMIC(atomicExchange, ::atomicExch)
DEVICE uint atomicCompSwap(uint& m, uint compare, uint v) { return ::atomicCAS(&m, compare, v); }
DEVICE uint atomicCompSwap(uint& m, uint compare, uint v, Scope, int, int, int, int) { return ::atomicCAS(&m, compare, v); }
DEVICE uint atomicLoad(const uint& m, Scope scope, int, int semantics) {
    uint r;
    if (scope != gl_ScopeDevice && scope != gl_ScopeQueueFamily) return *(const volatile uint*)&m;
    if (semantics & gl_SemanticsAcquire)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(__cvta_generic_to_global(&m)) : "memory");
    else asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(__cvta_generic_to_global(&m)));
    return r;
}
DEVICE void atomicStore(uint& m, uint v, Scope scope, int, int semantics) {
    if (scope != gl_ScopeDevice && scope != gl_ScopeQueueFamily) *(volatile uint*)&m = v;
    else if (semantics & gl_SemanticsRelease)
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&m)), "r"(v) : "memory");
    else asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&m)), "r"(v) : "memory");
}

// ---- subgroups, all of whose lanes have to take part

DEVICE void subgroupBarrier() { __syncwarp(); }
// __syncwarp, which follows, orders memory among the lanes.
DEVICE void subgroupMemoryBarrier() {}
DEVICE void subgroupMemoryBarrierShared() {}
DEVICE void subgroupMemoryBarrierBuffer() {}
DEVICE bool subgroupElect() { return gl_SubgroupInvocationID == 0; }
DEVICE bool subgroupAny(bool v) { return __any_sync(~0u, v); }
DEVICE bool subgroupAll(bool v) { return __all_sync(~0u, v); }
template <class T> DEVICE T subgroupBroadcastFirst(T v) { return __shfl_sync(~0u, v, 0); }
template <class T> DEVICE T subgroupBroadcast(T v, uint lane) { return __shfl_sync(~0u, v, (int)lane); }
template <class T> DEVICE T subgroupShuffle(T v, uint lane) { return __shfl_sync(~0u, v, (int)lane); }
template <class T> DEVICE T subgroupShuffleUp(T v, uint by) { return __shfl_up_sync(~0u, v, by); }
template <class T> DEVICE T subgroupShuffleDown(T v, uint by) { return __shfl_down_sync(~0u, v, by); }
template <class T> DEVICE T subgroupShuffleXor(T v, uint with) { return __shfl_xor_sync(~0u, v, (int)with); }
DEVICE bool subgroupAllEqual(uint v) { return __all_sync(~0u, v == __shfl_sync(~0u, v, 0)); }
DEVICE uvec4 subgroupBallot(bool vote) { return uvec4(__ballot_sync(~0u, vote), 0, 0, 0); }
DEVICE bool subgroupInverseBallot(uvec4 mask) { return (mask.x >> gl_SubgroupInvocationID & 1) != 0; }
DEVICE bool subgroupBallotBitExtract(uvec4 mask, uint lane) { return (mask.x >> lane & 1) != 0; }
DEVICE uint subgroupBallotBitCount(uvec4 mask) { return __popc(mask.x); }
DEVICE uint subgroupBallotExclusiveBitCount(uvec4 mask) { return __popc(mask.x & lane_mask_lt().x); }
DEVICE uint subgroupBallotInclusiveBitCount(uvec4 mask) { return __popc(mask.x & lane_mask_le().x); }
DEVICE uint subgroupBallotFindLSB(uvec4 mask) { return __ffs(mask.x) - 1; }
DEVICE uint subgroupBallotFindMSB(uvec4 mask) { return 31 - __clz(mask.x); }
#if __CUDA_ARCH__ >= 800
#define REDUCE(GLSL, CUDA, JOINED) DEVICE uint GLSL(uint v) { return __reduce_##CUDA##_sync(~0u, v); }
#else
#define REDUCE(GLSL, CUDA, JOINED) \
    DEVICE uint GLSL(uint v) { \
        UNROLL for (int with = 16; with > 0; with /= 2) { \
            uint other = __shfl_xor_sync(~0u, v, with); \
            v = JOINED; \
        } \
        return v; \
    }
#endif
REDUCE(subgroupAdd, add, v + other)
REDUCE(subgroupMin, min, min(v, other))
REDUCE(subgroupMax, max, max(v, other))
REDUCE(subgroupAnd, and, v & other)
REDUCE(subgroupOr, or, v | other)
REDUCE(subgroupXor, xor, v ^ other)
DEVICE uint subgroupInclusiveAdd(uint v) { // as CUB scans a warp: a shuffle says whether there is such a lane
    UNROLL for (int by = 1; by < 32; by *= 2) {
        asm volatile("{ .reg .pred p; .reg .u32 t; shfl.sync.up.b32 t|p, %0, %1, 0, -1; @p add.u32 %0, %0, t; }" : "+r"(v) : "r"(by));
    }
    return v;
}
DEVICE uint subgroupExclusiveAdd(uint v) { return subgroupInclusiveAdd(v) - v; }
