// SPDX-License-Identifier: Apache-2.0
// A queue of single bits. It must not be full when one is put, or empty when one is got.
module bit_queue #(
    parameter int Depth = 32  // a power of two
) (
    input  logic clk,
    input  logic rst,
    input  logic enable,
    input  logic put,
    input  logic put_bit,
    input  logic get,
    output logic got   // the oldest, in the cycle of get
);
  localparam int Bits = $clog2(Depth);
  logic [Depth-1:0] bits;
  logic [Bits:0]    written, read;
  assign got = bits[read[Bits-1:0]];

  always_ff @(posedge clk) begin
    if (rst) begin
      written <= '0;
      read    <= '0;
    end else if (enable) begin
      written <= written + {{Bits{1'b0}}, put};
      read    <= read + {{Bits{1'b0}}, get};
    end
    if (enable && put) bits[written[Bits-1:0]] <= put_bit;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst && enable) begin
      assert (!get || written != read);
      assert (!put || written - read != (Bits + 1)'(Depth));
    end
  end
`endif
endmodule
