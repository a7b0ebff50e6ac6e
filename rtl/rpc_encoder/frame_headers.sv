// SPDX-License-Identifier: Apache-2.0
// Lengths and checksums of a packet's frame, five cycles after its data have been added up.
module frame_headers (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    input  logic [28:0]               in_total,    // of the data, whose halfwords are little-endian here
    input  rpc_encoder_pkg::extent_t  in_extent,
    input  rpc_encoder_pkg::summary_t in_summary,
    output logic                      out_valid,
    output rpc_encoder_pkg::headers_t out_headers
);
  localparam logic [15:0] kUdpHeader = 16'd8;
  localparam logic [15:0] kReplyHeader = 16'd24;
  localparam logic [15:0] kVersions = 16'd8;        // behind it
  localparam logic [15:0] kCallHeader = 16'd40;
  localparam logic [15:0] kIpv4Header = 16'd20;
  localparam logic [15:0] kEthernetAndIpv4 = 16'd34;
  // The IPv4 header's other halfwords: version and length, DF, TTL 64 and UDP.
  localparam logic [19:0] kIpv4Words = 20'h04500 + 20'h04000 + 20'h04011;

  logic has_data, is_wrong;
  assign has_data = in_extent.verdict == rpc_encoder_pkg::REPLY || in_extent.verdict == rpc_encoder_pkg::CALL;
  assign is_wrong = !has_data && in_extent.verdict != rpc_encoder_pkg::REFUSAL;

  logic                      folded_valid, length_valid, sum_valid, fold_valid;
  rpc_encoder_pkg::headers_t folded_headers, length_headers, sum_headers, fold_headers;
  rpc_encoder_pkg::summary_t folded_summary;
  logic [16:0]               folded, ipv4_fold, udp_fold;
  logic [15:0]               data_sum, frame_end;
  logic [21:0]               udp_part;
  logic [22:0]               udp_sum;
  logic [19:0]               ipv4_part;
  logic [15:0]               folded_once, udp_once;

  assign folded_once = folded[15:0] + {15'd0, folded[16]};
  assign udp_once    = udp_fold[15:0] + {15'd0, udp_fold[16]};
  assign frame_end   = folded_headers.udp_length + kEthernetAndIpv4 - 16'd1;

  always_ff @(posedge clk) begin
    if (rst) begin
      folded_valid <= 1'b0;
      length_valid <= 1'b0;
      sum_valid    <= 1'b0;
      fold_valid   <= 1'b0;
      out_valid    <= 1'b0;
    end else begin
      folded_valid <= in_valid;
      length_valid <= folded_valid;
      sum_valid    <= length_valid;
      fold_valid   <= sum_valid;
      out_valid    <= fold_valid;
    end
  end

  always_ff @(posedge clk) begin
    if (in_valid) begin
      folded         <= has_data ? {1'b0, in_total[15:0]} + {4'd0, in_total[28:16]} : 17'd0;
      folded_summary <= in_summary;

      folded_headers             <= '0;
      folded_headers.verdict     <= in_extent.verdict;
      folded_headers.drops       <= is_wrong && in_summary.is_call;
      folded_headers.accept_stat <= is_wrong ? rpc_encoder_pkg::kSystemErr : in_summary.accept_stat;
      folded_headers.is_wide     <= in_summary.is_call || in_summary.is_mismatch;
      folded_headers.beats       <= in_extent.beats;
      folded_headers.udp_length  <= kUdpHeader + (in_summary.is_call       ? kCallHeader
                                                  : in_summary.is_mismatch ? kReplyHeader + kVersions
                                                                           : kReplyHeader) +
                                    (has_data ? {in_extent.words[13:0], 2'b00} : 16'd0);
    end
    if (folded_valid) begin
      length_headers           <= folded_headers;
      length_headers.last_beat <= {frame_end[13:6]};
      length_headers.last_byte <= frame_end[5:0];
      // The length is in the pseudo header too.
      udp_part  <= {1'b0, folded_summary.sum} + {5'd0, folded_headers.udp_length, 1'b0} + {19'd0, folded_headers.accept_stat};
      ipv4_part <= {2'd0, folded_summary.addresses} + kIpv4Words + {4'd0, folded_headers.udp_length} + {4'd0, kIpv4Header};
      data_sum  <= stream_pkg::swap16(folded_once);
    end
    if (length_valid) begin
      sum_headers <= length_headers;
      udp_sum     <= {1'b0, udp_part} + {7'd0, data_sum};
      ipv4_fold   <= {1'b0, ipv4_part[15:0]} + {13'd0, ipv4_part[19:16]};
    end
    if (sum_valid) begin
      fold_headers               <= sum_headers;
      fold_headers.ipv4_checksum <= ~(ipv4_fold[15:0] + {15'd0, ipv4_fold[16]});
      udp_fold                   <= {1'b0, udp_sum[15:0]} + {10'd0, udp_sum[22:16]};
    end
    if (fold_valid) begin
      out_headers              <= fold_headers;
      out_headers.udp_checksum <= udp_once == 16'hffff ? 16'hffff : ~udp_once;  // 0 would say that there is none
    end
  end
endmodule
