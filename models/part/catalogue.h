// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a model becomes known to boards, from its own folder or from a plug-in: it adds itself to a catalogue, with its
/// parameters and a factory. A folder of models names its parts in its CMakeLists.txt (sluice_part()).

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/parameters/schema.h"

namespace sluice::part {

/// Builds the instances of a model, or what a parameter names. Each kind of component has a factory derived from it.
class Factory {
 public:
  virtual ~Factory() = default;
};

/// The models that boards may have.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  /// From now on a board may have [KIND.NAME] with this model, whose parameters are P. model: its name in a board file.
  /// title: its name in a sentence, "descriptor NIC". Throws std::logic_error when the kind does not exist or already
  /// has such a model.
  template <class P>
  void add(std::string_view kind, std::string model, std::string title,
           std::shared_ptr<const Factory> factory = nullptr) {
    add_model(kind, {std::move(model), std::move(title), &base::schema_of<P>(), std::move(factory)});
  }

 protected:
  struct Model {
    std::string name;
    std::string title;
    const base::SchemaBase* schema;
    std::shared_ptr<const Factory> factory;  ///< may be null
  };
  virtual void add_model(std::string_view kind, Model) = 0;
};

/// Adds every part of this program's own folders.
void add_built_in_parts(Catalogue&);

}  // namespace sluice::part
