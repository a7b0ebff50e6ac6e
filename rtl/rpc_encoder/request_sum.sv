// SPDX-License-Identifier: Apache-2.0
// Adds up the fields of a request that the checksums cover. Three cycles.
module request_sum (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    input  rpc_encoder_pkg::request_t in_request,
    output logic                      out_valid,
    output rpc_encoder_pkg::summary_t out_summary
);
  localparam logic [19:0] kReplyWords = 20'd17 + 20'd1;  // UDP's number in the pseudo header; REPLY
  localparam logic [19:0] kCallWords = 20'd17 + 20'd2;   // and the version of ONC RPC

  function automatic logic [17:0] halves(input logic [31:0] a, input logic [31:0] b);
    halves = {2'd0, a[31:16]} + {2'd0, a[15:0]} + {2'd0, b[31:16]} + {2'd0, b[15:0]};
  endfunction

  logic is_mismatch, has_versions;
  assign is_mismatch  = !in_request.is_call && in_request.accept_stat == rpc_encoder_pkg::kProgMismatch;
  assign has_versions = in_request.is_call || is_mismatch;

  logic                      group_valid, half_valid;
  rpc_encoder_pkg::summary_t group, half;
  logic [17:0]               ids, versions, procedure;
  logic [19:0]               constants;  // and fields of calls
  always_ff @(posedge clk) begin
    if (rst) begin
      group_valid <= 1'b0;
      half_valid  <= 1'b0;
      out_valid   <= 1'b0;
    end else begin
      group_valid <= in_valid;
      half_valid  <= group_valid;
      out_valid   <= half_valid;
    end
    if (in_valid) begin
      group             <= '0;
      group.accept_stat <= in_request.is_call ? 3'd0 : in_request.accept_stat;
      group.is_call     <= in_request.is_call;
      group.is_mismatch <= is_mismatch;
      group.addresses   <= halves(in_request.own_address, in_request.peer_address);
      ids               <= halves(in_request.xid, {in_request.own_port, in_request.peer_port});
      versions          <= has_versions ? halves(in_request.program_number, in_request.version) : 18'd0;
      procedure         <= in_request.is_call ? halves(in_request.procedure, 32'd0) : 18'd0;
    end
    if (group_valid) begin
      half      <= group;
      half.sum  <= {3'd0, group.addresses} + {3'd0, ids};
      constants <= {2'd0, versions} + {2'd0, procedure} + (group.is_call ? kCallWords : kReplyWords);
    end
    if (half_valid) begin
      out_summary     <= half;
      out_summary.sum <= half.sum + {1'b0, constants};
    end
  end
endmodule
