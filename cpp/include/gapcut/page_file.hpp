// Columns of floats that can leave the memory: to a file without a name, of which a part is mapped while it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gapcut {

// Slots of equal size. The space of a slot is taken on disk when it is made, so that a full disk is an error then, not
// a signal later.
class PageFile {
  public:
    // In this folder; slots of so many floats. Throws std::runtime_error where there can be no such file.
    PageFile(const std::string& folder, std::int64_t floats);
    ~PageFile();
    PageFile(const PageFile&) = delete;
    PageFile& operator=(const PageFile&) = delete;

    std::int64_t take();  // a slot with anything in it; throws std::runtime_error where the disk is full
    void give(std::int64_t slot);
    std::int64_t floats() const { return floats_; }

    // Whether slots can be read and written.
    void map();
    void unmap();
    float* at(std::int64_t slot) const;  // throws std::logic_error while they are not mapped

  private:
    void grow(std::int64_t slots);

    std::int64_t floats_, stride_, slots_ = 0;
    std::vector<std::int64_t> free_;
    int file_ = -1;
    bool wanted_ = false;
    char* mapped_ = nullptr;
};

// Some floats, in memory or in a slot.
class FloatColumn {
  public:
    FloatColumn() = default;
    FloatColumn(FloatColumn&& other) noexcept;
    FloatColumn& operator=(FloatColumn&&) = delete;
    ~FloatColumn() { clear(); }

    // From now on in this file, which must outlive it, be mapped, and have slots that are large enough.
    void move_to(PageFile& file);

    void assign(std::size_t count, float value);
    void assign(const float* first, const float* last);
    void clear();  // and its memory, or slot, is free

    float* data() { return slot_ >= 0 ? file_->at(slot_) : memory_.data(); }
    const float* data() const { return slot_ >= 0 ? file_->at(slot_) : memory_.data(); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    float& operator[](std::size_t i) { return data()[i]; }
    float operator[](std::size_t i) const { return data()[i]; }
    const float* begin() const { return data(); }
    const float* end() const { return data() + size_; }

  private:
    void make_room(std::size_t count);

    std::vector<float> memory_;
    std::size_t size_ = 0;
    PageFile* file_ = nullptr;
    std::int64_t slot_ = -1;
};

}  // namespace gapcut
