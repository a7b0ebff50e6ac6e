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
  rpc_decoder_pkg::headers_t headers;
  assign header = {in_beat.data[3:0], 2'b00};
  assign total  = stream_pkg::swap16(in_beat.data[31:16]);
  always_comb begin
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

  // The halfwords of the header in groups of eight, each brought down to two, then all to two, then whether it is 0xffff.
  logic [127:0] group;
  logic [31:0]  sum, sum_of_groups;
  logic         group_valid, sum_valid;
  logic         begins;  // in_beat is the first of its packet
  always_ff @(posedge clk) begin
    if (rst) begin
      begins      <= 1'b1;
      group_valid <= 1'b0;
      sum_valid   <= 1'b0;
      checked_valid <= 1'b0;
    end else if (enable) begin
      if (in_valid) begins <= in_beat.last;
      group_valid <= in_valid && begins;
      sum_valid   <= group_valid;
      checked_valid <= sum_valid;
    end
  end
  for (genvar g = 0; g < 4; g++) begin : header_sum
    logic [127:0] halfwords;
    logic [31:0]  sum_of_header;
    for (genvar w = 0; w < 4; w++) begin : words
      if (16 * g + 4 * w < 60) begin : word
        assign halfwords[32*w+:32] = header > 6'(16 * g + 4 * w) ? in_beat.data[128*g+32*w+:32] : 32'd0;
      end else begin : none
        assign halfwords[32*w+:32] = 32'd0;
      end
    end
    ones_sum #(.Count(8)) eight (.halfwords, .sum(sum_of_header));
    always_ff @(posedge clk) if (enable && in_valid && begins) group[32*g+:32] <= sum_of_header;
  end
  ones_sum #(.Count(8)) groups (.halfwords(group), .sum(sum_of_groups));
  always_ff @(posedge clk) begin
    if (enable && group_valid) sum <= sum_of_groups;
    if (enable && sum_valid) checked_wrong <= !stream_pkg::is_ones(sum);
  end

  logic                      unused_valid;
  stream_pkg::beat_t         unused_beat;
  rpc_decoder_pkg::headers_t unused_headers;
  stream_strip #(.MetaBits($bits(headers)), .Base(20), .TurnBits(4)) strip (
      .clk, .rst, .enable, .in_valid, .in_beat, .in_meta(headers),
      .in_skip(headers.reason != rpc_decoder_pkg::NONE ? 10'd0 : {4'd0, header}),
      .in_limited(1'b1), .in_limit(headers.reason != rpc_decoder_pkg::NONE ? 16'd0 : total),
      .out_valid, .out_beat, .out_meta(out_headers),
      .whole_valid(unused_valid), .whole_beat(unused_beat), .whole_meta(unused_headers));

endmodule
