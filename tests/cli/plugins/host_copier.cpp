// SPDX-License-Identifier: Apache-2.0
/// A device behind a coherent link that copies host memory and interrupts, a plug-in of test_bus_plugins.py. It is the
/// home of lines, too, which it gives to nobody.
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "platform/plugin/plugin.h"
using namespace sluice;

class HostCopier : public base::Model, public base::LineHome {
  base::RegisterBank bank_{path(), 64};

 public:
  static constexpr std::uint64_t kSize = 64, kLinesSize = 4096;
  static constexpr const char* kCompatible = "test,host-copier";
  base::RegisterSocket socket{"socket", bank_};

  explicit HostCopier(sc_core::sc_module_name name) : Model(name) {
    bank_.add({.name = "from", .offset = 0, .width = 8, .on_write = [this](const auto& w) { from_ = w.value; }});
    bank_.add({.name = "to", .offset = 8, .width = 8, .on_write = [this](const auto& w) { to_ = w.value; }});
    bank_.add({.name = "message", .offset = 16, .width = 8, .on_write = [this](const auto& w) { message_ = w.value; }});
    bank_.add({.name = "data", .offset = 24, .width = 8, .on_write = [this](const auto& w) { data_ = w.value; }});
    bank_.add({.name = "bytes", .offset = 32, .width = 8, .on_write = [this](const auto& w) { copy(w.value); }});
    bank_.add({.name = "failed", .offset = 40, .width = 8, .access = base::Access::ro, .on_read = [this](unsigned) {
                 return failed_;
               }});
  }
  void set_host(base::HostAccess& host) { host_ = &host; }
  void attach(base::LineCaches& caches, std::uint64_t) override { caches_ = &caches; }
  void line_requested(const base::LineRequest& request) override { caches_->refuse(request.number); }
  void line_written(const base::LineWritten&) override {}

 private:
  void copy(std::uint64_t bytes) {
    host_->read(from_, static_cast<std::uint32_t>(bytes), [this](const base::HostRead& r) {
      if (!r.ok) return end(false);
      host_->write({.address = to_, .bytes = r.bytes}, [this](bool ok) { end(ok); });
    });
  }
  void end(bool ok) {
    failed_ += !ok;
    host_->interrupt(message_, static_cast<std::uint32_t>(data_));
  }
  void register_statistics(base::StatisticsGroup& group) override { bank_.register_statistics(group); }

  base::HostAccess* host_ = nullptr;
  base::LineCaches* caches_ = nullptr;
  std::uint64_t from_ = 0, to_ = 0, message_ = 0, data_ = 0, failed_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_bus_device<HostCopier>("host-copier", "copies host memory"); }
