// SPDX-License-Identifier: Apache-2.0
// The layers of the RPC decoder side by side, for their benches: `which` says which of them is driven.
module layers_bench (
    input  logic         clk,
    input  logic         rst,
    input  logic         enable,
    input  logic [2:0]   which,  // 0 Ethernet, 1 IPv4, 2 UDP, 3 the call's head, 4 its verifier
    input  logic         in_valid,
    input  logic [511:0] in_data,
    input  logic [6:0]   in_count,
    input  logic         in_last,
    input  logic         in_cut,
    input  logic [3:0]   in_reason,
    input  logic [17:0]  in_addresses,
    input  logic [15:0]  in_length,
    input  logic [15:0]  in_source_port,
    input  logic [15:0]  in_port,
    input  logic [31:0]  in_source,
    input  logic [31:0]  in_destination,
    input  logic [31:0]  in_xid,
    input  logic [31:0]  in_program,
    input  logic [31:0]  in_version,
    input  logic [31:0]  in_procedure,
    output logic         out_valid,
    output logic [511:0] out_data,
    output logic [6:0]   out_count,
    output logic         out_last,
    output logic         out_cut,
    output logic [3:0]   out_reason,
    output logic [17:0]  out_addresses,
    output logic [15:0]  out_length,
    output logic [15:0]  out_source_port,
    output logic [15:0]  out_port,
    output logic [31:0]  out_source,
    output logic [31:0]  out_destination,
    output logic [31:0]  out_xid,
    output logic [31:0]  out_program,
    output logic [31:0]  out_version,
    output logic [31:0]  out_procedure,
    output logic         checked_valid,
    output logic         checked_wrong
);
  stream_pkg::beat_t         in_beat, beats[5], out_beat;
  rpc_decoder_pkg::headers_t in_headers, headers[5], out_headers;
  logic [4:0]                valids;
  logic                      ipv4_valid, ipv4_wrong, udp_valid, udp_wrong;
  assign in_beat    = {in_cut, in_last, in_count, in_data};
  assign in_headers = {in_port, in_program, in_version, in_procedure, in_reason, in_addresses, in_length, in_source_port,
                       in_source, in_destination, in_xid};
  ethernet_layer ethernet (.clk, .rst, .enable, .in_valid(in_valid && which == 3'd0), .in_beat,
                           .out_valid(valids[0]), .out_beat(beats[0]), .out_headers(headers[0]));
  ipv4_layer ipv4 (.clk, .rst, .enable, .in_valid(in_valid && which == 3'd1), .in_beat, .in_headers,
                   .out_valid(valids[1]), .out_beat(beats[1]), .out_headers(headers[1]),
                   .checked_valid(ipv4_valid), .checked_wrong(ipv4_wrong));
  udp_layer udp (.clk, .rst, .enable, .in_valid(in_valid && which == 3'd2), .in_beat, .in_headers,
                 .out_valid(valids[2]), .out_beat(beats[2]), .out_headers(headers[2]),
                 .checked_valid(udp_valid), .checked_wrong(udp_wrong));
  rpc_call_layer rpc_call (.clk, .rst, .enable, .in_valid(in_valid && which == 3'd3), .in_beat, .in_headers,
                           .out_valid(valids[3]), .out_beat(beats[3]), .out_headers(headers[3]));
  rpc_verifier_layer rpc_verifier (.clk, .rst, .enable, .in_valid(in_valid && which == 3'd4), .in_beat, .in_headers,
                                   .out_valid(valids[4]), .out_beat(beats[4]), .out_headers(headers[4]));
  always_comb begin
    out_beat    = beats[0];
    out_headers = headers[0];
    for (int i = 1; i < 5; i++)
      if (which == 3'(i)) begin
        out_beat    = beats[i];
        out_headers = headers[i];
      end
  end
  assign out_valid     = valids != '0;
  assign checked_valid = ipv4_valid || udp_valid;
  assign checked_wrong = udp_valid ? udp_wrong : ipv4_wrong;
  assign {out_cut, out_last, out_count, out_data} = out_beat;
  assign {out_port, out_program, out_version, out_procedure, out_reason, out_addresses, out_length, out_source_port,
          out_source, out_destination, out_xid} = out_headers;
endmodule
