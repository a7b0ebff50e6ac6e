// SPDX-License-Identifier: Apache-2.0
// Finds the service of a call by program, version, procedure and UDP port; of two entries that match, the first. It is
// looked up with the packet's first beat. Three cycles for each beat.
module service_table #(
    parameter int Services = 64  // at most 256, and a multiple of 8
) (
    input  logic                          clk,
    input  logic                          rst,
    input  logic                          enable,
    input  logic                          in_valid,
    input  stream_pkg::beat_t             in_beat,
    input  rpc_decoder_pkg::headers_t     in_headers,
    output logic                          out_valid,
    output stream_pkg::beat_t             out_beat,
    output logic                          out_begins,   // it is the packet's first, from which on there is:
    output rpc_decoder_pkg::call_t        out_call,
    output logic [255:0]                  out_parts,    // part0 is in the lowest bits
    // Software's side, in any cycle.
    input  logic                          write,
    input  logic [7:0]                    write_entry,  // less than Services
    input  logic                          write_valid,  // whether it is to match
    input  rpc_decoder_pkg::service_key_t write_key,
    input  rpc_decoder_pkg::service_t     write_service
);
  logic                      begins;  // in_beat is the first of its packet
  logic                      matched_valid, matched_begins, found_valid, found_begins;
  stream_pkg::beat_t         matched_beat, found_beat;
  rpc_decoder_pkg::headers_t matched_headers, found_headers;
  logic [Services-1:0]       match;
  logic [7:0]                first, found;
  logic                      is_found;

  logic [Services-1:0] valid;
  logic [111:0]        keys[Services];
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (write) valid[write_entry[$clog2(Services)-1:0]] <= write_valid;
    if (write) keys[write_entry[$clog2(Services)-1:0]] <= write_key;
    if (enable && in_valid && begins) begin
      for (int i = 0; i < Services; i++) begin
        match[i] <= 1'b0;
        if (valid[i]) match[i] <= keys[i] == in_headers.key;
      end
    end
  end

  // Of the first eight entries of which one matches, the first that does.
  always_comb begin
    first = 8'd0;
    if (matched_valid && matched_begins) begin
      for (int e = Services - 8; e >= 0; e -= 8) begin
        if (match[e+:8] != 8'd0) begin
          first = 8'(e);
          for (int i = 7; i >= 0; i--) if (match[e+i]) first[2:0] = 3'(i);
        end
      end
    end
  end

  // One entry is read in a cycle: it is memory made of LUTs.
  (* ram_style = "distributed" *) logic [335:0] services[Services];
  logic [335:0] service;
  always_ff @(posedge clk) if (write) services[write_entry[$clog2(Services)-1:0]] <= write_service;
  assign service = services[found[$clog2(Services)-1:0]];

  always_ff @(posedge clk) begin
    if (rst) begin
      begins        <= 1'b1;
      matched_valid <= 1'b0;
      found_valid   <= 1'b0;
      out_valid     <= 1'b0;
    end else if (enable) begin
      if (in_valid) begins <= in_beat.last;
      matched_valid <= in_valid;
      found_valid   <= matched_valid;
      out_valid     <= found_valid;
    end
  end

  always_ff @(posedge clk) begin
    if (enable && in_valid) begin
      matched_beat   <= in_beat;
      matched_begins <= begins;
      if (begins) matched_headers <= in_headers;
    end
    if (enable && matched_valid) begin
      found_beat   <= matched_beat;
      found_begins <= matched_begins;
      if (matched_begins) begin
        found_headers <= matched_headers;
        found         <= first;
        is_found      <= match != '0;
      end
    end
    if (enable && found_valid) begin
      out_beat   <= found_beat;
      out_begins <= found_begins;
      if (found_begins) begin
        out_call.reason           <= found_headers.reason == rpc_decoder_pkg::NONE && !is_found ? rpc_decoder_pkg::NO_SERVICE
                                                                                                : found_headers.reason;
        out_call.owner            <= service[335:320];
        out_call.length           <= found_headers.length;
        out_call.port             <= found_headers.key.port;
        out_call.source_port      <= found_headers.source_port;
        out_call.source           <= found_headers.source;
        out_call.destination      <= found_headers.destination;
        out_call.xid              <= found_headers.xid;
        out_call.function_pointer <= service[319:256];
        out_parts                 <= service[255:0];
      end
    end
  end
endmodule
