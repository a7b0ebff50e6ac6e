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
    logic [31:0] keeps;    // bytes of each word that are not padding; 0: all. For a packet that is to be encoded
  } place_t;

  // Words of the beat that lie at `at` or behind.
  function automatic logic [15:0] from(input logic [15:0] at, input logic [11:0] beat);
    from = at[15:4] < beat ? 16'hffff : at[15:4] > beat ? 16'h0000 : 16'hffff << at[3:0];
  endfunction

  // Bit i of a mask becomes bit 2i.
  function automatic logic [31:0] apart(input logic [15:0] mask);
    apart = {16'd0, mask};
    apart = (apart | apart << 8) & 32'h00ff00ff;
    apart = (apart | apart << 4) & 32'h0f0f0f0f;
    apart = (apart | apart << 2) & 32'h33333333;
    apart = (apart | apart << 1) & 32'h55555555;
  endfunction
endpackage
