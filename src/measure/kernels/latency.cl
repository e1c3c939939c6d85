// Latency: one thread follows a ring of indices, each load waits for the one before. And the kernel that does nothing.
#if defined(ACTION_CHASE)
KERNEL chase(const GLOBAL uint* ring, GLOBAL uint* out, GLOBAL ulong64* cycles, uint from, uint rounds) {
    uint at = from;
    const ulong64 start = cycle_count();
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) at = load_link(ring + at);
    }
    const ulong64 end = cycle_count();
    out[0] = at;
    cycles[0] = end - start;
}
#elif defined(ACTION_SHARED_CHASE)
KERNEL shared_chase(const GLOBAL uint* ring, GLOBAL uint* out, GLOBAL ulong64* cycles, uint from, uint rounds) {
    SHARED uint set[SET_WORDS];
    for (uint i = 0; i < SET_WORDS; i += LINK_WORDS) set[i] = ring[i];
    BARRIER();
    uint at = from;
    const ulong64 start = cycle_count();
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) at = load_shared_link(set + at);
    }
    const ulong64 end = cycle_count();
    out[0] = at;
    cycles[0] = end - start;
}
#else
KERNEL nothing(GLOBAL uint* out, uint mark) {
    if (mark != 0u && LOCAL_ID == 0) out[GROUP_ID] = mark;
}
#endif
