// SPDX-License-Identifier: Apache-2.0
#include "models/base/registers/register_view.h"

namespace sluice::base {
namespace {

std::vector<RegisterView*>& all_views() {
  static std::vector<RegisterView*> views;
  return views;
}

}  // namespace

RegisterView::RegisterView(std::string owner, Look look) : owner_(std::move(owner)), look_(std::move(look)) {
  all_views().push_back(this);
}

RegisterView::~RegisterView() { std::erase(all_views(), this); }

const std::vector<RegisterView*>& register_views() { return all_views(); }

}  // namespace sluice::base
