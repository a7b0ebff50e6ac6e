// SPDX-License-Identifier: Apache-2.0
// Makes the packet's words big-endian, and zeros of what pads an opaque and of what lies behind the end. A word may need
// the one behind it, so a beat leaves when the next one has come, and a packet's last beat a cycle after it has.
module marshal_words (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    input  stream_pkg::beat_t         in_beat,
    input  xdr_pkg::place_t           in_place,
    input  logic [31:0]               in_keeps,   // bytes of each word that are not padding; 0: all
    input  rpc_encoder_pkg::verdict_t in_verdict,
    output logic                      out_valid,
    output logic                      out_last,
    output logic [511:0]              out_data,
    output rpc_encoder_pkg::extent_t  out_extent  // with the last beat
);
  logic                      hold_valid;
  stream_pkg::beat_t         hold;
  xdr_pkg::place_t           place;
  logic [31:0]               keeps;
  rpc_encoder_pkg::verdict_t hold_verdict;
  logic [31:0]               earlier;  // the word before hold

  logic leaves;
  assign leaves = hold_valid && (hold.last || in_valid);

  always_ff @(posedge clk) begin
    if (rst) begin
      hold_valid <= 1'b0;
      out_valid  <= 1'b0;
    end else begin
      hold_valid <= in_valid || (hold_valid && !leaves);
      out_valid  <= leaves;
    end
  end

  logic [575:0] window;  // the word before, the beat, the word behind
  logic [31:0]  word;
  logic [31:0]  ends;    // words that lie behind the end, two bits each
  logic [511:0] marshalled;
  always_comb begin
    window     = 'x;
    word       = 'x;
    ends       = 'x;
    marshalled = 'x;
    if (leaves) begin
      window = {hold.last ? 32'd0 : in_beat.data[31:0], hold.data, place.begins ? 32'd0 : earlier};
      ends   = place.known ? xdr_pkg::from(place.start, place.beat) : 32'd0;
      for (int i = 0; i < 16; i++) begin
        case (place.classes[2*i+:2])
          rpc_decoder_pkg::SWAP:       word = stream_pkg::swap32(window[32*(i+1)+:32]);
          rpc_decoder_pkg::HYPER_HIGH: word = stream_pkg::swap32(window[32*(i+2)+:32]);
          rpc_decoder_pkg::HYPER_LOW:  word = stream_pkg::swap32(window[32*i+:32]);
          default:                     word = window[32*(i+1)+:32];
        endcase
        case (keeps[2*i+:2])
          2'd1:    word[31:8] = 24'd0;
          2'd2:    word[31:16] = 16'd0;
          2'd3:    word[31:24] = 8'd0;
          default: ;
        endcase
        marshalled[32*i+:32] = ends[2*i] ? 32'd0 : word;
      end
    end
  end

  logic good, is_short;
  assign good     = hold_verdict == rpc_encoder_pkg::REPLY || hold_verdict == rpc_encoder_pkg::CALL;
  assign is_short = !place.known || place.start > {place.beat, 4'd0} + {11'd0, hold.count[6:2]};

  always_ff @(posedge clk) begin
    if (in_valid) begin
      hold         <= in_beat;
      place        <= in_place;
      keeps        <= in_keeps;
      hold_verdict <= in_verdict;
    end
    if (leaves) begin
      earlier          <= hold.data[511:480];
      out_data         <= marshalled;
      out_last         <= hold.last;
      out_extent.words <= place.start;
      out_extent.beats <= place.beat[7:0] + 8'd1;
      if (good && place.wrong) out_extent.verdict <= rpc_encoder_pkg::COUNT;
      else if (good && is_short) out_extent.verdict <= rpc_encoder_pkg::SHORT;
      else out_extent.verdict <= hold_verdict;
    end
  end
endmodule
