/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of bfcctl: errors in plain words, the bpf file system,
 * output as text and JSON, and ports with their qdisc.
 */
#ifndef BFCCTL_H
#define BFCCTL_H

#include <limits.h>
#include <linux/types.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bfc_int_sk.h"
#include "bfc_stats.h"
#include "hpcc_sk.h"
#include "memory.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define INTERVAL_MIN	10000000ULL		/* between samples: 10 ms */
#define INTERVAL_MAX	3600000000000ULL

struct bpf_map;

/**
 * struct ctl - options that all commands have
 * @json: print JSON instead of text
 * @pretty: JSON for people
 * @verbose: print messages of libbpf and the verifier
 * @bpffs: where the bpf file system is mounted
 * @netns: name of the network namespace given with -n, or NULL
 * @where: "FILE:LINE: " of the line that is processed, for messages
 * @status: exit code if nothing fails
 * @restore: restores the terminal or standard error before a message of a
 *	     failure, or NULL
 */
struct ctl {
	bool json;
	bool pretty;
	bool verbose;
	const char *bpffs;
	const char *netns;
	char where[4096];
	int status;
	void (*restore)(void);
};

extern struct ctl ctl;

/* ---- bfcctl.c ---- */

_Noreturn void fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
_Noreturn void usage_fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
void note(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
const char *next_word(int *argc, char ***argv, const char *after);
bool is_option(const char *word, const char *name);
bool is_keyword(const char *word, const char *name);
/**
 * struct suffix - a unit behind a number
 * @name: of the unit, in upper or lower case; "" = none; NULL = the end of a table
 * @factor: base units in one of this unit
 */
struct suffix {
	const char *name;
	double factor;
};

void need_unit(const char *name, const char *text, const char *small, const char *large);
bool scaled_arg(const char *text, const struct suffix *units, double *value);
uint64_t number(const char *name, const char *text, uint64_t lo, uint64_t hi);
uint64_t nanoseconds(const char *name, const char *text, uint64_t lo,
		     uint64_t hi);
uint64_t thousandths(const char *name, const char *text, uint64_t lo,
		     uint64_t hi);

void cmd_apply(int argc, char **argv);
void cmd_stamp(int argc, char **argv);
void cmd_sweep(int argc, char **argv);
void cmd_int(int argc, char **argv);
void cmd_size(int argc, char **argv);
void cmd_hpcc(int argc, char **argv);
void cmd_delay(int argc, char **argv);
void cmd_watch(int argc, char **argv);
void cmd_monitor(int argc, char **argv);
void cmd_top(int argc, char **argv);
void cmd_metrics(int argc, char **argv);
void cmd_report(int argc, char **argv);
void cmd_topology(int argc, char **argv);

/* ---- bfcctl_bpf.c ---- */

void bpf_begin(void);
void bpf_begin_change(void);
void bpf_loaded(int err, const char *what);
void bpf_unsaid(void);
const char *pin_path(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
uint64_t netns_id(void);
uint64_t netns_cookie(void);
const char *pin_device(const char *what, int ifindex, const char *part);
const char *pin_cgroup(const char *cgroup, const char *part);
void pin_mkdir(const char *path);
void pin_rmdir(const char *path);
void pin_undo(void);
bool pin_remove(const char *path);
bool pin_exists(const char *pattern);
void pin_each(const char *pattern, void (*each)(const char *path));
int pin_open(const char *path);
void pin_share(struct bpf_map *map, const char *path);
void pin_fresh(struct bpf_map *map, const char *path);
void pin_new(int fd, const char *path);
void pin_new_ops(int fd, const char *path);
void pin_commit(void);
uint64_t object_id(const void *(*elf_bytes)(size_t *size));
void object_pin(uint64_t id, const char *path);
bool object_is(uint64_t id, const char *path);
uint32_t map_id(int fd);
bool ops_registered(const char *path);
bool prog_has(uint32_t prog, const char *path);
bool link_has(const char *link, const char *path);
int cgroup_open(const char *path);
void sockops_attach(int prog, const char *cgroup, const char *path, const char *what);
uint64_t cgroup_id(const char *path);
void conf_set(int map, const void *value, const char *what);
bool conf_fits(int map, size_t key, size_t value);
bool counts_fit(int map, size_t key, size_t value);
bool conf_get_sized(int map, void *value, size_t size);
#define conf_get(map, value)	conf_get_sized(map, value, sizeof(*(value)))

/* ---- bfcctl_file.c ---- */

/**
 * struct file - a file that is being written
 * @to: where to write
 * @path: what the user calls it
 * @dir: its directory
 * @name: its name there
 * @part: name of what takes its place, or ""
 * @error: the first that was met, or 0
 */
struct file {
	FILE *to;
	const char *path;
	int dir;
	char name[NAME_MAX + 2];
	char part[NAME_MAX + 1];
	int error;
};

void file_begin(struct file *file, const char *path);
void file_end(struct file *file);

/* ---- bfcctl_lock.c ---- */

void change_lock(void);
void pins_lock(void);

/* ---- bfcctl_netns.c ---- */

#define NETNS_NONE	(-1)
#define NETNS_HIDDEN	(-2)

int netns_visit(uint64_t id, char *name, size_t room);
void netns_return(int home);

/* ---- bfcctl_out.c ---- */

void out_flush(void);
void out_open(const char *key, char bracket);
void out_close(char bracket);
void out_end(void);
void out_string(const char *key, const char *value);
void out_number(const char *key, uint64_t value);
void out_seconds(const char *key, uint64_t ns);
void out_fraction(const char *key, double value);
void out_bool(const char *key, bool value);
unsigned int out_utf8(const char *s);
unsigned int out_control(const char *s);
void out_printable(char *s, char keep);
void out_message(const char *where, const char *fmt, va_list args);
void text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *rate_text(char *buf, size_t room, double bits);
const char *time_text(char *buf, size_t room, double ns);
const char *size_text(char *buf, size_t room, uint64_t bytes);

/* ---- bfcctl_port.c ---- */

/**
 * struct counts - what the kernel counts of a qdisc, or of one of its queues
 * @bytes: sent so far
 * @packets: sent so far
 * @backlog: bytes queued
 * @qlen: packets queued
 * @drops: packets dropped so far
 */
struct counts {
	uint64_t bytes;
	uint64_t packets;
	uint32_t backlog;
	uint32_t qlen;
	uint64_t drops;
};

/**
 * struct port - a network device and its root qdisc
 * @ifindex: of the device
 * @name: of the device
 * @kind: of the qdisc, "" = none
 * @handle: of the qdisc
 * @stamp: BFC_STAMP_*
 * @prog_id: of the program that stamps, 0 = none
 * @prog_name: its name
 * @prog_tag: hash of its instructions, in hex
 * @counts: if its kind is bfc
 * @stats: what the qdisc reports itself, if its kind is bfc
 * @options: TCA_OPTIONS, NULL if there are none; while ports_each() or ports_each_of() calls
 */
struct port {
	int ifindex;
	char name[IF_NAMESIZE];
	char kind[16];
	uint32_t handle;
	uint8_t stamp;
	uint32_t prog_id;
	char prog_name[16];
	char prog_tag[17];
	struct counts counts;
	struct bfc_stats stats;
	const struct rtattr *options;
};

/**
 * struct queue - a queue of a port
 * @number: from 0 on, in the port
 * @counts: of it
 * @stats: of its class
 */
struct queue {
	unsigned int number;
	struct counts counts;
	struct bfc_class_stats stats;
};

int device_index(const char *name);
void device_need_ethernet(const char *name);
bool port_get(struct port *port, int ifindex);
void port_need_bfc(struct port *port, const char *name);
void port_need_clsact(int ifindex, const char *name);
void ports_each(void (*each)(const struct port *port, void *arg), void *arg);
struct qdiscs;
void ports_each_of(const struct qdiscs *q,
		   void (*each)(const struct port *port, void *arg), void *arg);
void queues_each(int ifindex, void (*each)(const struct queue *queue, void *arg), void *arg);
const char *port_try_stamp(const struct port *port, uint8_t mode, int fd);
void port_stamp(const struct port *port, uint8_t mode, int fd);

/*
 * For bfc.conf(5): X_check() ends the program if the words after "X", which are
 * those of the command line, are invalid; X_same() returns true if they would
 * change nothing.
 */

/* ---- bfcctl_stamp.c ---- */

void stamp_check(int argc, char **argv);
bool stamp_same(int ifindex, uint32_t prog_id, int argc, char **argv);
bool stamp_is_native(const char *dev);

/* ---- bfcctl_int.c ---- */

void int_check(int argc, char **argv);
bool int_same(int argc, char **argv);
void int_port_check(int argc, char **argv);
bool int_port_same(const char *dev, int argc, char **argv);
void int_port(const char *dev, int argc, char **argv);
void int_sweep(void);
uint64_t now_ns(void);
void wait_ns(uint64_t ns);
void int_scope(struct bfc_int_config *conf, const char *text);

/* ---- bfcctl_size.c ---- */

void size_check(int argc, char **argv);
bool size_same(int argc, char **argv);

/* ---- bfcctl_hpcc.c ---- */

void hpcc_check(int argc, char **argv);
bool hpcc_same(int argc, char **argv);
void delay_check(int argc, char **argv);
bool delay_same(int argc, char **argv);
void hpcc_release(void);
void hpcc_forget(uint64_t cgroup);

/* ---- bfcctl_tcp.c ---- */

/**
 * struct flow - a TCP connection that takes part in INT
 * @family: AF_INET or AF_INET6
 * @src: our address
 * @dst: the peer's
 * @sport: our port
 * @dport: the peer's
 * @cc: congestion control
 * @cwnd: packets
 * @rtt_us: smoothed
 * @pacing: bytes/s
 * @is: INT state of the socket
 * @has_hpcc: @hpcc is valid
 * @hpcc: state of HPCC
 */
struct flow {
	int family;
	uint8_t src[16];
	uint8_t dst[16];
	uint16_t sport;
	uint16_t dport;
	char cc[16];
	uint32_t cwnd;
	uint32_t rtt_us;
	uint64_t pacing;
	struct bfc_int_sk is;
	bool has_hpcc;
	struct hpcc_sk hpcc;
};

void tcp_on(const char *cgroup, const struct bfc_int_config *conf);
bool tcp_off(const char *cgroup);
void tcp_release(void);
void tcp_sweep(void);
bool tcp_config(const char *cgroup, struct bfc_int_config *conf);
bool tcp_is_current(const char *cgroup);
unsigned int tcp_flows(struct flow **flows);

#endif /* BFCCTL_H */
