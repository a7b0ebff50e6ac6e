// SPDX-License-Identifier: Apache-2.0
// UDP (RFC 768). What lies behind the datagram is taken off.
module udp_layer (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   enable,
    input  logic                   in_valid,
    input  stream_pkg::beat_t      in_beat,
    input  rpc_decoder_pkg::headers_t in_headers,
    output logic                   out_valid,
    output stream_pkg::beat_t      out_beat,
    output rpc_decoder_pkg::headers_t out_headers,
    // One for each packet, in their order: five cycles after its last beat.
    output logic                   checked_valid,
    output logic                   checked_wrong
);
  localparam logic [15:0] kUdp = 16'h1100;  // the protocol's number as a halfword of the pseudo header

  logic [15:0]            length;
  logic                   begins;  // in_beat is the first of its packet
  rpc_decoder_pkg::headers_t headers;
  assign length = stream_pkg::swap16(in_beat.data[47:32]);
  always_comb begin
    headers = 'x;
    if (in_valid && begins) begin
      headers             = in_headers;
      headers.length      = length - 16'd8;
      headers.source_port = stream_pkg::swap16(in_beat.data[15:0]);
      headers.key.port    = stream_pkg::swap16(in_beat.data[31:16]);
      if (in_headers.reason != rpc_decoder_pkg::NONE) headers.reason = in_headers.reason;
      else if (in_beat.count < 7'd8) headers.reason = rpc_decoder_pkg::TRUNCATED;
      else if (length < 16'd8 || length > in_headers.length) headers.reason = rpc_decoder_pkg::UDP_LENGTH;
    end
  end

  logic                      whole_valid, whole_begins;
  stream_pkg::beat_t         whole_beat;
  rpc_decoder_pkg::headers_t whole_headers;
  stream_strip #(.MetaBits($bits(headers)), .Base(8), .TurnBits(0), .Most(8)) strip (
      .clk, .rst, .enable, .in_valid, .in_beat, .in_begins(begins), .in_meta(headers),
      .in_skip(headers.reason != rpc_decoder_pkg::NONE ? 10'd0 : 10'd8),
      .in_limited(1'b1), .in_limit(headers.reason != rpc_decoder_pkg::NONE ? 16'd0 : length),
      .out_valid, .out_beat, .out_meta(out_headers),
      .whole_valid(whole_valid), .whole_beat(whole_beat), .whole_meta(whole_headers));

  always_ff @(posedge clk) begin
    if (rst) whole_begins <= 1'b1;
    else if (enable && whole_valid) whole_begins <= whole_beat.last;
  end
  udp_checksum checksum (
      .clk, .rst, .enable, .in_valid(whole_valid), .in_beat(whole_beat), .in_begins(whole_begins),
      .in_pseudo({3'd0, whole_headers.addresses} + {5'd0, kUdp} +
                 {5'd0, stream_pkg::swap16(whole_headers.length + 16'd8)}),
      .out_valid(checked_valid), .out_wrong(checked_wrong));
endmodule
