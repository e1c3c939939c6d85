"""Reads an Arrow C stream with ctypes alone, so that the protocol is tested where no library of Arrow's is installed."""
import ctypes as c


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64), ("n_children", c.c_int64),
    ("children", c.POINTER(c.POINTER(Schema))), ("dictionary", c.c_void_p), ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
    ("private_data", c.c_void_p),
]
Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64),
    ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(Array))),
    ("dictionary", c.c_void_p), ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p),
]
Stream._fields_ = [
    ("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
    ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))),
    ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(Stream))), ("release", c.CFUNCTYPE(None, c.POINTER(Stream))),
    ("private_data", c.c_void_p),
]

c.pythonapi.PyCapsule_GetPointer.restype = c.c_void_p
c.pythonapi.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]


def _values(schema, array):
    def there(i):
        bits = c.cast(array.buffers[0], c.POINTER(c.c_uint8))
        return not bits or bits[i // 8] >> (i % 8) & 1

    if schema.format == b"u":
        offsets = c.cast(array.buffers[1], c.POINTER(c.c_int32))
        read = lambda i: c.string_at(array.buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode()
    else:
        data = c.cast(array.buffers[1], c.POINTER({b"g": c.c_double, b"l": c.c_int64}[schema.format]))
        read = lambda i: data[i]
    return [read(i) if there(i) else None for i in range(array.length)]


def columns(result):
    """The table of a result as a dictionary of lists."""
    capsule = result.__arrow_c_stream__()
    stream = c.cast(c.pythonapi.PyCapsule_GetPointer(capsule, b"arrow_array_stream"), c.POINTER(Stream))
    schema, array, end = Schema(), Array(), Array()
    assert stream.contents.get_schema(stream, schema) == 0 and schema.format == b"+s"
    assert stream.contents.get_next(stream, array) == 0 and array.length == len(result.to_dict()["name"])
    assert stream.contents.get_next(stream, end) == 0 and not end.release  # the end of the stream
    out = {}
    for i in range(schema.n_children):
        child = schema.children[i].contents
        out[child.name.decode()] = _values(child, array.children[i].contents)
        # As a consumer does that keeps a column: it takes the child and releases it itself.
        if i % 2:
            array.children[i].contents.release(array.children[i])
    array.release(array)
    schema.release(schema)
    assert not array.release and not schema.release
    return out
