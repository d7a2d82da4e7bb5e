#include "gapcut/state_file.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "gapcut/kernels.hpp"
#include "gapcut/parallel.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#endif

namespace gapcut {
namespace {

constexpr std::int64_t kPage = 4096, kGroup = 16;  // bytes; floats whose zeros are one mask

std::int64_t rounded_up(std::int64_t x, std::int64_t unit) { return (x + unit - 1) / unit * unit; }

std::int64_t mask_bytes(std::int64_t stride) {
    return rounded_up(stride / kGroup * static_cast<std::int64_t>(sizeof(std::uint16_t)), 64);
}

#ifdef _WIN32

[[noreturn]] void none() { throw std::runtime_error("state on disk needs a system with files that have no name"); }
int nameless(const std::string&) { none(); }
void close_file(int) {}
void write_all(int, const char*, std::int64_t, std::int64_t) { none(); }
void read_all(int, char*, std::int64_t, std::int64_t) { none(); }
void read_ahead(int) {}

#else

[[noreturn]] void fail(int wrong, const std::string& what) {
    throw std::system_error(wrong, std::generic_category(), what);
}

int nameless(const std::string& folder) {
    std::string name = folder + "/gapcut-state-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) fail(errno, folder + ": no file for the state");
    unlink(name.c_str());  // gone when the process is
    return file;
}

void close_file(int file) { close(file); }

// Until all is done: `once` does a part and says how much.
template <class F>
void in_parts(std::int64_t bytes, const char* what, F once) {
    for (std::int64_t done = 0; done < bytes;) {
        const auto now = once(done);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) fail(now < 0 ? errno : EIO, what);
        done += now;
    }
}

void write_all(int file, const char* from, std::int64_t bytes, std::int64_t at) {
    in_parts(bytes, "no room for the state on disk", [&](std::int64_t done) {
        return static_cast<std::int64_t>(pwrite(file, from + done, static_cast<std::size_t>(bytes - done), at + done));
    });
}

void read_all(int file, char* to, std::int64_t bytes, std::int64_t at) {
    in_parts(bytes, "the state on disk cannot be read", [&](std::int64_t done) {
        return static_cast<std::int64_t>(pread(file, to + done, static_cast<std::size_t>(bytes - done), at + done));
    });
}

void read_ahead([[maybe_unused]] int file) {
#ifdef POSIX_FADV_WILLNEED
    posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED);
#endif
}

#endif

}  // namespace

StateFile::StateFile(const std::string& folder, std::int64_t floats, std::shared_ptr<Bench> bench, int threads)
    : floats_(floats), stride_(rounded_up(floats, kGroup) + kGroup), bench_(std::move(bench)),
      threads_(std::max(1, threads)) {
    if (stride_ * static_cast<std::int64_t>(sizeof(float)) % kPage == 0) stride_ += kGroup;  // or all share cache sets
    room_ = rounded_up(mask_bytes(stride_) + stride_ * static_cast<std::int64_t>(sizeof(float)), kPage);
    if (bench_->user != nullptr) throw std::logic_error("another state is on the bench");
    file_ = nameless(folder);
    bench_->user = this;
}

StateFile::~StateFile() {
    if (awake()) bench_->user = nullptr;
    if (file_ >= 0) close_file(file_);
}

void StateFile::make_room() {
    const auto floats = bytes_.size() * static_cast<std::size_t>(stride_);
    if (bench_->columns.size() < floats) bench_->columns.resize(floats);
}

std::int64_t StateFile::take() {
    changed_ = true;
    if (free_.empty()) {
        bytes_.push_back(0);
        make_room();
        return std::ssize(bytes_) - 1;
    }
    const auto slot = free_.back();
    free_.pop_back();
    return slot;
}

void StateFile::give(std::int64_t slot) { free_.push_back(slot); }

float* StateFile::at(std::int64_t slot) {
    if (!changed_.load(std::memory_order_relaxed)) changed_.store(true, std::memory_order_relaxed);
    return const_cast<float*>(std::as_const(*this).at(slot));
}

const float* StateFile::at(std::int64_t slot) const {
    if (!awake()) throw std::logic_error("state on disk is not awake");
    return bench_->columns.data() + slot * stride_;
}

std::vector<std::int64_t> StateFile::taken() const {
    std::vector<std::int64_t> slots;
    for (std::int64_t slot = 0; slot < std::ssize(bytes_); ++slot)
        if (std::ranges::find(free_, slot) == free_.end()) slots.push_back(slot);
    return slots;
}

// Masks, then what is not zero. Whole pages are written: of others the system would read the rest first.
void StateFile::write(std::int64_t slot, std::vector<char>& packed) {
    packed.resize(static_cast<std::size_t>(room_) + kPage);
    auto* mask = reinterpret_cast<std::uint16_t*>(packed.data());
    auto* values = reinterpret_cast<float*>(packed.data() + mask_bytes(stride_));
    const auto count = kernels().pack_floats(stride_, std::as_const(*this).at(slot), mask, values);
    bytes_[slot] = rounded_up(mask_bytes(stride_) + count * static_cast<std::int64_t>(sizeof(float)), kPage);
    write_all(file_, packed.data(), bytes_[slot], slot * room_);
}

void StateFile::read(std::int64_t slot, std::vector<char>& packed) {
    packed.resize(static_cast<std::size_t>(room_) + kPage);
    read_all(file_, packed.data(), bytes_[slot], slot * room_);
    kernels().unpack_floats(stride_, reinterpret_cast<const std::uint16_t*>(packed.data()),
                            reinterpret_cast<const float*>(packed.data() + mask_bytes(stride_)),
                            bench_->columns.data() + slot * stride_);
}

void StateFile::wake() {
    if (awake()) return;
    if (bench_->user != nullptr) throw std::logic_error("another state is on the bench");
    make_room();
    const auto slots = taken();
    bench_->packed.resize(static_cast<std::size_t>(threads_));
    parallel_for(std::ssize(slots), threads_,
                 [&](std::int64_t i, int worker) { read(slots[i], bench_->packed[worker]); });
    changed_ = false;
    bench_->user = this;
}

void StateFile::rest() {
    if (!awake()) return;
    if (changed_) {
        const auto slots = taken();
        bench_->packed.resize(static_cast<std::size_t>(threads_));
        parallel_for(std::ssize(slots), threads_,
                     [&](std::int64_t i, int worker) { write(slots[i], bench_->packed[worker]); });
    }
    bench_->user = nullptr;
}

void StateFile::expect() const { read_ahead(file_); }

FloatColumn::FloatColumn(FloatColumn&& other) noexcept
    : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)), file_(other.file_),
      slot_(std::exchange(other.slot_, -1)) {}

void FloatColumn::move_to(StateFile& file) {
    file_ = &file;
    if (size_ == 0) return;
    const std::vector<float> before(std::move(memory_));
    memory_ = {};
    assign(before.data(), before.data() + before.size());
}

void FloatColumn::make_room(std::size_t count) {
    if (file_ == nullptr) {
        memory_.resize(count);
    } else if (count > 0) {  // a shard without edges needs no slot
        if (static_cast<std::int64_t>(count) > file_->floats()) throw std::logic_error("a column longer than its slot");
        if (slot_ < 0) slot_ = file_->take();
    }
    size_ = count;
}

void FloatColumn::assign(std::size_t count, float value) {
    make_room(count);
    std::fill_n(data(), count, value);
}

void FloatColumn::assign(const float* first, const float* last) {
    make_room(static_cast<std::size_t>(last - first));
    std::copy(first, last, data());
}

void FloatColumn::clear() {
    if (slot_ >= 0) file_->give(slot_);
    slot_ = -1;
    size_ = 0;
    memory_ = {};
}

}  // namespace gapcut
