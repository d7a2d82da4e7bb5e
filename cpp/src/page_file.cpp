#include "gapcut/page_file.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#endif

namespace gapcut {
namespace {

constexpr std::int64_t kPage = 4096, kAtOnce = 16;  // bytes; slots made at once

[[noreturn]] void fail(int wrong, const std::string& what) {
    throw std::system_error(wrong, std::generic_category(), what);
}

}  // namespace

#ifdef _WIN32

PageFile::PageFile(const std::string&, std::int64_t floats) : floats_(floats), stride_(0) {
    throw std::runtime_error("state on disk needs a system with mapped files");
}
PageFile::~PageFile() = default;
void PageFile::grow(std::int64_t) {}
void PageFile::map() {}
void PageFile::unmap() {}

#else

PageFile::PageFile(const std::string& folder, std::int64_t floats)
    : floats_(floats), stride_((floats * static_cast<std::int64_t>(sizeof(float)) + kPage - 1) / kPage * kPage) {
    std::string name = folder + "/gapcut-state-XXXXXX";
    file_ = mkstemp(name.data());
    if (file_ < 0) fail(errno, folder + ": no file for the state");
    unlink(name.c_str());  // gone when the process is
}

PageFile::~PageFile() {
    unmap();
    close(file_);
}

void PageFile::grow(std::int64_t slots) {
#ifdef __linux__
    int wrong = EINTR;
    while (wrong == EINTR) wrong = posix_fallocate(file_, slots_ * stride_, (slots - slots_) * stride_);
#else
    const int wrong = ftruncate(file_, slots * stride_) == 0 ? 0 : errno;
#endif
    if (wrong != 0) fail(wrong, "no room for the state on disk");
    const bool again = wanted_;
    unmap();
    slots_ = slots;
    if (again) map();
}

void PageFile::map() {
    wanted_ = true;
    if (mapped_ != nullptr || slots_ == 0) return;
    void* at = mmap(nullptr, static_cast<std::size_t>(slots_ * stride_), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) fail(errno, "no room to map the state");
    mapped_ = static_cast<char*>(at);
#ifdef MADV_POPULATE_WRITE
    // All pages at once, which costs less than one after the other; where that is not known, they come when they are
    // used.
    madvise(at, static_cast<std::size_t>(slots_ * stride_), MADV_POPULATE_WRITE);
#endif
}

void PageFile::unmap() {
    wanted_ = false;
    if (mapped_ != nullptr) munmap(mapped_, static_cast<std::size_t>(slots_ * stride_));
    mapped_ = nullptr;
}

#endif

std::int64_t PageFile::take() {
    if (free_.empty()) {
        const auto before = slots_;
        grow(before + kAtOnce);
        for (auto slot = slots_; slot-- > before;) free_.push_back(slot);
    }
    const auto slot = free_.back();
    free_.pop_back();
    return slot;
}

void PageFile::give(std::int64_t slot) { free_.push_back(slot); }

float* PageFile::at(std::int64_t slot) const {
    if (mapped_ == nullptr) throw std::logic_error("state on disk is not mapped");
    return reinterpret_cast<float*>(mapped_ + slot * stride_);
}

FloatColumn::FloatColumn(FloatColumn&& other) noexcept
    : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)), file_(other.file_),
      slot_(std::exchange(other.slot_, -1)) {}

void FloatColumn::move_to(PageFile& file) {
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
