// SPDX-License-Identifier: Apache-2.0
// How many bytes a mask of an AXI4-Stream keeps, if it keeps the first ones of a beat: by halving.
module axis_count (
    input  logic [63:0] keep,
    output logic [6:0]  count
);
  logic [31:0] k32;
  logic [15:0] k16;
  logic [7:0]  k8;
  logic [3:0]  k4;
  logic [1:0]  k2;
  assign count[6] = keep[63];
  assign count[5] = keep[31] && !keep[63];
  assign k32      = keep[31] ? keep[63:32] : keep[31:0];
  assign count[4] = k32[15] && !keep[63];
  assign k16      = k32[15] ? k32[31:16] : k32[15:0];
  assign count[3] = k16[7] && !keep[63];
  assign k8       = k16[7] ? k16[15:8] : k16[7:0];
  assign count[2] = k8[3] && !keep[63];
  assign k4       = k8[3] ? k8[7:4] : k8[3:0];
  assign count[1] = k4[1] && !keep[63];
  assign k2       = k4[1] ? k4[3:2] : k4[1:0];
  assign count[0] = k2[0] && !keep[63];
endmodule
