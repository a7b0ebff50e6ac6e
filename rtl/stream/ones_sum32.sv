// SPDX-License-Identifier: Apache-2.0
// Brings a ones' complement sum of 32 halfwords down to eight, by numbers of four halfwords each.
module ones_sum32 (
    input  logic [511:0] halfwords,
    output logic [127:0] sum         // of zeros 0, and of nothing else
);
  // Each is of two numbers.
  logic [127:0] a, b, c, d, e;
  assign a   = stream_pkg::add3(halfwords[63:0], halfwords[127:64], halfwords[191:128]);
  assign b   = stream_pkg::add3(halfwords[255:192], halfwords[319:256], halfwords[383:320]);
  assign c   = stream_pkg::add3(a[63:0], a[127:64], b[63:0]);
  assign d   = stream_pkg::add3(b[127:64], halfwords[447:384], halfwords[511:448]);
  assign e   = stream_pkg::add3(c[63:0], c[127:64], d[63:0]);
  assign sum = stream_pkg::add3(e[63:0], e[127:64], d[127:64]);
endmodule
