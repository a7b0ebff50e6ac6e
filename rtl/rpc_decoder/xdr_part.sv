// SPDX-License-Identifier: Apache-2.0
// One part of the arguments (XDR, RFC 4506): finds out where its array ends, and with it where the next part begins, and
// of which class its words are. Two cycles for each beat. Of a packet that is to be encoded the count is little-endian,
// and the bytes that pad an opaque array are found.
module xdr_part #(
    parameter int MetaBits = 1,
    parameter bit Encodes = 0
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   enable,
    input  logic                   in_valid,
    input  stream_pkg::beat_t      in_beat,
    // With a packet's first beat:
    input  logic [MetaBits-1:0]    in_meta,
    input  logic [255:0]           in_parts,  // this one in the lowest bits, and those that follow it
    // With each beat:
    input  xdr_pkg::place_t        in_place,
    input  logic [31:0]            in_keeps,  // bytes of each word that are not padding; 0: all. If it encodes
    output logic                   out_valid,
    output stream_pkg::beat_t      out_beat,
    output logic [MetaBits-1:0]    out_meta,
    output logic [255:0]           out_parts,
    output xdr_pkg::place_t        out_place,  // of the next part
    output logic [31:0]            out_keeps
);
  // First cycle: where the array begins, and the word that says how many elements it has.
  logic                   read_valid;
  stream_pkg::beat_t      read_beat;
  logic [MetaBits-1:0]    read_meta;
  logic [255:0]           read_parts;
  rpc_decoder_pkg::part_t in_part, read_part;
  assign in_part   = in_parts[63:0];
  assign read_part = read_parts[63:0];
  xdr_pkg::place_t        read_place;
  logic [16:0]            read_array;
  logic                   read_found;  // read_count is in this beat
  logic [31:0]            read_count;

  function automatic logic [31:0] count_of(input logic [31:0] word);
    count_of = Encodes ? word : stream_pkg::swap32(word);
  endfunction

  logic [16:0] array;
  assign array = {1'b0, in_place.start} + {12'd0, in_part.words};

  // Second cycle: where the array ends.
  logic                   ended_known;  // in an earlier beat of the packet
  logic                   ended_wrong;
  logic [15:0]            ended;
  logic [1:0]             ended_rest;

  logic        known, wrong;
  logic [15:0] end_place;
  logic [17:0] words;  // of the array
  logic [17:0] counted_end, fixed_end;
  logic [1:0]  rest;  // bytes of an opaque array in its last word, if that is not full
  always_comb begin
    case (read_part.kind)
      rpc_decoder_pkg::OPAQUE:  words = {4'd0, read_count[15:2]} + {17'd0, read_count[1:0] != 2'd0};
      rpc_decoder_pkg::SCALARS: words = {2'd0, read_count[15:0]};
      rpc_decoder_pkg::HYPERS:  words = {1'b0, read_count[15:0], 1'b0};
      default:                  words = 18'd0;
    endcase
    counted_end = {1'b0, read_array} + 18'd1 + words;
    fixed_end   = {1'b0, read_array} + {2'd0, read_part.limit};
    if (!read_part.counted) begin
      known     = read_place.known;
      wrong     = known && fixed_end[17:16] != 2'd0;
      end_place = fixed_end[15:0];
      rest      = 2'd0;
    end else if (read_found) begin
      known     = 1'b1;
      wrong     = read_count > {16'd0, read_part.limit} || counted_end[17:16] != 2'd0;
      end_place = counted_end[15:0];
      rest      = read_part.kind == rpc_decoder_pkg::OPAQUE ? read_count[1:0] : 2'd0;
    end else begin
      known     = ended_known && !read_place.begins;
      wrong     = known && ended_wrong;
      end_place = ended;
      rest      = ended_rest;
    end
  end

  logic                   end_valid;
  rpc_decoder_pkg::part_t end_part;
  xdr_pkg::place_t        end_at;  // start is still this part's
  logic [15:0]            end_array, end_end;
  logic [1:0]             end_rest;
  logic                   end_known;

  always_ff @(posedge clk) begin
    if (rst) begin
      read_valid <= 1'b0;
      end_valid  <= 1'b0;
    end else if (enable) begin
      read_valid <= in_valid;
      end_valid  <= read_valid;
    end
  end

  always_ff @(posedge clk) begin
    if (enable && in_valid) begin
      read_beat  <= in_beat;
      read_place <= in_place;
      read_array <= array;
      read_found <= in_place.known && array[16:4] == {1'b0, in_place.beat};
      read_count <= count_of(in_beat.data[{array[3:0], 5'd0}+:32]);
      if (in_place.begins) begin
        read_meta  <= in_meta;
        read_parts <= in_parts;
      end
    end
    if (enable && read_valid) begin
      out_beat    <= read_beat;
      end_at      <= read_place;
      end_array   <= read_array[15:0];
      end_end     <= end_place;
      end_known   <= known;
      end_at.wrong <= read_place.wrong || wrong;
      ended       <= end_place;
      ended_known <= known;
      ended_wrong <= wrong;
      ended_rest  <= rest;
      end_rest    <= rest;
      if (read_place.begins) begin
        out_meta           <= read_meta;
        end_part           <= read_part;
        out_parts[191:0]   <= read_parts[255:64];
        out_parts[255:192] <= 64'd0;
      end
    end
  end
  assign out_valid = end_valid;

  // After it, on the way to the next part: the classes of this part's words.
  logic [31:0] fixed, counts, elements;  // masks of words, two bits each
  logic        is_odd;  // the elements begin at an odd word
  logic [63:0] turned;  // classes of the part's words, turned to where they begin in a beat
  logic [15:0] last;    // the array's last word
  always_comb begin
    fixed           = 'x;
    counts          = 'x;
    elements        = 'x;
    is_odd          = end_array[0] ^ end_part.counted;
    turned          = 'x;
    last            = end_end - 16'd1;
    out_place       = end_at;
    out_place.known = end_known;
    out_place.start = end_end;
    if (end_valid && end_at.known) begin
      fixed    = xdr_pkg::from(end_at.start, end_at.beat) & ~xdr_pkg::from(end_array, end_at.beat);
      counts   = end_part.counted ? xdr_pkg::from(end_array, end_at.beat) & ~xdr_pkg::from(end_array + 16'd1, end_at.beat)
                                  : 32'd0;
      elements = xdr_pkg::from(end_array + {15'd0, end_part.counted}, end_at.beat) &
                 ~(end_known ? xdr_pkg::from(end_end, end_at.beat) : 32'd0);
      turned   = {end_part.classes, end_part.classes} << {end_at.start[3:0], 1'b0};
      case (end_part.kind)
        rpc_decoder_pkg::SCALARS: turned[31:0] = elements & 32'h55555555;
        rpc_decoder_pkg::HYPERS:  turned[31:0] = elements & (is_odd ? 32'hbbbbbbbb : 32'heeeeeeee);
        default: turned[31:0] = 32'd0;
      endcase
      out_place.classes = end_at.classes | (counts & 32'h55555555) | turned[31:0] | (turned[63:32] & fixed);
    end
  end

  if (Encodes) begin : keeps
    logic [31:0] read_keeps, end_keeps;
    always_ff @(posedge clk) begin
      if (enable && in_valid) read_keeps <= in_keeps;
      if (enable && read_valid) end_keeps <= read_keeps;
    end
    assign out_keeps = end_keeps | (end_at.known && end_known && end_rest != 2'd0 && last[15:4] == end_at.beat
                                        ? {30'd0, end_rest} << {last[3:0], 1'b0} : 32'd0);
  end else begin : no_keeps
    assign out_keeps = in_keeps;
  end
endmodule
