// SPDX-License-Identifier: Apache-2.0
// The encoder's registers, by AXI4-Lite: the table of schemas, and a counter for each verdict. Software writes the fields
// of an entry, and then COMMIT.
module encoder_registers #(
    parameter int Schemas = 128
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      awvalid,
    output logic                      awready,
    input  logic [11:0]               awaddr,
    input  logic                      wvalid,
    output logic                      wready,
    input  logic [31:0]               wdata,
    output logic                      bvalid,
    input  logic                      bready,
    input  logic                      arvalid,
    output logic                      arready,
    input  logic [11:0]               araddr,
    output logic                      rvalid,
    input  logic                      rready,
    output logic [31:0]               rdata,
    // To the table.
    output logic                      write,
    output logic [7:0]                write_entry,
    output logic                      write_valid,
    output logic [167:0]              write_arms,
    output logic [255:0]              write_parts,
    // From the encoder.
    input  logic                      counted,
    input  rpc_encoder_pkg::verdict_t verdict
);
  localparam logic [11:0] kIdentity = 12'h000;
  localparam logic [11:0] kCapacity = 12'h004;
  localparam logic [11:0] kError = 12'h008;     // write ones to clear
  localparam logic [11:0] kCommit = 12'h00c;    // bits 15 to 0 the entry, bit 31 whether it is valid
  localparam logic [11:0] kArms = 12'h020;      // of each: the value; then bits 7 to 0 the entry, 30 default, 31 valid
  localparam logic [11:0] kParts = 12'h040;     // of each: the classes, then words, kind, counted and limit
  localparam logic [11:0] kCounters = 12'h080;

  localparam logic [31:0] kIdentityValue = 32'h45435052;  // "RPCE"
  localparam logic [31:0] kErrorEntry = 32'd1;            // COMMIT of an entry that the table does not have
  localparam logic [31:0] kErrorSchema = 32'd2;           // COMMIT of too many words, or an arm's entry that is not there

  logic [31:0]             error;
  rpc_encoder_pkg::arm_t   arm0, arm1, arm2, arm3;
  rpc_decoder_pkg::part_t  part0, part1, part2, part3;
  logic [31:0]             counter[8];

  logic do_write, do_read;
  axil_slave port (.clk, .rst, .awvalid, .awready, .wvalid, .wready, .bvalid, .bready, .arvalid, .arready, .rvalid, .rready,
                   .do_write, .do_read);

  logic commits, is_entry, is_schema;
  assign commits   = do_write && awaddr == kCommit;
  assign is_entry  = {16'd0, wdata[15:0]} < Schemas;
  assign is_schema = part0.words <= 5'd16 && part1.words <= 5'd16 && part2.words <= 5'd16 && part3.words <= 5'd16 &&
                     !(arm0.valid && {24'd0, arm0.entry} >= Schemas) && !(arm1.valid && {24'd0, arm1.entry} >= Schemas) &&
                     !(arm2.valid && {24'd0, arm2.entry} >= Schemas) && !(arm3.valid && {24'd0, arm3.entry} >= Schemas);

  // A cycle later; the next write of a field is a cycle after that.
  always_ff @(posedge clk) begin
    if (rst) write <= 1'b0;
    else write <= commits && is_entry && is_schema;
    if (do_write) begin
      write_entry <= wdata[7:0];
      write_valid <= wdata[31];
    end
  end
  assign write_arms  = {arm3, arm2, arm1, arm0};
  assign write_parts = {part3, part2, part1, part0};

  function automatic rpc_encoder_pkg::arm_t arm_of(input rpc_encoder_pkg::arm_t old, input logic upper,
                                                   input logic [31:0] value);
    arm_of = upper ? {value[31:30], value[7:0], old[31:0]} : {old[41:32], value};
  endfunction

  always_ff @(posedge clk) begin
    if (rst) begin
      error                        <= 32'd0;
      {arm3, arm2, arm1, arm0}     <= '0;
      {part3, part2, part1, part0} <= '0;
    end else if (do_write) begin
      if (awaddr == kError) error <= error & ~wdata;
      if (commits) error <= error | (is_entry ? 32'd0 : kErrorEntry) | (is_schema ? 32'd0 : kErrorSchema);
      if (awaddr[11:3] == kArms[11:3]) arm0 <= arm_of(arm0, awaddr[2], wdata);
      if (awaddr[11:3] == kArms[11:3] + 9'd1) arm1 <= arm_of(arm1, awaddr[2], wdata);
      if (awaddr[11:3] == kArms[11:3] + 9'd2) arm2 <= arm_of(arm2, awaddr[2], wdata);
      if (awaddr[11:3] == kArms[11:3] + 9'd3) arm3 <= arm_of(arm3, awaddr[2], wdata);
      if (awaddr[11:3] == kParts[11:3]) part0 <= rpc_decoder_pkg::part_of(part0, awaddr[2], wdata);
      if (awaddr[11:3] == kParts[11:3] + 9'd1) part1 <= rpc_decoder_pkg::part_of(part1, awaddr[2], wdata);
      if (awaddr[11:3] == kParts[11:3] + 9'd2) part2 <= rpc_decoder_pkg::part_of(part2, awaddr[2], wdata);
      if (awaddr[11:3] == kParts[11:3] + 9'd3) part3 <= rpc_decoder_pkg::part_of(part3, awaddr[2], wdata);
    end
  end

  always_ff @(posedge clk) begin
    if (do_read) begin
      case (araddr)
        kIdentity: rdata <= kIdentityValue;
        kCapacity: rdata <= {8'd4, 8'd16, 8'd4, 8'(Schemas)};
        kError:    rdata <= error;
        default:   rdata <= araddr[11:5] == kCounters[11:5] ? counter[araddr[4:2]] : 32'd0;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      for (int i = 0; i < 8; i++) counter[i] <= 32'd0;
    end else if (counted) begin
      counter[verdict[2:0]] <= counter[verdict[2:0]] + 32'd1;
    end
  end
endmodule
