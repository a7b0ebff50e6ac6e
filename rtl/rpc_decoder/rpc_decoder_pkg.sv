// SPDX-License-Identifier: Apache-2.0
// What the layers of the RPC decoder tell each other about a packet.
package rpc_decoder_pkg;
  // Why a frame is no call of a service. The lowest layer's reason counts.
  typedef enum logic [3:0] {
    NONE          = 4'd0,   // it is one
    TRUNCATED     = 4'd1,   // the frame, or a datagram in it, ends before a header of it says, or within a header
    NOT_IPV4      = 4'd2,
    IPV4_HEADER   = 4'd3,   // version, header length or total length that cannot be
    IPV4_CHECKSUM = 4'd4,
    FRAGMENT      = 4'd5,
    NOT_UDP       = 4'd6,
    UDP_LENGTH    = 4'd7,   // less than a UDP header, or more than the IPv4 payload
    UDP_CHECKSUM  = 4'd8,
    NOT_CALL      = 4'd9,   // the message type is another
    RPC_VERSION   = 4'd10,  // not 2
    CREDENTIAL    = 4'd11,  // neither AUTH_NONE nor AUTH_SYS, or more than 400 bytes
    VERIFIER      = 4'd12,  // not AUTH_NONE, or more than 400 bytes
    NO_SERVICE    = 4'd13,  // no entry of the table has the program, version, procedure and port
    ARGUMENTS     = 4'd14   // they end before the schema says, or an array is longer than it may be
  } reason_t;

  // One of the up to four parts of a procedure's arguments: up to 16 words, and an array behind them.
  typedef struct packed {
    logic [7:0]  unused;   // 0
    logic [15:0] limit;    // most elements of a counted array (bytes, if they are opaque); the words of another one
    logic        counted;  // the array begins with a word that says how many elements it has
    logic [1:0]  kind;     // array_t
    logic [4:0]  words;    // 0 to 16
    logic [31:0] classes;  // class_t of each word; that of the first is in bits 1 to 0
  } part_t;

  // A part of which one of its two registers is written.
  function automatic part_t part_of(input part_t old, input logic is_shape, input logic [31:0] value);
    part_of = is_shape ? {8'd0, value[31:13], value[4:0], old[31:0]} : {old[63:32], value};
  endfunction

  typedef enum logic [1:0] {
    NO_ARRAY = 2'd0,
    OPAQUE   = 2'd1,
    SCALARS  = 2'd2,
    HYPERS   = 2'd3
  } array_t;

  // How a word of the arguments becomes little-endian.
  typedef enum logic [1:0] {
    COPY       = 2'd0,
    SWAP       = 2'd1,  // a scalar
    HYPER_HIGH = 2'd2,  // the first word of 64 bits: the second one, swapped, comes here
    HYPER_LOW  = 2'd3
  } class_t;

  // Whether the hardware can follow a part_t: it has at most 16 words, and both halves of each hyper. Yosys knows no
  // members of a function's argument.
  function automatic logic is_valid(input logic [63:0] part);
    logic [16:0] high, low;  // bit i: before word i is the first half of a hyper; word i is the second one
    high = '0;
    low  = '0;
    for (int i = 0; i < 16; i++) begin
      high[i+1] = i < {27'd0, part[36:32]} && part[2*i+:2] == rpc_decoder_pkg::HYPER_HIGH;
      low[i]    = i < {27'd0, part[36:32]} && part[2*i+:2] == rpc_decoder_pkg::HYPER_LOW;
    end
    is_valid = part[36:32] <= 5'd16 && !(part[38:37] == rpc_decoder_pkg::HYPERS && !part[39] && part[40]) && high == low;
  endfunction

  typedef struct packed {
    logic [15:0] port;
    logic [31:0] program_number;
    logic [31:0] version;
    logic [31:0] procedure;
  } service_key_t;

  typedef struct packed {
    logic [15:0] owner;             // what the NIC does with the call: its queue, or its process
    logic [63:0] function_pointer;
    part_t       part3, part2, part1, part0;
  } service_t;

  // What the layers know of a packet; each adds to it.
  typedef struct packed {
    service_key_t key;
    reason_t      reason;
    logic [17:0]  addresses;    // sum of the halfwords of the IPv4 addresses, for the UDP checksum
    logic [15:0]  length;       // bytes of what the layer hands on, by its headers
    logic [15:0]  source_port;
    logic [31:0]  source;       // IPv4
    logic [31:0]  destination;
    logic [31:0]  xid;
  } headers_t;

  // What is left of it behind the table.
  typedef struct packed {
    reason_t     reason;
    logic [15:0] owner;
    logic [15:0] length;            // bytes of the arguments
    logic [15:0] port;
    logic [15:0] source_port;
    logic [31:0] source;
    logic [31:0] destination;
    logic [31:0] xid;
    logic [63:0] function_pointer;
  } call_t;

  // Bytes that so many take in XDR.
  function automatic logic [9:0] padded(input logic [9:0] length);
    padded = {length[9:2] + {7'd0, length[1:0] != 2'd0}, 2'b00};
  endfunction
endpackage
