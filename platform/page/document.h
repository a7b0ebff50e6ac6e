// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An HTML page that needs nothing beside it: its style, its script and the libraries that draw are inside.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/page/plot.h"

namespace sluice::page {

/// Text between tags or in a quoted attribute. Control characters, which HTML forbids, become U+FFFD.
std::string escaped(std::string_view text);
/// JSON for a <script> element, which nothing in it can end.
std::string script_json(const Json&);

/// A page in the making, from its top to its end.
class Document {
 public:
  explicit Document(std::string title, std::string subtitle = {})
      : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

  /// A heading that the contents list.
  void section(std::string_view title);
  /// A heading below it, which the contents list, too.
  void subsection(std::string_view title);
  /// Text; escaped.
  void paragraph(std::string_view text);
  /// What is HTML already.
  void html(std::string_view html) { body_ += html; }
  /// A heading, the plot, its caption and the link to its numbers. Plots without numbers are left out.
  void plot(Plot plot);

  /// The plots' numbers, by the names that the page gives them: distinct, and fit for file names.
  const std::vector<std::pair<std::string, Data>>& plot_data() const { return data_; }
  /// The whole page. Throws config::UserError when the style, the script or a library is not found.
  std::string text() const;

 private:
  std::string heading(const char* element, std::string_view title, unsigned level);
  std::string unique(std::string_view name);

  struct Entry {
    unsigned level;
    std::string id, title;
  };
  std::string title_, subtitle_;
  std::string body_;
  std::vector<Entry> contents_;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, Data>> data_;
};

}  // namespace sluice::page
