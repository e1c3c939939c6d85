// Bandwidth of one memory level. A group starts at first + its number * group_step and goes on by `step`, `steps` times,
// then begins again: with group_step = steps * step each group has a set of its own (L1), with step = GROUPS * group_step they
// divide one (DRAM), with group_step = 0 each walks the whole of one (L2), from the place that `skew` gives it.
// Offsets are in VECs and 32 bits wide: 64 GiB, and half the integer work of 64 bits.
#define TILE (THREADS * UNROLL)
#define WALK                                                             \
    const uint first = GROUP_ID * group_step + LOCAL_ID;                  \
    const uint last = first + (steps - 1u) * step;                        \
    uint at = first + (GROUP_ID * skew) % steps * step;                   \
    TIMED_BEGIN                                                           \
    NOT_UNROLLED for (uint left = rounds * steps; left != 0u; --left)

#if defined(ACTION_FILL)
// Word i of a filled set is i * factor + bias, so that sums over it have a closed form.
KERNEL fill(GLOBAL VEC* data, uint count, uint factor, uint bias) {
    for (uint i = GROUP_ID * THREADS + LOCAL_ID; i < count; i += GROUPS * THREADS) {
        data[i] = vec_ramp(i * VEC_WORDS * factor + bias, factor);
    }
}
#elif defined(ACTION_FILL_NUMBERS)
// Number i is (i mod 4096) * factor, for the triad.
KERNEL fill_numbers(GLOBAL SCALAR* data, uint count, SCALAR factor) {
    for (uint i = GROUP_ID * THREADS + LOCAL_ID; i < count; i += GROUPS * THREADS) data[i] = (SCALAR)(i & 4095u) * factor;
}
#elif defined(ACTION_LOAD)
KERNEL load(const GLOBAL VEC* data, GLOBAL uint* out, GLOBAL ulong64* times, uint group_step, uint step, uint steps,
            uint skew, uint rounds) {
    VEC sum[2];
    sum[0] = vec_of(0u);
    sum[1] = vec_of(0u);
    WALK {
        VEC v[UNROLL];
        UNROLLED for (uint u = 0; u < UNROLL; ++u) v[u] = load_vec(data + at + u * THREADS);
        UNROLLED for (uint u = 0; u < UNROLL; ++u) sum[u & 1u] = vec_add(sum[u & 1u], v[u]);
        at = at == last ? first : at + step;
    }
    TIMED_END
    out[GROUP_ID * THREADS + LOCAL_ID] = vec_sum(sum[0]) + vec_sum(sum[1]);
    TIMED_REPORT(times)
}
#elif defined(ACTION_STORE)
// Word i becomes i * factor + bias, as `fill` would make it.
KERNEL store(GLOBAL VEC* data, GLOBAL ulong64* times, uint group_step, uint step, uint steps, uint skew, uint rounds,
             uint factor, uint bias) {
    WALK {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) {
            store_vec(data + at + u * THREADS, vec_ramp((at + u * THREADS) * VEC_WORDS * factor + bias, factor));
        }
        at = at == last ? first : at + step;
    }
    TIMED_END
    TIMED_REPORT(times)
}
#elif defined(ACTION_COPY) || defined(ACTION_TRIAD)
#ifdef ACTION_COPY
KERNEL copy(GLOBAL VEC* to, const GLOBAL VEC* from, GLOBAL ulong64* times, uint group_step, uint step, uint steps,
            uint skew, uint rounds) {
#else
KERNEL triad(GLOBAL VEC* to, const GLOBAL VEC* from, const GLOBAL VEC* more, GLOBAL ulong64* times, uint group_step,
             uint step, uint steps, uint skew, uint rounds, SCALAR scale) {
#endif
    WALK {
        VEC v[UNROLL];
        UNROLLED for (uint u = 0; u < UNROLL; ++u) v[u] = load_vec(from + at + u * THREADS);
#ifdef ACTION_TRIAD
        VEC w[UNROLL];
        UNROLLED for (uint u = 0; u < UNROLL; ++u) w[u] = load_vec(more + at + u * THREADS);
        UNROLLED for (uint u = 0; u < UNROLL; ++u) v[u] = vec_triad(v[u], w[u], scale);
#endif
        UNROLLED for (uint u = 0; u < UNROLL; ++u) store_vec(to + at + u * THREADS, v[u]);
        at = at == last ? first : at + step;
    }
    TIMED_END
    TIMED_REPORT(times)
}
#elif defined(ACTION_SHARED)
// SET_VECS VECs of shared memory, filled from `data` and read over and over.
KERNEL shared_load(const GLOBAL VEC* data, GLOBAL uint* out, GLOBAL ulong64* times, uint rounds) {
    SHARED VEC set[SET_VECS];
    for (uint i = LOCAL_ID; i < SET_VECS; i += THREADS) set[i] = data[i];
    BARRIER();
    VEC sum[2];
    sum[0] = vec_of(0u);
    sum[1] = vec_of(0u);
    uint at = LOCAL_ID;
    TIMED_BEGIN
    NOT_UNROLLED for (uint left = rounds * (SET_VECS / TILE); left != 0; --left) {
        VEC v[UNROLL];
        UNROLLED for (uint u = 0; u < UNROLL; ++u) v[u] = load_shared(set + at + u * THREADS);
        UNROLLED for (uint u = 0; u < UNROLL; ++u) sum[u & 1u] = vec_add(sum[u & 1u], v[u]);
        at = at + TILE < SET_VECS ? at + TILE : LOCAL_ID;
    }
    TIMED_END
    out[GROUP_ID * THREADS + LOCAL_ID] = vec_sum(sum[0]) + vec_sum(sum[1]);
    TIMED_REPORT(times)
}
#endif
