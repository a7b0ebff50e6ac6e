// SPDX-License-Identifier: Apache-2.0
/// Quantities, numbers, lists and addresses as text, in a board file and after --set.

#include "models/base/parameters/list_text.h"
#include "models/base/parameters/number.h"
#include "models/base/parameters/quantity.h"
#include "models/net/frame.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

std::vector<Bytes> corpus() {
  std::vector<Bytes> inputs;
  for (const char* text : {"379 ns",
                           "0.5us",
                           "18446.744 s",
                           "64 KiB",
                           "1.375 MiB",
                           "16 TiB",
                           "100 Gb/s",
                           "682.6 Gb/s",
                           "3.1 GHz",
                           "10_000_000 Hz",
                           "0.39",
                           "39 %",
                           "128/130",
                           "02:00:00:00:00:01",
                           "10.0.0.2",
                           "255.255.255.255",
                           "ff:ff:ff:ff:ff:ff",
                           "200Gbps",
                           "10 Mbit/s",
                           "1e6",
                           "1.5e3",
                           "1_000_000",
                           "1 M",
                           "2 M/s",
                           "2000000 1/s",
                           "100 calls",
                           "0x8000_0000",
                           "-5",
                           "[a, \"b, c\", 'd']"})
    inputs.push_back(to_bytes(text));
  return inputs;
}

/// What is read can be written, and read again as the same.
template <class Parse, class Text>
void round_trip(std::string_view text, Parse parse, Text to_text) {
  try {
    const auto value = parse(text);
    const std::string written = to_text(value);
    require(parse(written) == value, "written and read again, a quantity is another one");
  } catch (const base::ValueError& e) {
    require(std::string(e.what()).starts_with("must ") || std::string(e.what()).starts_with("has "), e.what());
  }
}

std::string text_of(const std::vector<std::string>& list) {
  std::string text = "[";
  for (const std::string& e : list) text += (text.size() > 1 ? ", " : "") + base::list_element(e);
  return text + "]";
}

}  // namespace

const Target target{
    .name = "quantity",
    .corpus = corpus,
    .words = {"fs",   "ps",  "ns",    "us", "ms", "s", "B",   "kB",    "TB",    "KiB", "TiB", "b/s",
              "Tb/s", "THz", "%",     "/",  "_",  ".", ":",   "-",     " ",     "e9",  "0x",  "99999999999999999999",
              "0",    "bps", "bit/s", "k",  "M",  "G", "1/s", "calls", "bytes", "\"",  "'",   "\\",
              "[",    "]",   ",",     "e-3"},
    .runs = 200'000,
    .full_runs = 5'000'000,
    .longest = 256};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto any_text = [](const auto& v) { return base::to_text(v); };
  fuzz::round_trip(text, base::parse_time, any_text);
  fuzz::round_trip(text, base::parse_bytes, any_text);
  fuzz::round_trip(text, base::parse_bit_rate, any_text);
  fuzz::round_trip(text, base::parse_frequency, any_text);
  fuzz::round_trip(text, base::parse_ratio, any_text);
  const auto digits = [](const auto& v) { return std::to_string(v); };
  fuzz::round_trip(text, base::parse_unsigned, digits);
  fuzz::round_trip(text, base::parse_signed, digits);
  for (const char* unit : {"", "1/s", "calls", "bytes"})
    fuzz::round_trip(
        text, [unit](std::string_view s) { return base::parse_signed(base::without_unit(s, unit, "a number")); },
        digits);
  fuzz::round_trip(text, base::split_list, fuzz::text_of);
  fuzz::round_trip(text, base::unquoted, base::string_text);
  fuzz::round_trip(text, net::parse_mac, [](const auto& v) { return net::to_text(v); });
  fuzz::round_trip(text, net::parse_ipv4, net::ipv4_text);
  return 0;
}
