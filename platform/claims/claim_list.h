// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The one list of claims, with the studies that make their values.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/claims/claim.h"
#include "platform/study/points.h"

namespace sluice::claims {

/// Where a term's value is.
struct CaseOfStudy {
  std::size_t study = 0;  ///< of ClaimList::studies()
  std::size_t number = 0;
};

/// A study that claims name.
struct ClaimedStudy {
  std::string path;       ///< as a user may name it
  std::string canonical;  ///< the same for every name
  std::unique_ptr<study::Points> points;
};

class ClaimList {
 public:
  /// Reads the files, the studies that they name and the boards of these. Throws config::UserError for a claim whose
  /// study has no such case, or several, and for one that says more than it may: check_honesty() of honesty.h. The
  /// registry and the directories must outlive the list.
  ClaimList(const std::vector<std::string>& files, const config::Registry&, const config::BoardDirectories&);

  /// Makes the studies of the claims of these numbers anew, measuring what these need, and with settings on top of all,
  /// as --set has them. Throws config::UserError for one that a study sweeps.
  void prepare(const std::vector<std::size_t>& claims, const std::vector<std::string>& changed);

  const std::vector<Claim>& claims() const { return claims_; }
  const std::vector<ClaimedStudy>& studies() const { return studies_; }
  /// Of each term of a claim.
  const std::vector<CaseOfStudy>& cases_of(std::size_t claim) const { return cases_[claim]; }
  /// Of a fitted claim: the parameters that were fitted to it, as "root.read_latency".
  std::vector<std::string> fitted_to(const std::string& claim) const;

  /// The claims that one of the names means, in the order of the list: that name, those below it ("pcie.read" means
  /// pcie.read.warm.64), or a row of the calibration page ("V5"). All, where there are no names. Throws
  /// config::UserError for a name that means none.
  std::vector<std::size_t> chosen(const std::vector<std::string>& names) const;

 private:
  std::size_t study_of(const Term&);
  CaseOfStudy case_of(const Claim&, const Term&, std::size_t study) const;

  const config::Registry& registry_;
  const config::BoardDirectories& directories_;
  std::vector<Claim> claims_;
  std::vector<ClaimedStudy> studies_;
  std::vector<std::vector<CaseOfStudy>> cases_;
  std::map<std::string, std::vector<std::string>> fitted_;
};

/// The files of claims that are shipped, sorted by name.
std::vector<std::string> shipped_claims();

}  // namespace sluice::claims
