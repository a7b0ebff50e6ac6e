// SPDX-License-Identifier: Apache-2.0
// What the modules of the RPC encoder tell each other about a packet.
package rpc_encoder_pkg;
  // What became of a packet. From ACCEPT_STAT on it was wrong: instead of a reply SYSTEM_ERR leaves, and of a call nothing.
  typedef enum logic [3:0] {
    REPLY       = 4'd0,  // with results
    CALL        = 4'd1,
    REFUSAL     = 4'd2,  // a reply without results, as was asked for
    ACCEPT_STAT = 4'd3,  // there is none of this number
    NO_SCHEMA   = 4'd4,  // the table has no such entry
    NO_ARM      = 4'd5,  // no arm has the status
    COUNT       = 4'd6,  // an array is longer than it may be
    SHORT       = 4'd7   // the packet ends before its schema does
  } verdict_t;

  localparam logic [2:0] kSuccess = 3'd0;  // accept_stat (RFC 5531)
  localparam logic [2:0] kProgMismatch = 3'd2;
  localparam logic [2:0] kSystemErr = 3'd5;

  // What goes with a packet. Numbers: what is first on the wire is in the highest bits.
  typedef struct packed {
    logic [31:0] procedure;       // of a call
    logic [31:0] version;         // of a call; of PROG_MISMATCH the highest
    logic [31:0] program_number;  // of a call; of PROG_MISMATCH the lowest version
    logic [31:0] xid;
    logic [15:0] own_port;
    logic [15:0] peer_port;
    logic [31:0] own_address;     // IPv4
    logic [31:0] peer_address;
    logic [47:0] own_mac;
    logic [47:0] peer_mac;
    logic [7:0]  schema;          // entry of the table
    logic [2:0]  accept_stat;     // of a reply
    logic        is_call;
  } request_t;

  // One of the up to four arms of a union, which its status selects.
  typedef struct packed {
    logic        valid;
    logic        is_default;  // for any status that no other arm has
    logic [7:0]  entry;       // of the table: its parts follow the status
    logic [31:0] value;
  } arm_t;

  // What is known of a packet's fields before its data.
  typedef struct packed {
    logic [2:0]  accept_stat;
    logic        is_call;
    logic        is_mismatch;
    logic [17:0] addresses;  // sum of the halfwords of the IPv4 addresses
    logic [20:0] sum;        // of all that the UDP checksum covers but data, lengths and accept_stat
  } summary_t;

  // What the data of a packet have come to.
  typedef struct packed {
    verdict_t    verdict;
    logic [15:0] words;  // of data that leave
    logic [7:0]  beats;  // in the packet buffer
  } extent_t;

  // What the frame's headers need besides the request.
  typedef struct packed {
    verdict_t    verdict;
    logic        drops;       // no frame
    logic [2:0]  accept_stat;
    logic        is_wide;     // the headers have 82 bytes, not 66
    logic [7:0]  beats;       // in the packet buffer
    logic [7:0]  last_beat;   // number of the frame's last beat
    logic [5:0]  last_byte;   // and of the last byte in it
    logic [15:0] udp_length;
    logic [15:0] ipv4_checksum;
    logic [15:0] udp_checksum;
  } headers_t;
endpackage
