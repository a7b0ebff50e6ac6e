// SPDX-License-Identifier: Apache-2.0
// Where the parts of a packet's arguments, or results, are, in 32-bit words from their start.
package xdr_pkg;
  // Goes with each beat.
  typedef struct packed {
    logic        wrong;    // an array is longer than it may be
    logic        begins;   // the packet's first beat
    logic        known;    // start is known: the part begins in this beat or in an earlier one
    logic [11:0] beat;     // number of the beat in its packet
    logic [15:0] start;    // where the part begins
    logic [31:0] classes;  // rpc_decoder_pkg::class_t of each word, as far as the parts are known
  } place_t;

  // Words of the beat that lie at `at` or behind, two bits each.
  function automatic logic [31:0] from(input logic [15:0] at, input logic [11:0] beat);
    from = at[15:4] < beat ? 32'hffffffff : at[15:4] > beat ? 32'h00000000 : 32'hffffffff << {at[3:0], 1'b0};
  endfunction
endpackage
