"""The wire format of protobuf, and the blocks of an Nsight Compute report, as far as make_examples.py needs them."""
import struct


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def number(tag, value):
    return varint(tag << 3) + varint(value)


def real(tag, value):
    return varint(tag << 3 | 1) + struct.pack("<d", value)


def blob(tag, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(value)) + value


def sized(message):
    return struct.pack("<I", len(message)) + message


def block(kernels=(), strings=(), session=b""):
    payload = b"".join(sized(kernel) for kernel in kernels)
    header = number(1, 0) + number(2, len(kernels)) + (blob(3, session) if session else b"")
    header += blob(4, b"".join(blob(1, name) for name in strings)) + number(5, len(payload))
    return sized(header + number(7, 0) + number(8, 0) + number(9, 0)) + payload
