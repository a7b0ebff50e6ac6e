/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/services.c */
#include "firmware/drivers/lauberhorn/services.h"

#include "firmware/kernel/console.h"
#include "firmware/process/elf.h"
#include "firmware/process/process.h"
#include "firmware/rpc/decoder.h"
#include "firmware/rpc/encoder.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/port.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/schema.h"
#include "firmware/user/service.h"
#include "models/nic/rpc_encoder/rpc_encoder_regs.h"

/* How far the NIC's tables are filled. */
struct tables {
  uint32_t processes;
  const struct process_image** images; /* by process */
  uint32_t entry, schema, schemas;     /* schemas: entries of the encoder's table */
  uint32_t spare;                      /* of these, those that results do not need */
  uint32_t left_out;                   /* procedures */
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

#define PROCEDURES_MOST 64u /* of a program */

/* A program, and what its instances have in common. */
struct entered {
  const struct rpc_program* program;
  struct code code;
  bool is_there[PROCEDURES_MOST];   /* by procedure: it can be served */
  uint32_t result[PROCEDURES_MOST]; /* the schema of its result */
};

/* Enters the schema of each procedure's result. */
static void enter_results(const struct lauberhorn* nic, struct tables* t, struct entered* e) {
  for (uint32_t p = 0; p < e->program->procedures && p < PROCEDURES_MOST; p++) {
    if (e->program->handler[p] == 0) continue;
    const uint32_t entries = rpc_encoder_entries(e->program, p);
    e->is_there[p] = rpc_find_schema(e->program, p)->is_known && p < e->code.procedures && e->code.handlers[p] != 0 &&
                     t->schemas - t->schema >= entries;
    if (!e->is_there[p]) continue;
    rpc_encoder_enter(nic->registers + LAUB_ENCODER, t->schema, e->program, p);
    e->result[p] = t->schema;
    t->schema += entries;
  }
}

static void add_service(const struct lauberhorn* nic, struct tables* t, const struct entered* e, uint32_t procedure,
                        uint32_t instance, uint32_t process) {
  if (!e->is_there[procedure] || t->entry == nic->services) {
    t->left_out++;
    return;
  }
  const struct rpc_schema* schema = rpc_find_schema(e->program, procedure);
  const uint32_t room = nic->line_bytes - LAUB_HEAD_BYTES;
  const bool fits = rpc_arguments_most(schema->arguments) <= room && rpc_result_most(schema->result) <= room;
  const uint64_t handler = e->code.handlers[procedure];
  lauberhorn_set(nic, LAUB_SERVICE_DATA, handler);
  lauberhorn_set(nic, LAUB_SERVICE_PROCESS, process);
  lauberhorn_set(nic, LAUB_SERVICE_RESULT, e->result[procedure]);
  lauberhorn_set(nic, LAUB_SERVICE_PORT, RPC_PORT_SERVICES + instance);
  lauberhorn_set(nic, LAUB_SERVICE_ARGUMENTS,
                 instance == 0 ? enter_arguments(nic, t, e->program, procedure) : LAUB_NO_SCHEMA);
  lauberhorn_set(nic, LAUB_SERVICE_COMMIT, LAUB_COMMIT_VALID | t->entry);
  rpc_decoder_enter(nic->registers + LAUB_DECODER, t->entry, e->program, procedure, instance, t->entry,
                    fits ? handler : e->code.copied);
  t->entry++;
}

/* A program without a process image is left to the kernel, which answers that it is not there. */
static void add_program(const struct lauberhorn* nic, struct tables* t, const struct rpc_program* program,
                        const struct process_image* image, uint32_t instances, uint32_t harts) {
  struct entered e = {.program = program};
  if (!find_code(&e.code, image, program)) {
    print("Lauberhorn: there is no process for program %x\n", program->number);
    return;
  }
  enter_results(nic, t, &e);
  for (uint32_t i = 0; i < instances; i++) {
    if (t->processes == LAUBERHORN_PROCESSES_MOST || t->processes == nic->processes) {
      print("Lauberhorn has %u processes, too few for instance %u of program %x\n", t->processes, i, program->number);
      return;
    }
    t->images[++t->processes] = image;
    lauberhorn_set_process(nic, t->processes, 0, harts);
    for (uint32_t p = 0; p < program->procedures; p++)
      if (program->handler[p] != 0) add_service(nic, t, &e, p, i, t->processes);
  }
}

uint32_t lauberhorn_services_setup(const struct lauberhorn* nic, uint32_t harts,
                                   const struct process_image* images[LAUBERHORN_PROCESSES_MOST + 1]) {
  struct tables tables = {.images = images};
  tables.schemas = *(volatile uint32_t*)(nic->registers + LAUB_ENCODER + RPCE_CAPACITY) & RPCE_CAPACITY_SCHEMAS;
  uint32_t results = 0;
#define COUNT(name, number, version) results += result_entries(&name##_program);
  RPC_PROGRAMS(COUNT)
  tables.spare = results < tables.schemas ? tables.schemas - results : 0;
  lauberhorn_set(nic, LAUB_IPV4, nic->ipv4);
#define ENTER(name, number, version)                      \
  const uint32_t name##_instances = rpc_instances(#name); \
  if (name##_instances != 0)                              \
    add_program(nic, &tables, &name##_program, process_find_image("service-" #name), name##_instances, harts);
  RPC_PROGRAMS(ENTER)
  if (tables.left_out != 0)
    print("Lauberhorn leaves out %u procedures: without a schema, or its tables have no room\n", tables.left_out);
  uint64_t error = lauberhorn_get(nic, LAUB_ERROR);
  if (error != 0) print("Lauberhorn refuses its tables, error %x\n", (uint32_t)error);
  return tables.processes;
}
