// SPDX-License-Identifier: Apache-2.0
// Breaks the paths of a stream in both directions: a skid buffer of two beats. A beat a cycle, and a cycle later.
module stream_register #(
    parameter int Bits = 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    output logic            in_ready,
    input  logic [Bits-1:0] in_data,
    output logic            out_valid,
    input  logic            out_ready,
    output logic [Bits-1:0] out_data
);
  logic            skid_valid;  // a beat has come where there was no room behind it
  logic [Bits-1:0] skid_data;

  assign in_ready = !skid_valid;

  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid  <= 1'b0;
      skid_valid <= 1'b0;
    end else begin
      if (out_ready || !out_valid) begin
        out_valid  <= skid_valid || in_valid;
        skid_valid <= 1'b0;
      end else if (in_valid && in_ready) begin
        skid_valid <= 1'b1;
      end
    end
  end

  // Only what is valid moves, so that a stream that stands still costs no power.
  always_ff @(posedge clk) begin
    if (out_ready || !out_valid) begin
      if (skid_valid || in_valid) out_data <= skid_valid ? skid_data : in_data;
    end else if (in_valid && in_ready) begin
      skid_data <= in_data;
    end
  end

`ifndef SYNTHESIS
  // What is offered stays until it is taken.
  logic            was_held;
  logic [Bits-1:0] was_data;
  always_ff @(posedge clk) begin
    was_held <= !rst && out_valid && !out_ready;
    was_data <= out_data;
    if (!rst && was_held) assert (out_valid && out_data == was_data);
  end
`endif

`ifdef FORMAL
  // What is inside, by a count and a queue of its own: no beat is lost, repeated or changed, and none overtakes another;
  // an offered beat stays; a beat is taken as long as there is room.
  logic [1:0]      held;
  logic [Bits-1:0] first, second;
  logic            put, get;
  assign put = in_valid && in_ready;
  assign get = out_valid && out_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      held <= 2'd0;
    end else begin
      held <= held + {1'b0, put} - {1'b0, get};
      if (get) first <= held == 2'd2 ? second : in_data;
      else if (held == 2'd0) first <= in_data;
      if (put && held - {1'b0, get} == 2'd1) second <= in_data;
    end
  end

  always_comb
    if (!rst) begin
      assert (held <= 2'd2);
      assert (out_valid == (held != 2'd0));
      assert (skid_valid == (held == 2'd2));
      if (held != 2'd0) assert (out_data == first);
      if (held == 2'd2) assert (skid_data == second);
    end
`endif
endmodule
