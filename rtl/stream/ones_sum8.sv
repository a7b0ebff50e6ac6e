// SPDX-License-Identifier: Apache-2.0
// Brings a ones' complement sum of eight halfwords down to two.
module ones_sum8 (
    input  logic [127:0] halfwords,
    output logic [31:0]  sum         // of zeros 0, and of nothing else
);
  // Four numbers of two halfwords become two, and those four of one.
  logic [127:0] a, b, c, d;
  assign a   = stream_pkg::add3({32'd0, halfwords[31:0]}, {32'd0, halfwords[63:32]}, {32'd0, halfwords[95:64]});
  assign b   = stream_pkg::add3(a[63:0], a[127:64], {32'd0, halfwords[127:96]});
  assign c   = stream_pkg::add3({48'd0, b[15:0]}, {48'd0, b[31:16]}, {48'd0, b[79:64]});
  assign d   = stream_pkg::add3(c[63:0], c[127:64], {48'd0, b[95:80]});
  assign sum = {d[79:64], d[15:0]};
endmodule
