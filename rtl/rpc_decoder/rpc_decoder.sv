// SPDX-License-Identifier: Apache-2.0
// Decodes calls of ONC RPC services: frames come in by an AXI4-Stream of 512 bits, and for each a packet leaves, in the same
// order: a control line with the arguments, or for a frame that is no call nothing but the reason. A beat in every cycle.
// Between the stream registers at both ends all stages stand still while the output does.
module rpc_decoder #(
    parameter int Services = 64
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [63:0]  s_axis_tkeep,   // the first bytes, all of them but in the last beat
    input  logic         s_axis_tlast,
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [63:0]  m_axis_tkeep,   // 0 in the only beat of a frame whose headers are none of a call
    output logic         m_axis_tlast,
    output logic [115:0] m_axis_tuser,   // bits 3 to 0 the reason, with the last beat; then what verdict has
    input  logic         s_axil_awvalid,
    output logic         s_axil_awready,
    input  logic [11:0]  s_axil_awaddr,
    input  logic         s_axil_wvalid,
    output logic         s_axil_wready,
    input  logic [31:0]  s_axil_wdata,
    output logic         s_axil_bvalid,
    input  logic         s_axil_bready,
    input  logic         s_axil_arvalid,
    output logic         s_axil_arready,
    input  logic [11:0]  s_axil_araddr,
    output logic         s_axil_rvalid,
    input  logic         s_axil_rready,
    output logic [31:0]  s_axil_rdata
);
  // ------------------------------------------------------------------------------------------------------ input
  // The mask is a thermometer, so a few of its bits say how many they are.
  logic [6:0] in_count;
  axis_count count_in (.keep(s_axis_tkeep), .count(in_count));

  stream_pkg::beat_t axis_beat, beat0;
  logic              valid0, enable;
  assign axis_beat = {1'b0, s_axis_tlast, in_count, s_axis_tdata};
  stream_register #(.Bits($bits(axis_beat))) in_register (
      .clk, .rst, .in_valid(s_axis_tvalid), .in_ready(s_axis_tready), .in_data(axis_beat),
      .out_valid(valid0), .out_ready(enable), .out_data(beat0));

  // ------------------------------------------------------------------------------------------------------ layers
  logic                   valid1, valid2, valid3, valid4, valid5, valid6;
  stream_pkg::beat_t      beat1, beat2, beat3, beat4, beat5, beat6;
  rpc_decoder_pkg::headers_t headers1, headers2, headers3, headers4, headers5;
  rpc_decoder_pkg::call_t call6;
  logic [255:0]           parts6;
  logic                   begins6;
  logic                   ipv4_valid, ipv4_wrong, udp_valid, udp_wrong;
  ethernet_layer ethernet (.clk, .rst, .enable, .in_valid(valid0), .in_beat(beat0),
                           .out_valid(valid1), .out_beat(beat1), .out_headers(headers1));
  ipv4_layer ipv4 (.clk, .rst, .enable, .in_valid(valid1), .in_beat(beat1), .in_headers(headers1),
                   .out_valid(valid2), .out_beat(beat2), .out_headers(headers2),
                   .checked_valid(ipv4_valid), .checked_wrong(ipv4_wrong));
  udp_layer udp (.clk, .rst, .enable, .in_valid(valid2), .in_beat(beat2), .in_headers(headers2),
                 .out_valid(valid3), .out_beat(beat3), .out_headers(headers3),
                 .checked_valid(udp_valid), .checked_wrong(udp_wrong));
  rpc_call_layer rpc_call (.clk, .rst, .enable, .in_valid(valid3), .in_beat(beat3), .in_headers(headers3),
                           .out_valid(valid4), .out_beat(beat4), .out_headers(headers4));
  rpc_verifier_layer rpc_verifier (.clk, .rst, .enable, .in_valid(valid4), .in_beat(beat4), .in_headers(headers4),
                                   .out_valid(valid5), .out_beat(beat5), .out_headers(headers5));

  logic                          write;
  logic [7:0]                    write_entry;
  logic                          write_valid;
  rpc_decoder_pkg::service_key_t write_key;
  rpc_decoder_pkg::service_t     write_service;
  service_table #(.Services(Services)) table_of_services (
      .clk, .rst, .enable, .in_valid(valid5), .in_beat(beat5), .in_headers(headers5),
      .out_valid(valid6), .out_beat(beat6), .out_begins(begins6), .out_call(call6), .out_parts(parts6),
      .write, .write_entry, .write_valid, .write_key, .write_service);

  // ------------------------------------------------------------------------------------------------------ arguments
  logic                   valid_a, valid_b, valid_c, valid_d;
  stream_pkg::beat_t      beat_a, beat_b, beat_c, beat_d;
  rpc_decoder_pkg::call_t call_a, call_b, call_c, call_d;
  logic [255:0]           parts_a, parts_b, parts_c, parts_d;
  xdr_pkg::place_t        place6, place_a, place_b, place_c, place_d;
  logic [31:0]            unused_keeps_a, unused_keeps_b, unused_keeps_c, unused_keeps_d;
  logic [11:0]            number6;
  always_ff @(posedge clk) begin
    if (rst) begin
      number6 <= 12'd0;
    end else if (enable && valid6) begin
      number6 <= beat6.last ? 12'd0 : number6 + 12'd1;
    end
  end
  assign place6 = {1'b0, begins6, 1'b1, number6, 16'd0, 32'd0};
  xdr_part #(.MetaBits($bits(call6))) part0 (.clk, .rst, .enable, .in_valid(valid6), .in_beat(beat6), .in_meta(call6),
                  .in_parts(parts6), .in_place(place6),
                  .out_valid(valid_a), .out_beat(beat_a), .out_meta(call_a), .out_parts(parts_a), .out_place(place_a),
                  .in_keeps(32'd0), .out_keeps(unused_keeps_a));
  xdr_part #(.MetaBits($bits(call6))) part1 (.clk, .rst, .enable, .in_valid(valid_a), .in_beat(beat_a), .in_meta(call_a),
                  .in_parts(parts_a), .in_place(place_a),
                  .out_valid(valid_b), .out_beat(beat_b), .out_meta(call_b), .out_parts(parts_b), .out_place(place_b),
                  .in_keeps(32'd0), .out_keeps(unused_keeps_b));
  xdr_part #(.MetaBits($bits(call6))) part2 (.clk, .rst, .enable, .in_valid(valid_b), .in_beat(beat_b), .in_meta(call_b),
                  .in_parts(parts_b), .in_place(place_b),
                  .out_valid(valid_c), .out_beat(beat_c), .out_meta(call_c), .out_parts(parts_c), .out_place(place_c),
                  .in_keeps(32'd0), .out_keeps(unused_keeps_c));
  xdr_part #(.MetaBits($bits(call6))) part3 (.clk, .rst, .enable, .in_valid(valid_c), .in_beat(beat_c), .in_meta(call_c),
                  .in_parts(parts_c), .in_place(place_c),
                  .out_valid(valid_d), .out_beat(beat_d), .out_meta(call_d), .out_parts(parts_d), .out_place(place_d),
                  .in_keeps(32'd0), .out_keeps(unused_keeps_d));

  // The checksums' results wait here for the last beats of their packets, which come later by more stages.
  logic ends, ipv4_is_wrong, udp_is_wrong;
  bit_queue #(.Depth(32)) ipv4_checked (
      .clk, .rst, .enable, .put(ipv4_valid), .put_bit(ipv4_wrong), .get(ends), .got(ipv4_is_wrong));
  bit_queue #(.Depth(32)) udp_checked (
      .clk, .rst, .enable, .put(udp_valid), .put_bit(udp_wrong), .get(ends), .got(udp_is_wrong));

  // ------------------------------------------------------------------------------------------------------ output
  // A register before the output, for the classes of the last part's words.
  logic                     valid_e;
  stream_pkg::beat_t        beat_e;
  rpc_decoder_pkg::call_t   call_e;
  xdr_pkg::place_t          place_e;
  logic                     out_valid;
  stream_pkg::beat_t        out_beat;
  rpc_decoder_pkg::call_t   out_call;
  rpc_decoder_pkg::reason_t out_reason;
  always_ff @(posedge clk) begin
    if (rst) valid_e <= 1'b0;
    else if (enable) valid_e <= valid_d;
    if (enable && valid_d) begin
      beat_e  <= beat_d;
      place_e <= place_d;
      if (place_d.begins) call_e <= call_d;
    end
  end
  control_line line (.clk, .rst, .enable, .in_valid(valid_e), .in_beat(beat_e), .in_call(call_e), .in_place(place_e),
                     .ipv4_is_wrong, .udp_is_wrong, .in_ends(ends),
                     .out_valid, .out_beat, .out_call, .out_reason);

  decoder_registers #(.Services(Services)) registers (
      .clk, .rst,
      .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
      .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata),
      .bvalid(s_axil_bvalid), .bready(s_axil_bready),
      .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
      .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata),
      .write, .write_entry, .write_valid, .write_key, .write_service,
      .counted(enable && out_valid && out_beat.last), .reason(out_reason));

  logic [115:0] out_user;
  logic [6:0]   axis_out_count;
  assign out_user = {out_call.port, out_call.destination, out_call.source_port, out_call.source, out_call.owner,
                     out_reason};
  stream_register #(.Bits(512 + 7 + 1 + 116)) out_register (
      .clk, .rst, .in_valid(out_valid), .in_ready(enable),
      .in_data({out_beat.last, out_beat.count, out_user, out_beat.data}),
      .out_valid(m_axis_tvalid), .out_ready(m_axis_tready),
      .out_data({m_axis_tlast, axis_out_count, m_axis_tuser, m_axis_tdata}));
  assign m_axis_tkeep = axis_out_count[6] ? 64'hffffffffffffffff : ~(64'hffffffffffffffff << axis_out_count[5:0]);
endmodule
