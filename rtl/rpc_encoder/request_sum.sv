// SPDX-License-Identifier: Apache-2.0
// Adds up the fields of a request that the checksums cover. Two cycles.
module request_sum (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    input  rpc_encoder_pkg::request_t in_request,
    output logic                      out_valid,
    output rpc_encoder_pkg::summary_t out_summary
);
  localparam logic [20:0] kReplyWords = 21'd17 + 21'd1;  // UDP's number in the pseudo header; REPLY
  localparam logic [20:0] kCallWords = 21'd17 + 21'd2;   // and the version of ONC RPC

  function automatic logic [17:0] halves(input logic [31:0] a, input logic [31:0] b);
    halves = {2'd0, a[31:16]} + {2'd0, a[15:0]} + {2'd0, b[31:16]} + {2'd0, b[15:0]};
  endfunction

  logic is_mismatch, has_versions;
  assign is_mismatch  = !in_request.is_call && in_request.accept_stat == rpc_encoder_pkg::kProgMismatch;
  assign has_versions = in_request.is_call || is_mismatch;

  logic                      group_valid;
  rpc_encoder_pkg::summary_t group;
  logic [17:0]               ids, versions, procedure;
  always_ff @(posedge clk) begin
    if (rst) begin
      group_valid <= 1'b0;
      out_valid   <= 1'b0;
    end else begin
      group_valid <= in_valid;
      out_valid   <= group_valid;
    end
    if (in_valid) begin
      group.sum         <= in_request.is_call ? kCallWords : kReplyWords;
      group.accept_stat <= in_request.is_call ? 3'd0 : in_request.accept_stat;
      group.is_call     <= in_request.is_call;
      group.is_mismatch <= is_mismatch;
      group.addresses   <= halves(in_request.own_address, in_request.peer_address);
      ids               <= halves(in_request.xid, {in_request.own_port, in_request.peer_port});
      versions          <= has_versions ? halves(in_request.program_number, in_request.version) : 18'd0;
      procedure         <= in_request.is_call ? halves(in_request.procedure, 32'd0) : 18'd0;
    end
    if (group_valid) begin
      out_summary     <= group;
      out_summary.sum <= {3'd0, group.addresses} + {3'd0, ids} + {3'd0, versions} + {3'd0, procedure} + group.sum;
    end
  end
endmodule
