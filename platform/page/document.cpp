// SPDX-License-Identifier: Apache-2.0
#include "platform/page/document.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "platform/config/resources.h"
#include "platform/config/user_error.h"

namespace sluice::page {
namespace {

/// Nothing is fetched, and no text becomes code: what a name might smuggle in does nothing.
constexpr const char* kPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

/// Longer names of files are cut.
constexpr std::size_t kLongestName = 80;

std::string resource(const std::string& name) {
  for (const auto& directory : config::resource_directories("page")) {
    std::ifstream file(directory / name, std::ios::binary);
    if (file) return {std::istreambuf_iterator<char>(file), {}};
  }
  throw config::UserError(fmt::format(
      "report: {}, which every page has inside, is not found; SLUICE_PAGE may name the directory that has it", name));
}

/// A library with its licence, which goes with every copy, and without the comment that names its source map, which a
/// browser would look for.
std::string library(const std::string& package, const std::string& file) {
  std::string text = resource(file);
  const auto comment = text.rfind("//# sourceMappingURL=");
  if (comment != std::string::npos) text.erase(comment, text.find('\n', comment) - comment);
  return "<script>\n/*\n" + resource("LICENSE." + package) + "*/\n" + text + "\n</script>\n";
}

/// Letters, digits, '.', '_' and '-', beginning with a letter or digit.
std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kLongestName)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    name += plain ? c : '-';
  }
  name.erase(0, name.find_first_not_of("-._"));
  return name.empty() ? "plot" : name;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      case '\n':
      case '\t':
        html += c;
        break;
      default:
        html += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? std::string("\xef\xbf\xbd") : std::string(1, c);
    }
  return html;
}

std::string script_json(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string Document::unique(std::string_view name) {
  const std::string plain = file_name(name);
  // Names that differ only in case are one file on some file systems.
  const auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
    return s;
  };
  std::string tried = plain;
  for (unsigned n = 2; !names_.insert(lower(tried)).second; ++n) tried = fmt::format("{}-{}", plain, n);
  return tried;
}

std::string Document::heading(const char* element, std::string_view title, unsigned level) {
  contents_.push_back({level, unique(title), std::string(title)});
  return fmt::format("<{0} id=\"{1}\">{2}</{0}>\n", element, contents_.back().id, escaped(title));
}

void Document::section(std::string_view title) { body_ += heading("h2", title, 2); }
void Document::subsection(std::string_view title) { body_ += heading("h3", title, 3); }
void Document::paragraph(std::string_view text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

void Document::plot(Plot plot) {
  if (plot.data.rows.empty()) return;
  subsection(plot.title);
  const std::string name = unique(plot.name);
  Json embedded = {{"spec", std::move(plot.spec)}, {"columns", Json::array()}, {"rows", plot.data.rows}};
  for (const Column& c : plot.data.columns)
    embedded["columns"].push_back({{"field", c.field}, {"title", c.title}, {"number", c.number}});
  body_ += fmt::format(
      "<figure id=\"{0}\"><div class=\"plot\" role=\"img\" aria-label=\"{1}\"></div>\n"
      "<figcaption>{2} <a class=\"csv\" href=\"#{0}\" download=\"{0}.csv\">CSV</a></figcaption>\n"
      "<script type=\"application/json\">{3}</script></figure>\n",
      name, escaped(plot.title + ". " + plot.caption), escaped(plot.caption), script_json(embedded));
  data_.emplace_back(name, std::move(plot.data));
}

std::string Document::text() const {
  std::string contents;
  for (const Entry& e : contents_)
    contents += fmt::format("<li class=\"level{}\"><a href=\"#{}\">{}</a></li>\n", e.level, e.id, escaped(e.title));
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
             "<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light "
             "dark\">\n"
             "<title>{}</title>\n<style>\n",
             kPolicy, escaped(title_)) +
         resource("page.css") + "</style>\n</head>\n<body>\n<header>\n<h1>" + escaped(title_) + "</h1>\n" +
         (subtitle_.empty() ? "" : "<p class=\"subtitle\">" + escaped(subtitle_) + "</p>\n") +
         "</header>\n<noscript><p>The plots need JavaScript; their numbers are in the CSV files beside this page.</p>"
         "</noscript>\n<nav aria-label=\"Contents\"><h2>Contents</h2>\n<ul>\n" +
         contents + "</ul></nav>\n<main>\n" + body_ + "</main>\n" + library("vega", "vega.min.js") +
         library("vega-lite", "vega-lite.min.js") + library("vega-interpreter", "vega-interpreter.js") + "<script>\n" +
         resource("page.js") + "</script>\n</body>\n</html>\n";
}

}  // namespace sluice::page
