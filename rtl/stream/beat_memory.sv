// SPDX-License-Identifier: Apache-2.0
// A memory of beats: block RAM, which answers a cycle later. A word must not be read in the cycle in which it is written.
module beat_memory #(
    parameter int Beats = 512  // a power of two
) (
    input  logic                     clk,
    input  logic                     write,
    input  logic [$clog2(Beats)-1:0] write_at,
    input  logic [511:0]             write_data,
    input  logic                     read,
    input  logic [$clog2(Beats)-1:0] read_at,
    output logic [511:0]             read_data
);
  logic [511:0] memory[Beats];
  always_ff @(posedge clk) begin
    if (write) memory[write_at] <= write_data;
    if (read) read_data <= memory[read_at];
  end
endmodule
