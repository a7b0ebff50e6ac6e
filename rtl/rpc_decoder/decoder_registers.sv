// SPDX-License-Identifier: Apache-2.0
// The decoder's registers, by AXI4-Lite: the service table, and a counter for each reason. Software writes the fields of an
// entry, and then COMMIT.
module decoder_registers #(
    parameter int Services = 64
) (
    input  logic                          clk,
    input  logic                          rst,
    input  logic                          awvalid,
    output logic                          awready,
    input  logic [11:0]                   awaddr,
    input  logic                          wvalid,
    output logic                          wready,
    input  logic [31:0]                   wdata,
    output logic                          bvalid,
    input  logic                          bready,
    input  logic                          arvalid,
    output logic                          arready,
    input  logic [11:0]                   araddr,
    output logic                          rvalid,
    input  logic                          rready,
    output logic [31:0]                   rdata,
    // To the table.
    output logic                          write,
    output logic [7:0]                    write_entry,
    output logic                          write_valid,
    output rpc_decoder_pkg::service_key_t write_key,
    output rpc_decoder_pkg::service_t     write_service,
    // From the decoder's end.
    input  logic                          counted,
    input  rpc_decoder_pkg::reason_t      reason
);
  localparam logic [11:0] kIdentity = 12'h000;
  localparam logic [11:0] kCapacity = 12'h004;
  localparam logic [11:0] kError = 12'h008;      // write ones to clear
  localparam logic [11:0] kProgram = 12'h010;
  localparam logic [11:0] kVersion = 12'h014;
  localparam logic [11:0] kProcedure = 12'h018;
  localparam logic [11:0] kPort = 12'h01c;
  localparam logic [11:0] kFunctionLow = 12'h020;
  localparam logic [11:0] kFunctionHigh = 12'h024;
  localparam logic [11:0] kOwner = 12'h028;
  localparam logic [11:0] kCommit = 12'h02c;     // bits 15 to 0 the entry, bit 31 whether it is to match
  localparam logic [11:0] kParts = 12'h040;      // of each: the classes, then words, kind, counted and limit
  localparam logic [11:0] kCounters = 12'h080;

  localparam logic [31:0] kIdentityValue = 32'h44435052;  // "RPCD"
  localparam logic [31:0] kErrorEntry = 32'd1;            // COMMIT of an entry that the table does not have
  localparam logic [31:0] kErrorSchema = 32'd2;           // COMMIT of a part that is_valid() refuses

  logic [31:0]                   error;
  rpc_decoder_pkg::service_key_t key;
  rpc_decoder_pkg::service_t     service;
  logic [31:0]                   counter[16];

  logic do_write, do_read;
  axil_slave port (.clk, .rst, .awvalid, .awready, .wvalid, .wready, .bvalid, .bready, .arvalid, .arready, .rvalid, .rready,
                   .do_write, .do_read);

  logic commits, is_entry, is_schema;
  assign commits   = do_write && awaddr == kCommit;
  assign is_entry  = {16'd0, wdata[15:0]} < Services;
  always_comb begin
    is_schema = 'x;
    if (commits)
      is_schema = rpc_decoder_pkg::is_valid(service.part0) && rpc_decoder_pkg::is_valid(service.part1) &&
                  rpc_decoder_pkg::is_valid(service.part2) && rpc_decoder_pkg::is_valid(service.part3);
  end

  assign write_valid   = wdata[31];
  assign write_key     = key;
  assign write_service = service;
  assign write         = commits && is_entry && is_schema;
  assign write_entry   = wdata[7:0];

  always_ff @(posedge clk) begin
    if (rst) begin
      error   <= 32'd0;
      key     <= '0;
      service <= '0;
    end else if (do_write) begin
      case (awaddr)
        kError:        error <= error & ~wdata;
        kProgram:      key.program_number <= wdata;
        kVersion:      key.version <= wdata;
        kProcedure:    key.procedure <= wdata;
        kPort:         key.port <= wdata[15:0];
        kFunctionLow:  service.function_pointer[31:0] <= wdata;
        kFunctionHigh: service.function_pointer[63:32] <= wdata;
        kOwner:        service.owner <= wdata[15:0];
        kCommit:       error <= error | (is_entry ? 32'd0 : kErrorEntry) | (is_schema ? 32'd0 : kErrorSchema);
        default: begin
          if (awaddr[11:3] == kParts[11:3]) service.part0 <= rpc_decoder_pkg::part_of(service.part0, awaddr[2], wdata);
          if (awaddr[11:3] == kParts[11:3] + 9'd1) service.part1 <= rpc_decoder_pkg::part_of(service.part1, awaddr[2], wdata);
          if (awaddr[11:3] == kParts[11:3] + 9'd2) service.part2 <= rpc_decoder_pkg::part_of(service.part2, awaddr[2], wdata);
          if (awaddr[11:3] == kParts[11:3] + 9'd3) service.part3 <= rpc_decoder_pkg::part_of(service.part3, awaddr[2], wdata);
        end
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (do_read) begin
      case (araddr)
        kIdentity: rdata <= kIdentityValue;
        kCapacity: rdata <= {8'd0, 8'd16, 8'd4, 8'(Services)};
        kError:    rdata <= error;
        default:   rdata <= araddr[11:6] == kCounters[11:6] ? counter[araddr[5:2]] : 32'd0;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      for (int i = 0; i < 16; i++) counter[i] <= 32'd0;
    end else if (counted) begin
      counter[reason] <= counter[reason] + 32'd1;
    end
  end
endmodule
