// SPDX-License-Identifier: Apache-2.0
// Brings a ones' complement sum of halfwords (RFC 1071) down to two of them. Three become two as in any carry-save adder,
// and the carry of the highest bit goes to the lowest, so that no carry goes far.
module ones_sum #(
    parameter int Count = 8
) (
    input  logic [16*Count-1:0] halfwords,
    output logic [31:0]         sum          // of zeros 0, and of nothing else
);
  // The halfwords, and behind them those that come of each three.
  logic [16*(3*Count-4)-1:0] all;
  logic [15:0]               a, b, c, carry;
  always_comb begin
    all                = 'x;
    all[16*Count-1:0]  = halfwords;
    a                  = 'x;
    b                  = 'x;
    c                  = 'x;
    carry              = 'x;
    for (int i = 0; i < Count - 2; i++) begin
      a     = all[48*i+:16];
      b     = all[48*i+16+:16];
      c     = all[48*i+32+:16];
      carry = (a & b) | (a & c) | (b & c);
      all[16*Count+32*i+:32] = {carry[14:0], carry[15], a ^ b ^ c};
    end
  end
  assign sum = all[16*(3*Count-6)+:32];
endmodule
