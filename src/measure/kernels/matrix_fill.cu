// Operands of a library product: entry i of a matrix is one of two numbers, so that a few entries of the result can be followed.
KERNEL matrix_fill(OPERAND* data, uint count, uint salt) {
    for (uint i = GROUP_ID * THREADS + LOCAL_ID; i < count; i += GROUPS * THREADS) data[i] = varied(i, salt, 0u);
}
