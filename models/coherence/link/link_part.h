// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a coherent link becomes a part of boards: [coherent.NAME].

#include <memory>
#include <string>
#include <utility>

#include "models/base/parameters/schema.h"
#include "models/coherence/link/coherent_link.h"
#include "models/part/catalogue.h"

namespace sluice::coherence {

/// Builds the links of one model. `parameters` are an instance's values, of the type that the model was added with.
class LinkFactory : public part::Factory {
 public:
  virtual std::unique_ptr<CoherentLink> build(const char* module_name, const void* parameters) const = 0;
  /// What the link calls its messages, and the size of its lines.
  virtual const Dialect& dialect() const = 0;
};

/// P has a function femtoseconds_per_byte() and a member `common` of type CoherentLatencies.
template <class P>
class LinkFactoryOf final : public LinkFactory {
 public:
  explicit LinkFactoryOf(const Dialect& dialect) : dialect_(dialect) {}
  std::unique_ptr<CoherentLink> build(const char* module_name, const void* parameters) const override {
    const P& p = *static_cast<const P*>(parameters);
    return std::make_unique<CoherentLink>(module_name, dialect_, p.femtoseconds_per_byte(), p.common);
  }
  const Dialect& dialect() const override { return dialect_; }

 private:
  const Dialect& dialect_;
};

/// From now on a board may have [coherent.NAME] with this model. model, title and exceptions are those of
/// part::Catalogue::add().
template <class P>
void add_link(part::Catalogue& catalogue, std::string model, std::string title, const Dialect& dialect) {
  catalogue.add<P>("coherent", std::move(model), std::move(title), std::make_shared<LinkFactoryOf<P>>(dialect));
}

}  // namespace sluice::coherence
