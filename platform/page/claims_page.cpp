// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "platform/page/pages.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

/// One entry of claims.json (docs/reference/claims.md).
struct ClaimData {
  std::string name, role, source, statement, note, unit, verdict, why, lacks, rows, ordering, parameters;
  std::optional<double> published, modelled, error, within;
  std::optional<std::pair<double, double>> range, interval_95;
  struct Term {
    std::string name, study, board, settings, value;
    std::optional<double> modelled;
    std::optional<std::pair<double, double>> interval_95;
  };
  std::vector<Term> terms;
};

struct Role {
  const char* name;
  const char* title;
};
constexpr std::array<Role, 5> kRoles = {{{"tested", "Tested: nothing in the models was chosen by them"},
                                         {"arithmetic", "Arithmetic: formulas, which test the mechanism"},
                                         {"fitted", "Fitted: a parameter was chosen by them, so they validate nothing"},
                                         {"input", "Inputs: the published value is itself a parameter"},
                                         {"reported", "Reported: nothing is published"}}};

std::string joined(const std::vector<Node>& list, const char* between) {
  std::string text;
  for (const Node& n : list) text += (text.empty() ? "" : between) + n.text();
  return text;
}

ClaimData::Term term_data(const Node& node) {
  ClaimData::Term t{node.at("name").text(),  node.at("study").text(), node.at("board").text(), {},
                    node.at("value").text(), node.number("modelled"), node.ends("interval_95")};
  for (const auto& [path, value] : node.members("settings"))
    t.settings += (t.settings.empty() ? "" : ", ") + path + " = " + value.text();
  return t;
}

ClaimData claim_data(const Node& node) {
  ClaimData c;
  c.name = node.at("name").text();
  c.role = node.text("role");
  c.source = node.text("source");
  c.statement = node.text("statement");
  c.note = node.text("note");
  c.unit = node.text("unit");
  c.verdict = node.at("verdict").text();
  c.why = node.text("why");
  c.lacks = node.text("lacks");
  c.rows = joined(node.list("rows"), ", ");
  c.ordering = joined(node.list("ordering"), " < ");
  c.parameters = joined(node.list("parameters"), ", ");
  c.published = node.number("published");
  c.modelled = node.number("modelled");
  c.error = node.number("error");
  c.within = node.number("within");
  c.range = node.ends("published_range");
  c.interval_95 = node.ends("interval_95");
  for (const Node& t : node.list("terms")) c.terms.push_back(term_data(t));
  return c;
}

bool is_bad(const ClaimData& c) {
  return c.verdict == "off" || c.verdict == "flipped" || c.verdict == "undecided" || c.verdict == "failed";
}

Cell verdict_cell(const ClaimData& c) {
  Cell cell = text_cell(c.verdict);
  if (is_bad(c)) cell.html = "<span class=\"bad\">" + cell.html + "</span>";
  return cell;
}

Cell published_cell(const ClaimData& c) {
  if (c.range) return {fmt::format("{} to {}", short_text(c.range->first), short_text(c.range->second)), {}, true};
  return number_cell(c.published);
}

Cell modelled_cell(const ClaimData& c) {
  return c.modelled ? number_cell(*c.modelled, c.interval_95) : number_cell(std::nullopt);
}

Cell error_cell(const std::optional<double>& error) {
  if (!error) return number_cell(std::nullopt);
  std::string shown = fmt::format("{:+.2f} %", *error * 100);
  if (shown == "-0.00 %" || shown == "+0.00 %") shown.erase(0, 1);
  return {shown, exact_text(*error), true};
}

/// The name, and in small what a reader must know beside it.
Cell claim_cell(const ClaimData& c) {
  std::string small = c.source;
  for (const std::string* text : {&c.note, &c.parameters, &c.rows})
    if (!text->empty()) small += "; " + *text;
  return {fmt::format("{}<br><span class=\"interval\">{}</span>", escaped(c.name), escaped(small)), c.name, false};
}

void add_summary(Document& page, const Node& file, const std::vector<ClaimData>& claims) {
  page.section("What was reproduced");
  if (const auto program = file.find("program"))
    page.paragraph(fmt::format("Program: sluice {}, sources {}.", program->text("version"), program->text("sources")));
  if (const std::string changed = joined(file.list("changed"), ", "); !changed.empty())
    page.html("<p class=\"bad\">With parameters changed: " + escaped(changed) + "</p>\n");
  std::map<std::string, std::size_t> verdicts;
  for (const ClaimData& c : claims) ++verdicts[c.verdict];
  Table table({{"verdict"}, {"claims", true}});
  for (const auto& [verdict, count] : verdicts)
    table.row({text_cell(verdict), number_cell(static_cast<double>(count))});
  page.html(table.html());
  std::string bad;
  for (const ClaimData& c : claims)
    if (is_bad(c)) bad += "<li class=\"bad\">" + escaped(c.name + " " + c.why) + "</li>\n";
  if (!bad.empty()) page.html("<ul>\n" + bad + "</ul>\n");
}

/// Errors of the claims that are not arithmetic, whose errors lie together at zero.
void add_errors(Document& page, const std::vector<ClaimData>& claims) {
  Data data{{{"claim", "claim"},
             {"error", "error (%)", true},
             {"published", "published", true},
             {"modelled", "modelled", true},
             {"unit", "unit"}},
            {}};
  std::vector<std::string> names;
  for (const ClaimData& c : claims) {
    if (!c.error || c.role == "arithmetic") continue;
    names.push_back(c.name);
    data.rows.push_back({c.name, exact_text(*c.error * 100), exact_text(c.published), exact_text(c.modelled), c.unit});
  }
  if (names.empty()) return;
  Dimension row{"claim", "claim", false};
  row.order = names;
  page.section("Errors");
  page.plot({"claim-errors", "Modelled against published",
             "Modelled / published - 1, of every claim with a published value that is no arithmetic.", data,
             dot_spec(row, {"error", "error (%)"}, names.size(), false)});
}

void add_values(Document& page, const std::vector<ClaimData>& claims, const Role& role) {
  Table table(
      {{"claim"}, {"published", true}, {"modelled", true}, {"unit"}, {"error", true}, {"within", true}, {"verdict"}},
      true);
  for (const ClaimData& c : claims)
    if (c.role == role.name && c.ordering.empty() && c.lacks.empty())
      table.row({claim_cell(c), published_cell(c), modelled_cell(c), text_cell(c.unit), error_cell(c.error),
                 c.within ? Cell{fmt::format("{:.4g} %", *c.within * 100), {}, true} : number_cell(std::nullopt),
                 verdict_cell(c)});
  if (table.empty()) return;
  page.subsection(role.title);
  page.html(table.html());
}

void add_orderings(Document& page, const std::vector<ClaimData>& claims) {
  Table table({{"claim"}, {"statement"}, {"order"}, {"modelled"}, {"verdict"}});
  for (const ClaimData& c : claims) {
    if (c.ordering.empty()) continue;
    std::string values;
    for (const ClaimData::Term& t : c.terms)
      if (t.modelled)
        values += fmt::format("{}{} {} {}", values.empty() ? "" : ", ", t.name, short_text(*t.modelled), c.unit);
    table.row({claim_cell(c), text_cell(c.statement), text_cell(c.ordering), text_cell(values), verdict_cell(c)});
  }
  if (table.empty()) return;
  page.subsection("Orderings");
  page.html(table.html());
}

void add_lacking(Document& page, const std::vector<ClaimData>& claims) {
  std::map<std::string, std::vector<const ClaimData*>> by_cause;
  for (const ClaimData& c : claims)
    if (!c.lacks.empty()) by_cause[c.lacks].push_back(&c);
  if (by_cause.empty()) return;
  page.section("What no model holds yet");
  Table table({{"claim"}, {"rows"}, {"statement"}, {"source"}});
  for (const auto& [cause, list] : by_cause) {
    table.group("for lack of " + cause);
    for (const ClaimData* c : list)
      table.row({text_cell(c->name), text_cell(c->rows), text_cell(c->statement), text_cell(c->source)});
  }
  page.html(table.html());
}

/// How each value is made.
void add_origins(Document& page, const std::vector<ClaimData>& claims) {
  Table table({{"claim"}, {"term"}, {"study"}, {"board"}, {"settings"}, {"value"}, {"modelled", true}});
  std::set<std::string> studies;
  for (const ClaimData& c : claims)
    for (const ClaimData::Term& t : c.terms) {
      studies.insert(t.study);
      table.row({text_cell(c.name), text_cell(t.name), text_cell(t.study), text_cell(t.board), text_cell(t.settings),
                 text_cell(t.value), t.modelled ? number_cell(*t.modelled, t.interval_95) : number_cell(std::nullopt)});
    }
  if (table.empty()) return;
  page.section("How the values are made");
  std::string names;
  for (const std::string& s : studies) names += (names.empty() ? "" : ", ") + s;
  page.paragraph(
      "Each study has a directory of its own beside this page, with every result file; `sluice report` makes "
      "a page of it. Studies: " +
      names + ".");
  page.html(table.html());
}

}  // namespace

Document claims_page(const Node& file) {
  std::vector<ClaimData> claims;
  for (const Node& node : file.list("claims")) claims.push_back(claim_data(node));
  Document page("Published and modelled", "Claims of publications beside what the models give");
  add_summary(page, file, claims);
  add_errors(page, claims);
  page.section("Claims");
  for (const Role& role : kRoles) add_values(page, claims, role);
  add_orderings(page, claims);
  add_lacking(page, claims);
  add_origins(page, claims);
  return page;
}

}  // namespace sluice::page
