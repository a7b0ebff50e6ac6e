// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/device_tree_text.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <libfdt.h>

namespace sluice::platform {
namespace {

class Printer {
 public:
  explicit Printer(const void* tree) : tree_(tree) {}

  std::string print() {
    text_ = "/dts-v1/;\n\n";
    for (int i = 0; i < fdt_num_mem_rsv(tree_); ++i) {
      std::uint64_t address = 0, size = 0;
      checked(fdt_get_mem_rsv(tree_, i, &address, &size));
      text_ += fmt::format("/memreserve/ {:#x} {:#x};\n", address, size);
    }
    node(0, 0);
    return std::move(text_);
  }

 private:
  static int checked(int result) {
    if (result < 0) throw std::runtime_error(fmt::format("device tree: {}", fdt_strerror(result)));
    return result;
  }

  void line(int depth, const std::string& what) { text_ += std::string(static_cast<std::size_t>(depth), '\t') + what; }

  void node(int offset, int depth) {
    const std::string name = fdt_get_name(tree_, offset, nullptr);
    line(depth, (name.empty() ? "/" : name) + " {\n");
    int property = 0;
    fdt_for_each_property_offset(property, tree_, offset) {
      const char* key = nullptr;
      int length = 0;
      const auto* bytes = static_cast<const char*>(fdt_getprop_by_offset(tree_, property, &key, &length));
      if (!bytes) checked(length);
      const std::string value = value_text(key, {bytes, static_cast<std::size_t>(length)});
      line(depth + 1, fmt::format("{}{}{};\n", key, value.empty() ? "" : " = ", value));
    }
    int child = 0;
    bool first = fdt_first_property_offset(tree_, offset) < 0;
    fdt_for_each_subnode(child, tree_, offset) {
      if (!first) text_ += "\n";
      first = false;
      node(child, depth + 1);
    }
    line(depth, "};\n");
  }

  static bool is_printable(char c) { return c >= ' ' && c <= '~'; }

  /// Whether the value is a list of terminated, non-empty strings. Other data rarely looks like that, and if it does,
  /// its source as strings compiles to the same bytes.
  static bool is_strings(std::string_view value) {
    if (value.empty() || value.back() != '\0' || value.front() == '\0') return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\0' ? i + 1 < value.size() && value[i + 1] == '\0' : !is_printable(value[i])) return false;
    }
    return true;
  }

  std::string value_text(const std::string& key, std::string_view value) const {
    if (value.empty()) return {};
    if (std::string text = references_text(key, value); !text.empty()) return text;
    if (is_strings(value)) return strings_text(value);
    if (value.size() % 4 == 0) {
      std::string text;
      for (std::size_t i = 0; i < value.size(); i += 4) text += fmt::format(" {:#x}", cell(value, i));
      return "<" + text.substr(1) + ">";
    }
    std::string text;
    for (const char c : value) text += fmt::format(" {:02x}", static_cast<unsigned char>(c));
    return "[" + text.substr(1) + "]";
  }

  static std::string strings_text(std::string_view value) {
    std::string text = "\"";
    value.remove_suffix(1);
    for (const char c : value) {
      if (c == '\0')
        text += "\", \"";
      else if (c == '"' || c == '\\')
        text += {'\\', c};
      else
        text += c;
    }
    return text + "\"";
  }

  static std::uint32_t cell(std::string_view value, std::size_t at) {
    std::uint32_t cell = 0;
    for (std::size_t i = at; i < at + 4; ++i) cell = cell << 8 | static_cast<unsigned char>(value[i]);
    return cell;
  }

  /// Source of a list of phandles, such as <&{/path} 0x1>, from which dtc sees that they refer to nodes. Each phandle
  /// is followed by as many cells as its node demands for this property. Empty: the property is no such list, or it is
  /// damaged.
  std::string references_text(const std::string& key, std::string_view value) const {
    const auto known = std::find_if(std::begin(kReferences), std::end(kReferences),
                                    [&](const Reference& r) { return key == r.property; });
    if (known == std::end(kReferences) || value.size() % 4 != 0) return {};
    std::string text;
    for (std::size_t at = 0; at < value.size();) {
      const int target = fdt_node_offset_by_phandle(tree_, cell(value, at));
      char path[kLongestPath];
      if (target < 0 || fdt_get_path(tree_, target, path, sizeof path) != 0) return {};
      text += fmt::format("{}&{{{}}}", text.empty() ? "" : " ", path);
      at += 4;
      int length = 0;
      const void* arguments = fdt_getprop(tree_, target, known->cells, &length);
      std::uint32_t count = length == 4 ? cell({static_cast<const char*>(arguments), 4}, 0) : 0;
      for (; count > 0; --count, at += 4) {
        if (at + 4 > value.size()) return {};
        text += fmt::format(" {:#x}", cell(value, at));
      }
    }
    return "<" + text + ">";
  }

  struct Reference {
    const char* property;
    const char* cells;  ///< property of the named node with the number of cells that follow; empty: none follow
  };
  static constexpr Reference kReferences[] = {{"interrupt-parent", ""},
                                              {"interrupts-extended", "#interrupt-cells"},
                                              {"msi-parent", "#msi-cells"},
                                              {"regmap", ""},
                                              {"cpu", ""},
                                              {"riscv,children", ""}};
  static constexpr int kLongestPath = 512;

  const void* tree_;
  std::string text_;
};

}  // namespace

std::string device_tree_text(const std::vector<std::uint8_t>& blob) {
  if (fdt_check_full(blob.data(), blob.size()) != 0) throw std::runtime_error("device tree: it is damaged");
  return Printer(blob.data()).print();
}

}  // namespace sluice::platform
