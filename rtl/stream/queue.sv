// SPDX-License-Identifier: Apache-2.0
// A queue in a small memory. It must not be full when something is put, or empty when something is got.
module queue #(
    parameter int Bits = 1,
    parameter int Depth = 32  // a power of two
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            put,
    input  logic [Bits-1:0] put_data,
    input  logic            get,
    output logic            got_valid,  // not empty; a cycle after put
    output logic [Bits-1:0] got_data    // the oldest
);
  localparam int Places = $clog2(Depth);
  logic [Bits-1:0] memory[Depth];
  logic [Places:0] written, read;
  assign got_valid = written != read;
  assign got_data  = memory[read[Places-1:0]];

  always_ff @(posedge clk) begin
    if (rst) begin
      written <= '0;
      read    <= '0;
    end else begin
      written <= written + {{Places{1'b0}}, put};
      read    <= read + {{Places{1'b0}}, get};
    end
    if (put) memory[written[Places-1:0]] <= put_data;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!get || got_valid);
      assert (!put || written - read != (Places + 1)'(Depth));
    end
  end
`endif
endmodule
