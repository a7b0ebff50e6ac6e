// SPDX-License-Identifier: Apache-2.0
// The modules of rtl/stream side by side, for their benches: `which` says which of them is driven.
module stream_bench (
    input  logic         clk,
    input  logic         rst,
    input  logic         enable,
    input  logic [2:0]   which,      // 0 to 5 one of the stream_strips, 6 bit_queue, 7 stream_register
    // axis_count
    input  logic [63:0]  keep,
    output logic [6:0]   keep_count,
    // bit_queue
    input  logic         put,
    input  logic         put_bit,
    input  logic         get,
    output logic         got,
    // stream_register
    input  logic         offered,
    output logic         taken,
    input  logic [31:0]  offer,
    output logic         held,
    input  logic         take,
    output logic [31:0]  hold,
    // stream_strip
    input  logic         in_valid,
    input  logic [511:0] in_data,
    input  logic [6:0]   in_count,
    input  logic         in_last,
    input  logic         in_cut,
    input  logic [31:0]  in_meta,
    input  logic [9:0]   in_skip,
    input  logic         in_limited,
    input  logic [15:0]  in_limit,
    output logic         out_valid,
    output logic [511:0] out_data,
    output logic [6:0]   out_count,
    output logic         out_last,
    output logic         out_cut,
    output logic [31:0]  out_meta,
    output logic         whole_valid,
    output logic [511:0] whole_data,
    output logic [6:0]   whole_count,
    output logic         whole_last,
    output logic         whole_cut,
    output logic [31:0]  whole_meta
);
  axis_count keep_counter (.keep, .count(keep_count));

  bit_queue #(.Depth(8)) queue (.clk, .rst, .enable(enable && which == 3'd6), .put, .put_bit, .get, .got);

  stream_register #(.Bits(32)) register (
      .clk, .rst, .in_valid(offered && which == 3'd7), .in_ready(taken), .in_data(offer),
      .out_valid(held), .out_ready(take), .out_data(hold));

  localparam int Strips = 6;
  stream_pkg::beat_t in_beat;
  logic [Strips-1:0] valids, whole_valids;
  stream_pkg::beat_t beats[Strips], whole_beats[Strips];
  logic [31:0]       metas[Strips], whole_metas[Strips];
  assign in_beat = {in_cut, in_last, in_count, in_data};
  for (genvar i = 0; i < Strips; i++) begin : strips
    // Those of the five layers, and one whose header need not be of whole words.
    logic unused_begins;
    localparam int Base = i == 0 ? 14 : i == 1 ? 20 : i == 2 ? 8 : i == 3 ? 32 : i == 4 ? 8 : 2;
    localparam int TurnBits = i == 0 ? 1 : i == 2 ? 0 : i == 5 ? 3 : 4;
    localparam int Most = i == 0 ? 18 : i == 2 ? 8 : i == 5 ? 30 : 1023;
    stream_strip #(.MetaBits(32), .Base(Base), .TurnBits(TurnBits), .Most(Most), .Limits(i != 4)) strip (
        .clk, .rst, .enable, .in_valid(in_valid && which == 3'(i)), .in_beat, .in_begins(unused_begins), .in_meta, .in_skip,
        .in_limited, .in_limit,
        .out_valid(valids[i]), .out_beat(beats[i]), .out_meta(metas[i]),
        .whole_valid(whole_valids[i]), .whole_beat(whole_beats[i]), .whole_meta(whole_metas[i]));
  end
  always_comb begin
    {out_cut, out_last, out_count, out_data}         = beats[0];
    {whole_cut, whole_last, whole_count, whole_data} = whole_beats[0];
    out_meta                                         = metas[0];
    whole_meta                                       = whole_metas[0];
    for (int i = 1; i < Strips; i++)
      if (which == 3'(i)) begin
        {out_cut, out_last, out_count, out_data}         = beats[i];
        {whole_cut, whole_last, whole_count, whole_data} = whole_beats[i];
        out_meta                                         = metas[i];
        whole_meta                                       = whole_metas[i];
      end
  end
  assign out_valid   = valids != '0;
  assign whole_valid = whole_valids != '0;
endmodule
