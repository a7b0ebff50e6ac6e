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
  // A beat's halfwords, whose bytes beyond count are 0, are brought down to eight, then to two; then come those of all beats.
  logic [63:0]  partly;  // of the eight bytes in which the packet ends
  logic [511:0] kept;
  always_comb begin
    partly = ~(64'hffffffffffffffff << {in_beat.count[2:0], 3'b000});
    kept   = 'x;
    if (in_valid)
      for (int i = 0; i < 8; i++)
        kept[64*i+:64] = in_beat.data[64*i+:64] & (in_beat.count[6:3] > 4'(i)    ? 64'hffffffffffffffff
                                                   : in_beat.count[6:3] == 4'(i) ? partly
                                                                                 : 64'd0);
  end
  logic [127:0] group, sum_of_beat;
  logic [20:0]  group_pseudo;
  logic         group_valid, group_begins, group_last, group_without;
  ones_sum32 of_beat (.halfwords(kept), .sum(sum_of_beat));

  logic [31:0] sum, sum_of_group;
  logic [20:0] sum_pseudo;
  logic        sum_valid, sum_begins, sum_last, sum_without;
  ones_sum8 of_group (.halfwords(group), .sum(sum_of_group));

  logic [31:0]  total, so_far;  // so_far: of the beats before, or of the pseudo header
  logic [127:0] three, all;     // in halfwords 0 and 4
  logic         total_valid, without;
  assign so_far = sum_begins ? {11'd0, sum_pseudo} : total;
  assign three  = stream_pkg::add3({48'd0, sum[15:0]}, {48'd0, sum[31:16]}, {48'd0, so_far[15:0]});
  assign all    = stream_pkg::add3(three[63:0], three[127:64], {48'd0, so_far[31:16]});

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
      group         <= sum_of_beat;
      group_begins  <= in_begins;
      group_last    <= in_beat.last;
      group_pseudo  <= in_pseudo;
      group_without <= in_beat.data[63:48] == 16'd0;
    end
    if (enable && group_valid) begin
      sum         <= sum_of_group;
      sum_begins  <= group_begins;
      sum_last    <= group_last;
      sum_pseudo  <= group_pseudo;
      sum_without <= group_without;
    end
    if (enable && sum_valid) begin
      total <= {all[79:64], all[15:0]};
      if (sum_begins) without <= sum_without;
    end
    if (enable && total_valid) out_wrong <= !without && !stream_pkg::is_ones(total);
  end
endmodule
