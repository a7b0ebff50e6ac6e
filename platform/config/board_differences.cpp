// SPDX-License-Identifier: Apache-2.0
#include "platform/config/board_differences.h"

#include <utility>

namespace sluice::config {
namespace {
/// "build/libsum.so (1a2b3c4d)": the digest tells two builds of a plug-in apart.
std::string plugins_text(const BoardConfig& board) {
  std::string text;
  for (const Plugin& p : board.plugins())
    text += (text.empty() ? "" : ", ") + p.name + " (" + p.sha256.substr(0, 8) + ")";
  return text;
}
}  // namespace

std::vector<Difference> differences(const BoardConfig& first, const BoardConfig& second) {
  std::vector<Difference> result;
  if (plugins_text(first) != plugins_text(second))
    result.push_back({"plugins", plugins_text(first), plugins_text(second)});
  for (const Instance& a : first.instances()) {
    const Instance* b = second.find(a.path());
    if (!b || b->model() != a.model()) {
      result.push_back({a.path(), a.model(), b ? b->model() : ""});
      continue;
    }
    // The model's name may stand for different schemas, if the two boards have different plug-ins.
    for (const auto& p : a.schema().parameters()) {
      const base::Parameter* q = b->schema().find(p->key());
      std::string x = p->text(a.values());
      std::string y = q ? q->text(b->values()) : "";
      if (x != y) result.push_back({a.path() + "." + p->key(), std::move(x), std::move(y)});
    }
    for (const auto& q : b->schema().parameters())
      if (!a.schema().find(q->key())) result.push_back({a.path() + "." + q->key(), "", q->text(b->values())});
  }
  for (const Instance& b : second.instances()) {
    if (!first.find(b.path())) result.push_back({b.path(), "", b.model()});
  }
  return result;
}

}  // namespace sluice::config
