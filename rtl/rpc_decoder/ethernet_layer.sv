// SPDX-License-Identifier: Apache-2.0
// Ethernet II (IEEE 802.3), with at most one IEEE 802.1Q tag. The frame check sequence has been taken off.
module ethernet_layer (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      enable,
    input  logic                      in_valid,
    input  stream_pkg::beat_t         in_beat,
    output logic                      out_valid,
    output stream_pkg::beat_t         out_beat,
    output rpc_decoder_pkg::headers_t out_headers
);
  localparam logic [15:0] kIpv4 = 16'h0800;
  localparam logic [15:0] kVlan = 16'h8100;

  logic                      begins;
  logic                      has_tag;
  logic [15:0]               ether_type;
  logic [9:0]                head;
  rpc_decoder_pkg::headers_t headers;
  assign has_tag    = stream_pkg::swap16(in_beat.data[111:96]) == kVlan;
  assign ether_type = stream_pkg::swap16(has_tag ? in_beat.data[143:128] : in_beat.data[111:96]);
  assign head       = has_tag ? 10'd18 : 10'd14;
  always_comb begin
    headers = 'x;
    if (in_valid && begins) begin
      headers = '0;
      if (in_beat.count < 7'd14 || (has_tag && in_beat.count < 7'd18)) headers.reason = rpc_decoder_pkg::TRUNCATED;
      else if (ether_type != kIpv4) headers.reason = rpc_decoder_pkg::NOT_IPV4;
    end
  end

  logic                      unused_valid;
  stream_pkg::beat_t         unused_beat;
  rpc_decoder_pkg::headers_t unused_headers;
  stream_strip #(.MetaBits($bits(headers)), .Base(14), .TurnBits(1), .Most(18)) strip (
      .clk, .rst, .enable, .in_valid, .in_beat, .in_begins(begins), .in_meta(headers),
      .in_skip(headers.reason != rpc_decoder_pkg::NONE ? 10'd0 : head),
      .in_limited(headers.reason != rpc_decoder_pkg::NONE), .in_limit(16'd0),
      .out_valid, .out_beat, .out_meta(out_headers),
      .whole_valid(unused_valid), .whole_beat(unused_beat), .whole_meta(unused_headers));
endmodule
