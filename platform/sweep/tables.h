// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a study gives: study.csv and study.json, in the order of its points. They do not depend on where, when and in
/// which order the points ran; figures of the machines that ran them are in host.csv. docs/reference/study.md documents
/// the files.

#include "platform/study/points.h"
#include "platform/sweep/rows.h"

namespace sluice::sweep {

/// Writes the three files, each whole. Throws config::UserError when one cannot be written.
void write_tables(const study::Points&, const Rows&, const Needs&, const Directory&);

}  // namespace sluice::sweep
