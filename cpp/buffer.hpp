// A fixed-size, zeroed, 64-byte aligned array that owns its memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace ispca {

inline std::size_t round_up(std::size_t size, std::size_t block) { return (size + block - 1) / block * block; }

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size), data_(allocate(size)) { std::fill_n(data_.get(), size, T(0)); }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* data) const { ::operator delete[](data, kAlignment); }
  };
  static T* allocate(std::size_t size) {
    return static_cast<T*>(::operator new[](std::max<std::size_t>(size, 1) * sizeof(T), kAlignment));
  }
  std::size_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace ispca
