// SPDX-License-Identifier: Apache-2.0
// Lets beats in for which there is room in the packet buffer, so that nothing behind it ever has to stand still. What a
// packet has beyond PacketBeats is thrown away.
module encoder_input #(
    parameter int Beats = 512,
    parameter int Packets = 32,
    parameter int PacketBeats = 144
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    output logic                      in_ready,
    input  logic [511:0]              in_data,
    input  logic [63:0]               in_keep,
    input  logic                      in_last,
    input  rpc_encoder_pkg::request_t in_request,  // with a packet's first beat
    output logic                      out_valid,
    output stream_pkg::beat_t         out_beat,    // bytes beyond count are 0
    output logic [7:0]                out_number,  // of the beat in its packet
    output rpc_encoder_pkg::request_t out_request,
    // The oldest packet has left the buffer.
    input  logic                      released,
    input  logic [7:0]                released_beats
);
  localparam int RoomBits = $clog2(Beats + 1);
  localparam int PlaceBits = $clog2(Packets + 1);
  logic [RoomBits-1:0]  room;      // beats that the buffer has for what has not come yet
  logic [PlaceBits-1:0] places;    // and packets
  logic [7:0]           number;
  logic                 under_way; // number is not 0
  logic                 over;      // the rest of the packet is thrown away
  logic                 comes, last;

  assign in_ready = over || (room != '0 && (under_way || places != '0));
  assign comes    = in_valid && in_ready && !over;
  assign last     = in_last || number == 8'(PacketBeats - 1);

  always_ff @(posedge clk) begin
    if (rst) begin
      room      <= RoomBits'(Beats);
      places    <= PlaceBits'(Packets);
      number    <= 8'd0;
      under_way <= 1'b0;
      over      <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      room      <= room - RoomBits'(comes) + (released ? RoomBits'(released_beats) : '0);
      places    <= places - PlaceBits'(comes && !under_way) + PlaceBits'(released);
      out_valid <= comes;
      if (comes) begin
        number    <= last ? 8'd0 : number + 8'd1;
        under_way <= !last;
        over      <= last && !in_last;
      end else if (in_valid && in_last) begin
        over <= 1'b0;
      end
    end
  end

  logic [6:0]   count;
  logic [511:0] kept;
  axis_count count_in (.keep(in_keep), .count(count));
  always_comb begin
    kept = 'x;
    if (in_valid) for (int i = 0; i < 64; i++) kept[8*i+:8] = in_keep[i] ? in_data[8*i+:8] : 8'd0;
  end
  always_ff @(posedge clk) begin
    if (comes) begin
      out_beat   <= {1'b0, last, count, kept};
      out_number <= number;
      if (!under_way) out_request <= in_request;
    end
  end
endmodule
