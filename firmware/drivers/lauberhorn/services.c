/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/services.c */
#include "firmware/drivers/lauberhorn/services.h"

#include "firmware/kernel/console.h"
#include "firmware/process/elf.h"
#include "firmware/process/process.h"
#include "firmware/rpc/decoder.h"
#include "firmware/rpc/encoder.h"
#include "firmware/rpc/port.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/schema.h"
#include "firmware/user/service.h"
#include "models/nic/rpc_encoder/rpc_encoder_regs.h"

/* How far the NIC's tables are filled. */
struct tables {
  uint32_t entry, schema, schemas; /* schemas: entries of the encoder's table */
  uint32_t spare;                  /* of these, those that results do not need */
  uint32_t left_out;               /* procedures */
};

/* By entry of the service table: those that handlers can call. */
static struct {
  uint32_t program, procedure;
  bool is_callable;
} services[LAUBERHORN_SERVICES_MOST];

/* The code of a program's procedures, in its process. */
struct code {
  uint64_t copied;
  const uint64_t* handlers; /* by procedure, of `procedures` */
  uint32_t procedures;
};

/* False: the image has no such program. */
static bool find_code(struct code* code, const struct process_image* image, const struct rpc_program* program) {
  if (image == 0) return false;
  const struct service_description* d = elf_find(image->start, image->end, SERVICE_DESCRIPTION, sizeof *d);
  if (d == 0) return false;
  const struct rpc_program* own = elf_find(image->start, image->end, d->program, sizeof *own);
  if (own == 0 || own->number != program->number || own->version != program->version) return false;
  code->copied = d->copied;
  code->procedures = own->procedures;
  code->handlers = elf_find(image->start, image->end, (uintptr_t)own->handler, own->procedures * sizeof(uint64_t));
  return code->handlers != 0;
}

/* Makes the next service one that handlers can call, if the encoder has room for its arguments. Returns the schema. */
static uint32_t enter_arguments(const struct lauberhorn* nic, struct tables* t, const struct rpc_program* program,
                                uint32_t procedure) {
  if (t->spare == 0 || t->entry >= LAUBERHORN_SERVICES_MOST) return LAUB_NO_SCHEMA;
  const uint32_t schema = t->schemas - t->spare--; /* behind those of results */
  rpc_encoder_enter_arguments(nic->registers + LAUB_ENCODER, schema, program, procedure);
  services[t->entry].program = program->number;
  services[t->entry].procedure = procedure;
  services[t->entry].is_callable = true;
  return schema;
}

int32_t lauberhorn_find_service(uint32_t program, uint32_t procedure) {
  for (int32_t i = 0; i < (int32_t)LAUBERHORN_SERVICES_MOST; i++)
    if (services[i].is_callable && services[i].program == program && services[i].procedure == procedure) return i;
  return -1;
}

/* Entries of the encoder's table that the results of a program take. */
static uint32_t result_entries(const struct rpc_program* program) {
  uint32_t entries = 0;
  for (uint32_t p = 0; p < program->procedures; p++)
    if (program->handler[p] != 0) entries += rpc_encoder_entries(program, p);
  return entries;
}

static void add_service(const struct lauberhorn* nic, struct tables* t, const struct rpc_program* program,
                        uint32_t procedure, uint32_t process, const struct code* code) {
  const struct rpc_schema* schema = rpc_find_schema(program, procedure);
  const uint32_t entries = rpc_encoder_entries(program, procedure);
  const uint64_t handler = procedure < code->procedures ? code->handlers[procedure] : 0;
  if (!schema->is_known || handler == 0 || t->entry == nic->services || t->schemas - t->schema < entries) {
    t->left_out++;
    return;
  }
  const uint32_t room = nic->line_bytes - LAUB_HEAD_BYTES;
  const bool fits = rpc_arguments_most(schema->arguments) <= room && rpc_result_most(schema->result) <= room;
  rpc_encoder_enter(nic->registers + LAUB_ENCODER, t->schema, program, procedure);
  lauberhorn_set(nic, LAUB_SERVICE_DATA, handler);
  lauberhorn_set(nic, LAUB_SERVICE_PROCESS, process);
  lauberhorn_set(nic, LAUB_SERVICE_RESULT, t->schema);
  lauberhorn_set(nic, LAUB_SERVICE_PORT, RPC_PORT_SERVICES);
  lauberhorn_set(nic, LAUB_SERVICE_ARGUMENTS, enter_arguments(nic, t, program, procedure));
  lauberhorn_set(nic, LAUB_SERVICE_COMMIT, LAUB_COMMIT_VALID | t->entry);
  rpc_decoder_enter(nic->registers + LAUB_DECODER, t->entry, program, procedure, t->entry,
                    fits ? handler : code->copied);
  t->schema += entries;
  t->entry++;
}

/* A program without a process image is left to the kernel, which answers that it is not there. */
static uint32_t add_program(const struct lauberhorn* nic, struct tables* t, const struct rpc_program* program,
                            const struct process_image* image, uint32_t process, uint32_t harts) {
  struct code code;
  if (!find_code(&code, image, program)) {
    print("Lauberhorn: there is no process for program %x\n", program->number);
    return process;
  }
  process++;
  lauberhorn_set_process(nic, process, 0, harts);
  for (uint32_t p = 0; p < program->procedures; p++)
    if (program->handler[p] != 0) add_service(nic, t, program, p, process, &code);
  return process;
}

uint32_t lauberhorn_services_setup(const struct lauberhorn* nic, uint32_t harts,
                                   const struct process_image* images[LAUBERHORN_PROGRAMS_MOST + 1]) {
  struct tables tables = {0};
  tables.schemas = *(volatile uint32_t*)(nic->registers + LAUB_ENCODER + RPCE_CAPACITY) & RPCE_CAPACITY_SCHEMAS;
  uint32_t process = 0, results = 0;
#define COUNT(name, number, version) results += result_entries(&name##_program);
  RPC_PROGRAMS(COUNT)
  tables.spare = results < tables.schemas ? tables.schemas - results : 0;
  lauberhorn_set(nic, LAUB_IPV4, nic->ipv4);
#define ENTER(name, number, version)                                                           \
  if (process < LAUBERHORN_PROGRAMS_MOST && process < nic->processes) {                        \
    images[process + 1] = process_find_image("service-" #name);                                \
    process = add_program(nic, &tables, &name##_program, images[process + 1], process, harts); \
  }
  RPC_PROGRAMS(ENTER)
  if (tables.left_out != 0)
    print("Lauberhorn leaves out %u procedures: without a schema, or its tables have no room\n", tables.left_out);
  uint64_t error = lauberhorn_get(nic, LAUB_ERROR);
  if (error != 0) print("Lauberhorn refuses its tables, error %x\n", (uint32_t)error);
  return process;
}
