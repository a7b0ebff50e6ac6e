// SPDX-License-Identifier: Apache-2.0
// The verifier of an ONC RPC call message (RFC 5531); the arguments follow it.
module rpc_verifier_layer (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   enable,
    input  logic                   in_valid,
    input  stream_pkg::beat_t      in_beat,
    input  rpc_decoder_pkg::headers_t in_headers,
    output logic                   out_valid,
    output stream_pkg::beat_t      out_beat,
    output rpc_decoder_pkg::headers_t out_headers
);
  localparam logic [31:0] kAuthNone = 32'd0;
  localparam logic [31:0] kAuthMost = 32'd400;

  logic [31:0]            verifier;
  logic [9:0]                head;
  logic                   begins;  // in_beat is the first of its packet
  rpc_decoder_pkg::headers_t headers;
  assign verifier = stream_pkg::swap32(in_beat.data[63:32]);
  assign head       = 10'd8 + rpc_decoder_pkg::padded(verifier[9:0]);
  always_comb begin
    headers = 'x;
    if (in_valid && begins) begin
      headers        = in_headers;
      headers.length = in_headers.length - {6'd0, head};
      if (in_headers.reason != rpc_decoder_pkg::NONE) headers.reason = in_headers.reason;
      else if (in_beat.count < 7'd8) headers.reason = rpc_decoder_pkg::TRUNCATED;
      else if (stream_pkg::swap32(in_beat.data[31:0]) != kAuthNone || verifier > kAuthMost)
        headers.reason = rpc_decoder_pkg::VERIFIER;
    end
  end

  logic                      unused_valid;
  stream_pkg::beat_t         unused_beat;
  rpc_decoder_pkg::headers_t unused_headers;
  stream_strip #(.MetaBits($bits(headers)), .Base(8), .TurnBits(4), .Limits(0)) strip (
      .clk, .rst, .enable, .in_valid, .in_beat, .in_begins(begins), .in_meta(headers),
      .in_skip(headers.reason != rpc_decoder_pkg::NONE ? 10'd0 : head),
      .in_limited(1'b0), .in_limit(16'd0),
      .out_valid, .out_beat, .out_meta(out_headers),
      .whole_valid(unused_valid), .whole_beat(unused_beat), .whole_meta(unused_headers));
endmodule
