// SPDX-License-Identifier: Apache-2.0
// Adds up the halfwords of a packet's data, as they are in its beats. Three cycles.
module payload_sum (
    input  logic                     clk,
    input  logic                     rst,
    input  logic                     in_valid,
    input  logic                     in_last,
    input  logic [511:0]             in_data,
    input  rpc_encoder_pkg::extent_t in_extent,
    output logic                     out_valid,  // one for each packet
    output logic [28:0]              out_total,  // 255 beats and no more
    output rpc_encoder_pkg::extent_t out_extent
);
  logic                     group_valid, group_last, sum_valid, sum_last, sum_begins;
  rpc_encoder_pkg::extent_t group_extent, sum_extent;
  logic [20:0]              sum;
  beat_sum beats (.clk, .in_valid, .in_data, .out_sum(sum));

  always_ff @(posedge clk) begin
    if (rst) begin
      group_valid <= 1'b0;
      sum_valid   <= 1'b0;
      sum_begins  <= 1'b1;
      out_valid   <= 1'b0;
    end else begin
      group_valid <= in_valid;
      sum_valid   <= group_valid;
      out_valid   <= sum_valid && sum_last;
      if (sum_valid) sum_begins <= sum_last;
    end
    if (in_valid) begin
      group_last   <= in_last;
      group_extent <= in_extent;
    end
    if (group_valid) begin
      sum_last   <= group_last;
      sum_extent <= group_extent;
    end
    if (sum_valid) begin
      out_total  <= {8'd0, sum} + (sum_begins ? 29'd0 : out_total);
      out_extent <= sum_extent;
    end
  end
endmodule
