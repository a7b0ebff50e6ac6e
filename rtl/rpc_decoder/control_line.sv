// SPDX-License-Identifier: Apache-2.0
// Puts the control line's head before the arguments and turns their words to little-endian. A frame that is no call
// becomes an empty packet; that a call's arguments are wrong is known with its last beat alone.
//
// The head: bit 0 valid, bits 3 to 1 type, bits 19 to 4 length of the arguments in bytes, bits 63 to 32 transaction id,
// bits 127 to 64 function pointer.
module control_line (
    input  logic                     clk,
    input  logic                     rst,
    input  logic                     enable,
    input  logic                     in_valid,
    input  stream_pkg::beat_t        in_beat,
    input  rpc_decoder_pkg::call_t   in_call,         // the same with each beat of a packet
    input  xdr_pkg::place_t          in_place,
    input  logic                     ipv4_is_wrong,   // the checksums of the packet whose last beat this is
    input  logic                     udp_is_wrong,
    output logic                     in_ends,
    output logic                     out_valid,
    output stream_pkg::beat_t        out_beat,
    output rpc_decoder_pkg::call_t   out_call,
    output rpc_decoder_pkg::reason_t out_reason       // with the last beat
);
  localparam logic [2:0] kRpcCall = 3'd3;

  logic is_call;  // as far as its headers say
  assign is_call = in_call.reason == rpc_decoder_pkg::NONE;

  assign in_ends = in_valid && in_beat.last;

  // The verdict at the packet's last beat.
  rpc_decoder_pkg::reason_t verdict;
  logic                     is_short;  // the arguments end before the schema does
  assign is_short = !in_place.known || in_place.start > {in_place.beat, 4'd0} + {11'd0, in_beat.count[6:2]};
  always_comb begin
    if (!in_beat.last) verdict = rpc_decoder_pkg::NONE;
    else if (!is_call && in_call.reason < rpc_decoder_pkg::IPV4_CHECKSUM) verdict = in_call.reason;
    else if (ipv4_is_wrong) verdict = rpc_decoder_pkg::IPV4_CHECKSUM;
    else if (!is_call && in_call.reason < rpc_decoder_pkg::UDP_CHECKSUM) verdict = in_call.reason;
    else if (in_beat.cut) verdict = rpc_decoder_pkg::TRUNCATED;
    else if (udp_is_wrong) verdict = rpc_decoder_pkg::UDP_CHECKSUM;
    else if (!is_call) verdict = in_call.reason;
    else if (in_place.wrong || is_short) verdict = rpc_decoder_pkg::ARGUMENTS;
    else verdict = rpc_decoder_pkg::NONE;
  end

  // The words of the previous beat that belong to the next one that leaves, and the one before them, for a hyper's half.
  logic [159:0] rest;
  logic [7:0]   rest_classes;
  logic         flush;        // rest is the packet's last beat
  logic [6:0]   flush_count;
  logic         flush_cut;
  rpc_decoder_pkg::reason_t flush_reason;

  // Words 12 to 15 of the previous beat, then the first twelve of this one. The halves of a hyper change places.
  logic [31:0]  classes;
  logic [511:0] turned;
  logic [31:0]  word;
  always_comb begin
    classes = 'x;
    turned  = 'x;
    word    = 'x;
    if (in_valid || flush) begin
      classes = {in_place.classes[23:0], rest_classes};
      for (int i = 0; i < 16; i++) begin
        case (classes[2*i+:2])
          rpc_decoder_pkg::HYPER_HIGH: word = i < 3 ? rest[32*((i+2)%5)+:32] : in_beat.data[32*((i+13)%16)+:32];
          rpc_decoder_pkg::HYPER_LOW:  word = i < 5 ? rest[32*(i%5)+:32] : in_beat.data[32*((i+11)%16)+:32];
          default:                     word = i < 4 ? rest[32*((i+1)%5)+:32] : in_beat.data[32*((i+12)%16)+:32];
        endcase
        turned[32*i+:32] = classes[2*i+:2] == rpc_decoder_pkg::COPY ? word : stream_pkg::swap32(word);
      end
    end
  end

  logic [127:0] head;
  assign head = {in_call.function_pointer, in_call.xid, 12'd0, in_call.length, kRpcCall, 1'b1};

  logic more;  // this beat has words that leave one beat later
  assign more = is_call && in_beat.last && in_beat.count > 7'd48;

  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid <= 1'b0;
      flush     <= 1'b0;
    end else if (enable) begin
      out_valid <= flush || (in_valid && (is_call || in_beat.last));
      flush     <= in_valid && more;
    end
  end

  always_ff @(posedge clk) begin
    if (enable && in_valid) begin
      rest         <= in_beat.data[511:352];
      rest_classes <= in_place.classes[31:24];
      flush_count  <= in_beat.count - 7'd48;
      flush_cut    <= in_beat.cut;
      flush_reason <= verdict;
    end
    if (enable && (in_valid || flush)) begin
      out_beat.data  <= turned;
      if (!flush && in_place.begins) out_beat.data[127:0] <= head;
      out_beat.count <= flush ? flush_count : !is_call ? 7'd0 : in_beat.last && !more ? in_beat.count + 7'd16 : 7'd64;
      out_beat.last  <= flush || (in_beat.last && !more);
      out_beat.cut   <= flush ? flush_cut : in_beat.cut;
      out_reason     <= flush ? flush_reason : verdict;
      if (in_valid && in_place.begins) out_call <= in_call;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst && enable) assert (!(in_valid && flush));
`endif
endmodule
