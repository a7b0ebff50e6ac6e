// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Plots and tables of a study's quantities along its parameters.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "platform/page/document.h"
#include "platform/page/study/study.h"

namespace sluice::page {

/// More small plots than this cannot be looked through; then one plot shows the spread, and heat maps are left out.
constexpr std::size_t kMostPanels = 12;

/// An axis as plots show it.
struct ShownAxis {
  const Axis* axis;
  std::string title;               ///< "workload.outstanding (calls)"
  std::string name;                ///< "outstanding"; the whole path where two axes end alike
  bool number;                     ///< every setting is one
  std::vector<std::string> order;  ///< the settings, ascending where they are numbers
};
/// The axes that at least two different settings of the cases lie on. unit_of: the unit of a parameter by its path, for
/// an axis that has none.
std::vector<ShownAxis> varied_axes(const Study&, const std::function<std::string(const std::string&)>& unit_of);

/// "outstanding 4, bytes 64", of these axes but `without`; "" where there are none.
std::string setting_text(const Case&, const std::vector<ShownAxis>& axes, const std::vector<const Axis*>& without = {});

/// Whether less of a quantity is better, as of a latency (-1), more of it, as of a rate (1), or nobody knows (0).
int better(const Quantity&);

/// Adds the plots of a quantity: along each axis, heat maps over each two, or by board where nothing varies.
void add_quantity_plots(Document&, const Study&, const std::vector<ShownAxis>&, const Quantity&);

/// Adds which board is best where: a table and, over two axes, a map.
void add_winners(Document&, const Study&, const std::vector<ShownAxis>&);

}  // namespace sluice::page
