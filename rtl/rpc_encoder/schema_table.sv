// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a packet's data: those of the entry that it names, or if that is a union those of the entry that the
// arm names which has the status in the packet's first word. Three cycles for each beat.
module schema_table #(
    parameter int Schemas = 128  // at most 255
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    input  stream_pkg::beat_t         in_beat,
    input  logic [7:0]                in_number,
    input  rpc_encoder_pkg::request_t in_request,
    output logic                      out_valid,
    output stream_pkg::beat_t         out_beat,
    output xdr_pkg::place_t           out_place,
    output logic [255:0]              out_parts,    // part0 is in the lowest bits
    output rpc_encoder_pkg::verdict_t out_verdict,  // as far as it is known
    // Software's side, in any cycle.
    input  logic                      write,
    input  logic [7:0]                write_entry,  // less than Schemas
    input  logic                      write_valid,
    input  logic [167:0]              write_arms,   // arm_t, the first in the lowest bits
    input  logic [255:0]              write_parts
);
  localparam int Bits = $clog2(Schemas);
  logic [Schemas-1:0] valid, is_union;
  (* ram_style = "distributed" *) logic [167:0] arms[Schemas];
  (* ram_style = "distributed" *) logic [255:0] parts[Schemas];
  rpc_encoder_pkg::arm_t write0, write1, write2, write3;
  assign {write3, write2, write1, write0} = write_arms;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (write) valid[write_entry[Bits-1:0]] <= write_valid;
    if (write) begin
      is_union[write_entry[Bits-1:0]] <= write0.valid || write1.valid || write2.valid || write3.valid;
      arms[write_entry[Bits-1:0]]     <= write_arms;
      parts[write_entry[Bits-1:0]]    <= write_parts;
    end
  end

  function automatic logic is_entry(input logic [7:0] entry);
    is_entry = {24'd0, entry} < Schemas;
  endfunction

  // First cycle: the entry. A packet's later beats find what its first one has found.
  logic                      row_valid, row_known, row_union;
  stream_pkg::beat_t         row_beat;
  logic [7:0]                row_number, row_entry;
  rpc_encoder_pkg::verdict_t row_verdict;
  rpc_encoder_pkg::arm_t     arm0, arm1, arm2, arm3;
  always_ff @(posedge clk) begin
    if (in_valid) begin
      row_beat   <= in_beat;
      row_number <= in_number;
      if (in_number == 8'd0) begin
        row_entry                <= in_request.schema;
        row_known                <= is_entry(in_request.schema) && valid[in_request.schema[Bits-1:0]];
        row_union                <= is_union[in_request.schema[Bits-1:0]];
        {arm3, arm2, arm1, arm0} <= arms[in_request.schema[Bits-1:0]];
        if (in_request.is_call) row_verdict <= rpc_encoder_pkg::CALL;
        else if (in_request.accept_stat == rpc_encoder_pkg::kSuccess) row_verdict <= rpc_encoder_pkg::REPLY;
        else if (in_request.accept_stat <= rpc_encoder_pkg::kSystemErr) row_verdict <= rpc_encoder_pkg::REFUSAL;
        else row_verdict <= rpc_encoder_pkg::ACCEPT_STAT;
      end
    end
  end

  // Second cycle: the arm.
  logic                      arm_valid, arm_union;
  stream_pkg::beat_t         arm_beat;
  logic [7:0]                arm_number, arm_entry;
  rpc_encoder_pkg::verdict_t arm_verdict;
  logic [31:0]               status;
  logic [3:0]                hit, otherwise;
  logic                      row_good;
  assign status    = row_beat.data[31:0];
  assign hit       = {arm3.valid && !arm3.is_default && arm3.value == status,
                      arm2.valid && !arm2.is_default && arm2.value == status,
                      arm1.valid && !arm1.is_default && arm1.value == status,
                      arm0.valid && !arm0.is_default && arm0.value == status};
  assign otherwise = {arm3.valid && arm3.is_default, arm2.valid && arm2.is_default, arm1.valid && arm1.is_default,
                      arm0.valid && arm0.is_default};
  assign row_good  = row_verdict == rpc_encoder_pkg::REPLY || row_verdict == rpc_encoder_pkg::CALL;
  always_ff @(posedge clk) begin
    if (row_valid) begin
      arm_beat   <= row_beat;
      arm_number <= row_number;
      if (row_number == 8'd0) begin
        arm_union <= row_union;
        arm_entry <= !row_union ? row_entry
                     : hit[0] ? arm0.entry : hit[1] ? arm1.entry : hit[2] ? arm2.entry : hit[3] ? arm3.entry
                     : otherwise[0] ? arm0.entry : otherwise[1] ? arm1.entry : otherwise[2] ? arm2.entry : arm3.entry;
        if (row_good && !row_known) arm_verdict <= rpc_encoder_pkg::NO_SCHEMA;
        else if (row_good && row_union && (hit | otherwise) == 4'd0) arm_verdict <= rpc_encoder_pkg::NO_ARM;
        else arm_verdict <= row_verdict;
      end
    end
  end

  // Third cycle: the parts.
  logic [7:0] out_number;
  logic       out_union;
  logic       arm_good;
  assign arm_good = arm_verdict == rpc_encoder_pkg::REPLY || arm_verdict == rpc_encoder_pkg::CALL;
  always_ff @(posedge clk) begin
    if (arm_valid) begin
      out_beat   <= arm_beat;
      out_number <= arm_number;
      if (arm_number == 8'd0) begin
        out_union <= arm_union;
        out_parts <= parts[arm_entry[Bits-1:0]];
        if (arm_good && arm_union && (!is_entry(arm_entry) || !valid[arm_entry[Bits-1:0]] || is_union[arm_entry[Bits-1:0]]))
          out_verdict <= rpc_encoder_pkg::NO_SCHEMA;
        else out_verdict <= arm_verdict;
      end
    end
  end
  // The status of a union is a scalar before the parts.
  assign out_place = {1'b0, out_number == 8'd0, 1'b1, 4'd0, out_number, 15'd0, out_union,
                      30'd0, out_union && out_number == 8'd0 ? rpc_decoder_pkg::SWAP : rpc_decoder_pkg::COPY};

  always_ff @(posedge clk) begin
    if (rst) begin
      row_valid <= 1'b0;
      arm_valid <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      row_valid <= in_valid;
      arm_valid <= row_valid;
      out_valid <= arm_valid;
    end
  end
endmodule
