// SPDX-License-Identifier: Apache-2.0
// IPv4 (RFC 791): header checksum, options, no fragments, UDP alone. What lies behind the total length is taken off.
module ipv4_layer (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   enable,
    input  logic                   in_valid,
    input  stream_pkg::beat_t      in_beat,
    input  rpc_decoder_pkg::headers_t in_headers,
    output logic                   out_valid,
    output stream_pkg::beat_t      out_beat,
    output rpc_decoder_pkg::headers_t out_headers,
    // One for each packet, in their order: three cycles after its first beat.
    output logic                   checked_valid,
    output logic                   checked_wrong
);
  localparam logic [7:0] kUdp = 8'd17;

  logic [5:0]             header;  // bytes
  logic [15:0]            total;
  logic                   begins;  // in_beat is the first of its packet
  rpc_decoder_pkg::headers_t headers;
  assign header = {in_beat.data[3:0], 2'b00};
  assign total  = stream_pkg::swap16(in_beat.data[31:16]);
  always_comb begin
    headers = 'x;
    if (in_valid && begins) begin
      headers             = in_headers;
      headers.length      = total - {10'd0, header};
      headers.source      = stream_pkg::swap32(in_beat.data[127:96]);
      headers.destination = stream_pkg::swap32(in_beat.data[159:128]);
      headers.addresses   = {2'd0, in_beat.data[111:96]} + {2'd0, in_beat.data[127:112]} +
                         {2'd0, in_beat.data[143:128]} + {2'd0, in_beat.data[159:144]};
      if (in_headers.reason != rpc_decoder_pkg::NONE) headers.reason = in_headers.reason;
      else if (in_beat.count < 7'd20) headers.reason = rpc_decoder_pkg::TRUNCATED;
      else if (in_beat.data[7:4] != 4'd4 || header < 6'd20 || total < {10'd0, header})
        headers.reason = rpc_decoder_pkg::IPV4_HEADER;
      else if (in_beat.count < {1'b0, header}) headers.reason = rpc_decoder_pkg::TRUNCATED;
      else if (in_beat.data[53] || in_beat.data[52:48] != 5'd0 || in_beat.data[63:56] != 8'd0)
        headers.reason = rpc_decoder_pkg::FRAGMENT;
      else if (in_beat.data[79:72] != kUdp) headers.reason = rpc_decoder_pkg::NOT_UDP;
    end
  end

  // The halfwords of the header, brought down to eight, then to two, then whether they are 0xffff.
  logic [511:0] halfwords;
  logic [127:0] group, sum_of_header;
  logic [31:0]  sum, sum_of_group;
  logic         group_valid, sum_valid;
  always_ff @(posedge clk) begin
    if (rst) begin
      group_valid <= 1'b0;
      sum_valid   <= 1'b0;
      checked_valid <= 1'b0;
    end else if (enable) begin
      group_valid <= in_valid && begins;
      sum_valid   <= group_valid;
      checked_valid <= sum_valid;
    end
  end
  always_comb begin
    halfwords = 'x;
    if (in_valid && begins) begin
      halfwords[511:480] = 32'd0;
      for (int i = 0; i < 15; i++) halfwords[32*i+:32] = header > 6'(4 * i) ? in_beat.data[32*i+:32] : 32'd0;
    end
  end
  ones_sum32 of_header (.halfwords, .sum(sum_of_header));
  ones_sum8 of_group (.halfwords(group), .sum(sum_of_group));
  always_ff @(posedge clk) begin
    if (enable && in_valid && begins) group <= sum_of_header;
    if (enable && group_valid) sum <= sum_of_group;
    if (enable && sum_valid) checked_wrong <= !stream_pkg::is_ones(sum);
  end

  logic                      unused_valid;
  stream_pkg::beat_t         unused_beat;
  rpc_decoder_pkg::headers_t unused_headers;
  stream_strip #(.MetaBits($bits(headers)), .Base(20), .TurnBits(4), .Most(60)) strip (
      .clk, .rst, .enable, .in_valid, .in_beat, .in_begins(begins), .in_meta(headers),
      .in_skip(headers.reason != rpc_decoder_pkg::NONE ? 10'd0 : {4'd0, header}),
      .in_limited(1'b1), .in_limit(headers.reason != rpc_decoder_pkg::NONE ? 16'd0 : total),
      .out_valid, .out_beat, .out_meta(out_headers),
      .whole_valid(unused_valid), .whole_beat(unused_beat), .whole_meta(unused_headers));

endmodule
