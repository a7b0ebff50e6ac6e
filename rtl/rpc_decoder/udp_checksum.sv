// SPDX-License-Identifier: Apache-2.0
// Adds up the halfwords of UDP datagrams, a beat in every enabled cycle. A checksum of 0 means that there is none.
module udp_checksum (
    input  logic              clk,
    input  logic              rst,
    input  logic              enable,
    input  logic              in_valid,
    input  stream_pkg::beat_t in_beat,
    input  logic              in_begins,  // in_beat has the UDP header
    input  logic [20:0]       in_pseudo,  // sum of the pseudo header, with the first beat
    output logic              out_valid,  // four cycles after a packet's last beat
    output logic              out_wrong
);
  // Bytes beyond count are 0.
  logic [31:0]  partly;  // of the word in which the packet ends
  logic [511:0] kept;
  always_comb begin
    partly = ~(32'hffffffff << {in_beat.count[1:0], 3'b000});
    kept   = 'x;
    if (in_valid)
      for (int i = 0; i < 16; i++)
        kept[32*i+:32] = in_beat.data[32*i+:32] & (in_beat.count[6:2] > 5'(i)    ? 32'hffffffff
                                                   : in_beat.count[6:2] == 5'(i) ? partly
                                                                                 : 32'd0);
  end
  logic [20:0] group_pseudo;
  logic        group_valid, group_begins, group_last, group_without;

  logic [20:0] sum, sum_pseudo;
  logic        sum_valid, sum_begins, sum_last, sum_without;
  beat_sum halfwords (.clk, .enable, .in_valid, .in_data(kept), .out_sum(sum));

  logic [31:0] total;
  logic        total_valid, without;

  logic [16:0] folded;
  assign folded = {1'b0, total[15:0]} + {1'b0, total[31:16]};

  always_ff @(posedge clk) begin
    if (rst) begin
      group_valid <= 1'b0;
      sum_valid   <= 1'b0;
      total_valid <= 1'b0;
      out_valid   <= 1'b0;
    end else if (enable) begin
      group_valid <= in_valid;
      sum_valid   <= group_valid;
      total_valid <= sum_valid && sum_last;
      out_valid   <= total_valid;
    end
  end

  always_ff @(posedge clk) begin
    if (enable && in_valid) begin
      group_begins  <= in_begins;
      group_last    <= in_beat.last;
      group_pseudo  <= in_pseudo;
      group_without <= in_beat.data[63:48] == 16'd0;
    end
    if (enable && group_valid) begin
      sum_begins  <= group_begins;
      sum_last    <= group_last;
      sum_pseudo  <= group_pseudo;
      sum_without <= group_without;
    end
    if (enable && sum_valid) begin
      total <= {11'd0, sum} + (sum_begins ? {11'd0, sum_pseudo} : total);
      if (sum_begins) without <= sum_without;
    end
    if (enable && total_valid) out_wrong <= !without && {1'b0, folded[15:0]} + {16'd0, folded[16]} != 17'h0ffff;
  end
endmodule
