// SPDX-License-Identifier: Apache-2.0
// Takes a header off each packet, and what lies behind a limit. What is left moves to the front; if nothing is, an empty
// packet of one beat is. A packet that has less than its header, or ends before its limit, is marked as cut.
//
// Takes a beat in every enabled cycle. A beat leaves one cycle after the beat that fills it up has come, and a packet's rest
// two cycles after its last beat: at most as many beats leave as have come.
module stream_strip #(
    parameter int MetaBits = 1,
    parameter int Base = 0,      // in_skip is this, an even number, and some multiple of 4 up to
    parameter int TurnBits = 4,  // 4 * (2^TurnBits - 1), or whatever 64 bytes more are, but at most
    parameter int Most = 1023,   // this, if bytes of the packet are left
    parameter bit Limits = 1     // in_limited may be set
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                enable,      // nothing moves in a cycle without
    input  logic                in_valid,
    input  stream_pkg::beat_t   in_beat,
    output logic                in_begins,   // in_beat is the first of its packet, with which come:
    input  logic [MetaBits-1:0] in_meta,
    input  logic [9:0]          in_skip,     // bytes to take off at the start
    input  logic                in_limited,
    input  logic [15:0]         in_limit,    // bytes that are left, and those to take off
    output logic                out_valid,
    output stream_pkg::beat_t   out_beat,
    output logic [MetaBits-1:0] out_meta,    // with each beat of a packet
    // The packet with its header, a cycle after it has come.
    output logic                whole_valid,
    output stream_pkg::beat_t   whole_beat,
    output logic [MetaBits-1:0] whole_meta
);
  // ------------------------------------------------------------------------------------------------------- limit
  logic        under_way;  // in_beat is not the first of its packet
  logic        over;       // the packet's last byte has gone
  logic        held_limited, was_limited;
  logic [15:0] was_left;
  assign was_limited = Limits && held_limited;

  logic        limited, reached, valid, last, cut;
  logic [15:0] limit;
  logic [6:0]  count;
  assign in_begins = !under_way;
  assign limited = under_way ? was_limited : Limits && in_limited;
  assign limit   = under_way ? was_left : in_limit;
  assign reached = limited && limit <= {9'd0, in_beat.count};
  assign valid   = enable && in_valid && !(under_way && over);
  assign count   = reached ? limit[6:0] : in_beat.count;
  assign last    = reached || in_beat.last;
  assign cut     = in_beat.last && !reached && (in_beat.cut || limited);

  always_ff @(posedge clk) begin
    if (rst) begin
      under_way <= 1'b0;
    end else if (enable && in_valid) begin
      under_way   <= !in_beat.last;
      over        <= (under_way && over) || reached;
      if (Limits) begin
        held_limited <= limited;
        was_left     <= limit - 16'd64;
      end
    end
  end

  // ------------------------------------------------------------------------------------------------------ header
  logic [9:0]          was_skip;    // bytes to take off before the next byte that is kept
  logic                hold_valid;
  stream_pkg::beat_t   hold;        // the latest beat of which bytes are left
  logic [MetaBits-1:0] hold_meta;
  logic [6:0]          hold_skip;   // bytes of hold, and of each beat that follows it, that go before the packet's rest

  logic [9:0] skip;
  logic       drops;    // the beat has no byte that is kept, and more beats follow
  logic       nothing;  // the packet ends in the beat, and no byte of it is kept
  logic       joins;    // the beat goes on with the packet in hold
  logic       ends;     // of one that joins: its bytes all fit behind those of hold, and are the packet's last
  logic       gives;
  assign skip    = under_way ? was_skip : in_skip;
  assign drops   = skip >= 10'd64 && !last;
  assign nothing = last && skip >= {3'd0, count};
  assign joins   = hold_valid && !hold.last;
  assign ends    = (was_limited && was_left <= {9'd0, hold_skip}) || (in_beat.last && in_beat.count <= hold_skip);
  assign gives   = enable && hold_valid && (hold.last || in_valid);
  // A beat that joins is not the first of its packet, so that what leaves does not wait for what comes with a first one.
  logic [6:0] joined_count;
  logic       joined_reached, joined_cut;
  assign joined_reached = was_limited && was_left <= {9'd0, in_beat.count};
  assign joined_count   = joined_reached ? was_left[6:0] : in_beat.count;
  assign joined_cut     = in_beat.last && !joined_reached && (in_beat.cut || was_limited);

  always_ff @(posedge clk) begin
    if (rst) begin
      hold_valid  <= 1'b0;
      whole_valid <= 1'b0;
    end else if (enable) begin
      whole_valid <= valid;
      if (valid) hold_valid <= joins ? !ends : !drops;
      else if (hold.last) hold_valid <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (valid) begin
      hold.data  <= in_beat.data;
      hold.count <= count;
      hold.last  <= last;
      hold.cut   <= cut || (!joins && nothing && skip != {3'd0, count});
      if (!joins) begin
        was_skip  <= drops ? skip - 10'd64 : 10'd0;
        hold_skip <= nothing ? count : {1'b0, skip[5:0]};
      end
      if (!under_way) hold_meta <= in_meta;
    end
  end
  assign whole_beat = hold;
  assign whole_meta = hold_meta;

  // ------------------------------------------------------------------------------------------------------ output
  // The rest of hold in its place and the start of in_beat before it, turned to the front by Base and then by some words.
  localparam int kFromIn = Most <= 64 ? Base : 0;     // bytes before it are from in_beat in any case,
  localparam int kFromHold = Most <= 64 ? Most : 64;  // and those from it on are from hold
  logic         leaves_on;  // what leaves is not the first beat of its packet
  logic [31:0]  kept;  // halfwords that are from hold
  logic [3:0]   by;
  logic [511:0] merged, based, by1, by2, by4, by8;
  always_comb begin
    kept   = 32'hffffffff << hold_skip[5:1];
    by     = 4'((hold_skip[5:0] - 6'(Base)) >> 2);
    merged = 'x;
    based  = 'x;
    by1    = 'x;
    by2    = 'x;
    by4    = 'x;
    by8    = 'x;
    if (gives) begin
      for (int i = 0; i < 16; i++)
        if (4 * i + 4 <= kFromIn) begin
          merged[32*i+:32] = in_beat.data[32*i+:32];
        end else if (4 * i >= kFromHold) begin
          merged[32*i+:32] = hold.data[32*i+:32];
        end else if (Base % 4 == 0) begin
          merged[32*i+:32] = kept[2*i] ? hold.data[32*i+:32] : in_beat.data[32*i+:32];
        end else begin
          merged[32*i+:16]    = kept[2*i] ? hold.data[32*i+:16] : in_beat.data[32*i+:16];
          merged[32*i+16+:16] = kept[2*i+1] ? hold.data[32*i+16+:16] : in_beat.data[32*i+16+:16];
        end
      for (int i = 0; i < 16; i++)
        if (Base % 4 == 0) based[32*i+:32] = merged[32*((i+Base/4)%16)+:32];
        else based[32*i+:32] = {merged[32*((i+Base/4+1)%16)+:16], merged[32*((i+Base/4)%16)+16+:16]};
      by1 = based;
      if (TurnBits > 0 && by[0]) for (int i = 0; i < 16; i++) by1[32*i+:32] = based[32*((i+1)%16)+:32];
      by2 = by1;
      if (TurnBits > 1 && by[1]) for (int i = 0; i < 16; i++) by2[32*i+:32] = by1[32*((i+2)%16)+:32];
      by4 = by2;
      if (TurnBits > 2 && by[2]) for (int i = 0; i < 16; i++) by4[32*i+:32] = by2[32*((i+4)%16)+:32];
      by8 = by4;
      if (TurnBits > 3 && by[3]) for (int i = 0; i < 16; i++) by8[32*i+:32] = by4[32*((i+8)%16)+:32];
    end
  end

  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else if (enable) out_valid <= gives;
    if (rst) leaves_on <= 1'b0;
    else if (gives) leaves_on <= !hold.last && !ends;
    if (gives) begin
      out_beat.data <= by8;
      if (!leaves_on) out_meta <= hold_meta;
      if (hold.last) begin
        out_beat.count <= hold.count - hold_skip;
        out_beat.last  <= 1'b1;
        out_beat.cut   <= hold.cut;
      end else begin
        out_beat.count <= 7'd64 - hold_skip + (ends ? joined_count : hold_skip);
        out_beat.last  <= ends;
        out_beat.cut   <= ends && joined_cut;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst && out_valid) assert (out_beat.last ? out_beat.count <= 7'd64 : out_beat.count == 7'd64);
`endif
endmodule
