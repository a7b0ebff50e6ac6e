// SPDX-License-Identifier: Apache-2.0
// Gives a packet's frame: its headers, then its data from the packet buffer. A beat in every enabled cycle, with none
// between a frame and the next one; a packet of which nothing leaves takes a cycle.
module frame_reader #(
    parameter int Beats = 512
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      enable,       // nothing moves in a cycle without
    input  logic                      in_valid,     // a packet waits
    input  rpc_encoder_pkg::headers_t in_headers,
    input  rpc_encoder_pkg::request_t in_request,
    output logic                      in_taken,
    // The packet buffer, which answers a cycle later.
    output logic                      read,
    output logic [$clog2(Beats)-1:0]  read_at,
    input  logic [511:0]              read_data,
    output logic                      released,     // what the buffer has of the packet
    output logic [7:0]                released_beats,
    output logic                      silent,       // a packet of which nothing leaves ends
    output rpc_encoder_pkg::verdict_t silent_verdict,
    output logic                      out_valid,
    output stream_pkg::beat_t         out_beat,
    output rpc_encoder_pkg::verdict_t out_verdict
);
  localparam int Bits = $clog2(Beats);
  logic                      busy;
  rpc_encoder_pkg::headers_t headers;
  rpc_encoder_pkg::request_t request;
  logic [7:0]                at;    // the frame's beat
  logic [Bits-1:0]           base;  // the packet's place in the buffer
  logic                      ends;
  assign ends           = headers.drops || at == headers.last_beat;
  assign in_taken       = enable && in_valid && (!busy || ends);
  assign read           = enable && busy;
  assign read_at        = base + Bits'(at) - Bits'(1);
  assign released       = enable && busy && ends;
  assign released_beats = headers.beats;
  assign silent         = released && headers.drops;
  assign silent_verdict = headers.verdict;

  always_ff @(posedge clk) begin
    if (rst) begin
      busy <= 1'b0;
      base <= '0;
    end else if (enable) begin
      busy <= in_taken || (busy && !ends);
      if (released) base <= base + Bits'(headers.beats);
    end
    if (enable) at <= in_taken ? 8'd0 : at + 8'd1;
    if (in_taken) begin
      headers <= in_headers;
      request <= in_request;
    end
  end

  // The headers' bytes: what every message has, then a reply's or a call's.
  logic [335:0] below;
  logic [319:0] message;
  logic [655:0] head;
  function automatic logic [47:0] swap48(input logic [47:0] v);
    swap48 = {v[7:0], v[15:8], v[23:16], v[31:24], v[39:32], v[47:40]};
  endfunction
  assign below = {stream_pkg::swap16(headers.udp_checksum), stream_pkg::swap16(headers.udp_length),
                  stream_pkg::swap16(request.peer_port), stream_pkg::swap16(request.own_port),
                  stream_pkg::swap32(request.peer_address), stream_pkg::swap32(request.own_address),
                  stream_pkg::swap16(headers.ipv4_checksum), 8'd17, 8'd64, 16'h0040, 16'd0,
                  stream_pkg::swap16(headers.udp_length + 16'd20), 8'd0, 8'h45, 16'h0008,
                  swap48(request.own_mac), swap48(request.peer_mac)};
  assign message = request.is_call
                       ? {128'd0, stream_pkg::swap32(request.procedure), stream_pkg::swap32(request.version),
                          stream_pkg::swap32(request.program_number), stream_pkg::swap32(32'd2), 32'd0,
                          stream_pkg::swap32(request.xid)}
                       : {64'd0, stream_pkg::swap32(request.version), stream_pkg::swap32(request.program_number),
                          stream_pkg::swap32({29'd0, headers.accept_stat}), 64'd0, 32'd0, stream_pkg::swap32(32'd1),
                          stream_pkg::swap32(request.xid)};
  assign head = {message, below};

  // Next to the buffer's answer.
  logic                      beat_valid, beat_last, beat_first, beat_second, beat_wide;
  logic [6:0]                beat_count;
  logic [511:0]              beat_head;
  rpc_encoder_pkg::verdict_t beat_verdict;
  logic [143:0]              earlier;  // the end of the buffer's answer before
  always_ff @(posedge clk) begin
    if (rst) beat_valid <= 1'b0;
    else if (enable) beat_valid <= busy && !headers.drops;
    if (enable && busy) begin
      beat_last    <= ends;
      beat_first   <= at == 8'd0;
      beat_second  <= at == 8'd1;
      beat_wide    <= headers.is_wide;
      beat_count   <= ends ? {1'b0, headers.last_byte} + 7'd1 : 7'd64;
      beat_verdict <= headers.verdict;
      beat_head    <= at == 8'd0 ? head[511:0] : {368'd0, head[655:512]};
    end
    if (enable && beat_valid) earlier <= read_data[511:368];
  end

  // Data begin 2 bytes behind a beat's start, or 18.
  logic [511:0] merged;
  always_comb begin
    merged = 'x;
    if (enable && beat_valid) begin
      merged = beat_wide ? {read_data[367:0], earlier} : {read_data[495:0], earlier[143:128]};
      if (beat_second && beat_wide) merged[143:0] = beat_head[143:0];
      if (beat_second) merged[15:0] = beat_head[15:0];
      if (beat_first) merged = beat_head;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else if (enable) out_valid <= beat_valid;
    if (enable && beat_valid) begin
      out_beat    <= {1'b0, beat_last, beat_count, merged};
      out_verdict <= beat_verdict;
    end
  end
endmodule
