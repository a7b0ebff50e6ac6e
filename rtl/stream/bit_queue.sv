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
`ifdef FORMAL
  // The rule is its user's. What is inside, by a count and a queue of its own: the oldest bit is at place 0.
  logic [Bits:0]    held;
  logic [Depth-1:0] queue;
  logic             puts, gets;
  assign puts = enable && put;
  assign gets = enable && get;

  always_comb
    if (!rst && enable) begin
      assume (!get || held != '0);
      assume (!put || held != (Bits + 1)'(Depth));
    end

  always_ff @(posedge clk) begin
    if (rst) begin
      held <= '0;
    end else begin
      held <= held + {{Bits{1'b0}}, puts} - {{Bits{1'b0}}, gets};
      for (int i = 0; i < Depth; i++)
        if (puts && held - {{Bits{1'b0}}, gets} == (Bits + 1)'(i)) queue[i] <= put_bit;
        else if (gets && i + 1 < Depth) queue[i] <= queue[(i+1)%Depth];
    end
  end

  always_comb
    if (!rst) begin
      assert (held <= (Bits + 1)'(Depth));
      assert (written - read == held);
      if (held != '0) assert (got == queue[0]);
      for (int i = 0; i < Depth; i++)
        if (held > (Bits + 1)'(i)) assert (bits[read[Bits-1:0]+Bits'(i)] == queue[i]);
    end
`else
  always_ff @(posedge clk) begin
    if (!rst && enable) begin
      assert (!get || written != read);
      assert (!put || written - read != (Bits + 1)'(Depth));
    end
  end
`endif
`endif
endmodule
