#include "arrow.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace gambrel::python {
namespace {

// The layout is fixed by the Arrow C data and stream interfaces.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags, n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
constexpr std::int64_t kNullable = 2;

// A column as Arrow wants it: bits of what is there, offsets and bytes of text, or numbers.
struct Buffers {
    std::string name;
    const char* format = "g";
    std::vector<std::uint8_t> valid;
    std::vector<std::int32_t> offsets;
    std::vector<char> data;
    std::int64_t length = 0, nulls = 0;

    void mark(bool there) {
        if (length % 8 == 0) valid.push_back(0);
        if (there) valid.back() = static_cast<std::uint8_t>(valid.back() | (1U << (length % 8)));
        ++length;
        nulls += there ? 0 : 1;
    }
    template <class T>
    void append(T number) {
        const std::size_t at = data.size();
        data.resize(at + sizeof(T));
        std::memcpy(data.data() + at, &number, sizeof(T));
    }
};

Buffers buffers_of(const Column& column) {
    Buffers out;
    out.name = column.name;
    if (const auto* texts = std::get_if<Texts>(&column.values)) {
        out.format = "u";
        out.offsets.push_back(0);
        for (const auto& text : *texts) {
            if (text) out.data.insert(out.data.end(), text->begin(), text->end());
            out.offsets.push_back(static_cast<std::int32_t>(out.data.size()));
            out.mark(text.has_value());
        }
    } else if (const auto* numbers = std::get_if<Numbers>(&column.values)) {
        for (const auto& number : *numbers) {
            out.append(number.value_or(0.0));
            out.mark(number.has_value());
        }
    } else {
        out.format = "l";
        for (const std::int64_t count : std::get<Counts>(column.values)) {
            out.append(count);
            out.mark(true);
        }
    }
    return out;
}

using Shared = std::shared_ptr<const std::vector<Buffers>>;

// What an exported schema or array owns: the columns, which it shares, and its children.
template <class T>
struct Owned {
    Shared columns;
    std::array<const void*, 3> buffers{};
    std::vector<T> children;
    std::vector<T*> pointers;
};
template <class T>
void release(T* self) {
    auto* owned = static_cast<Owned<T>*>(self->private_data);
    // A consumer that moved a child away has set its release to null.
    for (T& child : owned->children)
        if (child.release) child.release(&child);
    delete owned;
    self->release = nullptr;
}
template <class T>
Owned<T>& own(T* self, const Shared& columns) {
    auto* owned = new Owned<T>{columns, {}, {}, {}};
    self->release = release<T>;
    self->private_data = owned;
    return *owned;
}
template <class T>
void adopt(T* self, Owned<T>& owned) {
    for (T& child : owned.children) owned.pointers.push_back(&child);
    self->n_children = static_cast<std::int64_t>(owned.children.size());
    self->children = owned.pointers.data();
}

ArrowSchema schema_of(const Buffers& column, const Shared& columns) {
    ArrowSchema schema{column.format, column.name.c_str(), nullptr, kNullable, 0, nullptr, nullptr, nullptr, nullptr};
    own(&schema, columns);
    return schema;
}
ArrowArray array_of(const Buffers& column, const Shared& columns) {
    ArrowArray array{column.length, column.nulls, 0, 2, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
    Owned<ArrowArray>& owned = own(&array, columns);
    owned.buffers = {column.valid.data(), column.data.data(), nullptr};
    if (!column.offsets.empty()) {
        owned.buffers = {column.valid.data(), column.offsets.data(), column.data.data()};
        array.n_buffers = 3;
    }
    array.buffers = owned.buffers.data();
    return array;
}

struct Stream {
    Shared columns;
    bool given = false;
};

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    const Shared& columns = static_cast<Stream*>(stream->private_data)->columns;
    *out = {"+s", "", nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr};
    Owned<ArrowSchema>& owned = own(out, columns);
    for (const Buffers& column : *columns) owned.children.push_back(schema_of(column, columns));
    adopt(out, owned);
    return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    auto* state = static_cast<Stream*>(stream->private_data);
    *out = {};  // a released array: the end
    if (std::exchange(state->given, true)) return 0;
    const Shared& columns = state->columns;
    out->length = columns->empty() ? 0 : columns->front().length;
    out->n_buffers = 1;
    Owned<ArrowArray>& owned = own(out, columns);
    for (const Buffers& column : *columns) owned.children.push_back(array_of(column, columns));
    adopt(out, owned);
    out->buffers = owned.buffers.data();  // no bits: no row of the table is absent
    return 0;
}

void release_stream(ArrowArrayStream* stream) {
    delete static_cast<Stream*>(stream->private_data);
    stream->release = nullptr;
}

}  // namespace

void* new_arrow_stream(const Table& table) {
    std::vector<Buffers> columns;
    for (const Column& column : table.columns) columns.push_back(buffers_of(column));
    auto state = std::make_unique<Stream>(Stream{std::make_shared<const std::vector<Buffers>>(std::move(columns))});
    auto* stream = new ArrowArrayStream{get_schema, get_next, [](ArrowArrayStream*) -> const char* { return nullptr; },
                                        release_stream, nullptr};
    stream->private_data = state.release();
    return stream;
}

void free_arrow_stream(void* stream) noexcept {
    auto* owned = static_cast<ArrowArrayStream*>(stream);
    if (owned->release) owned->release(owned);
    delete owned;
}

}  // namespace gambrel::python
