// SPDX-License-Identifier: Apache-2.0
// The handshakes of an AXI4-Lite slave without wait states. A write is taken when its address and its data are both there,
// and one answer of each kind is under way at a time.
module axil_slave (
    input  logic clk,
    input  logic rst,
    input  logic awvalid,
    output logic awready,
    input  logic wvalid,
    output logic wready,
    output logic bvalid,
    input  logic bready,
    input  logic arvalid,
    output logic arready,
    output logic rvalid,
    input  logic rready,
    output logic do_write,  // in this cycle; at its end the register is to be written
    output logic do_read    // in this cycle; at its end the data are to be there
);
  assign do_write = awvalid && wvalid && !bvalid;
  assign do_read  = arvalid && !rvalid;
  assign awready  = do_write;
  assign wready   = do_write;
  assign arready  = do_read;

  always_ff @(posedge clk) begin
    if (rst) begin
      bvalid <= 1'b0;
      rvalid <= 1'b0;
    end else begin
      if (bready) bvalid <= 1'b0;
      if (do_write) bvalid <= 1'b1;
      if (rready) rvalid <= 1'b0;
      if (do_read) rvalid <= 1'b1;
    end
  end
endmodule
