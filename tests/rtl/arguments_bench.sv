// SPDX-License-Identifier: Apache-2.0
// What is behind the RPC decoder's layers, side by side, for its benches: `which` says which module is driven.
module arguments_bench (
    input  logic         clk,
    input  logic         rst,
    input  logic         enable,
    input  logic [1:0]   which,  // 0 service_table, 1 xdr_part, 2 control_line, 3 udp_checksum
    input  logic         in_valid,
    input  logic [511:0] in_data,
    input  logic [6:0]   in_count,
    input  logic         in_last,
    input  logic         in_cut,
    // With each beat: what is known of the call.
    input  logic [3:0]   in_reason,
    input  logic [15:0]  in_owner,
    input  logic [15:0]  in_length,
    input  logic [15:0]  in_port,
    input  logic [15:0]  in_source_port,
    input  logic [31:0]  in_source,
    input  logic [31:0]  in_destination,
    input  logic [31:0]  in_xid,
    input  logic [31:0]  in_program,
    input  logic [31:0]  in_version,
    input  logic [31:0]  in_procedure,
    input  logic [63:0]  in_function,
    input  logic [255:0] in_parts,
    input  logic         in_wrong,
    input  logic         in_begins,
    input  logic         in_known,
    input  logic [11:0]  in_number,
    input  logic [15:0]  in_start,
    input  logic [31:0]  in_classes,
    input  logic         ipv4_is_wrong,
    input  logic         udp_is_wrong,
    input  logic [20:0]  in_pseudo,
    output logic         in_ends,
    output logic         out_valid,
    output logic [511:0] out_data,
    output logic [6:0]   out_count,
    output logic         out_last,
    output logic         out_cut,
    output logic [3:0]   out_reason,
    output logic [15:0]  out_owner,
    output logic [15:0]  out_length,
    output logic [15:0]  out_port,
    output logic [15:0]  out_source_port,
    output logic [31:0]  out_source,
    output logic [31:0]  out_destination,
    output logic [31:0]  out_xid,
    output logic [63:0]  out_function,
    output logic [255:0] out_parts,
    output logic         out_wrong,
    output logic         out_begins,
    output logic         out_known,
    output logic [11:0]  out_number,
    output logic [15:0]  out_start,
    output logic [31:0]  out_classes,
    output logic         checked_valid,
    output logic         checked_wrong,
    // The table's other side; that of the registers is below.
    input  logic         table_write,
    input  logic [7:0]   table_entry,
    input  logic         table_valid,
    input  logic [111:0] table_key,
    input  logic [335:0] table_service,
    // decoder_registers
    input  logic         awvalid,
    output logic         awready,
    input  logic [11:0]  awaddr,
    input  logic         wvalid,
    output logic         wready,
    input  logic [31:0]  wdata,
    output logic         bvalid,
    input  logic         bready,
    input  logic         arvalid,
    output logic         arready,
    input  logic [11:0]  araddr,
    output logic         rvalid,
    input  logic         rready,
    output logic [31:0]  rdata,
    output logic         write,
    output logic [7:0]   write_entry,
    output logic         write_valid,
    output logic [111:0] write_key,
    output logic [335:0] write_service,
    input  logic         counted,
    input  logic [3:0]   counted_reason
);
  stream_pkg::beat_t         in_beat, table_beat, part_beat, line_beat;
  rpc_decoder_pkg::headers_t in_headers;
  rpc_decoder_pkg::call_t    in_call, table_call, part_call, line_call, out_call, counted_call;
  rpc_decoder_pkg::reason_t  line_reason;
  xdr_pkg::place_t           in_place, part_place;
  logic [255:0]              table_parts, part_parts;
  logic                      table_out, part_out, line_out;
  assign in_beat    = {in_cut, in_last, in_count, in_data};
  assign counted_call = {counted_reason, 224'd0};
  assign in_headers = {in_port, in_program, in_version, in_procedure, in_reason, 18'd0, in_length, in_source_port,
                       in_source, in_destination, in_xid};
  assign in_call    = {in_reason, in_owner, in_length, in_port, in_source_port, in_source, in_destination, in_xid,
                       in_function};
  logic        unused_begins;
  logic [31:0] unused_keeps;
  assign in_place   = {in_wrong, in_begins, in_known, in_number, in_start, in_classes};

  service_table table_of_services (
      .clk, .rst, .enable, .in_valid(in_valid && which == 2'd0), .in_beat, .in_headers,
      .out_valid(table_out), .out_beat(table_beat), .out_begins(unused_begins), .out_call(table_call), .out_parts(table_parts),
      .write(table_write), .write_entry(table_entry), .write_valid(table_valid), .write_key(table_key),
      .write_service(table_service));
  xdr_part #(.MetaBits($bits(in_call))) part (
                 .clk, .rst, .enable, .in_valid(in_valid && which == 2'd1), .in_beat, .in_meta(in_call), .in_parts, .in_place,
                 .out_valid(part_out), .out_beat(part_beat), .out_meta(part_call), .out_parts(part_parts),
                 .out_place(part_place), .in_keeps(32'd0), .out_keeps(unused_keeps));
  control_line line (.clk, .rst, .enable, .in_valid(in_valid && which == 2'd2), .in_beat, .in_call, .in_place,
                     .ipv4_is_wrong, .udp_is_wrong, .in_ends,
                     .out_valid(line_out), .out_beat(line_beat), .out_call(line_call), .out_reason(line_reason));
  udp_checksum checksum (.clk, .rst, .enable, .in_valid(in_valid && which == 2'd3), .in_beat, .in_begins, .in_pseudo,
                         .out_valid(checked_valid), .out_wrong(checked_wrong));
  decoder_registers registers (
      .clk, .rst, .awvalid, .awready, .awaddr, .wvalid, .wready, .wdata, .bvalid, .bready, .arvalid, .arready, .araddr,
      .rvalid, .rready, .rdata, .write, .write_entry, .write_valid, .write_key, .write_service,
      .counted, .reason(counted_call.reason));

  assign out_valid = table_out || part_out || line_out;
  assign out_call  = which == 2'd0 ? table_call : which == 2'd1 ? part_call : line_call;
  assign out_parts = which == 2'd0 ? table_parts : part_parts;
  assign {out_cut, out_last, out_count, out_data} = which == 2'd0 ? table_beat : which == 2'd1 ? part_beat : line_beat;
  assign out_reason = which == 2'd2 ? line_reason : out_call.reason;
  assign {out_owner, out_length, out_port, out_source_port, out_source, out_destination, out_xid, out_function} =
      out_call[223:0];
  assign {out_wrong, out_begins, out_known, out_number, out_start, out_classes} = part_place;
endmodule
