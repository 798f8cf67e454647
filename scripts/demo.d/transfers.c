// SPDX-License-Identifier: GPL-2.0
/*
 * transfers - one finite TCP transfer after the other, each timed
 *
 *	transfers receive PORT
 *	transfers send ADDRESS PORT BYTES SECONDS
 *
 * A transfer begins with connect(), so the handshake counts, and ends when the
 * receiver has told how many bytes it got: all of them, or the run fails.
 * "send" begins new transfers for SECONDS and then lets the last one finish.
 * It prints a line for each: when it began (CLOCK_MONOTONIC) and how long it
 * took, in seconds. A transfer that a SIGTERM interrupts gets a line too, with
 * the time it had taken until then and the word "unfinished".
 *
 * Why not "iperf3 -n" in a loop: a process start and its control connection
 * take longer than the transfer in an emulated machine.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "transfers: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static unsigned long number(const char *text, unsigned long max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || !n || n > max) {
		fprintf(stderr, "transfers: bad number \"%s\"\n", text);
		exit(2);
	}
	return n;
}

static int receive(uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	static char buf[65536];
	int one = 1, s, c;
	uint64_t total;
	ssize_t n;

	s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		die("socket");
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&addr, sizeof(addr)) || listen(s, 8))
		die("bind");

	/* One sender per receiver, so one connection at a time. */
	while (!stop) {
		c = accept(s, NULL, NULL);
		if (c < 0)
			continue;
		total = 0;
		while ((n = read(c, buf, sizeof(buf))) > 0)
			total += (uint64_t)n;
		total = htobe64(total);
		if (!n)
			/* A sender that has gone is no error. */
			(void)!send(c, &total, sizeof(total), MSG_NOSIGNAL);
		close(c);
	}
	close(s);
	return 0;
}

/* 0: done, -1: interrupted or failed, see errno. */
static int transfer(const struct sockaddr_in *to, uint64_t bytes)
{
	static char buf[65536];
	uint64_t left = bytes, got = 0;
	size_t have = 0;
	ssize_t n;
	int s, err;

	s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		die("socket");
	if (connect(s, (const struct sockaddr *)to, sizeof(*to)))
		goto fail;
	/* A send() that had put some of the data into the buffer when the signal
	 * came says how much, not EINTR.
	 */
	while (left) {
		errno = EINTR;
		n = stop ? -1 :
		    send(s, buf, left < sizeof(buf) ? left : sizeof(buf),
			 MSG_NOSIGNAL);
		if (n < 0)
			goto fail;
		left -= (uint64_t)n;
	}
	shutdown(s, SHUT_WR);
	while (have < sizeof(got)) {
		n = read(s, (char *)&got + have, sizeof(got) - have);
		if (n < 0)
			goto fail;
		if (!n) {
			errno = ECONNRESET;
			goto fail;
		}
		have += (size_t)n;
	}
	close(s);
	if (be64toh(got) != bytes) {
		fprintf(stderr, "transfers: %llu bytes sent, %llu arrived\n",
			(unsigned long long)bytes,
			(unsigned long long)be64toh(got));
		exit(1);
	}
	return 0;
fail:
	err = errno;
	close(s);
	errno = err;
	return -1;
}

static int send_all(const struct sockaddr_in *to, uint64_t bytes, double seconds)
{
	double begin, end = now() + seconds;
	int err;

	while (!stop && (begin = now()) < end) {
		err = transfer(to, bytes);
		if (err && errno != EINTR) {
			/* The network's failure belongs in the result. */
			fprintf(stderr, "transfers: %s\n", strerror(errno));
			/* And must not become a busy loop. */
			usleep(100000);
		}
		printf("%.6f %.6f%s\n", begin, now() - begin,
		       err ? " unfinished" : "");
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	/* No SA_RESTART: the signal must end a blocking call. */
	struct sigaction sa = { .sa_handler = on_term };
	struct sockaddr_in to = { .sin_family = AF_INET };

	sigaction(SIGTERM, &sa, NULL);
	if (argc == 3 && !strcmp(argv[1], "receive"))
		return receive((uint16_t)number(argv[2], 65535));
	if (argc == 6 && !strcmp(argv[1], "send") &&
	    inet_pton(AF_INET, argv[2], &to.sin_addr) == 1) {
		to.sin_port = htons((uint16_t)number(argv[3], 65535));
		return send_all(&to, number(argv[4], 1UL << 40),
				(double)number(argv[5], 86400));
	}
	fprintf(stderr, "usage: transfers receive PORT\n"
		"       transfers send ADDRESS PORT BYTES SECONDS\n");
	return 2;
}
