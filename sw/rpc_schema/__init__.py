# SPDX-License-Identifier: Apache-2.0
"""A compiler of the RPC language (RFC 5531, section 12, and RFC 4506) to the schemas of the RPC decoder."""
