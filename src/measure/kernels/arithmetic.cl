// The ceiling of one arithmetic pipe: CHAINS numbers that depend only on themselves, kept in registers, so that the pipe is
// the one thing that limits. x <- x * a + b (STEP_FMA), x + b (STEP_ADD), x * a and x * b in turn (STEP_MULTIPLY).
// Numbers of a thread start at 1 + lane/4 + chain/32: exact in every type, and the host can follow each of them.
KERNEL arithmetic(GLOBAL REAL* out, GLOBAL ulong64* times, SCALAR a, SCALAR b, SCALAR lane_step, SCALAR chain_step,
                  uint rounds) {
    const uint thread = GROUP_ID * THREADS + LOCAL_ID;
    const REAL va = real_of(a, (SCALAR)0);
    const REAL vb = real_of(b, (SCALAR)0);
    REAL x[CHAINS];
    UNROLLED for (uint c = 0; c < CHAINS; ++c) {
        x[c] = real_of((SCALAR)1 + (SCALAR)((thread * LANES) & 3u) * lane_step + (SCALAR)c * chain_step, lane_step);
    }
    TIMED_BEGIN
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) {
            UNROLLED for (uint c = 0; c < CHAINS; ++c) {
#if defined(STEP_FMA)
                x[c] = fma_of(x[c], va, vb);
#elif defined(STEP_ADD)
                x[c] = add_of(x[c], vb);
#else
                x[c] = mul_of(x[c], (u & 1u) ? vb : va);
#endif
            }
        }
    }
    TIMED_END
    REAL sum = x[0];
    UNROLLED for (uint c = 1; c < CHAINS; ++c) sum = add_of(sum, x[c]);
    out[thread] = sum;
    TIMED_REPORT(times)
}
