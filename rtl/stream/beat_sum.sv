// SPDX-License-Identifier: Apache-2.0
// The sum of a beat's 32 halfwords, two cycles later.
module beat_sum (
    input  logic         clk,
    input  logic         in_valid,
    input  logic [511:0] in_data,
    output logic [20:0]  out_sum
);
  logic [143:0] group;  // eight sums of four halfwords
  logic         group_valid;
  always_ff @(posedge clk) begin
    group_valid <= in_valid;
    if (in_valid)
      for (int g = 0; g < 8; g++)
        group[18*g+:18] <= {2'd0, in_data[64*g+:16]} + {2'd0, in_data[64*g+16+:16]} + {2'd0, in_data[64*g+32+:16]} +
                           {2'd0, in_data[64*g+48+:16]};
    if (group_valid)
      out_sum <= {3'd0, group[17:0]} + {3'd0, group[35:18]} + {3'd0, group[53:36]} + {3'd0, group[71:54]} +
                 {3'd0, group[89:72]} + {3'd0, group[107:90]} + {3'd0, group[125:108]} + {3'd0, group[143:126]};
  end
endmodule
