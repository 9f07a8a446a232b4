// SPDX-License-Identifier: GPL-2.0

#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/loop.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "load.h"

#define LOAD_NOP "ETCH_LOAD_NOP"

/* load_exec() runs this same program, which then ends before its main() begins. */
static __attribute__((constructor(101))) void load_nop(void)
{
	if (getenv(LOAD_NOP))
		_exit(0);
}

void load_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void load_exec(void)
{
	char *const argv[] = { "etch-load", NULL }, *const envp[] = { LOAD_NOP "=1", NULL };
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, "etch-renamed");
		execve("/proc/self/exe", argv, envp);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void load_pipe(void)
{
	char c[512] = "";
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		/* Else the child waits for itself if the load dies early. */
		close(fds[1]);
		while (read(fds[0], c, sizeof(c)) > 0 && c[0] != 'x')
			;
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		(void)!write(fds[1], c, sizeof(c));
	c[0] = 'x';
	(void)!write(fds[1], c, sizeof(c));
	close(fds[0]);
	close(fds[1]);
	waitpid(pid, NULL, 0);
}

/* Names, pages, locks and leases of files, in a folder of any file system. */
static void load_files(const char *dir)
{
	char name[300], other[300], buf[4096] = "files";
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10 };
	int fd, watch = inotify_init1(IN_NONBLOCK);

	snprintf(name, sizeof(name), "%s/etch-load.%d", dir, getpid());
	snprintf(other, sizeof(other), "%s.new", name);
	inotify_add_watch(watch, dir, IN_ALL_EVENTS);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < 8; i++)
		(void)!write(fd, buf, sizeof(buf));
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void)!pread(fd, buf, sizeof(buf), 4096);
	fcntl(fd, F_SETLK, &lock);
	flock(fd, LOCK_EX);
	flock(fd, LOCK_UN);
	close(fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	fcntl(fd, F_SETLEASE, F_RDLCK);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	(void)!truncate(name, 100);
	fd = open(name, O_RDWR | O_CLOEXEC);
	fallocate(fd, 0, 0, 65536);
	close(fd);
	rename(name, other);
	(void)!link(other, name);
	unlink(name);
	unlink(other);
	mkdir(other, 0700);
	rmdir(other);
	(void)!read(watch, buf, sizeof(buf));
	close(watch);
}

/* A device that is mounted may not be open for writing: nothing stays open. */
static bool load_disk_attach(struct load_disk *disk)
{
	char backing[80];
	int control, nr, fd, loop;

	snprintf(backing, sizeof(backing), "%s.img", disk->dir);
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	nr = ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	if (nr < 0)
		return false;
	snprintf(disk->loop, sizeof(disk->loop), "/dev/loop%d", nr);
	loop = open(disk->loop, O_RDWR | O_CLOEXEC);
	fd = open(backing, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink(backing);
	disk->attached = !ftruncate(fd, 4 << 20) && !ioctl(loop, LOOP_SET_FD, fd);
	close(fd);
	close(loop);
	return disk->attached;
}

void load_disk_open(struct load_disk *disk)
{
	char command[200];

	memset(disk, 0, sizeof(*disk));
	snprintf(disk->dir, sizeof(disk->dir), "/tmp/etch-disk.%d", getpid());
	mkdir(disk->dir, 0700);
	if (!load_disk_attach(disk))
		return;
	snprintf(command, sizeof(command),
		 "(mkfs.ext4 -q -F %s || mke2fs -F %s) >/dev/null 2>&1",
		 disk->loop, disk->loop);
	if (!system(command))
		disk->mounted = !mount(disk->loop, disk->dir, "ext4", 0, NULL);
	if (!disk->mounted)
		printf("# no file system on a loop device: its events will be missing\n");
}

void load_disk_close(struct load_disk *disk)
{
	int loop = open(disk->loop, O_RDONLY | O_CLOEXEC);

	if (disk->mounted)
		umount(disk->dir);
	if (disk->attached)
		ioctl(loop, LOOP_CLR_FD, 0);
	close(loop);
	rmdir(disk->dir);
}

static void load_memory(void)
{
	size_t len = 64 * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t i = 0; i < len; i += 4096)
		p[i] = i >> 12;
	mprotect(p, len / 2, PROT_READ);
	madvise(p + len / 2, len / 4, MADV_DONTNEED);
	p = mremap(p, len, 2 * len, MREMAP_MAYMOVE);
	if (p != MAP_FAILED)
		munmap(p, 2 * len);
}

static void load_unix(void)
{
	char buf[100] = "unix";
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return;
	(void)!write(fds[0], buf, sizeof(buf));
	(void)!read(fds[1], buf, sizeof(buf));
	close(fds[0]);
	close(fds[1]);
}

/* Sets the loopback device up or down. */
bool loopback(bool up)
{
	struct ifreq ifr = { .ifr_flags = up ? IFF_UP | IFF_RUNNING : 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	memcpy(ifr.ifr_name, "lo", 3);
	ret = fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &ifr);
	if (fd >= 0)
		close(fd);
	return !ret;
}

/* A server and a client in one task; the kernel's backlog makes that possible. */
static void load_tcp(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer = -1;
	struct timeval patience = { .tv_sec = 2 };
	socklen_t len = sizeof(in);
	char buf[2000] = "tcp";

	setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!bind(server, (struct sockaddr *)&in, len) && !listen(server, 1) &&
	    !getsockname(server, (struct sockaddr *)&in, &len) &&
	    !connect(client, (struct sockaddr *)&in, len))
		peer = accept(server, NULL, NULL);
	if (peer >= 0) {
		(void)!send(client, buf, sizeof(buf), 0);
		(void)!recv(peer, buf, sizeof(buf), 0);
		shutdown(client, SHUT_RDWR);
		close(peer);
	}
	close(client);
	close(server);
}

static void load_udp(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(in);
	char buf[100] = "udp";

	if (!bind(fd, (struct sockaddr *)&in, len) &&
	    !getsockname(fd, (struct sockaddr *)&in, &len)) {
		sendto(fd, buf, sizeof(buf), 0, (struct sockaddr *)&in, len);
		recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		/* No one listens there: the kernel answers by ICMP and drops the packet. */
		in.sin_port = htons(9);
		sendto(fd, buf, sizeof(buf), 0, (struct sockaddr *)&in, len);
	}
	close(fd);
}

static void load_ignore_signal(int sig)
{
}

static void load_timers(void)
{
	struct itimerval soon = { .it_value.tv_usec = 2000 };
	struct itimerspec one = { .it_value.tv_nsec = 2000000 };
	struct timespec ns = { .tv_nsec = 3000000 };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct epoll_event what = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct sigevent sev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t posix;
	unsigned long long expired;

	signal(SIGALRM, load_ignore_signal);
	signal(SIGUSR1, load_ignore_signal);
	setitimer(ITIMER_REAL, &soon, NULL);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value.tv_sec = 5 }, NULL);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){}, NULL);
	timerfd_settime(timer, 0, &one, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &what);
	epoll_wait(epoll, &what, 1, 100);
	(void)!read(timer, &expired, sizeof(expired));
	if (!timer_create(CLOCK_MONOTONIC, &sev, &posix)) {
		timer_settime(posix, 0, &one, NULL);
		nanosleep(&ns, NULL);
		timer_delete(posix);
	}
	nanosleep(&ns, NULL);
	raise(SIGUSR1);
	close(epoll);
	close(timer);
}

static void *load_waiter(void *word)
{
	struct timespec patience = { .tv_nsec = 5000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, 0, &patience, NULL, 0);
	return NULL;
}

static void load_futex(void)
{
	unsigned int word = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, load_waiter, &word))
		return;
	sched_yield();
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	pthread_join(thread, NULL);
}

static void load_scheduling(void)
{
	struct sched_param fifo = { .sched_priority = 1 }, other = {};
	pid_t pid = fork();

	if (!pid) {
		sched_setscheduler(0, SCHED_FIFO, &fifo);
		sched_yield();
		sched_setscheduler(0, SCHED_OTHER, &other);
		setpriority(PRIO_PROCESS, 0, 5);
		sched_yield();
		/* As `echo 100 > /proc/self/oom_score_adj`. */
		overwrite_file("/proc/self", "oom_score_adj", "100");
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static void load_uring(void)
{
	struct io_uring_params params = {};
	int fd = syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0)
		return;
	syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0);
	close(fd);
}

void load_cgroup(void)
{
	char root[] = "/tmp/etch-cgroup.XXXXXX", group[80];
	char procs[160];

	if (!mkdtemp(root))
		return;
	if (!mount("none", root, "cgroup2", 0, NULL)) {
		snprintf(group, sizeof(group), "%s/etch-load", root);
		mkdir(group, 0700);
		snprintf(procs, sizeof(procs), "%d", getpid());
		write_file(group, "cgroup.procs", procs);
		write_file(group, "cgroup.freeze", "0");
		write_file(root, "cgroup.procs", procs);
		rmdir(group);
		umount(root);
	}
	rmdir(root);
}

/* Drops caches and writes to the kernel log. It takes long, so call it rarely. */
void load_rare(void)
{
	overwrite_file("/proc/sys/vm", "compact_memory", "1");
	overwrite_file("/proc/sys/vm", "drop_caches", "3");
	write_file("/dev", "kmsg", "<7>etch: a line of the test's load\n");
	sync();
}

void load_round(const struct load_disk *disk)
{
	load_exec();
	load_pipe();
	load_files("/tmp");
	if (disk && disk->mounted)
		load_files(disk->dir);
	load_memory();
	load_unix();
	load_tcp();
	load_udp();
	load_timers();
	load_futex();
	load_scheduling();
	load_uring();
}

/* Starts a task on @cpu that does @rounds rounds; 0: until load_stop(). */
pid_t load_start(int cpu, unsigned int rounds, const struct load_disk *disk)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "etch-load");
	load_pin(cpu);
	for (unsigned int i = 0; !rounds || i < rounds; i++)
		load_round(disk);
	_exit(0);
}

void load_wait(pid_t pid)
{
	waitpid(pid, NULL, 0);
}

void load_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
