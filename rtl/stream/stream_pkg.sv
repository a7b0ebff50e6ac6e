// SPDX-License-Identifier: Apache-2.0
// A packet on a stream of 512 bits. Byte i of a beat is in bits 8i+7 to 8i, and byte 0 is the first on the wire.
package stream_pkg;
  typedef struct packed {
    logic         cut;    // with last: the packet ends before its headers say
    logic         last;
    logic [6:0]   count;  // bytes: 64 but for the last beat; 0 in the only beat of an empty packet
    logic [511:0] data;   // bytes beyond count mean nothing
  } beat_t;

  function automatic logic [15:0] swap16(input logic [15:0] v);
    swap16 = {v[7:0], v[15:8]};
  endfunction

  function automatic logic [31:0] swap32(input logic [31:0] v);
    swap32 = {v[7:0], v[15:8], v[23:16], v[31:24]};
  endfunction

  // Brings a ones' complement sum (RFC 1071) of three numbers down to two, in each of four halfwords: the carries of a
  // halfword, whose highest goes to its lowest bit, and the sums without them. No carry goes far.
  function automatic logic [127:0] add3(input logic [63:0] a, input logic [63:0] b, input logic [63:0] c);
    logic [63:0] carry;
    carry = (a & b) | (a & c) | (b & c);
    add3  = {(carry << 1 & 64'hfffefffefffefffe) | (carry >> 15 & 64'h0001000100010001), a ^ b ^ c};
  endfunction

  // Whether two halfwords are 0xffff as a ones' complement sum (RFC 1071), and so a checksum is right.
  function automatic logic is_ones(input logic [31:0] sum);
    is_ones = (sum[31:16] ^ sum[15:0]) == 16'hffff || sum == 32'hffffffff;
  endfunction
endpackage
