// SPDX-License-Identifier: Apache-2.0
// Makes frames of ONC RPC replies and calls: packets come in by an AXI4-Stream of 512 bits, each with what its headers
// need, and for each a frame leaves, in the same order, when its last byte has come: checksums and lengths stand before
// the data. A beat in every cycle.
//
// A beat comes in when the packet buffer has room for it, so that nothing in front of the buffer ever stands still. What
// is behind it stands still while the output does.
module rpc_encoder #(
    parameter int Schemas = 128,
    parameter int Beats = 512,       // of the packet buffer; a power of two
    parameter int Packets = 32,      // under way in the encoder; a power of two
    parameter int PacketBeats = 144  // of a packet's data; less than Beats
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [63:0]  s_axis_tkeep,   // the first bytes, all of them but in the last beat; 0: there are no data
    input  logic         s_axis_tlast,
    input  logic [331:0] s_axis_tuser,   // request_t, with the first beat
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [63:0]  m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic [3:0]   m_axis_tuser,   // verdict_t
    output logic         silent,         // a packet of which nothing leaves has come to its end
    output logic [3:0]   silent_verdict, // verdict_t
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
  logic                      valid1, released;
  logic [7:0]                number1, released_beats;
  stream_pkg::beat_t         beat1;
  rpc_encoder_pkg::request_t request1;
  encoder_input #(.Beats(Beats), .Packets(Packets), .PacketBeats(PacketBeats)) in (
      .clk, .rst, .in_valid(s_axis_tvalid), .in_ready(s_axis_tready), .in_data(s_axis_tdata), .in_keep(s_axis_tkeep),
      .in_last(s_axis_tlast), .in_request(s_axis_tuser),
      .out_valid(valid1), .out_beat(beat1), .out_number(number1), .out_request(request1),
      .released, .released_beats);

  // The request waits for its data, and for the frame before.
  logic                      begins1, takes, request_valid;
  rpc_encoder_pkg::request_t request;
  assign begins1 = valid1 && number1 == 8'd0;
  queue #(.Bits($bits(request1)), .Depth(Packets)) requests (
      .clk, .rst, .put(begins1), .put_data(request1), .get(takes), .got_valid(request_valid), .got_data(request));

  logic                      sum_valid, total_valid, summary_valid;
  rpc_encoder_pkg::summary_t summary4, summary;
  request_sum sum_of_request (.clk, .rst, .in_valid(begins1), .in_request(request1), .out_valid(sum_valid),
                              .out_summary(summary4));
  queue #(.Bits($bits(summary)), .Depth(Packets)) summaries (
      .clk, .rst, .put(sum_valid), .put_data(summary4), .get(total_valid), .got_valid(summary_valid), .got_data(summary));

  // ------------------------------------------------------------------------------------------------------ data
  logic                      write;
  logic [7:0]                write_entry;
  logic                      write_valid;
  logic [167:0]              write_arms;
  logic [255:0]              write_parts;
  logic                      valid4, valid_a, valid_b, valid_c, valid_d;
  stream_pkg::beat_t         beat4, beat_a, beat_b, beat_c, beat_d;
  rpc_encoder_pkg::verdict_t verdict4, verdict_a, verdict_b, verdict_c, verdict_d;
  logic [255:0]              parts4, parts_a, parts_b, parts_c, parts_d;
  xdr_pkg::place_t           place4, place_a, place_b, place_c, place_d;
  logic [31:0]               keeps_a, keeps_b, keeps_c, keeps_d;
  schema_table #(.Schemas(Schemas)) table_of_schemas (
      .clk, .rst, .in_valid(valid1), .in_beat(beat1), .in_number(number1), .in_request(request1),
      .out_valid(valid4), .out_beat(beat4), .out_place(place4), .out_parts(parts4), .out_verdict(verdict4),
      .write, .write_entry, .write_valid, .write_arms, .write_parts);
  xdr_part #(.MetaBits(4), .Encodes(1)) part0 (
      .clk, .rst, .enable(1'b1), .in_valid(valid4), .in_beat(beat4), .in_meta(verdict4), .in_parts(parts4),
      .in_place(place4),
      .out_valid(valid_a), .out_beat(beat_a), .out_meta(verdict_a), .out_parts(parts_a), .out_place(place_a),
      .in_keeps(32'd0), .out_keeps(keeps_a));
  xdr_part #(.MetaBits(4), .Encodes(1)) part1 (
      .clk, .rst, .enable(1'b1), .in_valid(valid_a), .in_beat(beat_a), .in_meta(verdict_a), .in_parts(parts_a),
      .in_place(place_a),
      .out_valid(valid_b), .out_beat(beat_b), .out_meta(verdict_b), .out_parts(parts_b), .out_place(place_b),
      .in_keeps(keeps_a), .out_keeps(keeps_b));
  xdr_part #(.MetaBits(4), .Encodes(1)) part2 (
      .clk, .rst, .enable(1'b1), .in_valid(valid_b), .in_beat(beat_b), .in_meta(verdict_b), .in_parts(parts_b),
      .in_place(place_b),
      .out_valid(valid_c), .out_beat(beat_c), .out_meta(verdict_c), .out_parts(parts_c), .out_place(place_c),
      .in_keeps(keeps_b), .out_keeps(keeps_c));
  xdr_part #(.MetaBits(4), .Encodes(1)) part3 (
      .clk, .rst, .enable(1'b1), .in_valid(valid_c), .in_beat(beat_c), .in_meta(verdict_c), .in_parts(parts_c),
      .in_place(place_c),
      .out_valid(valid_d), .out_beat(beat_d), .out_meta(verdict_d), .out_parts(parts_d), .out_place(place_d),
      .in_keeps(keeps_c), .out_keeps(keeps_d));

  logic                     valid_f, last_f;
  logic [511:0]             data_f;
  rpc_encoder_pkg::extent_t extent_f, extent;
  logic [28:0]              total;
  marshal_words words (.clk, .rst, .in_valid(valid_d), .in_beat(beat_d), .in_place(place_d), .in_keeps(keeps_d),
                       .in_verdict(verdict_d),
                       .out_valid(valid_f), .out_last(last_f), .out_data(data_f), .out_extent(extent_f));
  payload_sum sum_of_payload (.clk, .rst, .in_valid(valid_f), .in_last(last_f), .in_data(data_f), .in_extent(extent_f),
                              .out_valid(total_valid), .out_total(total), .out_extent(extent));

  // ------------------------------------------------------------------------------------------------------ headers
  logic                      made_valid, headers_valid;
  rpc_encoder_pkg::headers_t made_headers, headers;
  frame_headers make_headers (.clk, .rst, .in_valid(total_valid), .in_total(total), .in_extent(extent), .in_summary(summary),
                              .out_valid(made_valid), .out_headers(made_headers));
  queue #(.Bits($bits(headers)), .Depth(Packets)) ready_packets (
      .clk, .rst, .put(made_valid), .put_data(made_headers), .get(takes), .got_valid(headers_valid), .got_data(headers));

  // ------------------------------------------------------------------------------------------------------ output
  localparam int Bits = $clog2(Beats);
  logic            enable, read;
  logic [Bits-1:0] write_at, read_at;
  logic [511:0]    read_data;
  always_ff @(posedge clk) begin
    if (rst) write_at <= '0;
    else if (valid_f) write_at <= write_at + Bits'(1);
  end
  beat_memory #(.Beats(Beats)) packet_buffer (
      .clk, .write(valid_f), .write_at, .write_data(data_f), .read, .read_at, .read_data);

  logic                      out_valid;
  stream_pkg::beat_t         out_beat;
  rpc_encoder_pkg::verdict_t out_verdict;
  logic [6:0]                axis_out_count;
  frame_reader #(.Beats(Beats)) reader (
      .clk, .rst, .enable, .in_valid(headers_valid), .in_headers(headers), .in_request(request), .in_taken(takes),
      .read, .read_at, .read_data, .released, .released_beats, .silent, .silent_verdict,
      .out_valid, .out_beat, .out_verdict);
  stream_register #(.Bits(512 + 7 + 1 + 4)) out_register (
      .clk, .rst, .in_valid(out_valid), .in_ready(enable),
      .in_data({out_verdict, out_beat.last, out_beat.count, out_beat.data}),
      .out_valid(m_axis_tvalid), .out_ready(m_axis_tready),
      .out_data({m_axis_tuser, m_axis_tlast, axis_out_count, m_axis_tdata}));
  assign m_axis_tkeep = axis_out_count[6] ? 64'hffffffffffffffff : ~(64'hffffffffffffffff << axis_out_count[5:0]);

  encoder_registers #(.Schemas(Schemas)) registers (
      .clk, .rst,
      .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
      .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata),
      .bvalid(s_axil_bvalid), .bready(s_axil_bready),
      .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
      .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata),
      .write, .write_entry, .write_valid, .write_arms, .write_parts,
      .counted(made_valid), .verdict(made_headers.verdict));
endmodule
