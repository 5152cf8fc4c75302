//===- LoopReportText.cpp - Reports of loops as text and pictures ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace loopc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static std::string joinOr(const std::vector<std::string> &texts,
                          StringRef none) {
  return texts.empty() ? none.str() : llvm::join(texts, ", ");
}

namespace {
/// A line of a loop's description.
struct Line {
  std::string text;
  enum Kind { Fact, Done, Missed } kind = Fact;
};
} // namespace

/// The node in a body that a remark is about; "" where it is the loop.
static StringRef nodeOf(const ReportedRemark &remark, StringRef loop) {
  return remark.place == loop ? StringRef()
                              : StringRef(remark.place).rsplit('/').second;
}

/// Of one version of the loop.
static void addRemarks(const ReportedLoop &loop, bool isGeneral,
                       std::vector<Line> &lines) {
  for (const ReportedRemark &remark : loop.remarks) {
    if (remark.isGeneral != isGeneral)
      continue;
    StringRef node = nodeOf(remark, loop.path);
    std::string text = node.empty() ? "" : node.str() + ": ";
    text += remark.text;
    if (remark.count > 1)
      text += llvm::formatv(" ({0} times)", remark.count);
    lines.push_back({text, remark.isDone ? Line::Done : Line::Missed});
  }
}

static void addGeneralVersion(const ReportedLoop &loop,
                              std::vector<Line> &lines) {
  if (llvm::none_of(loop.remarks,
                    [](const auto &remark) { return remark.isGeneral; }))
    return;
  lines.push_back({"the version for extents that do not agree:"});
  addRemarks(loop, /*isGeneral=*/true, lines);
}

static std::vector<Line> describe(const ReportedLoop &loop) {
  std::vector<Line> lines;
  auto add = [&](StringRef what, const llvm::Twine &text) {
    lines.push_back({llvm::formatv("{0,-12}{1}", what, text.str()).str()});
  };
  add("trips", loop.trips);
  add("carried", joinOr(loop.carried, "nothing"));
  add("collected", joinOr(loop.collected, "nothing"));
  add("vectors", loop.vectors);
  add("threads", loop.sharedNests ? llvm::Twine(loop.sharedNests) +
                                        " nodes in it are shared out"
                                  : llvm::Twine("one"));
  add("allocations", loop.allocations
                         ? llvm::Twine(loop.allocations) + " in each iteration"
                         : llvm::Twine("none in an iteration"));
  addRemarks(loop, /*isGeneral=*/false, lines);
  addGeneralVersion(loop, lines);
  return lines;
}

static std::vector<Line> describeGone(const ReportedLoop &loop) {
  std::vector<Line> lines{{"is no loop of the code"}};
  addRemarks(loop, /*isGeneral=*/false, lines);
  addGeneralVersion(loop, lines);
  return lines;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The rows of the table that sums all up.
static void printTable(llvm::ArrayRef<ReportedLoop> loops,
                       llvm::raw_ostream &os) {
  static constexpr StringRef kHead[] = {"loop",       "trips",   "carried",
                                        "collected",  "vectors", "threads",
                                        "allocations"};
  std::vector<std::vector<std::string>> rows(1);
  rows[0].assign(std::begin(kHead), std::end(kHead));
  for (const ReportedLoop &loop : loops)
    rows.push_back({std::string(2 * loop.depth, ' ') +
                        StringRef(loop.path).rsplit('/').second.str(),
                    loop.trips, joinOr(loop.carried, "-"),
                    joinOr(loop.collected, "-"), loop.vectors,
                    loop.sharedNests ? "shared" : "one",
                    std::to_string(loop.allocations)});
  std::vector<size_t> widths(std::size(kHead));
  for (const auto &row : rows)
    for (auto [k, cell] : llvm::enumerate(row))
      widths[k] = std::max(widths[k], cell.size());
  for (const auto &row : rows) {
    std::string line;
    for (auto [k, cell] : llvm::enumerate(row))
      line += cell + std::string(widths[k] + 2 - cell.size(), ' ');
    os << StringRef(line).rtrim() << '\n';
  }
}

static void printLines(const ReportedLoop &loop, const std::vector<Line> &lines,
                       llvm::raw_ostream &os) {
  os << '\n' << loop.path << '\n';
  for (const Line &line : lines)
    os << (line.kind == Line::Fact   ? "    "
           : line.kind == Line::Done ? "  + "
                                     : "  - ")
       << line.text << '\n';
}

void loopc::printReport(StringRef model, llvm::ArrayRef<ReportedLoop> loops,
                        llvm::ArrayRef<ReportedLoop> gone,
                        llvm::raw_ostream &os) {
  if (loops.empty() && gone.empty()) {
    os << model << " has no loops\n";
    return;
  }
  if (!loops.empty())
    printTable(loops, os);
  for (const ReportedLoop &loop : loops)
    printLines(loop, describe(loop), os);
  for (const ReportedLoop &loop : gone)
    printLines(loop, describeGone(loop), os);
  os << "\n+ was done, - was not done, and why\n";
}

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

static std::string escape(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

namespace {
/// Boxes below one another, those of inner loops further right.
class Drawing {
public:
  void add(const ReportedLoop &loop, const std::vector<Line> &lines);
  void write(StringRef model, llvm::raw_ostream &os) const;

private:
  static constexpr unsigned kLine = 18, kIndent = 28, kPad = 10, kLetter = 8;
  std::string body;
  llvm::raw_string_ostream shapes{body};
  unsigned top = 40, width = 400;
};
} // namespace

void Drawing::add(const ReportedLoop &loop, const std::vector<Line> &lines) {
  unsigned left = kPad + kIndent * loop.depth;
  size_t longest = loop.path.size();
  for (const Line &line : lines)
    longest = std::max(longest, line.text.size() + 2);
  unsigned boxWidth = longest * kLetter + 2 * kPad;
  unsigned height = (lines.size() + 1) * kLine + kPad;
  shapes << llvm::formatv("<rect x='{0}' y='{1}' width='{2}' height='{3}' "
                          "rx='5' fill='#f6f8fa' stroke='#57606a'/>\n",
                          left, top, boxWidth, height);
  unsigned at = top + kLine;
  auto write = [&](StringRef text, StringRef color, StringRef style) {
    shapes << llvm::formatv("<text x='{0}' y='{1}' fill='{2}'{3}>{4}</text>\n",
                            left + kPad, at, color, style, escape(text));
    at += kLine;
  };
  write(loop.path, "#24292f", " font-weight='bold'");
  for (const Line &line : lines)
    write((line.kind == Line::Fact   ? ""
           : line.kind == Line::Done ? "+ "
                                     : "- ") +
              line.text,
          line.kind == Line::Fact   ? "#24292f"
          : line.kind == Line::Done ? "#116329"
                                    : "#a40e26",
          "");
  top += height + kPad;
  width = std::max(width, left + boxWidth + kPad);
}

void Drawing::write(StringRef model, llvm::raw_ostream &os) const {
  os << llvm::formatv(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' "
            "font-family='monospace' font-size='12' xml:space='preserve'>\n"
            "<rect width='100%' height='100%' fill='white'/>\n"
            "<text x='{2}' y='24' font-size='15'>Loops of {3}</text>\n",
            width, top + kPad, kPad, escape(model))
     << body << "</svg>\n";
}

void loopc::drawReport(StringRef model, llvm::ArrayRef<ReportedLoop> loops,
                       llvm::ArrayRef<ReportedLoop> gone,
                       llvm::raw_ostream &os) {
  Drawing drawing;
  for (const ReportedLoop &loop : loops)
    drawing.add(loop, describe(loop));
  for (const ReportedLoop &loop : gone)
    drawing.add(loop, describeGone(loop));
  drawing.write(model, os);
}
