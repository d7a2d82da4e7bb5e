// Columns of floats that can leave the memory: packed into a file without a name, and back while they are used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gapcut {

class StateFile;

// Memory in which the columns of one file at a time stand. Files that take turns share it: the system is asked for it
// once, not at every turn.
struct Bench {
    std::vector<float> columns;
    std::vector<std::vector<char>> packed;  // a column, of each thread
    const StateFile* user = nullptr;
};

// Slots of equal size. Zeros, which are half of the state of a learner, are kept as a bit each.
class StateFile {
  public:
    // In this folder; slots of so many floats; `threads` pack and unpack them. Begins awake. Throws std::system_error
    // where there can be no such file, and wherever the disk is full or cannot be read.
    StateFile(const std::string& folder, std::int64_t floats, std::shared_ptr<Bench> bench, int threads);
    ~StateFile();
    StateFile(const StateFile&) = delete;
    StateFile& operator=(const StateFile&) = delete;

    std::int64_t take();  // a slot with anything in it
    void give(std::int64_t slot);
    std::int64_t floats() const { return floats_; }

    void wake();          // to the bench, which no other file may be using
    void rest();          // to the disk, unless none can have changed; the bench is free
    void expect() const;  // it will be woken next: the system may begin to read

    // Throw std::logic_error while it rests. What is not const may change the slot.
    float* at(std::int64_t slot);
    const float* at(std::int64_t slot) const;

  private:
    std::vector<std::int64_t> taken() const;
    void write(std::int64_t slot, std::vector<char>& packed);
    void read(std::int64_t slot, std::vector<char>& packed);
    void make_room();
    bool awake() const { return bench_->user == this; }

    std::int64_t floats_, stride_, room_;  // floats of a slot on the bench, bytes of one in the file
    std::shared_ptr<Bench> bench_;
    int threads_, file_ = -1;
    std::vector<std::int64_t> bytes_, free_;  // of each slot in the file; slots that nobody has
    std::atomic<bool> changed_{false};
};

// Some floats, in memory or in a slot.
class FloatColumn {
  public:
    FloatColumn() = default;
    FloatColumn(FloatColumn&& other) noexcept;
    FloatColumn& operator=(FloatColumn&&) = delete;
    ~FloatColumn() { clear(); }

    // From now on in this file, which must outlive it, be awake whenever this is used, and have slots that are large
    // enough.
    void move_to(StateFile& file);

    void assign(std::size_t count, float value);
    void assign(const float* first, const float* last);
    void clear();  // and its memory, or slot, is free

    float* data() { return slot_ >= 0 ? file_->at(slot_) : memory_.data(); }
    const float* data() const { return slot_ >= 0 ? static_cast<const StateFile*>(file_)->at(slot_) : memory_.data(); }
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
    StateFile* file_ = nullptr;
    std::int64_t slot_ = -1;
};

}  // namespace gapcut
