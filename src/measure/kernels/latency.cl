// Latency: one thread follows a ring of links, each load waits for the one before. And the kernel that does nothing.
// A link is what the next load takes without arithmetic (CUDA: an address), which would count as latency. `ring` and `from`
// are in words. The first `warm` trips are not timed: the L1 is empty when a kernel starts.
#if defined(ACTION_CHASE)
KERNEL chase(const GLOBAL uint* ring, GLOBAL uint* out, GLOBAL ulong64* times, uint from, uint warm, uint rounds) {
    LINK at = link_of(ring, from);
    NOT_UNROLLED for (uint r = 0; r < warm; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) at = next_link(ring, at);
    }
    TIMED_BEGIN
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) at = next_link(ring, at);
    }
    TIMED_END
    out[0] = place_of(ring, at);
    TIMED_REPORT(times)
}
#elif defined(ACTION_SHARED_CHASE)
KERNEL shared_chase(const GLOBAL uint* ring, GLOBAL uint* out, GLOBAL ulong64* times, uint from, uint warm, uint rounds) {
    SHARED uint set[SET_WORDS];
    for (uint i = 0; i < SET_WORDS; i += LINK_WORDS) set[i] = shared_link_of(set, ring[i]);
    BARRIER();
    uint at = shared_link_of(set, from);
    TIMED_BEGIN
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) at = next_shared_link(set, at);
    }
    TIMED_END
    out[0] = shared_place_of(set, at) + 0u * warm;
    TIMED_REPORT(times)
}
#else
KERNEL nothing(GLOBAL uint* out, uint mark) {
    if (mark != 0u && LOCAL_ID == 0) out[GROUP_ID] = mark;
}
#endif
