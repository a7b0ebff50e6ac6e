#pragma once
/// What the DMA workload measured, in the result file and as a table.

#include <string>

#include <nlohmann/json.hpp>

#include "platform/board/board.h"

namespace sluice::report {

/// The member `dma`: one object for each size and state of the caches. docs/reference/result.md has its keys.
nlohmann::ordered_json dma_result(platform::Board&);

/// What is missing or went wrong, as a sentence; empty when all that was asked for has been measured.
std::string dma_failure(platform::Board&);

/// As a person reads it. result: a result file that has `dma`.
std::string dma_table(const nlohmann::ordered_json& result);

}  // namespace sluice::report
