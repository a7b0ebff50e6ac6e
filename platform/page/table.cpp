// SPDX-License-Identifier: Apache-2.0
#include "platform/page/table.h"

#include <fmt/format.h>

#include "platform/page/data.h"
#include "platform/page/document.h"

namespace sluice::page {

namespace {

/// A long path may go on in the next line behind each of its dots and underscores.
std::string breakable(const std::string& html) {
  std::string text;
  for (const char c : html) {
    text += c;
    if (c == '.' || c == '_') text += "<wbr>";
  }
  return text;
}

}  // namespace

Cell text_cell(std::string_view text) { return {escaped(text), {}, false}; }

Cell number_cell(const std::optional<double>& value) {
  if (!value) return {{}, {}, true};
  const std::string shown = short_text(*value), exact = exact_text(*value);
  return {shown, exact == shown ? std::string() : exact, true};
}

Cell number_cell(double value, const std::optional<std::pair<double, double>>& interval_95) {
  Cell cell = number_cell(value);
  if (!interval_95) return cell;
  if (cell.sorted_by.empty()) cell.sorted_by = exact_text(value);
  cell.html += fmt::format(" <span class=\"interval\">({} to {})</span>", short_text(interval_95->first),
                           short_text(interval_95->second));
  return cell;
}

void Table::row(const std::vector<Cell>& cells) {
  rows_ += "<tr>";
  for (const Cell& c : cells)
    rows_ += fmt::format("<td{}{}>{}</td>", c.number ? " class=\"number\"" : "",
                         c.sorted_by.empty() ? "" : fmt::format(" data-v=\"{}\"", escaped(c.sorted_by)), c.html);
  rows_ += "</tr>\n";
}

void Table::group(std::string_view title) {
  rows_ += fmt::format("<tr class=\"group\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>\n", heads_.size(),
                       escaped(title));
}

std::string Table::html() const {
  std::string html = "<div class=\"table\"><table>\n<thead><tr>";
  for (const Head& h : heads_) {
    const std::string title = breakable(escaped(h.title));
    html += fmt::format("<th scope=\"col\"{}>{}</th>", h.number ? " class=\"number\"" : "",
                        sortable_ && !title.empty() ? "<button type=\"button\">" + title + "</button>" : title);
  }
  return html + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody>\n</table></div>\n";
}

}  // namespace sluice::page
